import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterTurn,
  clampedSleep,
  decideTick,
  type ProactiveSettings,
  parkedPlan,
  proactiveDefaults,
  type TickPlan,
  type TickSeat,
  type TurnEnded,
  tickGate,
  tickText,
  unplanned,
  whileRunning,
  windowUntil,
} from '../../shared/domain/tick.ts'
import { dayOf } from '../../shared/time/index.ts'
import { minute, t } from './make.ts'

const second = 1000
const now = t('2026-03-02T12:00:00Z')
const today = { day: '2026-03-02', to: t('2026-03-03T00:00:00Z') }

const head: TickSeat['head'] = {
  main: true,
  parent: null,
  turn: null,
  paused: false,
  left: false,
  pendingRequests: 0,
  compacting: false,
  goal: null,
  permission: 'auto',
  archivedAt: null,
  deletedAt: null,
}
const open: TickSeat = {
  switchedOn: true,
  settings: proactiveDefaults,
  head,
  queue: 0,
  nextScheduleAt: null,
  short: null,
  today,
  now,
}
const plan: TickPlan = { ...unplanned(today.day, now - 60 * minute), nextAt: now }
const turn = { id: 'trn_x', kind: 'user' } as unknown as NonNullable<TickSeat['head']['turn']>

type Change = {
  readonly seat?: Partial<TickSeat>
  readonly head?: Partial<TickSeat['head']>
  readonly settings?: Partial<ProactiveSettings>
  readonly plan?: Partial<TickPlan>
}
function seatOf(...changes: readonly Change[]): TickSeat {
  let seat = open
  for (const c of changes)
    seat = { ...seat, ...c.seat, head: { ...seat.head, ...c.head }, settings: { ...seat.settings, ...c.settings } }
  return seat
}
const planOf = (...changes: readonly Change[]): TickPlan => Object.assign({}, plan, ...changes.map((c) => c.plan))

const later = now + 300 * second
/** Gates in the order in which they decide: reason, kind, what closes them, when they are looked at again. */
const gates: readonly (readonly [string, 'off' | 'parks' | 'waits', Change, number | null])[] = [
  ['switch_off', 'off', { seat: { switchedOn: false } }, null],
  ['disabled', 'off', { settings: { enabled: false } }, null],
  ['session_archived', 'off', { head: { archivedAt: now - 1 } }, null],
  ['child_session', 'off', { head: { parent: 'ses_parent' } }, null],
  ['not_main', 'off', { head: { main: false } }, null],
  ['cancelled', 'parks', { plan: { parked: 'cancelled' } }, null],
  ['turn_running', 'waits', { head: { turn } }, later],
  ['paused', 'waits', { head: { paused: true } }, later],
  ['agent_left', 'waits', { head: { left: true } }, later],
  ['queue', 'waits', { seat: { queue: 1 } }, later],
  ['pending_requests', 'waits', { head: { pendingRequests: 1 } }, later],
  ['compacting', 'waits', { head: { compacting: true } }, later],
  ['goal', 'waits', { head: { goal: 'ship it' } }, later],
  ['schedule_soon', 'waits', { seat: { nextScheduleAt: now + 120 * second } }, now + 120 * second],
  ['permission_manual', 'waits', { head: { permission: 'manual' } }, later],
  ['permission_yolo', 'waits', { head: { permission: 'yolo' } }, later],
  ['max_ticks_per_day', 'waits', { plan: { ticks: 48 } }, today.to],
  ['max_tokens_per_day', 'waits', { plan: { tokens: 2_000_000 } }, today.to],
  ['wakes_of_agent', 'waits', { seat: { short: 'wakes_of_agent' } }, today.to],
  ['max_window', 'parks', { plan: { windowFrom: now - 480 * minute } }, null],
]

