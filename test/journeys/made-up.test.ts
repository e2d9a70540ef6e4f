import { expect, test } from 'vitest'
import {
  agentWithSession,
  claim,
  end,
  instant,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  schedule,
  turnOf,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('times missed while Rouse was down', '2026-01-05T06:00:00Z', (rouse) => {
  test('S0-16 a missed time is made up exactly once when Rouse is back', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(start, 60) })
    await moveBy(rouse, '3h', { down: true })
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect(await runs(rouse, made.id)).toMatchObject([
      {
        trigger: 'catch_up',
        nominalAt: instant(start, 60),
        missedFrom: instant(start, 60),
        missed: 1,
        at: instant(start, 180),
        outcome: 'fired',
      },
    ])
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '2h')
    await moveBy(rouse, '2h', { down: true })
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done' })
  })

  test('S0-17 many missed intervals give one prompt', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await moveBy(rouse, '25h', { down: true })
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect(await runs(rouse, made.id)).toMatchObject([
      {
        trigger: 'catch_up',
        outcome: 'fired',
        missed: 150,
        missedFrom: instant(start, 10),
        nominalAt: instant(start, 1500),
      },
    ])
  })

  test('S0-18 after the make-up the grid has not shifted', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '45m' })
    await moveBy(rouse, '100m', { down: true })
    expect((await read(rouse, made.id)).nextAt).toBe(instant(start, 135))
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveTo(rouse, instant(start, 134))
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, instant(start, 135))
    expect((await turnOf(rouse, session.id)).message.at).toBe(instant(start, 135))
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ trigger: 'slot', missed: 0 })
  })

  test('S2-40 a rule whose runs were missed runs once when Rouse is back', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz: 'Europe/Amsterdam' })
    await moveBy(rouse, '4d', { down: true })
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect((await runs(rouse, made.id)).map((run) => run.trigger)).toEqual(['catch_up'])
  })

  test('S2-41 the make-up records how many were missed, its own included', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    await moveBy(rouse, '1h', { down: true })
    // On time: the clock stands at the very time when Rouse is back.
    expect(await runs(rouse, made.id)).toMatchObject([{ missed: 0, trigger: 'slot' }])
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '90m', { down: true })
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ missed: 1, nominalAt: instant(start, 120) })
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '5h', { down: true })
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({
      missed: 5,
      missedFrom: instant(start, 180),
      nominalAt: instant(start, 420),
      at: instant(start, 450),
    })
  })

  test('S2-42 the next run is then counted from now', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz: 'UTC' })
    const back = '2026-01-20T12:00:00Z'
    await moveTo(rouse, back, { down: true })
    const after = await read(rouse, made.id)
    expect(after.nextAt).toBe('2026-01-21T08:00:00.000Z')
    expect(after.next.map((time: { at: string }) => time.at)).toEqual(
      [21, 22, 23].map((day) => `2026-01-${day}T08:00:00.000Z`),
    )
  })

  test('a daily schedule off for a week gives one run that missed 7', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const daily = await schedule(rouse, { session: session.id, cron: '0 9 * * *', tz: 'UTC' })
    const other = await agentWithSession(rouse)
    const every = await schedule(rouse, { session: other.session.id, every: '7h' })
    await moveBy(rouse, '7d', { down: true })
    expect(await runs(rouse, daily.id)).toMatchObject([{ trigger: 'catch_up', outcome: 'fired', missed: 7 }])
    expect((await runs(rouse, daily.id))[0].missedFrom).toBe('2026-01-21T09:00:00.000Z')
    expect(await runs(rouse, every.id)).toMatchObject([{ missed: 24, nominalAt: instant(start, 24 * 7 * 60) }])
    expect((await read(rouse, every.id)).nextAt).toBe(instant(start, 25 * 7 * 60))
  })

  test('misfire skip: missed times get a row and no prompt, and the next one runs', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h', misfire: 'skip' })
    await moveBy(rouse, '150m', { down: true })
    const rows = await runs(rouse, made.id)
    expect(rows).toMatchObject([{ missed: 2, missedFrom: instant(start, 60), nominalAt: instant(start, 120) }])
    expect(rows[0].outcome).not.toBe('fired')
    expect(await prompts(rouse, session.id)).toEqual([])
    await moveBy(rouse, '30m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({
      outcome: 'fired',
      missed: 0,
      nominalAt: instant(start, 180),
    })
  })

  test('misfire within: a time not older than that is made up, an older one is not', async () => {
    const young = await agentWithSession(rouse)
    const old = await agentWithSession(rouse)
    const start = await now(rouse)
    const misfire = { within: '30m' }
    const kept = await schedule(rouse, { session: young.session.id, at: instant(start, 40), misfire })
    const lost = await schedule(rouse, { session: old.session.id, at: instant(start, 20), misfire })
    expect(kept.misfire).toEqual(expect.objectContaining({ within: expect.anything() }))
    await moveBy(rouse, '1h', { down: true })
    expect(await runs(rouse, kept.id)).toMatchObject([{ outcome: 'fired', trigger: 'catch_up', missed: 1 }])
    expect(await prompts(rouse, old.session.id)).toEqual([])
    expect(await runs(rouse, lost.id)).toHaveLength(1)
    expect(await read(rouse, lost.id)).toMatchObject({ nextAt: null })
  })

  test('up to 60 seconds after its time a run is on time, after that it is late', async () => {
    const prompt = await agentWithSession(rouse)
    const late = await agentWithSession(rouse)
    const start = await now(rouse)
    const at = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString()
    const onTime = await schedule(rouse, { session: prompt.session.id, at: at(600), misfire: 'skip' })
    const missed = await schedule(rouse, { session: late.session.id, at: at(599), misfire: 'skip' })
    await moveTo(rouse, at(660), { down: true })
    expect(await runs(rouse, onTime.id)).toMatchObject([{ outcome: 'fired', missed: 0 }])
    expect(await prompts(rouse, late.session.id)).toEqual([])
    expect(await runs(rouse, missed.id)).toMatchObject([{ missed: 1 }])
  })

  test('each time of an active schedule is covered by exactly one run row', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await moveBy(rouse, '35m')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '40m', { down: true })
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '25m')
    const covered: string[] = []
    for (const run of await runs(rouse, made.id)) {
      const first = run.missed === 0 ? run.nominalAt : run.missedFrom
      for (let at = Date.parse(first); at <= Date.parse(run.nominalAt); at += 600_000)
        covered.push(new Date(at).toISOString())
      expect(Math.max(1, run.missed)).toBe((Date.parse(run.nominalAt) - Date.parse(first)) / 600_000 + 1)
    }
    expect(covered).toEqual(Array.from({ length: 10 }, (_, n) => instant(start, 10 * (n + 1))))
  })
})
