import { expect, test } from 'vitest'
import {
  actor,
  agent,
  agentWithSession,
  all,
  create,
  instant,
  letAgentsUseSessions,
  moveBy,
  now,
  schedule,
  session,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('how many schedules there may be', '2026-03-02T09:00:00Z', (rouse) => {
  test('S0-60 at most 20 schedules fire in one conversation, and the 21st is refused', async () => {
    const { session } = await agentWithSession(rouse)
    const made = []
    for (let n = 0; n < 20; n += 1)
      made.push(await schedule(rouse, { session: session.id, every: '1h', name: `no ${n}` }))
    const refused = await create(rouse, { session: session.id, every: '1h', name: 'one too many' })
    expect([refused.status, refused.body.code]).toEqual([409, 'schedule_limit'])
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(20)
    // A paused one counts, a deleted one does not.
    await rouse.ok('POST', `/v1/schedules/${made[0].id}/pause`, {})
    expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(409)
    await rouse.ok('DELETE', `/v1/schedules/${made[0].id}`)
    expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(201)
    expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(409)
  })

  test('done schedules do not count toward the 20', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    for (let n = 0; n < 3; n += 1) await schedule(rouse, { session: session.id, at: instant(start, 5 + n) })
    for (let n = 0; n < 17; n += 1) await schedule(rouse, { session: session.id, every: '1h' })
    expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(409)
    await moveBy(rouse, '10m')
    for (let n = 0; n < 3; n += 1) expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(201)
    expect((await create(rouse, { session: session.id, every: '1h' })).status).toBe(409)
  })

  test('S0-61 a conversation creates at most 20 schedules for other sessions, and the 21st is refused', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const targets = [await agentWithSession(rouse), await agentWithSession(rouse), await agentWithSession(rouse)]
    for (let n = 0; n < 20; n += 1)
      await schedule(rouse, { session: targets[n % 2]!.session.id, every: '1h', name: `no ${n}` }, who.as)
    const refused = await create(rouse, { session: targets[2]!.session.id, every: '1h' }, who.as)
    expect([refused.status, refused.body.code]).toEqual([409, 'schedule_limit'])
    expect(await all(rouse, `/v1/schedules?session=${targets[2]!.session.id}`)).toEqual([])
    // What fires in its own conversation is not for another session, and other creators have their own 20.
    expect((await create(rouse, { every: '1h' }, who.as)).status).toBe(201)
    expect((await create(rouse, { session: targets[2]!.session.id, every: '1h' })).status).toBe(201)
  })

  test('30 creates at once into one session store exactly 20', async () => {
    const { session } = await agentWithSession(rouse)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => create(rouse, { session: session.id, every: '1h', name: `no ${n}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(Array(10).fill('409 schedule_limit'))
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(20)
  })

  test('an agent as a target has 20 places of its own', async () => {
    const target = await agent(rouse)
    await session(rouse, target.id)
    for (let n = 0; n < 20; n += 1) await schedule(rouse, { agent: target.id, every: '1h' })
    const refused = await create(rouse, { agent: target.id, every: '1h' })
    expect([refused.status, refused.body.code]).toEqual([409, 'schedule_limit'])
  })

  test('an edit does not move a schedule into a conversation that is full', async () => {
    const full = await agentWithSession(rouse)
    const { session: other } = await agentWithSession(rouse)
    for (let n = 0; n < 20; n += 1) await schedule(rouse, { session: full.session.id, every: '1h' })
    const made = await schedule(rouse, { session: other.id, every: '1h' })
    const refused = await rouse.call('PATCH', `/v1/schedules/${made.id}`, { session: full.session.id })
    expect([refused.status, refused.body.code]).toEqual([409, 'schedule_limit'])
    expect((await rouse.ok('GET', `/v1/schedules/${made.id}`)).session).toBe(other.id)
  })
})