describe('the gates of a tick', () => {
  test('with all of them open it goes out', () => {
    expect(tickGate(open, plan)).toBeNull()
    expect(decideTick(open, plan)).toEqual({ plan: { ...plan, nextAt: null, waiting: now }, put: true })
  })

  test.each(gates)('%s %s', (reason, kind, change, retryAt) => {
    expect(tickGate(seatOf(change), planOf(change))).toEqual({ reason, kind, retryAt })
  })

  test.each(gates)('%s: nothing is put, and the plan says what follows', (reason, kind, change, retryAt) => {
    const before = planOf(change)
    const decided = decideTick(seatOf(change), before)
    expect(decided.put).toBe(false)
    // Beyond the window there is nothing to look for.
    const until = windowUntil(before, proactiveDefaults)
    const nextAt = retryAt === null ? null : Math.min(retryAt, until)
    expect(decided.plan).toMatchObject({ nextAt, waiting: null, parked: kind === 'parks' ? reason : before.parked })
  })

  test('a closed gate that waits is never looked at again in the same instant, nor in the past', () => {
    for (const [, kind, change] of gates)
      if (kind === 'waits') expect(tickGate(seatOf(change), planOf(change))!.retryAt!).toBeGreaterThan(now)
  })

  test('the first closed gate decides, in this order', () => {
    // Permission is one value: manual and yolo are not closed together.
    for (const [i, [reason, , change]] of gates.entries())
      for (const [other, , more] of gates.slice(i + 1)) {
        if (reason === 'permission_manual' && other === 'permission_yolo') continue
        const both = [more, change]
        expect([reason, other, tickGate(seatOf(...both), planOf(...both))?.reason]).toEqual([reason, other, reason])
      }
  })

  test('every gate closed at once: the switch is what is said', () => {
    const all = gates.map(([, , change]) => change).reverse()
    expect(tickGate(seatOf(...all), planOf(...all))?.reason).toBe('switch_off')
  })

  test('a deleted session has none', () => {
    expect(tickGate(seatOf({ head: { deletedAt: now } }), plan)).toMatchObject({ kind: 'off' })
  })

  test.each([
    [-1, 'schedule_soon'],
    [0, 'schedule_soon'],
    [1, null],
  ])('the horizon is tickSeconds: a schedule that is that and %i ms away', (more, reason) => {
    expect(tickGate(seatOf({ seat: { nextScheduleAt: later + more } }), plan)?.reason ?? null).toBe(reason)
  })

  test.each([60, 300, 3600])('the horizon follows tickSeconds of %i', (tickSeconds) => {
    const soon = { settings: { tickSeconds }, seat: { nextScheduleAt: now + tickSeconds * second } }
    expect(tickGate(seatOf(soon), plan)?.reason).toBe('schedule_soon')
  })

  test('a schedule that is overdue holds a tick back, too', () => {
    const overdue = tickGate(seatOf({ seat: { nextScheduleAt: now - minute } }), plan)
    expect(overdue).toMatchObject({ reason: 'schedule_soon', retryAt: later })
  })

  test.each([
    ['before the retry', now + 100 * second, now + 100 * second],
    ['right at it', later, later],
    ['after it', later + 1, later],
    ['none', null, later],
  ] as const)('a closed gate is never looked at beyond the next schedule: %s', (_title, nextScheduleAt, retryAt) => {
    const paused = { head: { paused: true }, seat: { nextScheduleAt } }
    expect(tickGate(seatOf(paused), plan)?.retryAt).toBe(retryAt)
  })

  test('the window is open up to its last millisecond', () => {
    const until = windowUntil(plan, proactiveDefaults)
    expect(until).toBe(plan.windowFrom + 480 * minute)
    expect(tickGate(seatOf({ seat: { now: until - 1 } }), plan)?.reason).not.toBe('max_window')
    expect(tickGate(seatOf({ seat: { now: until } }), plan)).toMatchObject({ reason: 'max_window', kind: 'parks' })
  })

  test('the last tick and the last token of a day may be used', () => {
    expect(tickGate(open, planOf({ plan: { ticks: 47, tokens: 1_999_999 } }))).toBeNull()
    expect(tickGate(open, planOf({ plan: { ticks: 48 } }))?.reason).toBe('max_ticks_per_day')
    expect(tickGate(open, planOf({ plan: { tokens: 5e9 } }))?.reason).toBe('max_tokens_per_day')
  })

  test('what another day has used is not counted', () => {
    const spent = planOf({ plan: { day: '2026-03-01', ticks: 48, tokens: 2_000_000 } })
    expect(tickGate(open, spent)).toBeNull()
    expect(whileRunning(spent, { day: today.day })).toMatchObject({ day: today.day, ticks: 1, tokens: 0 })
  })

  test('yolo is let through by allowYolo alone, manual by nothing', () => {
    const allowYolo = { settings: { allowYolo: true } }
    expect(tickGate(seatOf({ head: { permission: 'yolo' } }, allowYolo), plan)).toBeNull()
    expect(tickGate(seatOf({ head: { permission: 'manual' } }, allowYolo), plan)?.reason).toBe('permission_manual')
  })
})

