import type { Bell, Ears, Envelope, Listening } from '../../ports/world.ts'

/**
 * The bell of an embedded node: whoever serves a session waits in the same process. Carries nothing over a restart; the
 * inbox does.
 */
export interface LocalBell extends Bell, Ears {
  /** Listens and waits in one. Only for those who need not look in between. */
  wait(queue: string, ms: number, signal?: AbortSignal): Promise<boolean>
  /** Calls `fn` on every ring, until the function it returns is called. */
  onRing(fn: (queue: string, envelope: Envelope) => void): () => void
  /** For shutdown: ends every wait with false, those to come too. */
  closeAll(): void
}

export function openBell(): LocalBell {
  return new ProcessBell()
}

class ProcessBell implements LocalBell {
  readonly #listeners = new Map<string, Set<QueueListener>>()
  readonly #observers = new Set<(queue: string, envelope: Envelope) => void>()
  #closed = false

  async ring(queue: string, envelope: Envelope): Promise<void> {
    for (const observer of this.#observers) observer(queue, envelope)
    // In one process whoever waits for the session or for its agent hears the same bell as the queue.
    for (const name of new Set([queue, envelope.session, envelope.agent]))
      for (const listener of this.#listeners.get(name) ?? []) listener.ring()
  }

  /** Nothing stands behind a queue here but those who listen, and they go by themselves. */
  async close(): Promise<void> {}

  async grant(): Promise<null> {
    return null
  }

  listen(queue: string): Listening {
    const listener = new QueueListener(() => this.#leave(queue, listener))
    if (this.#closed) {
      listener.end()
      return listener
    }
    const others = this.#listeners.get(queue)
    if (others === undefined) this.#listeners.set(queue, new Set([listener]))
    else others.add(listener)
    return listener
  }

  async wait(queue: string, ms: number, signal?: AbortSignal): Promise<boolean> {
    const listener = this.listen(queue)
    try {
      return await listener.rung(ms, signal)
    } finally {
      listener.close()
    }
  }

  onRing(fn: (queue: string, envelope: Envelope) => void): () => void {
    this.#observers.add(fn)
    return () => this.#observers.delete(fn)
  }

  closeAll(): void {
    this.#closed = true
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener.end()
    this.#listeners.clear()
    this.#observers.clear()
  }

  #leave(queue: string, listener: QueueListener) {
    const listeners = this.#listeners.get(queue)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(queue)
  }
}

class QueueListener implements Listening {
  readonly #leave: () => void
  #rung = false
  #ended = false
  readonly #waiters = new Set<(rung: boolean) => void>()

  constructor(leave: () => void) {
    this.#leave = leave
  }

  rung(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#rung) {
      this.#rung = false
      return Promise.resolve(true)
    }
    if (this.#ended || ms <= 0 || signal?.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const settle = (rung: boolean) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiters.delete(settle)
        resolve(rung)
      }
      const abort = () => settle(false)
      // Whoever waits here holds a connection open; the wait alone keeps no process alive.
      const timer = setTimeout(abort, Math.min(ms, timeoutMsMax)).unref()
      signal?.addEventListener('abort', abort)
      this.#waiters.add(settle)
    })
  }

  ring(): void {
    if (this.#waiters.size === 0) this.#rung = true
    for (const settle of this.#waiters) settle(true)
  }

  end(): void {
    this.#ended = true
    for (const settle of this.#waiters) settle(false)
  }

  close(): void {
    this.end()
    this.#leave()
  }
}

/** setTimeout counts in 32 bits and fires at once beyond them. */
const timeoutMsMax = 2 ** 31 - 1
