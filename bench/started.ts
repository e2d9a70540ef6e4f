const stops = new Set<() => Promise<void>>()

/** Remembers how to stop what the bench started, so that an interrupted run leaves nothing behind. Returns the stop to call. */
export function started(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | null = null
  // Whoever calls second waits too: a signal and a failing row stop the same things at once, and a folder goes after its server.
  const once = () => {
    stopped ??= stop().finally(() => stops.delete(once))
    return stopped
  }
  stops.add(once)
  return once
}

/** Newest first: a worker before its server, a server before its folder. */
export async function stopEverything(): Promise<void> {
  for (const stop of [...stops].reverse()) await stop().catch((error: unknown) => console.error(String(error)))
}

/** Also at a fault that nobody caught, a closed pipe behind `| head` say: the children are no shell's to clean up. */
export function stopOnSignals(): void {
  process.once('uncaughtException', (error) => {
    console.error(error)
    void stopEverything().finally(() => process.exit(1))
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopEverything().finally(() => process.exit(130)))
  }
}