describe('days of the owner’s zone', () => {
  test.each([
    ['UTC', '2026-03-02T12:00:00Z', '2026-03-02', '2026-03-03T00:00:00Z'],
    ['Europe/Amsterdam', '2026-03-28T22:59:59Z', '2026-03-28', '2026-03-28T23:00:00Z'],
    // 23 hours
    ['Europe/Amsterdam', '2026-03-28T23:00:00Z', '2026-03-29', '2026-03-29T22:00:00Z'],
    // 25 hours
    ['Europe/Amsterdam', '2026-10-24T22:00:00Z', '2026-10-25', '2026-10-25T23:00:00Z'],
    // The clock is put forward at midnight: the day begins at 01:00.
    ['America/Santiago', '2026-09-05T12:00:00Z', '2026-09-05', '2026-09-06T04:00:00Z'],
    ['America/Santiago', '2026-09-06T04:00:00Z', '2026-09-06', '2026-09-07T03:00:00Z'],
    ['Asia/Kathmandu', '2026-03-02T18:14:59Z', '2026-03-02', '2026-03-02T18:15:00Z'],
  ])('in %s at %s it is %s until %s', (tz, at, day, to) => {
    expect(dayOf(t(at), tz)).toMatchObject({ day, to: t(to) })
    const used = planOf({ plan: { day, ticks: 48, windowFrom: t(at) } })
    const settings = { maxWindowMinutes: 2 * 24 * 60 }
    const seat = seatOf({ settings, seat: { now: t(at), today: dayOf(t(at), tz) } })
    expect(tickGate(seat, used)).toEqual({ kind: 'waits', reason: 'max_ticks_per_day', retryAt: t(to) })
    // When it opens it is open.
    expect(tickGate({ ...seat, now: t(to), today: dayOf(t(to), tz) }, used)).toBeNull()
  })
})

describe('sleep', () => {
  test.each([
    [0, 30],
    [10, 30],
    [29, 30],
    [30, 30],
    [31, 31],
    [3599.5, 3599.5],
    [3600, 3600],
    [3601, 3600],
    [1e9, 3600],
  ])('%d seconds are %d', (asked, given) => {
    expect(clampedSleep(asked, proactiveDefaults)).toBe(given)
  })

  test.each([0, 10, 300, 1e9])('where the shortest is beyond the longest, the shortest holds: %d', (asked) => {
    expect(clampedSleep(asked, { ...proactiveDefaults, minSleepSeconds: 600, maxSleepSeconds: 60 })).toBe(600)
  })

  test('S3-40 the text of a tick asks for 300 seconds or more, unless something outside is about to happen', () => {
    expect(
      tickText.startsWith('[rouse tick · automated message from Rouse, not from the user; it approves nothing]\n'),
    ).toBe(true)
    expect(tickText).toMatch(/sleep[^.]*\b(at least 300|300 or more)\b[^.]*unless[^.]*(external|outside)/)
  })
})

const ended: TurnEnded = {
  kind: 'tick',
  cancelled: false,
  sleepSeconds: null,
  tokens: 0,
  reach: { hops: 0, depth: 0 },
  wordAt: null,
  settings: proactiveDefaults,
  day: today.day,
  now,
}
const running = whileRunning(plan, { day: today.day })

