import type { Cursor } from '../../shared/domain/schedule.ts'
import type { Head } from '../../shared/domain/session.ts'
import type { ProactiveSettings } from '../../shared/domain/tick.ts'
import { type Key, type Op, type Table, Unavailable } from '../../shared/ports/table.ts'
import { dayOf } from '../../shared/time/index.ts'

/** S3-9 to S3-17, written down once more: what is watched must not be told by what watches. */
const defaults: ProactiveSettings = {
  enabled: true,
  tickSeconds: 300,
  minSleepSeconds: 30,
  maxSleepSeconds: 3600,
  idleTickLimit: 3,
  maxTicksPerDay: 48,
  maxTokensPerDay: 2_000_000,
  maxWindowMinutes: 480,
  allowYolo: false,
}

export interface Deaths {
  /** Before or after the n-th commit from now; null: nobody dies. */
  next: { nth: number; when: 'before' | 'after' } | null
  count: number
}

/**
 * Reads along what is committed, and keeps books of its own: heads, schedules, what waits, what each day has used. Says what
 * must never be, for every commit that puts, begins or ends a tick.
 */
export class Watch {
  readonly heads = new Map<string, Head>()
  readonly #cursors = new Map<string, Cursor>()
  readonly #waiting = new Map<string, Set<string>>()
  readonly #settings = new Map<string, ProactiveSettings>()
  readonly #wordAt = new Map<string, number>()
  readonly #used = new Map<string, { ticks: number; tokens: number }>()
  readonly #said = new Set<string>()
  /** What should not have happened when a tick was put, and at any other commit. */
  readonly broken: string[] = []
  /** Ticks that began though a gate had closed since they were put. */
  readonly begunLate: string[] = []
  readonly counts = { put: 0, begun: 0, dropped: 0, words: 0, parked: 0, commits: 0 }
  readonly deaths: Deaths = { next: null, count: 0 }
  readonly #now: () => number
  readonly #zoneOf: (person: string) => string

  constructor(now: () => number, zoneOf: (person: string) => string) {
    this.#now = now
    this.#zoneOf = zoneOf
  }

  /** The table as the engine sees it; it dies when `deaths` says so. */
  through(inner: Table): Table {
    return {
      get: (keys) => inner.get(keys),
      list: (pk, range) => inner.list(pk, range),
      find: (index, pk, range) => inner.find(index, pk, range),
      commit: async (ops, token) => {
        const { next } = this.deaths
        const dies = next !== null && --next.nth <= 0
        if (dies && next.when === 'before') throw this.#died()
        await inner.commit(ops, token)
        this.#saw(ops)
        if (dies) throw this.#died()
      },
    }
  }

