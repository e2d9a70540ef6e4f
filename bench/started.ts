const stops = new Set<() => Promise<void>>()

/** Remembers how to stop what the bench started, so that an interrupted run leaves nothing behind. Returns the stop to call. */
export function started(stop: () => Promise<void>): () => Promise<void> {
  const once = async () => {
    if (stops.delete(once)) await stop()
  }
  stops.add(once)
  return once
}

/** Newest first: a worker before its server, a server before its folder. */
export async function stopEverything(): Promise<void> {
  for (const stop of [...stops].reverse()) await stop().catch((error: unknown) => console.error(String(error)))
}

export function stopOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopEverything().finally(() => process.exit(130)))
  }
}
