import { admit } from '../domain/admit.ts'
import { decideAsked, markOf } from '../domain/asked.ts'
import {
  bodyFault,
  frequencyFault,
  futureFault,
  instantOf,
  pastStartFault,
  specOf,
  type TimeFields,
} from '../domain/define.ts'
import { dueAtOf, overlapOf } from '../domain/due.ts'
import { bare, timeOf, timePart } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { Refused } from '../domain/refused.ts'
import { type Cursor, isChecking, type Run } from '../domain/schedule.ts'
import type { Item, Op } from '../ports/table.ts'
import { compile, formatInstant, notesFor, type Occurrence, type Spec } from '../time/index.ts'
import { commitAsked } from './asked.ts'
import { type Call, retrying } from './call.ts'
import type { Loaded } from './load.ts'
import { look } from './look.ts'
import { nameOfConversation, nameOfMaker, promptOp } from './prompts.ts'
import { actingIn, assertAgentSessions, scheduleFor } from './reach.ts'
import { decodeRun, putCursor } from './rows.ts'
import { ended } from './schedule-edit.ts'
import { assertMayFlow } from './schedule-flow.ts'
import { commit, keys, read } from './store.ts'

/** S2-64, S2-65: one run at once; the next time stays where it is. @returns the run's row, whatever became of it */
export async function runNow(call: Call, id: string): Promise<Run> {
  const { world, now } = call
  await scheduleFor(call, id)
  await assertAgentSessions(call)
  await look(world, [id], now)
  // Under an Idempotency-Key the row follows from the key: a call repeated after a crash finds it.
  const name = bare(call.newId('run'))
  const nominal = timeOf(name)
  return await retrying(async () => {
    const loaded = await scheduleFor(call, id)
    assertRunnable(call, loaded)
    const asked = decideAsked({ ...askedOf(call, loaded), trigger: 'manual', nominal, mark: markOf('manual', name) })
    const made = call.repeatable ? await read<Item>(world, keys.run(id, asked.row.row)) : null
    if (made !== null) return decodeRun(made)
    // Its prompt may go out only after the check: it is counted where it is asked for all the same.
    const goes = asked.put || asked.row.outcome === 'held'
    const counted = goes ? await countedRun(call, loaded) : []
    return await commitAsked(world, loaded, { ...asked, more: counted, now })
  })
}

/** A run that an agent asks for in another session is a prompt that it sends there, as the fire would be. @throws Refused */
async function countedRun(call: Call, { definition, head }: Loaded): Promise<Op[]> {
  const acting = await actingIn(call)
  if (acting === null || acting.head.conv === definition.conv) return []
  const to = head === null ? 'a new session' : nameOfConversation(head.item)
  const wish = { title: `"${onOneLine(definition.name)}" is to run now in ${to}`, body: definition.prompt ?? '' }
  return [await promptOp(call, acting, wish)]
}

const askedOf = (call: Call, loaded: Loaded, cursor: Cursor = loaded.cursor.item) => ({
  cursor,
  definition: loaded.definition,
  seat: loaded.seat,
  session: loaded.head?.item.session,
  now: call.now,
})

function assertRunnable(call: Call, loaded: Loaded): void {
  const { id, status, reason } = loaded.cursor.item
  assertMayFlow(call, loaded.definition)
  if (status === 'ended') throw ended(id, reason)
}

/** Occurrences looked at when a range is made up; a wider one is asked for in parts. */
const backfillLooksMax = 20_000

/**
 * Decision 21: the nominal times of a range that have no fired row, oldest first, one at a time. Neither the next time nor
 * maxRuns moves.
 *
 * @returns how many were taken
 */