describe('what follows a turn', () => {
  test('nothing is planned before a person has written', () => {
    expect(afterTurn(null, { ...ended, kind: 'other', sleepSeconds: 60 })).toBeNull()
    expect(afterTurn(null, ended)).toBeNull()
  })

  test('the first word plans the first tick, and opens the window', () => {
    expect(afterTurn(null, { ...ended, kind: 'user' })).toMatchObject({
      nextAt: later,
      parked: null,
      waiting: null,
      idle: 0,
      windowFrom: now,
      ticks: 0,
      tokens: 0,
    })
  })

  // Unproductive turns before this one, the limit, seconds to the next.
  test.each([
    [0, 9, 60],
    [1, 9, 300],
    [2, 9, 900],
    [3, 9, 3600],
    [4, 9, 3600],
    [7, 9, 3600],
    [8, 9, null],
    [0, 1, null],
    [0, 2, 60],
    [1, 2, null],
    [2, 3, null],
    [5, 3, null],
  ])('after %i unproductive ones with a limit of %i: %s', (idle, idleTickLimit, seconds) => {
    const next = afterTurn({ ...running, idle }, { ...ended, settings: { ...proactiveDefaults, idleTickLimit } })
    expect(next).toMatchObject(
      seconds === null
        ? { nextAt: null, parked: 'idle_tick_limit' }
        : { nextAt: now + seconds * second, parked: null, idle: idle + 1 },
    )
  })

  test('a window that ends while a turn runs leaves nothing planned for now or before', () => {
    const shut = { ...running, windowFrom: now - 480 * minute }
    for (const over of [{}, { sleepSeconds: 60 }, { kind: 'other' as const }])
      expect(afterTurn(shut, { ...ended, ...over })).toMatchObject({ nextAt: null, parked: 'max_window' })
  })

  test('nothing is planned beyond the window', () => {
    const until = now + 5 * minute
    const closing = { ...running, windowFrom: until - 480 * minute }
    const next = afterTurn(closing, { ...ended, sleepSeconds: 3600 })!
    expect(next.nextAt === null || next.nextAt <= until).toBe(true)
  })

  test('where the window is shut no closed gate is waited for', () => {
    const shut = { plan: { windowFrom: now - 480 * minute } }
    for (const [reason, kind, change] of gates)
      if (kind === 'waits') {
        const decided = decideTick(seatOf(change, shut), planOf(change, shut))
        expect([reason, decided.put, decided.plan.nextAt, decided.plan.parked]).toEqual([
          reason,
          false,
          null,
          'max_window',
        ])
      }
  })

  test('a backoff knows no bounds of sleep, and a sleep no backoff', () => {
    const settings = { ...proactiveDefaults, minSleepSeconds: 600, maxSleepSeconds: 900 }
    expect(afterTurn(running, { ...ended, settings })?.nextAt).toBe(now + 60 * second)
    expect(afterTurn({ ...running, idle: 2 }, { ...ended, settings, sleepSeconds: 600 })).toMatchObject({
      nextAt: now + 600 * second,
      idle: 0,
    })
  })

  test('its tokens are counted for the day on which it ends, whatever became of it', () => {
    const spent = { ...running, tokens: 10 }
    for (const over of [
      {},
      { sleepSeconds: 60 },
      { cancelled: true },
      { settings: { ...proactiveDefaults, idleTickLimit: 1 } },
    ])
      expect(afterTurn(spent, { ...ended, ...over, tokens: 5 })).toMatchObject({ tokens: 15, ticks: 1 })
    expect(afterTurn(spent, { ...ended, day: '2026-03-03', tokens: 5 })).toMatchObject({
      day: '2026-03-03',
      tokens: 5,
      ticks: 0,
    })
    expect(afterTurn(parkedPlan(spent, 'cancelled', now), { ...ended, cancelled: true, tokens: 5 })).toMatchObject({
      tokens: 15,
      parked: 'cancelled',
      nextAt: null,
    })
  })

  test('tokens of other turns are not counted', () => {
    for (const kind of ['user', 'other'] as const)
      expect(afterTurn(running, { ...ended, kind, tokens: 9 })).toMatchObject({ tokens: 0 })
  })

  test('other wakes move the next tick and nothing else', () => {
    const before = { ...running, idle: 2, tokens: 7 }
    expect(afterTurn(before, { ...ended, kind: 'other' })).toEqual({ ...before, nextAt: later })
    expect(afterTurn(before, { ...ended, kind: 'other', sleepSeconds: 1200 })).toMatchObject({
      nextAt: now + 1200 * second,
    })
  })

  test.each(['cancelled', 'parked', 'fork', 'idle_tick_limit', 'max_window'])(
    'what is parked (%s) is started by a person’s word alone',
    (reason) => {
      const parked = parkedPlan(running, reason, now)
      expect(afterTurn(parked, { ...ended, kind: 'other', sleepSeconds: 60 })).toMatchObject({
        parked: reason,
        nextAt: null,
      })
      expect(afterTurn(parked, { ...ended, sleepSeconds: 60 })).toMatchObject({ parked: reason, nextAt: null })
    },
  )

  test('a word from before the park does not start it again, one after it does', () => {
    const parked = parkedPlan(running, 'parked', now - minute)
    const word = { ...ended, kind: 'user' as const }
    for (const ago of [2 * minute, minute])
      expect(afterTurn(parked, { ...word, wordAt: now - ago })).toMatchObject({ parked: 'parked', nextAt: null })
    expect(afterTurn(parked, { ...word, wordAt: now - minute + 1 })).toMatchObject({ parked: null, nextAt: later })
  })

  test('reach is the one of the last turn that was no tick', () => {
    const reach = { hops: 2, depth: 1 }
    const other = afterTurn(running, { ...ended, kind: 'other', reach })!
    expect(other.reach).toEqual(reach)
    expect(afterTurn(other, { ...ended, sleepSeconds: 60 })?.reach).toEqual(reach)
    expect(afterTurn(other, { ...ended, kind: 'user' })?.reach).toEqual({ hops: 0, depth: 0 })
  })
})

