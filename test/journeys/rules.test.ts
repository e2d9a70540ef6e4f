import { expect, test } from 'vitest'
import {
  agentWithSession,
  all,
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
  schedule,
  turnOf,
} from './actors.ts'
import { type Json, onClock } from './node.ts'

const times = (body: Json): string[] => body.next.map((time: { at: string }) => time.at)

onClock('rules', '2026-03-02T09:00:30Z', (rouse) => {
  const preview = (body: Json) => rouse.call('POST', '/v1/schedules/preview', body)

  /** Each body must be refused with the code, and none of them stored. */
  async function refused(bodies: Json[], code: string): Promise<Json[]> {
    const { session } = await agentWithSession(rouse)
    const answers = []
    for (const body of bodies) {
      const answer = await create(rouse, { session: session.id, ...body })
      expect([body, answer.status, answer.body.code]).toEqual([body, 422, code])
      expect(answer.headers.get('content-type')).toContain('application/problem+json')
      answers.push(answer.body)
    }
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    return answers
  }

  test('S2-3 cron has five fields: minute, hour, day of month, month, weekday', async () => {
    const { session } = await agentWithSession(rouse)
    const weekdays = await schedule(rouse, { session: session.id, cron: '0 8 * * 1-5' })
    expect(times(weekdays)).toEqual(['03', '04', '05'].map((day) => `2026-03-${day}T08:00:00.000Z`))
    const { body } = await preview({ cron: '0 8 * * 1-5', count: 6, from: '2026-03-05T12:00:00Z' })
    expect(times(body)).toEqual(['06', '09', '10', '11', '12', '13'].map((day) => `2026-03-${day}T08:00:00.000Z`))
    const fields = await preview({ cron: '7 9 11 4 *', count: 1 })
    expect(times(fields.body)).toEqual(['2026-04-11T09:07:00.000Z'])
    await refused([{ cron: '0 8 * *' }, { cron: '0 0 8 * * 1' }, { cron: '' }], 'schedule_invalid')
  })

  test('S2-4 an RRULE in calendar format is taken', async () => {
    const { session } = await agentWithSession(rouse)
    const rrule = 'FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0'
    const made = await schedule(rouse, { session: session.id, rrule, tz: 'Europe/Amsterdam' })
    expect(times(made)).toEqual(['2026-03-04T08:00:00.000Z', '2026-03-09T08:00:00.000Z', '2026-03-11T08:00:00.000Z'])
    await moveTo(rouse, '2026-03-04T08:00:00Z')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })

  test('S2-5 an RRULE that equals a cron shows it, one that has none is kept as it is', async () => {
    const { session } = await agentWithSession(rouse)
    const equal = 'FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0'
    const made = await schedule(rouse, { session: session.id, rrule: equal })
    expect((await read(rouse, made.id)).cronEquivalent).toMatch(/^0 9 \* \* (1,3|MON,WED)$/i)
    for (const rrule of [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0',
      'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=9;BYMINUTE=0',
      'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;COUNT=5',
      'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20260401T090000Z',
    ]) {
      const kept = await schedule(rouse, { session: session.id, rrule })
      expect([rrule, kept.rrule.includes(rrule), kept.cron, kept.cronEquivalent]).toEqual([rrule, true, null, null])
    }
  })

  test('S2-6 once takes a local time in the zone', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: '2026-11-02T09:00', tz: 'Europe/Amsterdam' })
    expect(made.next).toEqual([
      { at: '2026-11-02T08:00:00.000Z', local: '2026-11-02T09:00:00+01:00[Europe/Amsterdam]', adjusted: null },
    ])
    const summer = await schedule(rouse, { session: session.id, at: '2026-07-02T09:00', tz: 'Europe/Amsterdam' })
    expect(summer.nextAt).toBe('2026-07-02T07:00:00.000Z')
  })

  test('S2-7 a one-time schedule runs once and is then shown as done', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 10) })
    expect(made.status).toBe('active')
    await moveBy(rouse, '1d')
    expect(await runs(rouse, made.id)).toHaveLength(1)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null, next: [] })
    const done = await all(rouse, `/v1/schedules?session=${session.id}&status=done`)
    expect(done.map(({ id }) => id)).toEqual([made.id])
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await claim(rouse, session.id)).toBeNull()
  })

  test('S2-8 a time or a zone that is not valid is schedule_invalid', async () => {
    await refused(
      [
        { at: '2026-13-01T09:00' },
        { at: '2026-02-30T09:00' },
        { at: '2026-11-02T25:00' },
        { at: 'tomorrow' },
        { at: '2026-01-02T09:00' },
        { at: '2026-11-02T09:00', tz: 'Europe/Amsterdm' },
        { at: '2026-11-02T09:00', tz: 'CDT' },
        { at: '2026-11-02T09:00', tz: '' },
        { cron: '0 8 * * *', tz: 'Mars/Olympus' },
        { cron: '61 8 * * *' },
        { cron: '0 8 * 13 *' },
        { cron: '0 0 30 2 *' },
        { rrule: 'FREQ=SOMETIMES' },
        { rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' },
        { every: 'often' },
      ],
      'schedule_invalid',
    )
  })

  test('S2-9 of an invalid time nothing is saved', async () => {
    const { session } = await agentWithSession(rouse)
    const kept = await schedule(rouse, { session: session.id, cron: '0 8 * * *' })
    const before = await all(rouse, '/v1/schedules')
    expect((await create(rouse, { session: session.id, at: '2026-02-30T09:00' })).status).toBe(422)
    expect((await create(rouse, { session: session.id, cron: '0 8 * * *', tz: 'Nowhere' })).status).toBe(422)
    const edits = [{ tz: 'Nowhere' }, { cron: '0 8 * 13 *', name: 'changed' }, { at: '2020-01-01T00:00' }]
    for (const edit of edits) {
      const answer = await rouse.call('PATCH', `/v1/schedules/${kept.id}`, edit)
      expect([edit, answer.status, answer.body.code]).toEqual([edit, 422, 'schedule_invalid'])
    }
    expect(await all(rouse, '/v1/schedules')).toEqual(before)
    expect(await read(rouse, kept.id)).toEqual(kept)
  })

  test('S2-10 cron and RRULE schedules may run every 30 minutes', async () => {
    const { session } = await agentWithSession(rouse)
    for (const rule of [
      { cron: '*/30 * * * *' },
      { cron: '0,30 * * * *' },
      { cron: '15,45 8-17 * * 1-5' },
      { rrule: 'FREQ=MINUTELY;INTERVAL=30' },
      { rrule: 'FREQ=HOURLY;BYMINUTE=0,30' },
    ])
      expect([rule, (await create(rouse, { session: session.id, ...rule })).status]).toEqual([rule, 201])
    await refused(
      [{ cron: '*/29 * * * *' }, { rrule: 'FREQ=MINUTELY;INTERVAL=29' }, { cron: '0,31 * * * *' }],
      'schedule_too_frequent',
    )
  })

  test('S2-11 of runs that are closer the smallest gap counts, not the average', async () => {
    await refused(
      [
        { cron: '*/5 * * * *' },
        { cron: '* * * * *' },
        { cron: '0,10 8 * * *' },
        { cron: '0,29 4 1 1 *' },
        { cron: '0,50 0,23 * * *' },
        { rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0,10' },
        { rrule: 'FREQ=MINUTELY' },
        { rrule: 'FREQ=SECONDLY;INTERVAL=60' },
      ],
      'schedule_too_frequent',
    )
    const { session } = await agentWithSession(rouse)
    expect((await create(rouse, { session: session.id, cron: '50 0,23 * * *' })).status).toBe(201)
  })

  test('S2-12 the refusal of a too frequent rule points to triggers', async () => {
    for (const { detail } of await refused(
      [{ cron: '*/5 * * * *' }, { rrule: 'FREQ=MINUTELY' }],
      'schedule_too_frequent',
    ))
      expect(detail).toMatch(/trigger/i)
  })

  test('none of at, every, cron and rrule, or several that do not combine, is schedule_invalid', async () => {
    const at = '2026-11-02T09:00'
    const cron = '0 8 * * *'
    const rrule = 'FREQ=DAILY'
    await refused(
      [
        {},
        { tz: 'UTC' },
        { cron, rrule },
        { cron, at },
        { cron, every: '1h' },
        { rrule, at },
        { rrule, every: '1h' },
        { at, every: '1h', cron },
      ],
      'schedule_invalid',
    )
  })

  test('cron forms of other systems are refused, and the detail says what to write', async () => {
    const forms = [
      '0 8 * * SAT-SUN',
      '1/2 * * * *',
      '0 0 8 * * 1',
      '0 8 ? * 1',
      '0 8 L * *',
      '0 8 15W * *',
      '0 8 * * 1#1',
    ]
    const answers = await refused(
      [...forms, '@daily'].map((cron) => ({ cron })),
      'schedule_invalid',
    )
    for (const { detail, title } of answers) {
      expect(detail.length).toBeGreaterThan(20)
      expect(detail).not.toBe(title)
    }
  })

  test('the day fields of cron are joined by or when both are restricted, and 7 is Sunday', async () => {
    const either = await preview({ cron: '0 8 13 * 5', count: 3, from: '2026-03-01T00:00:00Z' })
    expect(times(either.body)).toEqual(['06', '13', '20'].map((day) => `2026-03-${day}T08:00:00.000Z`))
    const both = await preview({ cron: '0 8 */2 * 5', count: 2, from: '2026-03-01T00:00:00Z' })
    expect(times(both.body)).toEqual(['2026-03-13T08:00:00.000Z', '2026-03-27T08:00:00.000Z'])
    const sunday = await preview({ cron: '0 8 * * 7', count: 2, from: '2026-03-02T00:00:00Z' })
    expect(times(sunday.body)).toEqual(['2026-03-08T08:00:00.000Z', '2026-03-15T08:00:00.000Z'])
  })

  test('an RRULE without dtstart counts from the local minute in which it is created', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const minute = instant(`${start.slice(0, 17)}00.000Z`)
    const made = await schedule(rouse, { session: session.id, rrule: 'FREQ=HOURLY;INTERVAL=5' })
    expect(times(made)).toEqual([300, 600, 900].map((after) => instant(minute, after)))
  })

  test('an RRULE may carry its own DTSTART with TZID', async () => {
    const { session } = await agentWithSession(rouse)
    const rrule = 'DTSTART;TZID=Europe/Amsterdam:20260401T090000\nRRULE:FREQ=DAILY'
    const made = await schedule(rouse, { session: session.id, rrule })
    expect(made.tz).toBe('Europe/Amsterdam')
    expect(made.nextAt).toBe('2026-04-01T07:00:00.000Z')
  })

  test('an RRULE with COUNT is done after its last time', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const dtstart = instant(start, 24 * 60).slice(0, 16)
    const made = await schedule(rouse, { session: session.id, rrule: 'FREQ=DAILY;COUNT=2', dtstart })
    expect(made.next).toHaveLength(2)
    for (let n = 0; n < 2; n += 1) {
      await moveBy(rouse, '1d')
      await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    }
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
    await moveBy(rouse, '2d')
    expect(await runs(rouse, made.id)).toHaveLength(2)
  })
})
