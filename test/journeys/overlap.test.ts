import { expect, test } from 'vitest'
import {
  agentWithSession,
  claim,
  create,
  end,
  instant,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  say,
  schedule,
  turnOf,
} from './actors.ts'
import { type Json, onClock } from './node.ts'

onClock('what happens when the previous run is not over', '2026-03-02T09:00:00Z', (rouse) => {
  /** A schedule every 10 minutes whose first run has begun. */
  async function running(
    overlap?: string,
    more: Json = {},
  ): Promise<{ session: Json; made: Json; turn: Json; start: string }> {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const body = { session: session.id, every: '10m', ...(overlap === undefined ? {} : { overlap }), ...more }
    const made = await schedule(rouse, body)
    await moveBy(rouse, '10m')
    return { session, made, turn: (await turnOf(rouse, session.id)).turn, start }
  }

  for (const overlap of [undefined, 'buffer', 'allow'])
    test(`overlap ${overlap ?? 'left out'}: one prompt waits as the next turn, and no more`, async () => {
      const { session, made, turn, start } = await running(overlap)
      expect(made.overlap).toBe(overlap ?? 'buffer')
      await moveTo(rouse, instant(start, 40))
      expect(await runs(rouse, made.id)).toMatchObject([
        { outcome: 'fired', turn: turn.id },
        { outcome: 'fired', nominalAt: instant(start, 20), turn: null },
        { outcome: 'skipped', reason: 'previous_waiting' },
        { outcome: 'skipped', reason: 'previous_waiting' },
      ])
      expect(await claim(rouse, session.id)).toBeNull()
      await end(rouse, turn.id)
      expect((await turnOf(rouse, session.id)).message.at).toBe(instant(start, 20))
    })

  test('overlap skip: no prompt while the turn of the previous one runs', async () => {
    const { session, made, turn, start } = await running('skip')
    await moveTo(rouse, instant(start, 30))
    const found = await runs(rouse, made.id)
    expect(found.map(({ outcome }) => outcome)).toEqual(['fired', 'skipped', 'skipped'])
    for (const { reason } of found.slice(1)) expect(reason).toMatch(/^previous_/)
    await end(rouse, turn.id)
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, instant(start, 40))
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'fired', missed: 0 })
  })

  test('overlap skip looks only at the previous run of the schedule itself', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'long work')
    await turnOf(rouse, session.id)
    const made = await schedule(rouse, { session: session.id, every: '10m', overlap: 'skip' })
    await moveBy(rouse, '10m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
  })

  test('overlap cancel: the running turn is flagged, and the new prompt comes when it ends', async () => {
    const { session, made, turn, start } = await running('cancel')
    await moveTo(rouse, instant(start, 20))
    expect(await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})).toMatchObject({ cancelled: true })
    expect(await claim(rouse, session.id)).toBeNull()
    await end(rouse, turn.id, { outcome: 'failed' })
    expect((await turnOf(rouse, session.id)).message.at).toBe(instant(start, 20))
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'fired', result: 'failed', reason: 'cancelled_by_overlap', turn: turn.id },
      { outcome: 'fired', nominalAt: instant(start, 20) },
    ])
  })

  test('overlap cancel: the new prompt comes when the lease of the running turn ends', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    await schedule(rouse, { session: session.id, every: '10m', overlap: 'cancel' })
    await moveBy(rouse, '10m')
    await claim(rouse, session.id, { leaseSeconds: 900 })
    await moveTo(rouse, instant(start, 20))
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, instant(start, 25))
    expect((await turnOf(rouse, session.id)).message.at).toBe(instant(start, 20))
  })

  test('overlap cancel: a heartbeat that is held answers at once', async () => {
    const { turn } = await running('cancel')
    const since = Date.now()
    const held = rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, { wait: 20 })
    await moveBy(rouse, '10m')
    expect((await held).cancelled).toBe(true)
    expect(Date.now() - since).toBeLessThan(5_000)
  })

  test('a word that no overlap policy has is refused', async () => {
    const { session } = await agentWithSession(rouse)
    const answer = await create(rouse, { session: session.id, every: '10m', overlap: 'queue' })
    expect([answer.status, answer.body.code]).toEqual([422, 'body_invalid'])
  })

  test('a run that fired and whose turn failed is fired, failed', async () => {
    const { made, turn } = await running()
    await end(rouse, turn.id, { outcome: 'failed' })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', result: 'failed' }])
  })

  test('a turn whose lease ran out ends as unknown, and its message is not handed out again', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 10) })
    await moveBy(rouse, '10m')
    await claim(rouse, session.id, { leaseSeconds: 60 })
    await moveBy(rouse, '2m')
    expect(await claim(rouse, session.id)).toBeNull()
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', result: 'unknown' }])
    expect(await prompts(rouse, session.id)).toMatchObject([{ status: 'taken' }])
  })

  test('onUnknown retry hands the message out once more, and only once', async () => {
    const { session } = await agentWithSession(rouse)
    const at = instant(await now(rouse), 10)
    const made = await schedule(rouse, { session: session.id, at, onUnknown: 'retry' })
    await moveBy(rouse, '10m')
    const first = await claim(rouse, session.id, { leaseSeconds: 60 })
    await moveBy(rouse, '2m')
    const second = await claim(rouse, session.id, { leaseSeconds: 60 })
    expect(second.message.text).toBe(first.message.text)
    expect(second.turn.id).not.toBe(first.turn.id)
    await moveBy(rouse, '2m')
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await runs(rouse, made.id)).map(({ trigger }) => trigger)).toEqual(['slot', 'retry'])
  })
})