export async function backfill(
  call: Call,
  id: string,
  range: { readonly from: string; readonly to: string },
): Promise<number> {
  const { world, now } = call
  const from = instantOf(range.from, 'from')
  const to = Math.min(instantOf(range.to, 'to'), now)
  await scheduleFor(call, id)
  await assertAgentSessions(call)
  await look(world, [id], now)
  if (from > to) throw bodyFault('to', 'expected an instant at or after "from", and "from" not to lie in the future')
  return await retrying(async () => {
    const loaded = await scheduleFor(call, id)
    assertRunnable(call, loaded)
    if (loaded.definition.on != null)
      throw new Refused('schedule_invalid', `${id} is a trigger: it follows what happens, and has no times to make up`)
    if (loaded.definition.check != null)
      throw new Refused(
        'schedule_invalid',
        `schedule ${id} looks before it wakes, and its check can only see how things are now: past times cannot be made up. Run it now, or remove the check first`,
      )
    const fired = await firedIn(call, id, from, to)
    const queued = new Set(loaded.cursor.item.backfill)
    const room = limits.backfillRunsMax - queued.size
    const missing: number[] = []
    let looks = 0
    for (
      let at = loaded.recurrence.next(from - 1)?.at;
      at !== undefined && at <= to;
      at = loaded.recurrence.next(at)?.at
    ) {
      looks += 1
      if (missing.length >= room || looks > backfillLooksMax) break
      const ahead = loaded.cursor.item.nextAt
      // A slot that is about to be decided is not missing.
      if (!fired.has(at) && !queued.has(at) && at !== ahead) missing.push(at)
    }
    if (missing.length === 0) return 0
    const cursor: Cursor = { ...loaded.cursor.item, backfill: [...queued, ...missing].sort((a, b) => a - b) }
    if (cursor.open.length > 0) {
      // One at a time: the first goes when what is open has ended.
      await commit(world, [putCursor(world, cursor, loaded.cursor.version, now)])
      return missing.length
    }
    const [nominal, ...rest] = cursor.backfill
    const mark = markOf('backfill', world.ids.ulid(now))
    const asked = decideAsked({ ...askedOf(call, loaded, cursor), trigger: 'backfill', nominal: nominal!, mark })
    // A gate that stops the first would stop the others as well: its row says why, and no other follows.
    await commitAsked(world, loaded, { ...asked, cursor: { ...asked.cursor, backfill: asked.put ? rest : [] }, now })
    return asked.put ? missing.length : 1
  })
}

async function firedIn(call: Call, id: string, from: number, to: number): Promise<Set<number>> {
  const fired = new Set<number>()
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<Call['world']['table']['list']>> = await call.world.table.list(`S#${id.slice(4)}`, {
      from: `R#${timePart(from)}`,
      to: `R#${timePart(to)}~`,
      limit: 1000,
      ...(after === null ? {} : { after }),
    })
    for (const item of page.items.map(decodeRun))
      if (item.outcome === 'fired' && item.trigger !== 'manual') fired.add(item.nominalAt)
    after = page.next
  } while (after !== null)
  return fired
}

/** The ledger of a schedule, newest first; readable after its end and its deletion. */
export async function listRuns(
  call: Call,
  id: string,
  page: { readonly limit: number; readonly before: string | null },
): Promise<{ readonly items: readonly Run[]; readonly next: string | null }> {
  await scheduleFor(call, id, true)
  const found = await call.world.table.list(`S#${id.slice(4)}`, {
    ...(page.before === null ? { prefix: 'R#' } : { from: 'R#', to: page.before }),
    descending: true,
    limit: page.limit + 2,
  })
  const rows = found.items.map(decodeRun).filter((run) => run.row !== page.before)
  const items = rows.slice(0, page.limit)
  return { items, next: rows.length > page.limit ? items.at(-1)!.row : null }
}

/** The next times of a schedule as it stands: none when it is paused, done or ended; no more than maxRuns leaves. */
export function nextTimes(loaded: Loaded, count: number): Occurrence[] {
  const { cursor, definition, recurrence } = loaded
  if (cursor.item.status !== 'active' || cursor.item.nextAt === null) return []
  const left = definition.maxRuns === null ? count : Math.min(count, definition.maxRuns - cursor.item.fires)
  return occurrences(recurrence, cursor.item.nextAt - 1, left, definition.until)
}

