import { setImmediate as turn } from 'node:timers/promises'

/** Turns of the event loop in which nothing may happen before time passes: the SDK takes a few between a call and its request. */
const quietTurns = 6

/** A clock that stands still while anything is done, and jumps to the next moment that somebody waits for. The same run takes the same time. */
export class Timeline {
  now: number
  readonly #waiting: { readonly at: number; readonly go: () => void }[] = []

  constructor(start: number) {
    this.now = start
  }

  wait(ms: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ at: this.now + ms, go })
    })
  }

  /** @returns how long it took, ms of this clock */
  async took(work: () => Promise<unknown>): Promise<number> {
    const began = this.now
    let isOver = false
    const running = work().finally(() => {
      isOver = true
    })
    while (!isOver) {
      for (let n = 0; n < quietTurns && !isOver; n += 1) await turn()
      const next = this.#waiting.sort((a, b) => a.at - b.at)[0]
      if (isOver || next === undefined) continue
      this.#waiting.shift()
      this.now = Math.max(this.now, next.at)
      next.go()
    }
    await running
    return this.now - began
  }
}
