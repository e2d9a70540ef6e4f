import { expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  all,
  claim,
  create,
  end,
  instant,
  letAgentsUseSessions,
  moveBy,
  moveTo,
  now,
  prompts,
  runs,
  schedule,
  turnOf,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('prompts at a time, in an interval, or both', '2026-03-02T09:00:00Z', (rouse) => {
  test('S0-1 an agent asks for a prompt once, every N minutes, or both', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const start = await now(rouse)
    const once = await schedule(rouse, { name: 'once', at: instant(start, 30) }, who.as)
    const every = await schedule(rouse, { name: 'every', every: '40m' }, who.as)
    const both = await schedule(rouse, { name: 'both', at: instant(start, 10), every: '1h' }, who.as)
    const seen: string[] = []
    for (const minute of [10, 30, 40, 70, 80]) {
      await moveTo(rouse, instant(start, minute))
      for (let taken = await claim(rouse, who.session.id); taken !== null; ) {
        seen.push(`${minute} ${taken.message.text.split('\n')[1]}`)
        await end(rouse, taken.turn.id)
        taken = await claim(rouse, who.session.id)
      }
    }
    expect(seen).toEqual([
      '10 Scheduled run: both',
      '30 Scheduled run: once',
      '40 Scheduled run: every',
      '70 Scheduled run: both',
      '80 Scheduled run: every',
    ])
    expect([once.session, every.session, both.session]).toEqual(Array(3).fill(who.session.id))
  })

  test('S0-6 a due prompt is put into the queue of the session as a message', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    await schedule(rouse, { session: session.id, at: instant(start, 5), prompt: 'Look at the mail.' })
    await moveTo(rouse, instant(start, 4))
    expect(await prompts(rouse, session.id)).toEqual([])
    await moveTo(rouse, instant(start, 5))
    expect(await prompts(rouse, session.id)).toMatchObject([
      {
        kind: 'schedule',
        status: 'waiting',
        at: instant(start, 5),
        text: expect.stringMatching(/Look at the mail\.$/),
      },
    ])
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(1)
  })

  test('S0-11 a time in a zone brings the prompt once, at that time', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: '2026-03-03T09:00', tz: 'Europe/Amsterdam' })
    expect(made.nextAt).toBe('2026-03-03T08:00:00.000Z')
    await moveTo(rouse, '2026-03-03T07:59:59.999Z')
    expect(await prompts(rouse, session.id)).toEqual([])
    await moveTo(rouse, '2026-03-05T08:00:00Z')
    expect(await runs(rouse, made.id)).toMatchObject([
      { trigger: 'slot', nominalAt: '2026-03-03T08:00:00.000Z', at: '2026-03-03T08:00:00.000Z', outcome: 'fired' },
    ])
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })

  test('S0-12 an interval below 5 minutes is refused, and 5 minutes are accepted', async () => {
    const { session } = await agentWithSession(rouse)
    for (const every of ['4m', 'PT4M', 4, 'PT4M59S', 1]) {
      const answer = await create(rouse, { session: session.id, every })
      expect([every, answer.status, answer.body.code]).toEqual([every, 422, 'schedule_interval_invalid'])
    }
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    for (const every of ['5m', 'PT5M', 5])
      expect((await create(rouse, { session: session.id, every })).status).toBe(201)
  })

  test('an interval of nothing is outside the bounds too', async () => {
    const { session } = await agentWithSession(rouse)
    for (const every of [0, '0m', 'PT0S']) {
      const answer = await create(rouse, { session: session.id, every })
      expect([every, answer.status, answer.body.code]).toEqual([every, 422, 'schedule_interval_invalid'])
    }
  })

  test('S0-13 an interval above 7 days is refused, and 7 days are accepted', async () => {
    const { session } = await agentWithSession(rouse)
    for (const every of ['8d', 'PT169H', 10_081, '10081m']) {
      const answer = await create(rouse, { session: session.id, every })
      expect([every, answer.status, answer.body.code]).toEqual([every, 422, 'schedule_interval_invalid'])
    }
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    for (const every of ['7d', 'PT168H', 10_080])
      expect((await create(rouse, { session: session.id, every })).status).toBe(201)
  })

  test('S0-14 an interval alone comes first after N minutes, not at once', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '90m' })
    expect(made.next.map((time: { at: string }) => time.at)).toEqual([
      instant(start, 90),
      instant(start, 180),
      instant(start, 270),
    ])
    expect(await prompts(rouse, session.id)).toEqual([])
    await moveBy(rouse, '89m')
    expect(await prompts(rouse, session.id)).toEqual([])
    await moveBy(rouse, '1m')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })

  test('S0-15 a time and an interval come first at the time, then every N minutes', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(start, 7), every: '30m' })
    expect(made.nextAt).toBe(instant(start, 7))
    for (const minute of [7, 37, 67]) {
      await moveTo(rouse, instant(start, minute))
      await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    }
    expect((await runs(rouse, made.id)).map((run) => run.nominalAt)).toEqual([7, 37, 67].map((m) => instant(start, m)))
  })

  test('S0-19 a repeat is skipped while its previous prompt still waits', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await moveBy(rouse, '20m')
    expect(await runs(rouse, made.id)).toMatchObject([
      { nominalAt: instant(start, 10), outcome: 'fired' },
      { nominalAt: instant(start, 20), outcome: 'skipped', reason: 'previous_waiting', message: null },
    ])
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ nominalAt: instant(start, 30), outcome: 'fired' })
    expect(await claim(rouse, session.id)).not.toBeNull()
  })

  test('S0-20 a session that is stuck gets one prompt, not a pile', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '5m' })
    await moveBy(rouse, '5h')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    const outcomes = (await runs(rouse, made.id)).map((run) => run.outcome)
    expect(outcomes).toHaveLength(60)
    expect(outcomes.filter((outcome) => outcome === 'fired')).toHaveLength(1)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await claim(rouse, session.id)).toBeNull()
  })

  test('S0-21 the target is the own conversation of the agent or another session', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const other = await agentWithSession(rouse)
    const own = await schedule(rouse, { every: '10m' }, who.as)
    const named = await schedule(rouse, { session: who.session.id, every: '10m' }, who.as)
    const toward = await schedule(rouse, { session: other.session.id, every: '10m' }, who.as)
    expect([own.session, named.session, toward.session]).toEqual([who.session.id, who.session.id, other.session.id])
    expect(toward.createdIn).toBe(who.session.id)
    await moveBy(rouse, '10m')
    expect(await prompts(rouse, who.session.id)).toHaveLength(2)
    expect(await prompts(rouse, other.session.id)).toHaveLength(1)
  })

  test('S0-51 a time alone ends when it has fired', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 15) })
    await moveBy(rouse, '15m')
    const fired = await rouse.ok('GET', `/v1/schedules/${made.id}`)
    expect(fired).toMatchObject({ status: 'done', nextAt: null, next: [] })
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '3d')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect(await runs(rouse, made.id)).toHaveLength(1)
  })
})
