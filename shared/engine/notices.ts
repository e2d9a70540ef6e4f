import { type Card, cardIdOf, type Label } from '../domain/card.ts'
import { onOneLine } from '../domain/names.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { keys, putCard, read } from './store.ts'

/** Something that Rouse tells a person: one card for one thing, brought back and never multiplied (decision 18). */
export interface Notice {
  /** What it is about: the same for what comes up again. */
  readonly what: string
  readonly person: string
  readonly title: string
  readonly body: string
  readonly reason: string
  /** Default: `risk`. */
  readonly label?: Label
  readonly session: string | null
  readonly agent: string
}

export async function noticeOp(world: World, notice: Notice, now: number): Promise<Op> {
  const { what, person, title, body, reason, label = 'risk', session, agent } = notice
  const id = cardIdOf(what)
  const stored = await read<Card>(world, keys.card(person, id))
  // The id is a fast hash: what stands there may be somebody's post that was made to collide.
  const before = stored?.item.kind === 'notice' ? stored.item : null
  return putCard(
    {
      id,
      person,
      kind: 'notice',
      title: onOneLine(title),
      body,
      group: null,
      label,
      loop: null,
      seen: (before?.seen ?? 0) + 1,
      autoSendOn: null,
      reason,
      status: 'open',
      schedule: null,
      session,
      agent,
      run: null,
      request: null,
      createdAt: before?.createdAt ?? now,
      at: now,
      settledAt: null,
    },
    stored?.version ?? 'absent',
  )
}
