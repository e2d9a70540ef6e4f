import type { Message } from '../client/shapes.ts'

/** Messages that came while their turn runs. Whoever works on the turn takes them; what nobody took is worked on after. */
export interface Steering {
  /** @returns the next message, once there is one; null when `until` aborts first */
  next(until: AbortSignal): Promise<Message | null>
  /** For a message that could not be handed on: it is the next one again. */
  putBack(message: Message): void
}

export class SteeringQueue implements Steering {
  private readonly waiting: Message[] = []
  private wake: (() => void) | null = null

  add(messages: readonly Message[]): void {
    this.waiting.push(...messages)
    this.wake?.()
  }

  putBack(message: Message): void {
    this.waiting.unshift(message)
    this.wake?.()
  }

  /** What waits now; null when nothing does. */
  take(): Message | null {
    return this.waiting.shift() ?? null
  }

  async next(until: AbortSignal): Promise<Message | null> {
    while (!until.aborted) {
      const message = this.take()
      if (message !== null) return message
      await new Promise<void>((resolve) => {
        const done = () => {
          until.removeEventListener('abort', done)
          this.wake = null
          resolve()
        }
        this.wake = done
        until.addEventListener('abort', done)
      })
    }
    return null
  }
}
