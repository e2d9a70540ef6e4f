import { inboxOrder, orderClass, type Waiting } from '../../shared/domain/message.ts'
import type { Cursor, Run } from '../../shared/domain/schedule.ts'
import { type Head, isGone } from '../../shared/domain/session.ts'
import { goesToOthers, openIds } from '../../shared/engine/load.ts'
import { compile, dayOf, jitterOf } from '../../shared/time/index.ts'
import type { Books, Seen, Was } from './books.ts'

/** The product's promise, written down once more: what is watched must not be told by what watches. */
const perTarget = 20
const promptsMost = 30
const eventsADay = 20
const monitorsMost = 20

/** Looks at each commit, and says what must never be. */
export class Rules {
  readonly #books: Books
  readonly #say: (what: string) => void
  /** How far clocks may be apart, ms. */
  readonly #slackMs: () => number
  /** Messages by what became of them. */
  readonly #fates = new Map<string, 'taken' | 'dropped'>()
  readonly #covered = new Map<string, number>()
  readonly #events = new Map<string, number>()
  readonly #sends = new Map<string, number>()
  /** Wakes by budget and day, since a limit is set. */
  readonly wakes = new Map<string, number>()
  readonly #over = new Set<string>()

  constructor(books: Books, slackMs: () => number, say: (what: string) => void) {
    this.#books = books
    this.#slackMs = slackMs
    this.#say = say
  }

  eventsOf(conv: string, day: string): number {
    return this.#events.get(`${conv} ${day}`) ?? 0
  }

  see(seen: Seen): void {
    this.#turns(seen)
    this.#messages(seen)
    this.#inbox(seen)
    for (const was of seen.cursors) this.#cursor(was, seen)
    for (const was of seen.runs) this.#run(was, seen)
    this.#monitors(seen)
    this.#prompts(seen)
    this.#budgets(seen)
  }

  /** One turn at a time, and none that is lost from sight. */
  #turns({ heads, turns, at }: Seen): void {
    for (const { id, old, now } of heads) {
      const [before, after] = [old?.turn ?? null, now?.turn ?? null]
      if (before !== null && before.id !== after?.id) {
        const ended = turns.find((turn) => turn.id === before.id)?.now ?? null
        if (ended === null || ended.endedAt === null) this.#say(`${id}: turn ${before.id} left its head and has no end`)
        else if (ended.outcome === 'unknown' && before.leaseUntil > at + this.#slackMs())
          this.#say(`${id}: turn ${before.id} was given up before its lease ran out`)
      }
      if (after !== null && before?.id === after.id && after.leaseUntil < before.leaseUntil)
        this.#say(`${id}: the lease of ${after.id} became shorter`)
      if (after !== null && before === null && now !== null && isGone(now))
        this.#say(`${id}: a turn began in a closed session`)
      if (after !== null && before === null && (now!.paused || now!.compacting))
        this.#say(`${id}: a turn began though the session is ${now!.paused ? 'paused' : 'compacted'}`)
    }
    for (const { id, old, now } of turns) {
      if (old !== null && old.endedAt !== null && now?.endedAt !== old.endedAt) this.#say(`turn ${id} ended twice`)
      if (old === null && now?.endedAt === null && !heads.some(({ now: head }) => head?.turn?.id === id))
        this.#say(`turn ${id} began beside its head`)
    }
  }

  /** Each message has one fate, and none leaves the inbox without one. */
  #messages({ waiting, history }: Seen): void {
    for (const { now } of history) {
      if (now === null || now.kind === 'answer' || now.kind === 'note' || now.status === 'waiting') continue
      const before = this.#fates.get(now.id)
      if (before !== undefined) this.#say(`message ${now.id} was ${before}, and then ${now.status}`)
      this.#fates.set(now.id, now.status)
    }
    for (const { old, now, conv } of waiting) {
      if (now === null && old !== null && !history.some(({ now: kept }) => kept?.id === old.id))
        this.#say(`message ${old.id} left the inbox of ${conv} without a word`)
      if (now !== null && this.#fates.has(now.id)) this.#say(`message ${now.id} was put again`)
      const head = this.#books.heads.get(conv)
      if (now !== null && old === null && (head === undefined || isGone(head)))
        this.#say(`message ${now.id} was put into a closed session`)
    }
  }

