import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hour, start } from '../engine/room.ts'
import { iso } from './watch.ts'
import { Week } from './week.ts'

/**
 * A week of sessions whose people, workers and machine do as they like. ROUSE_SIMULATION=full makes it a thousand sessions;
 * SIMULATION_SEED another week.
 */
const isFull = process.env.ROUSE_SIMULATION === 'full'
const sessions = isFull ? 1_000 : 120
const seed = Number(process.env.SIMULATION_SEED ?? 20_260_302)
const days = 7
const minutesMax = isFull ? 30 : 3

const waitsFor = [
  'turn_running',
  'paused',
  'agent_left',
  'queue',
  'pending_requests',
  'compacting',
  'goal',
  'schedule_soon',
  'permission_manual',
  'permission_yolo',
  'max_ticks_per_day',
  'max_tokens_per_day',
  'not_claimed',
  'next_turn',
]
const parks = ['no_input', 'fork', 'cancelled', 'parked', 'idle_tick_limit', 'max_window']
const offs = ['disabled', 'not_main', 'child_session', 'session_archived', 'switch_off']

describe(`a week of ${sessions} sessions (seed ${seed})`, () => {
  let week: Week
  const stuck: string[] = []
  const miscounted: string[] = []
  beforeAll(async () => {
    week = new Week(seed)
    await week.prepare(sessions)
    for (let day = 1; day <= days; day += 1) {
      // Not at midnight of anybody, where counts begin anew.
      await week.run(start + day * 24 * hour - 7.3 * hour)
      for (const { seat, view } of await week.views()) {
        const says = `${seat.id}: ${view.state} ${view.reason} ${view.nextAt === null ? null : iso(view.nextAt)}`
        const { state, reason, nextAt } = view
        const isWell =
          (state === 'off' && offs.includes(reason!) && nextAt === null) ||
          (state === 'parked' && parks.includes(reason!) && nextAt === null) ||
          (state === 'running' && nextAt === null) ||
          (state === 'armed' && reason === null && nextAt !== null && nextAt > week.now) ||
          (state === 'waiting' && waitsFor.includes(reason!) && (nextAt === null || nextAt > week.now))
        if (!isWell) stuck.push(`${week.describe()} ${says}`)
        const used = week.watch.usedToday(week.watch.heads.get(seat.conv)!)
        if (view.today.ticks !== used.ticks || view.today.tokens !== used.tokens)
          miscounted.push(`${week.describe()} ${says}: ${JSON.stringify([view.today, used])}`)
      }
    }
    if (isFull) process.stderr.write(`${JSON.stringify({ ...week.watch.counts, died: week.watch.deaths.count })}\n`)
  }, minutesMax * 60_000)
  afterAll(() => week.close())

  test('enough happened for it to mean something', () => {
    const { put, begun, dropped, words, parked } = week.watch.counts
    expect(Math.min(put / 10, begun / 10, words, dropped, parked)).toBeGreaterThan(sessions / 4)
    expect(week.watch.deaths.count).toBeGreaterThan(sessions / 4)
    expect(begun + dropped).toBeLessThanOrEqual(put)
  })

  test('no tick is put behind a closed gate, no budget is passed, and a person always wins', () => {
    expect(week.watch.broken, week.describe()).toEqual([])
  })

  test('no tick begins behind a gate that closed while it waited', () => {
    expect(week.watch.begunLate, week.describe()).toEqual([])
  })

  test('no planner is stuck without a reason', () => {
    expect(stuck).toEqual([])
  })

  test('what a day has used is told as it was', () => {
    expect(miscounted).toEqual([])
  })

  test('nothing went wrong on the way', () => {
    expect(week.errors, week.describe()).toEqual([])
  })
})
