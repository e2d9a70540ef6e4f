import type { Card } from '../../shared/domain/card.ts'
import { deliveryIdOf, type Outgoing } from '../../shared/domain/delivery.ts'
import type { Message } from '../../shared/domain/message.ts'
import type { Monitor } from '../../shared/domain/monitor.ts'
import type { FlowRun, StepRecord } from '../../shared/domain/replay.ts'
import { type Cursor, isChecking, type Run } from '../../shared/domain/schedule.ts'
import { type Head, isGone, type Links } from '../../shared/domain/session.ts'
import { openIds } from '../../shared/engine/load.ts'
import { keys, type SessionRow } from '../../shared/engine/store.ts'
import { dayOf } from '../../shared/time/index.ts'
import type { Books } from './books.ts'
import { coverFaults, expectedOf } from './reference.ts'
import type { Rules } from './rules.ts'
import type { Simulation } from './simulation.ts'
import { timed } from './table.ts'

/** What must hold when everything that was due is done: nothing is left behind, and all that is counted or listed agrees. */
export class Rest {
  readonly #simulation: Simulation
  readonly #books: Books
  readonly #rules: Rules

  constructor(simulation: Simulation, books: Books, rules: Rules) {
    this.#simulation = simulation
    this.#books = books
    this.#rules = rules
  }

  check(): void {
    const { cursors, heads, monitors } = this.#books
    this.#kept.clear()
    this.#nothingDue()
    for (const cursor of cursors.values()) this.#schedule(cursor)
    for (const head of heads.values()) this.#conversation(head)
    for (const monitor of monitors.values()) this.#monitor(monitor)
    this.#deliveries()
    this.#flows()
    this.#budgets()
    this.#cards()
  }