  /** What is taken is what comes first, of what was there before anybody began to look. */
  #inbox({ heads, cursors, waiting, at, since }: Seen): void {
    if (at !== since) return
    for (const { id, old, now } of heads) {
      if (now?.turn == null || old === null || old.turn !== null) continue
      const taken = now.turn.message
      const before = new Map(this.#books.cursors)
      for (const cursor of cursors) if (cursor.old !== null) before.set(cursor.id, cursor.old)
      const all: Waiting[] = [...(this.#books.waiting.get(id)?.values() ?? [])]
      for (const message of waiting)
        if (message.conv === id && message.old !== null && message.now === null) all.push(message.old)
      for (const cursor of before.values()) all.push(...prompts(cursor, old))
      if (old.tick?.waiting != null) all.push({ kind: 'tick', at: old.tick.waiting, id: '' })
      const isSure = (message: string): boolean =>
        message === taken || (this.#books.putAt.get(message) ?? Number.POSITIVE_INFINITY) < since - this.#slackMs()
      const queue = all
        .filter(({ kind, id }) => orderClass(kind) !== '9' && (kind === 'tick' || isSure(id)))
        .sort(inboxOrder)
      const [first] = queue
      if (first === undefined) this.#say(`${id}: took ${taken}, but nothing waited`)
      else if (first.id !== taken && !(first.kind === 'tick' && now.turn.kind === 'tick'))
        this.#say(`${id}: took ${taken}, but ${first.id} (${first.kind}) comes first`)
    }
  }

  #cursor({ id, old, now }: Was<Cursor>, { at, runs }: Seen): void {
    if (now === null) return void this.#say(`${id}: its cursor is gone`)
    if (now.open.filter((run) => run.turn === null).length > 1) this.#say(`${id}: two prompts of it wait`)
    if (now.status === 'active' && now.nextAt !== null && now.covered !== null && now.nextAt <= now.covered)
      this.#say(`${id}: it waits for a time that has a row`)
    if (now.held === null && now.status !== 'active' && now.dueAt !== null) this.#say(`${id}: ${now.status}, and due`)
    if (old !== null) {
      if (now.gen < old.gen) this.#say(`${id}: its generation went back`)
      if ((old.deleted && !now.deleted) || (old.status === 'ended' && now.status !== 'ended'))
        this.#say(`${id}: it came back to life`)
      for (const run of old.open) {
        if (now.open.some(({ row }) => row === run.row)) continue
        const row = runs.find((was) => was.now?.row === run.row && was.id === id)?.now
        if (row?.endedAt == null) this.#say(`${id}: run ${run.row} left its cursor and has no end`)
      }
      if (old.held !== null && now.held?.row !== old.held.row) {
        const row = runs.find((was) => was.now?.row === old.held!.row && was.id === id)?.now
        if (row === undefined || row === null || row.outcome === 'held') this.#say(`${id}: its held run was forgotten`)
      }
    }
    if (isLive(now) && (old === null || !isLive(old) || old.conv !== now.conv || old.agent !== now.agent)) {
      const here = [...this.#books.firing(now.conv, now.agent)].filter(isLive).length
      if (here > perTarget) this.#say(`${id}: it is number ${here} that fires there`)
      const made = [...this.#books.cursors.values()].filter(
        (c) => isLive(c) && c.makerConv === now.makerConv && goesToOthers(c),
      ).length
      if (goesToOthers(now) && made > perTarget) this.#say(`${id}: it is number ${made} that was made there for others`)
    }
    if (old === null && now.status === 'active' && now.nextAt !== null && now.nextAt <= at - this.#slackMs() - 90_000)
      this.#say(`${id}: it begins in the past`)
  }

  #run({ id, old, now }: Was<Run>, seen: Seen): void {
    if (now === null) return void this.#say(`${id}: row ${old?.row} is gone`)
    const says = `${id}: row ${now.row} (${now.trigger}, ${now.outcome} ${now.reason})`
    const cursor = seen.cursors.find((was) => was.id === id)
    const byTime = now.trigger === 'slot' || now.trigger === 'catch_up'
    if (old !== null) {
      if (old.outcome === 'fired' && now.outcome !== 'fired') this.#say(`${says} had fired`)
      if (old.outcome !== now.outcome && old.outcome !== 'held') this.#say(`${says} was ${old.outcome}`)
      if (old.result !== null && now.result !== old.result) this.#say(`${says} ended twice`)
    } else {
      if (cursor === undefined) this.#say(`${says} was written and its cursor stayed`)
      if (byTime) this.#slot(says, id, now, cursor?.old ?? null, seen)
    }
    if (now.outcome === 'fired' && old?.outcome !== 'fired')
      this.#fired(says, id, now, { was: cursor?.old ?? null, held: old !== null }, seen)
  }

  /** No time twice, none before it has come, none of a schedule that is not active. */
  #slot(says: string, id: string, run: Run, was: Cursor | null, { at }: Seen): void {
    const before = this.#covered.get(id) ?? Number.NEGATIVE_INFINITY
    if ((run.missedFrom ?? run.nominalAt) <= before) this.#say(`${says} covers a time that has a row`)
    this.#covered.set(id, Math.max(before, run.nominalAt))
    if (was !== null && was.status !== 'active') this.#say(`${says} came while it was ${was.status}`)
    if (was?.deleted) this.#say(`${says} came after it was deleted`)
    if (run.nominalAt > at + this.#slackMs() && run.reason !== 'agent_deleted')
      this.#say(`${says} came before its time`)
    const { until } = this.#books.definition(id, run.gen)
    if (until !== null && run.nominalAt > until) this.#say(`${says} came after until`)
  }

  #fired(says: string, id: string, run: Run, o: { was: Cursor | null; held: boolean }, { at, since }: Seen): void {
    const { was } = o
    const definition = this.#books.definition(id, run.gen)
    const byTime = run.trigger === 'slot' || run.trigger === 'catch_up'
    if (was === null) return
    if (was.status === 'ended' || was.deleted) this.#say(`${says} fired after its end`)
    if (was.open.some(({ turn }) => turn === null)) this.#say(`${says} fired while another waited`)
    if (!byTime) return
    if (was.status !== 'active' && !(o.held && was.held?.check != null))
      this.#say(`${says} fired while it was ${was.status}`)
    const recurrence = compile(definition.spec)
    const { jitterMs } = definition
    const next = recurrence.next(run.nominalAt)?.at ?? null
    const jitter = jitterOf({ seed: id, nominal: run.nominalAt, jitterMs, next })
    if (at + this.#slackMs() < run.nominalAt + jitter) this.#say(`${says} fired before its jitter was over`)
    if (!o.held && definition.overlap === 'skip' && was.open.length > 0)
      this.#say(`${says} fired though it may not overlap`)
    if (!o.held && definition.maxRuns !== null && was.fires >= definition.maxRuns)
      this.#say(`${says} fired beyond maxRuns`)
    // An edit may set the bound below what has failed already.
    const { pauseAfterFailures: most } = definition
    if (!o.held && definition.gen === 1 && most !== null && was.failures >= most)
      this.#say(`${says} fired though it was worn out`)
    // Gates are looked at before the commit: what closed in between is nobody's fault.
    const isSure = (pk: string): boolean => (this.#books.changedAt.get(pk) ?? 0) < since - this.#slackMs()
    const sure = <T>(pk: string, of: T): T | null => (isSure(pk) ? of : null)
    const agent = sure(`A#${definition.agent.slice(4)}`, this.#books.agents.get(definition.agent))
    const head = was.conv === null ? null : sure(`C#${was.conv}`, this.#books.heads.get(was.conv))
    const maker = was.makerConv === null ? null : sure(`C#${was.makerConv}`, this.#books.heads.get(was.makerConv))
    if (agent != null && agent.deletedAt !== null) this.#say(`${says} fired for an agent that was deleted`)
    if (head != null && (isGone(head) || head.left)) this.#say(`${says} fired into a session that is closed or left`)
    if (maker != null && isGone(maker)) this.#say(`${says} fired though what made it is closed`)
    if (was.makerAgent !== null && !this.#books.agentSessions && isSure('G#settings'))
      this.#say(`${says} fired though agents may wake nobody`)
    if (was.conv === null && definition.kind === 'prompt' && agent?.workerConnected === false)
      this.#say(`${says} fired for a worker that is away`)
  }

  /** A monitor tells once, in time, and not more than twenty times a day in one conversation. */
  #monitors({ monitors, waiting, at }: Seen): void {
    let told = 0
    for (const { id, old, now } of monitors) {
      if (now === null) continue
      if (this.#over.has(id) && now.status === 'armed') this.#say(`${id} is armed again`)
      if (old !== null && old.status !== 'armed' && now.status !== old.status)
        this.#say(`${id} was ${old.status}, and is ${now.status}`)
      if (now.status !== 'armed') this.#over.add(id)
      if (now.message !== null && old?.message !== now.message) told += 1
      if (now.status === 'fired' && old?.status === 'armed') {
        const latest = now.watch.kind === 'time' ? now.expiresAt + 60_000 : now.expiresAt
        if (at >= latest + this.#slackMs()) this.#say(`${id} fired after it had expired`)
        if (now.watch.kind === 'time' && at + this.#slackMs() < now.watch.at) this.#say(`${id} fired before its time`)
        const zone = this.#books.people.get(now.owner)?.tz ?? 'UTC'
        const day = `${now.conv} ${dayOf(at, zone).day}`
        const fires = (this.#events.get(day) ?? 0) + 1
        this.#events.set(day, fires)
        if (fires > eventsADay) this.#say(`${id} is number ${fires} that fired there today`)
      }
      if (old === null && now.status === 'armed') {
        const armed = [...this.#books.monitors.values()].filter(
          (m) => m.conv === now.conv && m.status === 'armed' && m.expiresAt > at,
        )
        if (armed.length > monitorsMost) this.#say(`${id} is number ${armed.length} that is armed there`)
        if (now.reach.depth > 2) this.#say(`${id} was armed too deep`)
      }
    }
    const put = waiting.filter(({ old, now }) => old === null && now?.kind === 'monitor').length
    if (put !== told) this.#say(`${put} events were put for ${told} monitors that told`)
  }

  /** Thirty prompts to others since the person's last word, and each of them counted. */
  #prompts({ heads, waiting, runs, allowed }: Seen): void {
    const add = (conv: string): void => void this.#sends.set(conv, (this.#sends.get(conv) ?? 0) + 1)
    for (const { conv, old, now } of waiting) {
      if (now?.kind === 'user' && old === null) this.#sends.delete(conv)
      if (now?.kind !== 'agent' || old !== null || now.origin.session === null) continue
      const from = [...this.#books.heads.values()].find((head) => head.session === now.origin.session)
      if (from !== undefined && from.conv !== conv) add(from.conv)
    }
    for (const { id, old, now } of runs) {
      if (
        now?.outcome !== 'fired' ||
        old?.outcome === 'fired' ||
        now.trigger === 'manual' ||
        now.trigger === 'backfill' ||
        now.trigger === 'retry'
      )
        continue
      const cursor = this.#books.cursors.get(id)
      if (cursor !== undefined && goesToOthers(cursor)) add(cursor.makerConv!)
    }
    for (const { id, old, now } of heads) {
      if (now === null) continue
      if (allowed || (now.sends === 0 && (old?.sends ?? 0) > 0)) this.#sends.delete(id)
      if ((now.sends ?? 0) > promptsMost) this.#say(`${id} has sent ${now.sends} prompts to others`)
    }
    for (const [conv, count] of this.#sends) {
      const counted = this.#books.heads.get(conv)?.sends ?? 0
      if (count > promptsMost || count > counted) {
        this.#say(`${conv} has sent ${count} prompts to others, and ${counted} are counted`)
        this.#sends.delete(conv)
      }
    }
  }

  /** A wake draws on what is left of a day, where a limit is set. */
  #budgets(seen: Seen): void {
    for (const { id, old, now } of seen.runs) {
      if (now?.outcome !== 'fired' || old?.outcome === 'fired' || now.flowRun != null) continue
      const { agent, createdBy } = this.#books.definition(id, now.gen)
      this.#drawn(`${id} ${now.row}`, [agent, createdBy], seen)
    }
    for (const { conv, old, now } of seen.waiting) {
      const head = this.#books.heads.get(conv)
      if (now === null || old !== null || head === undefined) continue
      const notice = seen.monitors.some((was) => was.now?.message === now.id && was.now.reason === 'tool_changed')
      if (now.kind === 'agent' || (now.kind === 'monitor' && !notice))
        this.#drawn(now.id, [head.agent, now.origin.principal], seen)
    }
    for (const { id, old, now } of seen.heads)
      if (now?.tick?.waiting != null && old?.tick?.waiting !== now.tick.waiting)
        this.#drawn(`tick of ${id}`, [now.agent, now.owner], seen)
  }

  #drawn(what: string, budgets: readonly string[], { at, since }: Seen): void {
    for (const id of budgets) {
      const agent = this.#books.agents.get(id)
      const most = (agent === undefined ? this.#books.limits.get(id) : agent.budget)?.wakesPerDay as
        | number
        | null
        | undefined
      if (most == null) continue
      // Decided before the limit was set, it may know nothing of it.
      if ((this.#books.limitedAt.get(id) ?? 0) >= since - this.#slackMs()) continue
      const zone = this.#books.people.get(agent?.owner ?? id)?.tz ?? 'UTC'
      const key = `${id} ${dayOf(at, zone).day}`
      const used = this.wakes.get(key) ?? 0
      if (used >= most && at === since) this.#say(`${what} woke beyond the ${most} wakes of ${id} today`)
      this.wakes.set(key, used + 1)
    }
  }
}

export const isLive = (cursor: Cursor): boolean =>
  !cursor.deleted && (cursor.status === 'active' || cursor.status === 'paused')

/** What waits of a schedule in a conversation. */
export function prompts(cursor: Cursor, head: Head): Waiting[] {
  const isHere = cursor.conv === head.conv
  return cursor.open.flatMap((open) => {
    const isFresh = head.fresh?.schedule === cursor.id && head.fresh.row === open.row
    if (open.turn !== null || !(isHere || isFresh)) return []
    return [{ kind: 'schedule' as const, at: open.at, id: openIds(cursor.id, open).message }]
  })
}