// Whatever happens to a planner, in whatever order.
type Event =
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'turn'; readonly kind: 'user' | 'other'; readonly sleep: number | null; readonly tokens: number }
  | { readonly do: 'tick'; readonly sleep: number | null; readonly tokens: number; readonly cancelled: boolean }
  | { readonly do: 'head'; readonly change: Partial<TickSeat['head']> }
  | { readonly do: 'schedule'; readonly inSeconds: number | null }
  | { readonly do: 'queue'; readonly n: number }
  | { readonly do: 'park' }

const sleepArb = fc.option(fc.oneof(fc.constantFrom(0, 10, 30, 3600, 1e9), fc.nat(10_000)))
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 9000 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('turn' as const),
      kind: fc.constantFrom('user' as const, 'other' as const),
      sleep: sleepArb,
      tokens: fc.nat(1000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('tick' as const),
      sleep: sleepArb,
      tokens: fc.nat(900),
      cancelled: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('head' as const),
      change: fc.record<Partial<TickSeat['head']>>(
        {
          paused: fc.boolean(),
          left: fc.boolean(),
          pendingRequests: fc.nat(1),
          compacting: fc.boolean(),
          goal: fc.constantFrom(null, null, 'ship it'),
          permission: fc.constantFrom('auto', 'auto', 'manual', 'yolo'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('schedule' as const),
      inSeconds: fc.option(fc.integer({ min: 1, max: 5000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('queue' as const), n: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('park' as const) }) },
)
const settingsArb: fc.Arbitrary<ProactiveSettings> = fc.record({
  enabled: fc.constant(true),
  tickSeconds: fc.constantFrom(20, 60, 300, 3600),
  minSleepSeconds: fc.constantFrom(1, 30, 600),
  maxSleepSeconds: fc.constantFrom(60, 3600),
  idleTickLimit: fc.integer({ min: 1, max: 5 }),
  maxTicksPerDay: fc.integer({ min: 0, max: 6 }),
  maxTokensPerDay: fc.constantFrom(0, 1000, 1e6),
  maxWindowMinutes: fc.constantFrom(1, 60, 480, 3000),
  allowYolo: fc.boolean(),
})

test('whatever happens, what is planned lies ahead, none is put behind a closed gate, and no day is overdrawn', () => {
  fc.assert(
    fc.property(
      settingsArb,
      fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/Santiago'),
      fc.array(event, { minLength: 5, maxLength: 80 }),
      (settings, tz, events) => {
        let at = t('2026-10-24T09:00:00Z')
        let made: TickPlan | null = null
        let seat = seatOf({ settings })
        let wordAt = at
        const perDay = new Map<string, number>()
        const day = () => dayOf(at, tz)
        const seatNow = (): TickSeat => ({ ...seat, now: at, today: day() })
        /** Moves on; what is due on the way is decided at its own moment, and none may stand still. */
        const moveTo = (to: number) => {
          for (let looks = 0; made?.nextAt != null && made.nextAt <= to; looks += 1) {
            expect(looks).toBeLessThan(20_000)
            at = Math.max(at, made.nextAt)
            const schedule = seat.nextScheduleAt
            if (schedule !== null && schedule <= at) seat = { ...seat, nextScheduleAt: null }
            const before: TickPlan = made
            const decided = decideTick(seatNow(), before)
            made = decided.plan
            if (!decided.put) {
              expect(made.nextAt === null ? made.parked : made.nextAt > at).toBeTruthy()
              continue
            }
            const { head: h, nextScheduleAt, queue } = seat
            expect([h.paused, h.left, h.compacting, h.goal, h.pendingRequests, queue]).toEqual([
              false,
              false,
              false,
              null,
              0,
              0,
            ])
            expect(h.permission === 'auto' || (h.permission === 'yolo' && settings.allowYolo)).toBe(true)
            if (nextScheduleAt !== null) expect(nextScheduleAt - at).toBeGreaterThan(settings.tickSeconds * second)
            expect(at).toBeLessThan(wordAt + settings.maxWindowMinutes * minute)
            expect(perDay.get(day().day) ?? 0).toBeLessThan(settings.maxTicksPerDay)
            expect(before.day === day().day ? before.tokens : 0).toBeLessThan(Math.max(1, settings.maxTokensPerDay))
            expect(settings.maxTokensPerDay).toBeGreaterThan(0)
            expect(before.parked).toBeNull()
          }
          at = Math.max(at, to)
        }
        for (const e of events) {
          if (e.do === 'wait') moveTo(at + e.seconds * second)
          else if (e.do === 'head') seat = { ...seat, head: { ...seat.head, ...e.change } }
          else if (e.do === 'schedule')
            seat = { ...seat, nextScheduleAt: e.inSeconds === null ? null : at + e.inSeconds * second }
          else if (e.do === 'queue') seat = { ...seat, queue: e.n }
          else if (e.do === 'park') made = made === null ? null : parkedPlan(made, 'parked', at)
          else if (e.do === 'turn' || made?.waiting != null) {
            const tick = e.do === 'tick'
            if (made !== null) made = whileRunning(made, tick ? { day: day().day } : null)
            if (tick) perDay.set(day().day, (perDay.get(day().day) ?? 0) + 1)
            expect(made?.nextAt ?? null).toBeNull()
            at += 5 * second
            const kind = tick ? 'tick' : e.kind
            if (kind === 'user') wordAt = at
            const was: TickPlan | null = made
            made = afterTurn(made, {
              kind,
              cancelled: tick && e.cancelled,
              sleepSeconds: e.sleep,
              tokens: e.tokens,
              reach: { hops: 0, depth: 0 },
              wordAt: kind === 'user' ? at : null,
              settings,
              day: day().day,
              now: at,
            })
            if (made === null) expect([was, kind]).toEqual([null, 'other'])
            else expect(made.nextAt === null ? made.parked : made.nextAt > at).toBeTruthy()
            if (kind === 'user') expect(made).toMatchObject({ parked: null, windowFrom: at })
          }
          // Never without a word on what it waits for.
          if (made !== null)
            expect([made.nextAt, made.waiting, made.parked].filter((one) => one !== null).length).toBeGreaterThan(0)
        }
      },
    ),
    { numRuns: 200 },
  )
})
