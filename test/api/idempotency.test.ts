import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { once } from '../../shared/api/idempotency.ts'
import type { Answer } from '../../shared/api/operation.ts'
import { openRoom, type Room, start } from '../engine/room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const minute = 60_000

/** A call that is under way until it is let go. */
function held(): { readonly run: () => Promise<Answer>; let(answer: Answer): void; readonly begun: Promise<void> } {
  let go = (_: Answer) => {}
  let come = () => {}
  const begun = new Promise<void>((resolve) => {
    come = resolve
  })
  const answer = new Promise<Answer>((resolve) => {
    go = resolve
  })
  return {
    run() {
      come()
      return answer
    },
    let: (with_) => go(with_),
    begun,
  }
}

const call = (now: number, run: () => Promise<Answer>) =>
  once(room.call().world, { caller: 'per_x', key: 'k', request: 'POST /v1/x', now, secret: false }, run)
const made: Answer = { status: 201, body: { id: 'x' } }

describe('a call that is repeated under its key', () => {
  it('after a crash is under way anew: a third one waits for it, and is then answered as it was', async () => {
    const crashed = held()
    // Nobody lets it go: its process died.
    call(start, crashed.run).catch(() => {})
    await crashed.begun
    const second = held()
    const answered = call(start + 2 * minute, second.run)
    await second.begun
    await expect(call(start + 2 * minute + 100, held().run)).rejects.toMatchObject({ code: 'idempotency_in_flight' })
    second.let(made)
    expect(await answered).toEqual(made)
    expect(await call(start + 3 * minute, () => Promise.reject(new Error('ran again')))).toEqual(made)
  })

  it('while the first one takes longer than a minute gives both the answer, and no fault of ours', async () => {
    const slow = held()
    const first = call(start, slow.run)
    await slow.begun
    expect(await call(start + 2 * minute, async () => made)).toEqual(made)
    slow.let(made)
    expect(await first).toEqual(made)
  })
})
