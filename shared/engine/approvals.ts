import type { Card } from '../domain/card.ts'
import { denied } from '../domain/held.ts'
import { Refused } from '../domain/refused.ts'
import { type Head, isGone } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { endSchedule } from './closing.ts'
import { offeredBy } from './flow-offers.ts'
import { dropShadow, takeOffer } from './flow-shadows.ts'
import { heldBy } from './held.ts'
import { wishOf } from './incidents.ts'
import { loadSchedules, runIdOf } from './load.ts'
import { approvalCard, approvalOf, asksFirst, asksForPrompt } from './prompts.ts'
import { releaseHeld } from './release.ts'
import { createAsked } from './requests.ts'
import { patchRun, putCursor } from './rows.ts'
import type { AskedSchedule } from './schedules.ts'
import { commit, keys, putCard, putHead, read, type SessionRow } from './store.ts'

/**
 * A person allows what a card asks for: what was asked for is made, the count of the conversation begins anew, and what was held
 * goes out, all before this answers.
 *
 * @throws Refused  also what stands in the way of the thing itself; then the card stays open
 */
export async function allowCard(call: Call, stored: Stored<Card>): Promise<void> {
  const { request } = stored.item
  // Made under the id that the request names: allowed twice, it is there once.
  const flow = offeredBy(stored.item)
  if (flow !== null) await takeOffer(call, flow)
  else if (request !== null && !asksForPrompt(stored.item)) await createAsked(call, request as unknown as AskedSchedule)
  const conv = await settle(call, stored, 'allowed', (head, card) => ({
    ...head,
    sends: 0,
    // Of a held run alone nobody was asked what the agent sends next.
    grants: asksFirst(head) && asksForPrompt(card) ? 1 : (head.grants ?? 0),
  }))
  if (conv !== null) await releaseHeld(call.world, conv, call.now)
}

/** A person says no to the one that a card asks for: it is not made, or its held run is left out. The next that is held asks anew. */
export async function denyCard(call: Call, stored: Stored<Card>): Promise<void> {
  const { schedule, run } = stored.item
  if (schedule !== null && run !== null) await denyRun(call, schedule, run)
  const conv = await settle(call, stored, 'denied', null)
  await unmake(call, stored.item)
  const [next] = conv === null ? [] : await heldBy(call.world, conv)
  if (next !== undefined) await askFor(call, next.id)
}

/** @returns the conversation that asked, or null when it is gone */
async function settle(
  call: Call,
  asked: Stored<Card>,
  status: 'allowed' | 'denied',
  change: ((head: Head, card: Card) => Head) | null,
): Promise<string | null> {
  const { world, now } = call
  return await retrying(async () => {
    const card = await read<Card>(world, asked.key)
    if (card === null || card.item.status !== 'open') {
      if (card?.item.status === 'denied') await unmake(call, card.item)
      throw new Refused('card_settled', `card ${asked.item.id} was settled before: ${card?.item.status ?? 'gone'}`)
    }
    const { session } = card.item
    const row = session === null ? null : await read<SessionRow>(world, keys.session(session))
    const head = row === null ? null : await read<Head>(world, keys.head(row.item.conv))
    const open = head !== null && !isGone(head.item) ? head : null
    const changed: Op[] =
      open === null || change === null ? [] : [putHead(world, change(open.item, card.item), open.version, now)]
    await commit(world, [putCard({ ...card.item, status, settledAt: now }, card.version), ...changed])
    return open?.item.conv ?? null
  })
}

/** An Allow makes what was asked for before it settles the card: of one that broke off there, or lost to a Deny, nothing stays. */
async function unmake(call: Call, card: Card): Promise<void> {
  if (card.request === null || asksForPrompt(card)) return
  const flow = offeredBy(card)
  if (flow !== null) {
    await dropShadow(call.world, flow.agent, ({ rev }) => rev === flow.rev, call.now)
    return
  }
  await endSchedule(call.world, (card.request as unknown as AskedSchedule).id, 'deleted', call.now)
}

/** Decision 20: that held run becomes `skipped`, with `denied`. One that has gone out meanwhile stays as it is. */
async function denyRun(call: Call, schedule: string, run: string): Promise<void> {
  const { world, now } = call
  await retrying(async () => {
    const loaded = (await loadSchedules(world, [schedule]))[0] ?? null
    const held = loaded?.cursor.item.held ?? null
    if (loaded === null || held === null || runIdOf(schedule, held.row) !== run) return
    const { cursor, definition, recurrence } = loaded
    await commit(world, [
      putCursor(world, denied(cursor.item, definition, recurrence), cursor.version, now),
      patchRun({ schedule, row: held.row }, { outcome: 'skipped', reason: 'denied', endedAt: now }),
    ])
  })
}

async function askFor(call: Call, schedule: string): Promise<void> {
  const { world, now } = call
  await retrying(async () => {
    const loaded = (await loadSchedules(world, [schedule]))[0] ?? null
    const held = loaded?.cursor.item.held ?? null
    if (loaded === null || held === null || loaded.maker === null) return
    const before = await approvalOf(world, loaded.maker)
    const asks = { ...wishOf(loaded), schedule, run: runIdOf(schedule, held.row) }
    await commit(world, [
      putCard(approvalCard(loaded.maker, before?.item ?? null, asks, now), before?.version ?? 'absent'),
    ])
  })
}