function occurrences(
  recurrence: Loaded['recurrence'],
  after: number,
  count: number,
  until: number | null,
): Occurrence[] {
  const out: Occurrence[] = []
  let from = after
  while (out.length < count) {
    const next = recurrence.next(from)
    if (next === null || (until !== null && next.at > until)) break
    out.push(next)
    from = next.at
  }
  return out
}

export interface PreviewInput extends TimeFields {
  readonly from: string | null
  readonly count: number
  readonly until: string | null
  readonly flow: boolean
}

export interface Preview {
  readonly spec: Spec
  readonly next: readonly Occurrence[]
  readonly notes: readonly string[]
  /** Why a valid rule would not be stored; null when it would. */
  readonly refusal: Refused | null
}

/** What a rule would do, with nothing stored. "Past" is judged from `from`. @throws Refused `schedule_invalid` */
export function preview(input: PreviewInput, now: number): Preview {
  const from = input.from === null ? now : instantOf(input.from, 'from')
  const until = input.until === null ? null : instantOf(input.until, 'until')
  const spec = specOf(input, from)
  const recurrence = compile(spec)
  const never = futureFault(recurrence, from, until) ?? pastStartFault(spec, from)
  if (never !== null) throw never
  const next = occurrences(recurrence, from, input.count, until)
  return {
    spec,
    next,
    notes: notesFor(spec, from, next),
    refusal: frequencyFault(spec, input.flow ? 'flow' : 'prompt', recurrence),
  }
}

export interface Why {
  readonly loaded: Loaded
  readonly last: readonly Run[]
  readonly next: readonly Occurrence[]
  /** What would hold or stop a run now. */
  readonly holds: readonly { readonly code: string; readonly detail: string }[]
}

/** What became of the last ten slots and why, what comes next, and what would stand in its way. */
export async function why(call: Call, id: string): Promise<Why> {
  const loaded = await scheduleFor(call, id)
  const { items } = await listRuns(call, id, { limit: 10, before: null })
  return { loaded, last: items, next: nextTimes(loaded, 3), holds: holdsOf(loaded) }
}

function holdsOf(loaded: Loaded): { code: string; detail: string }[] {
  const { cursor, definition, recurrence, seat } = loaded
  const { item } = cursor
  const out: { code: string; detail: string }[] = []
  const closed = admit(seat, { makerAgent: definition.makerAgent })
  if (item.held !== null)
    out.push(
      isChecking(item.held)
        ? { code: 'checking', detail: 'its check is under way: it wakes only if that finds something' }
        : { code: 'held', detail: `a run is held, waiting until you write in ${nameOfMaker(loaded)}` },
    )
  if (item.status !== 'active')
    out.push({
      code: item.status,
      detail: `the schedule is ${item.status}${item.reason === null ? '' : ` (${item.reason})`}: no run is due`,
    })
  if (closed !== null)
    out.push({
      code: closed.reason,
      detail: `a run now would be ${closed.outcome}: ${closed.reason.replaceAll('_', ' ')}`,
    })
  const overlap = overlapOf(item, definition, 'slot')
  if (overlap.skip !== null)
    out.push({ code: overlap.skip, detail: `a run now would be skipped: ${overlap.skip.replaceAll('_', ' ')}` })
  if (overlap.cancel.length > 0)
    out.push({ code: 'overlap_cancel', detail: 'a run now would cancel the turn that runs' })
  if (item.nextAt !== null && dueAtOf(definition, recurrence, item.nextAt) > item.nextAt)
    out.push({ code: 'jitter', detail: `the next run is delayed by its jitter to ${formatInstant(item.dueAt!)}` })
  return out
}