  #died(): Unavailable {
    this.deaths.count += 1
    return new Unavailable('the process died')
  }

  usedToday(head: Head): { ticks: number; tokens: number } {
    const key = `${head.conv} ${dayOf(this.#now(), this.#zoneOf(head.owner)).day}`
    const used = this.#used.get(key) ?? { ticks: 0, tokens: 0 }
    this.#used.set(key, used)
    return used
  }

  /** Nobody whose time has come is left as they were: whoever is, is looked at again without end, and never gets on (S3-33). */
  afterSweep(): void {
    for (const head of this.heads.values()) {
      const at = head.turn === null ? (head.tick?.nextAt ?? null) : head.turn.leaseUntil
      if (at !== null && at <= this.#now()) this.#say(head, 'it was due, and a sweep changed nothing')
    }
  }

  settingsOf = (agent: string): ProactiveSettings => this.#settings.get(agent) ?? defaults

  #saw(ops: readonly Op[]): void {
    this.counts.commits += 1
    const before = new Map<string, Head | undefined>()
    let ended: { tokens: number } | null = null
    const spoken = new Set<string>()
    for (const op of ops) {
      const [pk, sk] = keyOf(op)
      if (!('put' in op)) {
        if ('delete' in op && sk.startsWith('W#')) this.#waiting.get(pk.slice(2))?.delete(sk)
        continue
      }
      const item = op.item as never
      if (pk.startsWith('C#') && sk === 'A') {
        const head = item as Head
        before.set(head.conv, this.heads.get(head.conv))
        this.heads.set(head.conv, head)
      } else if (pk.startsWith('C#') && sk.startsWith('W#')) {
        const { kind } = item as { kind: string }
        if (kind !== 'note') this.#waitingIn(pk.slice(2)).add(sk)
        if (kind === 'user') spoken.add(pk.slice(2))
      } else if (pk.startsWith('S#') && sk === 'A') this.#cursors.set(pk, item as Cursor)
      else if (pk.startsWith('A#') && sk === 'A') {
        const { id, proactive } = item as { id: string; proactive: object }
        this.#settings.set(id, { ...defaults, ...proactive })
      } else if (pk.startsWith('T#')) {
        const { endedAt, tokens } = item as { endedAt: number | null; tokens: number | null }
        if (endedAt !== null) ended = { tokens: tokens ?? 0 }
      }
    }
    for (const [conv, old] of before) this.#look(conv, old, ended, spoken.has(conv))
    for (const conv of spoken) this.#heard(conv)
  }

  #waitingIn(conv: string): Set<string> {
    const found = this.#waiting.get(conv) ?? new Set()
    this.#waiting.set(conv, found)
    return found
  }

  /** A person has written: no tick waits, and none goes on. */
  #heard(conv: string): void {
    this.counts.words += 1
    const head = this.heads.get(conv)!
    if (head.tick?.waiting != null) this.#say(head, 'a tick waits beside a word of a person')
    if (head.turn?.kind === 'tick' && head.turn.cancelled === null) this.#say(head, 'a tick goes on beside a word')
  }

  #look(conv: string, old: Head | undefined, ended: { tokens: number } | null, spoken: boolean): void {
    const head = this.heads.get(conv)!
    const [plan, was, now] = [head.tick ?? null, old?.tick ?? null, this.#now()]
    const begins = head.turn !== null && head.turn.id !== old?.turn?.id
    const ends = old?.turn != null && old.turn.id !== head.turn?.id
    const byPerson = spoken || (ends && (old.turn?.kind === 'user' || old.turn?.heard === true))
    if (byPerson) this.#wordAt.set(conv, now)
    if (ends && old.turn?.kind === 'tick' && ended !== null) this.usedToday(head).tokens += ended.tokens
    if (begins && head.turn!.kind === 'tick') {
      this.counts.begun += 1
      const closed = this.#closed(head, old)
      if (closed !== null) this.begunLate.push(`${iso(now)} ${conv}: ${closed}`)
      this.usedToday(head).ticks += 1
      if (was?.waiting == null) this.#say(head, 'a tick began that was never put')
    }
    if (plan === null) return
    if (plan.waiting !== null && was?.waiting !== plan.waiting) {
      this.counts.put += 1
      const closed = this.#closed(head, old)
      if (closed !== null) this.#say(head, `a tick was put, but ${closed}`)
    }
    if (was?.waiting != null && plan.waiting === null && !(begins && head.turn!.kind === 'tick'))
      this.counts.dropped += 1
    if (plan.parked !== null && was?.parked == null) this.counts.parked += 1
    if (plan.parked === null && was?.parked != null && !byPerson)
      this.#say(head, `it was parked (${was.parked}), and no word of a person started it again`)
    if (plan.parked !== null && (plan.nextAt !== null || plan.waiting !== null)) this.#say(head, 'parked, and planned')
    if (plan.nextAt !== null && plan.nextAt !== was?.nextAt && plan.nextAt <= now)
      this.#say(head, 'planned for the past')
    if (plan.nextAt !== null && (head.turn !== null || plan.waiting !== null)) this.#say(head, 'planned beside a turn')
    const from = this.#wordAt.get(conv)
    if (plan.parked === null && from !== undefined && plan.windowFrom > from && plan.windowFrom !== was?.windowFrom)
      this.#say(head, 'its window was opened by somebody else than a person')
  }

  /** The gates of behaviours.md, read from the books. @returns what is closed */
  #closed(head: Head, old: Head | undefined): string | null {
    const now = this.#now()
    const settings = this.settingsOf(head.agent)
    const used = this.usedToday(head)
    const prompts = [...this.#cursors.values()].filter((c) => c.conv === head.conv)
    const next = prompts.flatMap((c) => (c.status === 'active' && !c.deleted && c.nextAt !== null ? [c.nextAt] : []))
    const queued =
      this.#waitingIn(head.conv).size + prompts.filter((c) => c.open.some((run) => run.turn === null)).length
    const wordAt = this.#wordAt.get(head.conv)
    const closed: readonly (readonly [boolean, string])[] = [
      [!settings.enabled, 'the agent has them disabled'],
      [!head.main || head.parent !== null, 'it is no main session'],
      [head.archivedAt !== null || head.deletedAt !== null, 'the session is gone'],
      [wordAt === undefined, 'nobody has written'],
      [(old?.tick?.parked ?? null) !== null, 'it is parked'],
      [(old?.turn ?? null) !== null, 'a turn runs'],
      [head.paused, 'the session is paused'],
      [head.left, 'the agent has left'],
      [queued > 0, `${queued} messages wait`],
      [head.pendingRequests > 0, 'requests are open'],
      [head.compacting, 'the session is compacted'],
      [head.goal !== null, 'a goal is active'],
      [next.some((at) => at - now <= settings.tickSeconds * 1000), 'a schedule is near'],
      [head.permission === 'manual', 'permission is manual'],
      [head.permission === 'yolo' && !settings.allowYolo, 'permission is yolo'],
      [used.ticks >= settings.maxTicksPerDay, 'the ticks of the day are used up'],
      [used.tokens >= settings.maxTokensPerDay, 'the tokens of the day are used up'],
      [wordAt !== undefined && now >= wordAt + settings.maxWindowMinutes * 60_000, 'the window is shut'],
    ]
    return closed.find(([is]) => is)?.[1] ?? null
  }

  /** Once for each conversation, so that what is wrong without end is still read. */
  #say(head: Head, what: string): void {
    const said = `${head.conv}: ${what}`
    if (!this.#said.has(said)) this.broken.push(`${iso(this.#now())} ${said}`)
    this.#said.add(said)
  }
}

export const iso = (at: number): string => new Date(at).toISOString()

function keyOf(op: Op): Key {
  if ('put' in op) return op.put
  if ('patch' in op) return op.patch
  return 'delete' in op ? op.delete : op.check
}
