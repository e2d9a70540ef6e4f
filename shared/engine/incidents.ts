import { type Card, cardIdOf } from '../domain/card.ts'
import { asksWord, incidents, isIncident } from '../domain/incident.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import type { Cursor, Definition, Result, Run } from '../domain/schedule.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import type { Loaded } from './load.ts'
import { approvalCard, approvalOf, nameOfConversation } from './prompts.ts'
import { keys, putCard, read } from './store.ts'

/** What the rows of a fire have to say to a person: cards, in the commit that writes the rows. */
export async function tellRows(
  world: World,
  loaded: Loaded,
  cursor: Cursor,
  rows: readonly Run[],
  now: number,
): Promise<{ readonly cursor: Cursor; readonly ops: readonly Op[] }> {
  const held = rows.find(asksWord)
  const missed = rows.findLast(isIncident)
  const ops: Op[] = []
  if (held !== undefined && loaded.maker !== null) {
    const before = await approvalOf(world, loaded.maker)
    const asks = { ...wishOf(loaded), schedule: loaded.definition.id, run: held.id }
    ops.push(putCard(approvalCard(loaded.maker, before?.item ?? null, asks, now), before?.version ?? 'absent'))
  }
  if (missed === undefined) return { cursor, ops }
  ops.push(
    await bringUp(
      world,
      loaded.definition,
      { reason: missed.reason!, run: missed.id, body: incidents[missed.reason!]! },
      now,
    ),
  )
  return { cursor: { ...cursor, incident: true }, ops }
}

/** What a held run asks its person. */
export const wishOf = ({ definition, head, agent, maker }: Loaded) => {
  const to =
    head === null ? `a new session of ${onOneLine(agent?.name ?? definition.agent)}` : nameOfConversation(head.item)
  return {
    title: `"${onOneLine(definition.name)}" waits to be sent to ${to}`,
    body: `${nameOfConversation(maker!)} has sent ${limits.promptsToOthersMax} prompts to other sessions since you last wrote there. Allow lets it go on, Deny leaves this one out:\n\n${definition.prompt ?? ''}`,
  }
}

/** What the end of a turn has to say of its schedule: too many failures in a row, a conversation that is gone, or that all is well again. */
export async function tellEnd(
  world: World,
  loaded: Loaded,
  after: Cursor,
  end: {
    readonly result: Result
    readonly run: string
    /** What a person has to see to. */
    readonly told: { readonly reason: string; readonly detail: string | null } | null
  },
  now: number,
): Promise<{ readonly cursor: Cursor; readonly ops: readonly Op[] }> {
  const { definition } = loaded
  const up = async (reason: string, body: string) => ({
    cursor: { ...after, incident: true },
    ops: [await bringUp(world, definition, { reason, run: end.run, body }, now)],
  })
  if (end.told !== null) {
    const { reason, detail } = end.told
    return await up(reason, detail ?? incidents[reason] ?? reason)
  }
  const before = loaded.cursor.item.failures
  if (before < limits.failuresTold && after.failures >= limits.failuresTold)
    return await up('failures', `It failed ${after.failures} times in a row. The last result: ${end.result}.`)
  const good = end.result === 'ok' || end.result === 'nothing_to_do'
  if (!good || !after.incident) return { cursor: after, ops: [] }
  const stored = await read<Card>(world, keys.card(definition.createdBy, incidentIdOf(definition.id)))
  const closed =
    stored === null || stored.item.kind !== 'incident' || stored.item.status !== 'open'
      ? []
      : [putCard(closedCard(stored.item, now), stored.version)]
  return { cursor: { ...after, incident: false }, ops: closed }
}

/** S2-33: three checks in a row that failed, or a good one after them. */
export async function tellCheck(
  world: World,
  loaded: Loaded,
  after: Cursor,
  row: Run,
  now: number,
): Promise<{ readonly cursor: Cursor; readonly ops: readonly Op[] }> {
  const before = loaded.cursor.item.checkFailures
  if (before < limits.failuresTold && after.checkFailures >= limits.failuresTold) {
    const what = loaded.definition.on == null ? 'Its check failed' : 'Its condition could not be evaluated'
    const body = `${what} ${after.checkFailures} times in a row, the last time with ${row.reason}. Nobody was woken.`
    const op = await bringUp(world, loaded.definition, { reason: 'check_failures', run: row.id, body }, now)
    return { cursor: { ...after, incident: true }, ops: [op] }
  }
  if (isIncident(row)) return await tellRows(world, loaded, after, [row], now)
  if (row.outcome !== 'nothing' || !after.incident) return { cursor: after, ops: [] }
  return { cursor: { ...after, incident: false }, ops: await closeIncident(world, loaded, now, closedCard) }
}

/** A schedule that was deleted offers no run any more. */
export async function closeIncident(
  world: World,
  loaded: Loaded,
  now: number,
  closed: (card: Card, now: number) => Card = (card) => ({ ...card, status: 'closed', schedule: null, settledAt: now }),
): Promise<Op[]> {
  if (!loaded.cursor.item.incident) return []
  const { definition } = loaded
  const stored = await read<Card>(world, keys.card(definition.createdBy, incidentIdOf(definition.id)))
  if (stored === null || stored.item.kind !== 'incident' || stored.item.status !== 'open') return []
  return [putCard(closed(stored.item, now), stored.version)]
}

const incidentIdOf = (schedule: string): string => cardIdOf(`incident|${schedule}`)

const closedCard = (card: Card, now: number): Card => ({
  ...card,
  status: 'closed',
  body: `${card.body ?? ''}\nIt has run again since.`.trim(),
  settledAt: now,
})

/** One card per schedule, brought back and never multiplied (decision 18). */
async function bringUp(
  world: World,
  definition: Definition,
  o: { readonly reason: string; readonly run: string; readonly body: string },
  now: number,
): Promise<Op> {
  const id = incidentIdOf(definition.id)
  const stored = await read<Card>(world, keys.card(definition.createdBy, id))
  const before = stored?.item.kind === 'incident' ? stored.item : null
  return putCard(
    {
      id,
      person: definition.createdBy,
      kind: 'incident',
      title: `Your scheduled run "${onOneLine(definition.name)}" did not run`,
      body: o.body,
      group: null,
      label: 'risk',
      loop: null,
      seen: (before?.seen ?? 0) + 1,
      autoSendOn: null,
      reason: o.reason,
      status: 'open',
      schedule: definition.id,
      session: null,
      agent: definition.agent,
      run: o.run,
      request: null,
      createdAt: before?.createdAt ?? now,
      at: now,
      settledAt: null,
    },
    stored?.version ?? 'absent',
  )
}