onClock('limits that a schedule sets itself', '2026-03-02T09:00:00Z', (rouse) => {
  /** Lets so many times of a 10 minute schedule pass, ending each turn as told; answers the outcomes. */
  async function live(made: Json, outcomes: string[]): Promise<void> {
    for (const outcome of outcomes) {
      await moveBy(rouse, '10m')
      const taken = await claim(rouse, made.session)
      if (taken !== null) await end(rouse, taken.turn.id, { outcome })
    }
  }

  async function every(more: Json): Promise<Json> {
    const { session } = await agentWithSession(rouse)
    return schedule(rouse, { session: session.id, every: '10m', ...more })
  }

  test('maxRuns counts fired times, and the schedule is done after the last', async () => {
    const made = await every({ maxRuns: 3 })
    await live(made, ['ok', 'failed', 'ok', 'ok'])
    expect(await runs(rouse, made.id)).toHaveLength(3)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null, maxRuns: 3 })
  })

  test('maxRuns counts a catch-up once and a skipped time not at all', async () => {
    const made = await every({ maxRuns: 2 })
    await moveBy(rouse, '35m', { down: true })
    await moveBy(rouse, '20m')
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).toEqual(['fired', 'skipped', 'skipped'])
    expect((await read(rouse, made.id)).status).toBe('active')
    await end(rouse, (await turnOf(rouse, made.session)).turn.id)
    await moveBy(rouse, '10m')
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done' })
  })

  test('a run by hand does not count toward maxRuns', async () => {
    const made = await every({ maxRuns: 1 })
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`)
    await end(rouse, (await turnOf(rouse, made.session)).turn.id)
    expect((await read(rouse, made.id)).status).toBe('active')
    await live(made, ['ok', 'ok'])
    expect((await runs(rouse, made.id)).map(({ trigger }) => trigger)).toEqual(['manual', 'slot'])
    expect((await read(rouse, made.id)).status).toBe('done')
  })

  test('until is inclusive, and the schedule is done after it', async () => {
    const start = await now(rouse)
    const made = await every({ until: instant(start, 20) })
    expect(made.next).toHaveLength(2)
    await live(made, ['ok', 'ok', 'ok'])
    expect((await runs(rouse, made.id)).map(({ nominalAt }) => nominalAt)).toEqual([
      instant(start, 10),
      instant(start, 20),
    ])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
  })

  test('until before the first time leaves a time that never comes', async () => {
    const { session } = await agentWithSession(rouse)
    const answer = await create(rouse, { session: session.id, every: '1h', until: instant(await now(rouse), 30) })
    expect([answer.status, answer.body.code]).toEqual([422, 'schedule_invalid'])
  })

  test('pauseAfterFailures pauses after so many failures in a row', async () => {
    const made = await every({ pauseAfterFailures: 2 })
    await live(made, ['failed', 'ok', 'failed'])
    expect((await read(rouse, made.id)).status).toBe('active')
    await live(made, ['failed'])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'paused', nextAt: null })
    await live(made, ['ok'])
    expect(await runs(rouse, made.id)).toHaveLength(4)
  })

  test('a turn that ends as unknown counts as a failure, a resume starts the count again', async () => {
    const made = await every({ pauseAfterFailures: 2 })
    await live(made, ['failed'])
    await moveBy(rouse, '10m')
    await claim(rouse, made.session, { leaseSeconds: 60 })
    await moveBy(rouse, '5m')
    expect((await read(rouse, made.id)).status).toBe('paused')
    await rouse.ok('POST', `/v1/schedules/${made.id}/resume`, {})
    await live(made, ['failed'])
    expect((await read(rouse, made.id)).status).toBe('active')
  })

  test('jitter only delays, by the same share each time, and is not in the times that are shown', async () => {
    const start = await now(rouse)
    const made = await every({ jitter: '5m' })
    expect([made.nextAt, made.next[0].at]).toEqual([instant(start, 10), instant(start, 10)])
    for (let n = 0; n < 4; n += 1) {
      await moveTo(rouse, instant(start, 10 * (n + 2)))
      const taken = await claim(rouse, made.session)
      if (taken !== null) await end(rouse, taken.turn.id)
    }
    const found = await runs(rouse, made.id)
    expect(found.length).toBeGreaterThanOrEqual(4)
    const delays = found.map(({ nominalAt, at }) => Date.parse(at) - Date.parse(nominalAt))
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(delay).toBeLessThanOrEqual(300_000)
    }
    expect(Math.max(...delays)).toBeGreaterThan(0)
    expect(new Set(delays).size).toBeGreaterThan(1)
    expect(found.map(({ missed }) => missed)).toEqual(found.map(() => 0))
    expect(found.slice(0, 4).map(({ nominalAt }) => nominalAt)).toEqual([10, 20, 30, 40].map((m) => instant(start, m)))
  })

  test('jitter is cut before the next time', async () => {
    const start = await now(rouse)
    const made = await every({ jitter: '3h' })
    for (let n = 1; n <= 5; n += 1) {
      await moveTo(rouse, instant(start, 10 * (n + 1)))
      const taken = await claim(rouse, made.session)
      if (taken !== null) await end(rouse, taken.turn.id)
    }
    for (const { nominalAt, at } of (await runs(rouse, made.id)).slice(0, 5)) {
      expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(nominalAt))
      expect(Date.parse(at)).toBeLessThan(Date.parse(nominalAt) + 600_000)
    }
  })
})

onClock('times run afterwards on request', '2026-03-02T09:00:00Z', (rouse) => {
  test('a backfill runs the times of a stretch that did not fire, oldest first, one at a time', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m', misfire: 'skip', maxRuns: 50 })
    await moveTo(rouse, instant(start, 10))
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveTo(rouse, instant(start, 45), { down: true })
    const before = await read(rouse, made.id)
    const answer = await rouse.call('POST', `/v1/schedules/${made.id}/backfill`, {
      from: start,
      to: instant(start, 45),
    })
    expect([answer.status, answer.body]).toEqual([202, { runs: 3 }])
    for (const minute of [20, 30, 40]) {
      const { turn, message } = await turnOf(rouse, session.id)
      expect(message.kind).toBe('schedule')
      expect(await claim(rouse, session.id)).toBeNull()
      await end(rouse, turn.id)
      const filled = (await runs(rouse, made.id)).filter(
        ({ trigger, result }) => trigger === 'backfill' && result === 'ok',
      )
      expect(filled.map(({ nominalAt }) => nominalAt).at(-1)).toBe(instant(start, minute))
    }
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await read(rouse, made.id)).nextAt).toBe(before.nextAt)
    const again = await rouse.ok('POST', `/v1/schedules/${made.id}/backfill`, { from: start, to: instant(start, 45) })
    expect(again).toEqual({ runs: 0 })
  })

  test('a backfill takes at most 100 times and leaves maxRuns alone', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '5m', misfire: 'skip', maxRuns: 1 })
    await moveTo(rouse, instant(start, 602), { down: true })
    const { status, body } = await rouse.call('POST', `/v1/schedules/${made.id}/backfill`, {
      from: start,
      to: instant(start, 602),
    })
    if (status === 202) expect(body.runs).toBe(100)
    else expect([status, body.code]).toEqual([422, expect.any(String)])
    expect((await read(rouse, made.id)).status).toBe('active')
  })
})