  #say(what: string): void {
    this.#simulation.say(`at rest: ${what}`)
  }

  /** Sweeps have passed: what is due by now has been looked at, whoever lost its alarm. */
  #nothingDue(): void {
    const { table, now } = this.#simulation
    for (const index of timed)
      for (const { key, sk } of table.places(index))
        if (Number(sk) <= now - this.#simulation.clocksApartMs)
          this.#say(`${index} has ${key.join(' ')} due since ${new Date(Number(sk)).toISOString()}`)
  }

  #schedule(cursor: Cursor): void {
    const { id } = cursor
    const runs = [...(this.#books.runs.get(id)?.values() ?? [])]
    const definition = this.#books.definition(id, cursor.gen)
    this.#placed('due', keys.cursor(id), cursor.deleted ? null : cursor.dueAt, id)
    if (definition.on == null) {
      const { now, clocksApartMs } = this.#simulation
      const expected = expectedOf(this.#books, id, { to: now, slackMs: clocksApartMs })
      for (const fault of coverFaults(runs, expected, cursor.reason === 'agent_deleted')) this.#say(`${id}: ${fault}`)
    }
    const count = (is: (run: Run) => boolean): number => runs.filter(is).length
    const counts = {
      fired: count((r) => r.outcome === 'fired'),
      skipped: count((r) => r.outcome === 'skipped' || r.outcome === 'blocked'),
      missed: count((r) => r.outcome === 'missed'),
      ok: count((r) => r.result === 'ok' || r.result === 'nothing_to_do'),
    }
    for (const [name, number] of Object.entries(counts))
      if (cursor.counts[name as 'ok'] !== number)
        this.#say(`${id}: ${number} rows are ${name}, and ${cursor.counts[name as 'ok']} are counted`)
    const failed = count(
      (r) => r.result === 'failed' || r.result === 'unknown' || (r.outcome === 'failed' && r.result === null),
    )
    const blocked = count((r) => r.result === 'blocked')
    if (cursor.counts.failed < failed || cursor.counts.failed > failed + blocked)
      this.#say(`${id}: ${failed} rows failed, and ${cursor.counts.failed} are counted`)
    for (const open of cursor.open) {
      const run = runs.find(({ row }) => row === open.row)
      if (
        run === undefined ||
        run.outcome !== 'fired' ||
        run.result !== null ||
        run.endedAt !== null ||
        (run.flowRun == null && run.turn !== open.turn)
      )
        this.#say(`${id}: ${open.row} is open, and its row says ${run?.outcome} ${run?.result} ${run?.turn}`)
    }
    for (const run of runs) this.#run(cursor, run)
    this.#held(cursor)
    if (cursor.backfill.length > 0 && cursor.open.length === 0 && cursor.status !== 'ended')
      this.#say(`${id}: its backfill stands still`)
    if (cursor.status === 'ended' && cursor.open.some(({ turn }) => turn === null))
      this.#say(`${id}: it has ended, and a prompt of it waits`)
    if (
      !cursor.deleted &&
      (cursor.status === 'active' || cursor.status === 'paused' || cursor.open.some(({ turn }) => turn === null))
    )
      this.#linked(cursor)
    if (cursor.status === 'active' && definition.on == null && cursor.nextAt === null && cursor.held === null)
      this.#say(`${id}: active, with no time to come`)
    if (cursor.status === 'active') {
      const head = cursor.conv === null ? null : this.#books.heads.get(cursor.conv)
      const maker = cursor.makerConv === null ? null : this.#books.heads.get(cursor.makerConv)
      if ((head != null && isGone(head)) || (maker != null && isGone(maker)))
        this.#say(`${id}: active, though its session is closed`)
    }
  }

  /** Whoever claims finds it through the lists of its conversation. */
  #linked(cursor: Cursor): void {
    const at = cursor.conv === null ? keys.agentLinks(cursor.agent) : keys.links(cursor.conv)
    const links = this.#simulation.table.peek(at)?.item as Links | undefined
    if (links?.fires.includes(cursor.id) !== true) this.#say(`${cursor.id}: it is in no list of where it fires`)
  }

  #run(cursor: Cursor, run: Run): void {
    const says = `${cursor.id}: row ${run.row} (${run.trigger}, ${run.outcome}, ${run.result})`
    const open = cursor.open.find(({ row }) => row === run.row)
    if (run.outcome === 'held' && cursor.held?.row !== run.row) this.#say(`${says} is held by nobody`)
    if (run.outcome !== 'fired') {
      if (run.message !== null || run.turn !== null || run.session !== null)
        this.#say(`${says} did not fire, and names a message`)
      return
    }
    if (open === undefined && run.endedAt === null) this.#say(`${says} is over, and has no end`)
    if (run.flowRun != null) return
    const conv = this.#books.convs.get(run.session!) ?? ''
    const head = this.#books.heads.get(conv)
    if (head === undefined) return void this.#say(`${says} fired into no session`)
    if (open?.turn === null) {
      if (isGone(head)) this.#say(`${says} waits in a closed session`)
      return
    }
    const { message } = openIds(cursor.id, run)
    const placed = this.#messages(conv).filter(({ id }) => id === message)
    if (placed.length !== 1) this.#say(`${says} has its message in ${placed.length} places`)
    else if (placed[0]!.status === 'taken' && run.turn === null) this.#say(`${says} was taken by no turn`)
    if (head.fresh?.row === run.row && run.endedAt !== null && head.archivedAt === null)
      this.#say(`${says} has ended, and its session is open`)
  }

  readonly #kept = new Map<string, Message[]>()
  #messages(conv: string): Message[] {
    if (this.#kept.size === 0)
      for (const { key, item } of this.#simulation.table.everything('C'))
        if (key[1].startsWith('M#')) {
          const of = key[0].slice(2)
          this.#kept.set(of, [...(this.#kept.get(of) ?? []), item as unknown as Message])
        }
    return this.#kept.get(conv) ?? []
  }

  /** Nothing is held once its gate is open. */
  #held({ id, held, makerConv, status }: Cursor): void {
    if (held === null) return
    if (status === 'ended') this.#say(`${id}: it has ended, and holds ${held.row}`)
    if (isChecking(held)) {
      if (held.lookAt <= this.#simulation.now) this.#say(`${id}: its check is over, and nobody looked`)
      return
    }
    if (status !== 'active') return
    const sends = makerConv === null ? 0 : (this.#books.heads.get(makerConv)?.sends ?? 0)
    // Any gate that closes meanwhile keeps it waiting.
    const agent = this.#books.agents.get(this.#books.cursors.get(id)!.agent)
    const head = this.#books.heads.get(this.#books.cursors.get(id)!.conv ?? '')
    const isShut =
      head?.left === true ||
      !this.#books.agentSessions ||
      agent?.workerConnected === false ||
      agent?.budget.wakesPerDay != null
    const person = this.#books.limits.get(this.#books.cursors.get(id)!.createdBy)
    if (sends < 30 && !isShut && person?.wakesPerDay == null)
      this.#say(`${id}: held, though its conversation has sent ${sends}`)
  }

  #conversation(head: Head): void {
    const { conv, turn } = head
    const row = this.#simulation.table.peek(keys.session(head.session))?.item as SessionRow | undefined
    if (turn !== null && turn.leaseUntil <= this.#simulation.now - this.#simulation.clocksApartMs)
      this.#say(`${conv}: turn ${turn.id} outlived its lease`)
    if (head.closing) this.#say(`${conv}: its closing stands still`)
    if (head.deletedAt === null && row === undefined) this.#say(`${conv}: session ${head.session} is gone`)
    if (row !== undefined && row.archived !== isGone(head))
      this.#say(`${conv}: its row says ${row.archived ? 'archived' : 'open'}`)
    const waits = [...(this.#books.waiting.get(conv)?.values() ?? [])]
    if (isGone(head) && waits.length > 0) this.#say(`${conv}: ${waits.length} messages wait in a closed session`)
    const lookAt = turn !== null ? turn.leaseUntil : isGone(head) ? null : (head.tick?.nextAt ?? null)
    this.#placed('leases', keys.head(conv), lookAt, conv)
    if (turn === null) return
    for (const run of turn.runs) {
      const open = this.#books.cursors.get(run.schedule)?.open.find((o) => o.row === run.row)
      if (open?.turn !== turn.id) this.#say(`${conv}: turn ${turn.id} works on ${run.row}, which is not open`)
    }
  }

  #placed(
    index: 'due' | 'leases' | 'watches' | 'toolRuns' | 'flowRuns',
    key: readonly [string, string],
    at: number | null,
    what: string,
  ): void {
    const place = this.#simulation.table.placeOf(index, key)
    if (place !== at) this.#say(`${what}: ${index} has it at ${place}, and it is to be looked at ${at}`)
  }

  #monitor(monitor: Monitor): void {
    const { id, watch, status } = monitor
    const isArmed = status === 'armed'
    this.#placed(
      watch.kind === 'tool' ? 'toolRuns' : 'watches',
      [`N#${id.slice(4)}`, 'A'],
      isArmed ? monitor.nextLookAt : null,
      id,
    )
    if (!isArmed) return
    const head = this.#books.heads.get(monitor.conv)
    if (head === undefined || isGone(head)) this.#say(`${id}: armed for a closed session`)
    // What a deletion that was cut off has left armed never fires: whoever looks ends it.
    if (this.#books.agents.get(monitor.agent)?.deletedAt !== null) return
    if (watch.kind !== 'document') return
    const document = this.#document(monitor.principal, watch.path)
    // Without a condition any change since it was armed is one.
    if (monitor.when === null && document.changedAt > monitor.armedAt + this.#simulation.clocksApartMs)
      this.#say(`${id}: its document has changed, and nobody was told`)
    const value = document.value as { value?: number } | null
    if (monitor.when === 'doc.value > 5' && value?.value !== undefined && value.value > 5)
      this.#say(`${id}: its condition is true, and nobody was told`)
  }

  #document(person: string, path: string): { readonly changedAt: number; readonly value: unknown } {
    const pk = `D#${person.slice(4)}`
    const head = this.#simulation.table.peek([pk, `H#${path}`])?.item as { updatedAt: number } | undefined
    const body = this.#simulation.table.peek([pk, `B0#${path}`])?.item as { text: string } | undefined
    return {
      changedAt: head?.updatedAt ?? 0,
      value: head === undefined || body === undefined ? null : JSON.parse(body.text),
    }
  }

  /** What a run's end sends out arrives, or says that it did not. */
  #deliveries(): void {
    for (const { key, item } of this.#simulation.table.everything('S')) {
      if (!key[1].startsWith('V#')) continue
      const out = item as unknown as Outgoing
      for (const { to, status, nextAt, tries } of out.targets) {
        const id = deliveryIdOf(out, to)
        const sent = this.#simulation.outside.byKey.get(id) ?? []
        const says = `delivery ${id} to ${to}`
        if (
          status === 'waiting' &&
          (nextAt === null || nextAt <= this.#simulation.now - this.#simulation.clocksApartMs)
        )
          this.#say(`${says} waits for nothing`)
        if (!to.startsWith('webhook:')) continue
        if (status === 'sent' && !sent.some(({ taken }) => taken))
          this.#say(`${says} is said to be sent, and nothing arrived`)
        if (sent.length > tries) this.#say(`${says} left ${sent.length} times, and ${tries} are counted`)
      }
    }
    for (const [id, runs] of this.#books.runs) {
      const cursor = this.#books.cursors.get(id)!
      for (const run of runs.values()) {
        const targets = this.#books.definition(id, cursor.gen).deliver ?? []
        if (cursor.gen !== 1 || cursor.deleted || targets.length === 0 || run.turn === null) continue
        if (run.endedAt === null || run.result === null || run.result === 'nothing_to_do') continue
        const place = [...this.#outgoing(id)].some((out) => out.run === run.id)
        if (!place) this.#say(`${id}: run ${run.id} has ended, and nothing is sent out`)
      }
    }
  }

  *#outgoing(id: string): Generator<Outgoing> {
    for (const { item } of this.#simulation.table.within(`S#${id.slice(4)}`, 'V#')) yield item as unknown as Outgoing
  }

  /** A step that does something is done once, or nobody knows and it is not done again. */
  #flows(): void {
    for (const { key, item } of this.#simulation.table.everything('Q')) {
      if (key[1] === 'A') {
        const run = item as unknown as FlowRun
        this.#placed('flowRuns', key, run.lookAt, run.id)
        if ((run.phase === 'over') !== (run.endedAt !== null))
          this.#say(`${run.id}: ${run.phase}, ended ${run.endedAt}`)
        if (run.schedule === null) continue
        const open = this.#books.cursors.get(run.schedule)?.open.find(({ row }) => row === run.row)
        if ((open === undefined) !== (run.phase === 'over'))
          this.#say(`${run.id}: ${run.phase}, and its run is ${open === undefined ? 'over' : 'open'}`)
      } else {
        const record = item as unknown as StepRecord
        if (record.status === 'ok' && record.endedAt === null) this.#say(`${key.join(' ')}: ended well, without an end`)
      }
    }
    for (const [step, sent] of this.#simulation.outside.byKey)
      if (step.startsWith('flr_') && sent.length > 1) this.#say(`step ${step} was called ${sent.length} times`)
  }

  #budgets(): void {
    for (const { key, item } of this.#simulation.table.everything('B')) {
      const [, day] = /^D#(.*)$/.exec(key[1]) ?? []
      if (day === undefined || typeof item.wakes !== 'number') continue
      for (const prefix of ['agt_', 'per_']) {
        const most =
          prefix === 'agt_'
            ? this.#books.agents.get(`${prefix}${key[0].slice(2)}`)?.budget.wakesPerDay
            : this.#books.limits.get(`${prefix}${key[0].slice(2)}`)?.wakesPerDay
        const own = this.#rules.wakes.get(`${prefix}${key[0].slice(2)} ${day}`) ?? 0
        if (most != null && own > item.wakes)
          this.#say(`${prefix}${key[0].slice(2)}: ${own} wakes on ${day}, and ${item.wakes} are counted`)
      }
    }
    for (const head of this.#books.heads.values()) {
      const zone = this.#books.people.get(head.owner)?.tz ?? 'UTC'
      const { day } = dayOf(this.#simulation.now, zone)
      const counted =
        (this.#simulation.table.peek(keys.events(head.conv, day))?.item.monitors as number | undefined) ?? 0
      const own = this.#rules.eventsOf(head.conv, day)
      if (counted !== own) this.#say(`${head.conv}: ${own} monitors fired on ${day}, and ${counted} are counted`)
    }
  }

  /** One card asks for a conversation, and it asks for what waits. */
  #cards(): void {
    for (const { item } of this.#simulation.table.everything('E')) {
      const card = item as unknown as Card
      if (
        card.kind === 'incident' &&
        card.status === 'open' &&
        card.schedule !== null &&
        this.#books.cursors.get(card.schedule)?.incident !== true &&
        this.#books.cursors.get(card.schedule)?.deleted !== true
      )
        this.#say(`card ${card.id} is open, and ${card.schedule} knows nothing of it`)
    }
  }
}
