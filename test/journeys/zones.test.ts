import { expect, test } from 'vitest'
import { agentWithSession, claim, end, moveTo, prompts, read, runs, schedule, turnOf } from './actors.ts'
import { type Json, onClock } from './node.ts'

const tz = 'Europe/Amsterdam'

// The days stand in the order of the calendar, since the clock of the group only goes forward.
onClock('times in a zone', '2026-03-27T12:00:00Z', (rouse) => {
  const preview = (body: Json) => rouse.ok('POST', '/v1/schedules/preview', body)

  test('S2-37 times follow the zone of the schedule, daylight saving included', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz })
    expect(made.next).toEqual([
      { at: '2026-03-28T07:00:00.000Z', local: '2026-03-28T08:00:00+01:00[Europe/Amsterdam]', adjusted: null },
      { at: '2026-03-29T06:00:00.000Z', local: '2026-03-29T08:00:00+02:00[Europe/Amsterdam]', adjusted: null },
      { at: '2026-03-30T06:00:00.000Z', local: '2026-03-30T08:00:00+02:00[Europe/Amsterdam]', adjusted: null },
    ])
    await moveTo(rouse, '2026-03-28T07:00:00Z')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveTo(rouse, '2026-03-29T05:59:59Z')
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, '2026-03-29T06:00:00Z')
    expect((await turnOf(rouse, session.id)).message.at).toBe('2026-03-29T06:00:00.000Z')
  })

  test('S2-39 clock back: a time that occurs twice runs once, at the first', async () => {
    await moveTo(rouse, '2026-10-24T12:00:00Z')
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '30 2 * * *', tz })
    expect(made.next[0]).toEqual({
      at: '2026-10-25T00:30:00.000Z',
      local: '2026-10-25T02:30:00+02:00[Europe/Amsterdam]',
      adjusted: 'fold',
    })
    await moveTo(rouse, '2026-10-25T00:30:00Z')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveTo(rouse, '2026-10-25T23:00:00Z')
    expect(await runs(rouse, made.id)).toMatchObject([{ nominalAt: '2026-10-25T00:30:00.000Z', outcome: 'fired' }])
    expect((await read(rouse, made.id)).nextAt).toBe('2026-10-26T01:30:00.000Z')
  })

  test('a rule of half hours pauses for the repeated hour, and the preview says so', async () => {
    const told = await preview({ cron: '*/30 * * * *', tz, from: '2026-10-24T23:45:00Z', count: 5 })
    expect(told.next.map((time: { at: string }) => time.at)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T02:00:00.000Z',
      '2026-10-25T02:30:00.000Z',
      '2026-10-25T03:00:00.000Z',
    ])
    expect(told.next.map((time: { adjusted: string }) => time.adjusted)).toEqual(['fold', 'fold', null, null, null])
    expect(told.notes.length).toBeGreaterThan(0)
  })

  test('an interval counts elapsed time, also over the repeated hour', async () => {
    const told = await preview({ at: '2026-10-25T02:00', every: '30m', tz, from: '2026-10-24T12:00:00Z', count: 4 })
    expect(told.next.map((time: { at: string }) => time.at)).toEqual(
      ['00:00', '00:30', '01:00', '01:30'].map((time) => `2026-10-25T${time}:00.000Z`),
    )
  })

  test('an offset in the time wins over the zone', async () => {
    const told = await preview({ at: '2026-11-06T10:00:00-05:00', tz: 'Europe/Oslo', from: '2026-10-26T00:00:00Z' })
    expect(told.next).toEqual([
      { at: '2026-11-06T15:00:00.000Z', local: '2026-11-06T16:00:00+01:00[Europe/Oslo]', adjusted: null },
    ])
  })

  test('old names of zones are taken, and every answer shows the zone', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz: 'Asia/Calcutta' })
    expect(made.nextAt).toMatch(/T02:30:00\.000Z$/)
    expect(made.next[0].local).toMatch(/T08:00:00\+05:30\[Asia\/(Calcutta|Kolkata)\]$/)
    const { data } = await rouse.ok('GET', `/v1/schedules?session=${session.id}`)
    expect(data[0].tz).toMatch(/^Asia\/(Calcutta|Kolkata)$/)
  })

  test('S2-38 clock forward: a time in the gap runs once, right after it', async () => {
    await moveTo(rouse, '2027-03-27T12:00:00Z')
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '30 2 * * *', tz })
    expect(made.next[0]).toEqual({
      at: '2027-03-28T01:00:00.000Z',
      local: '2027-03-28T03:00:00+02:00[Europe/Amsterdam]',
      adjusted: 'gap',
    })
    await moveTo(rouse, '2027-03-28T00:59:59Z')
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, '2027-03-28T01:00:00Z')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveTo(rouse, '2027-03-28T23:00:00Z')
    expect(await runs(rouse, made.id)).toMatchObject([
      { nominalAt: '2027-03-28T01:00:00.000Z', outcome: 'fired', missed: 0 },
    ])
    expect((await read(rouse, made.id)).nextAt).toBe('2027-03-29T00:30:00.000Z')
  })
})

onClock('the gap in Amsterdam on 2026-03-29', '2026-03-28T00:00:00Z', (rouse) => {
  test('several times in the gap and the first real one after it are one run', async () => {
    const made = []
    for (const cron of ['0,30 2 * * *', '0 2,3 * * *', '30 2 * * *']) {
      const { session } = await agentWithSession(rouse)
      made.push({ session, made: await schedule(rouse, { session: session.id, cron, tz, overlap: 'allow' }) })
    }
    const { session: last } = await agentWithSession(rouse)
    const once = await schedule(rouse, { session: last.id, at: '2026-03-29T02:30', tz })
    expect(once.next).toMatchObject([{ at: '2026-03-29T01:00:00.000Z', adjusted: 'gap' }])
    // The day before has its own times; they are taken, so that they stop nothing.
    for (const time of ['2026-03-28T01:00:00Z', '2026-03-28T01:30:00Z', '2026-03-28T02:00:00Z']) {
      await moveTo(rouse, time)
      for (const { session } of made) {
        const taken = await claim(rouse, session.id)
        if (taken !== null) await end(rouse, taken.turn.id)
      }
    }
    await moveTo(rouse, '2026-03-29T12:00:00Z')
    for (const one of [...made.map(({ made }) => made), once]) {
      const onTheDay = (await runs(rouse, one.id)).filter(({ at }) => at >= '2026-03-28T23:00:00.000Z')
      expect(onTheDay).toMatchObject([
        { nominalAt: '2026-03-29T01:00:00.000Z', at: '2026-03-29T01:00:00.000Z', outcome: 'fired', missed: 0 },
      ])
    }
    expect(await prompts(rouse, last.id)).toHaveLength(1)
  })
})
