import { expect, test } from 'vitest'
import {
  actor,
  agent,
  all,
  create,
  fresh,
  letAgentsUseSessions,
  moveBy,
  prompts,
  read,
  schedule,
  session,
} from './actors.ts'
import { type CallOptions, type Json, onClock, type RouseNode } from './node.ts'

async function person(rouse: RouseNode, more: Json = {}): Promise<Json> {
  return rouse.ok('POST', '/v1/people', { name: fresh('person'), ...more })
}

/** Sees, creates, edits, pauses, resumes and deletes schedules of the agent; the statuses of all that. */
async function everything(rouse: RouseNode, target: Json, o: CallOptions): Promise<number[]> {
  const own = await create(rouse, { session: target.session.id, every: '1h' }, o)
  const foreign = target.schedule.id
  const seen = [own.status]
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['GET', '/runs', undefined],
    ['PATCH', '', { name: 'edited' }],
    ['POST', '/pause', {}],
    ['POST', '/resume', {}],
    ['DELETE', '', undefined],
  ] as const)
    seen.push((await rouse.call(method, `/v1/schedules/${foreign}${path}`, body, o)).status)
  return seen
}

const allowed = [201, 200, 200, 200, 200, 200, 204]

onClock('who may do what with the schedules of an agent', '2026-03-02T09:00:00Z', (rouse) => {
  async function target(more: Json = {}, o: CallOptions = {}): Promise<Json> {
    const made = await agent(rouse, more, o)
    const where = await session(rouse, made.id, {}, o)
    return { agent: made, session: where, schedule: await schedule(rouse, { session: where.id, every: '1h' }, o) }
  }

  test('S2-52 owner, people it is shared with, and everybody for a team agent see and change its schedules', async () => {
    const [owner, friend, stranger] = [await person(rouse), await person(rouse), await person(rouse)]
    const owned = { key: owner.key }
    expect(await everything(rouse, await target({}, owned), owned)).toEqual(allowed)
    const shared = await target({ sharedWith: [friend.id] }, owned)
    expect(await everything(rouse, shared, { key: friend.key })).toEqual(allowed)
    const team = await target({ team: true }, owned)
    expect((await all(rouse, '/v1/schedules', { key: stranger.key })).map(({ id }) => id)).toContain(team.schedule.id)
    expect(await everything(rouse, team, { key: stranger.key })).toEqual(allowed)
    // Everybody can talk to it, which would count in the other tests.
    await rouse.ok('DELETE', `/v1/agents/${team.agent.id}`, undefined, owned)
  })

  test('S2-53 the person who asked for the schedule keeps it too', async () => {
    const friend = await person(rouse)
    const shared = await target({ sharedWith: [friend.id] })
    const asked = await schedule(rouse, { session: shared.session.id, every: '1h' }, { key: friend.key })
    await rouse.ok('PATCH', `/v1/agents/${shared.agent.id}`, { sharedWith: [] })
    const kept = await all(rouse, '/v1/schedules', { key: friend.key })
    expect(kept.map(({ id }) => id)).toEqual([asked.id])
    expect((await read(rouse, asked.id, { key: friend.key })).status).toBe('active')
    expect(
      (await rouse.call('GET', `/v1/schedules/${shared.schedule.id}`, undefined, { key: friend.key })).status,
    ).toBe(404)
    expect((await rouse.call('DELETE', `/v1/schedules/${asked.id}`, undefined, { key: friend.key })).status).toBe(204)
  })

  test('S2-54 others, admins included, do not see the schedules of an agent', async () => {
    const [owner, stranger] = [await person(rouse), await person(rouse)]
    const admin = await person(rouse, { admin: true })
    const hidden = await target({}, { key: owner.key })
    for (const key of [stranger.key, admin.key, rouse.key]) {
      expect((await all(rouse, '/v1/schedules', { key })).map(({ id }) => id)).not.toContain(hidden.schedule.id)
      expect(await all(rouse, `/v1/schedules?agent=${hidden.agent.id}`, { key }).catch(() => [])).toEqual([])
      for (const [method, path] of [
        ['GET', `/v1/schedules/${hidden.schedule.id}`],
        ['GET', `/v1/schedules/${hidden.schedule.id}/runs`],
        ['GET', `/v1/schedules/${hidden.schedule.id}/why`],
        ['DELETE', `/v1/schedules/${hidden.schedule.id}`],
        ['POST', `/v1/schedules/${hidden.schedule.id}/run`],
        ['POST', `/v1/schedules/${hidden.schedule.id}/pause`],
        ['GET', `/v1/sessions/${hidden.session.id}`],
        ['GET', `/v1/sessions/${hidden.session.id}/messages`],
        ['GET', `/v1/agents/${hidden.agent.id}`],
      ]) {
        const answer = await rouse.call(method!, path!, method === 'POST' ? {} : undefined, { key })
        expect([method, path, answer.status, answer.body?.code]).toEqual([method, path, 404, 'not_found'])
      }
    }
    expect(await read(rouse, hidden.schedule.id, { key: owner.key })).toEqual(hidden.schedule)
  })

  test('S2-55 scheduling an agent one cannot talk to is refused the same as one that does not exist', async () => {
    const [owner, stranger] = [await person(rouse), await person(rouse)]
    const hidden = await target({}, { key: owner.key })
    const own = await target({}, { key: stranger.key })
    const answers = []
    for (const to of [{ agent: hidden.agent.id }, { session: hidden.session.id }, { agent: `agt_${'0'.repeat(26)}` }]) {
      const made = await create(rouse, { ...to, every: '1h' }, { key: stranger.key })
      expect([made.status, made.body.code]).toEqual([403, 'schedule_agent_not_allowed'])
      const path = `/v1/schedules/${own.schedule.id}`
      const moved = await rouse.call('PATCH', path, { session: null, ...to }, { key: stranger.key })
      expect([moved.status, moved.body.code]).toEqual([403, 'schedule_agent_not_allowed'])
      answers.push({ title: made.body.title, type: made.body.type })
    }
    expect(answers[0]).toEqual(answers[2])
    expect(await all(rouse, '/v1/schedules', { key: owner.key })).toHaveLength(1)
    expect(await read(rouse, own.schedule.id, { key: stranger.key })).toEqual(own.schedule)
  })

  test('an agent reaches the sessions of agents that its owner can talk to, and no others', async () => {
    await letAgentsUseSessions(rouse)
    const owner = await person(rouse)
    const who = await actor(rouse)
    const hidden = await target({}, { key: owner.key })
    const shared = await target({ sharedWith: [who.agent.owner] }, { key: owner.key })
    const refused = await create(rouse, { session: hidden.session.id, every: '5m' }, who.as)
    expect([refused.status, refused.body.code]).toEqual([403, 'schedule_agent_not_allowed'])
    const made = await schedule(rouse, { session: shared.session.id, every: '5m' }, who.as)
    await moveBy(rouse, '5m')
    const fired = await rouse.ok('GET', `/v1/sessions/${shared.session.id}/messages`, undefined, { key: owner.key })
    expect(fired.data.filter(({ text }: Json) => text.includes(made.id))).toHaveLength(1)
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`, undefined, who.as)
  })

  test('without a session the key of an agent reaches only its own agent', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const other = await target()
    const refused = await create(rouse, { session: other.session.id, every: '5m' }, { key: who.key })
    expect(refused.status).toBe(403)
    const made = await schedule(rouse, { every: '5m' }, { key: who.key })
    expect(made).toMatchObject({ agent: who.agent.id, session: null, createdIn: null, createdBy: who.agent.owner })
    await moveBy(rouse, '5m')
    expect(await prompts(rouse, other.session.id)).toEqual([])
  })

  test('an agent cannot act from a session that is not its own', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const other = await target()
    const headers = { 'x-rouse-session': other.session.id }
    const answer = await create(rouse, { every: '5m' }, { key: who.key, headers })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await all(rouse, `/v1/schedules?createdIn=${other.session.id}`)).toEqual([])
  })

  test('a person without a target means the only agent, and with several must say which', async () => {
    const owner = await person(rouse)
    const first = await agent(rouse, {}, { key: owner.key })
    await session(rouse, first.id, {}, { key: owner.key })
    const made = await schedule(rouse, { every: '1h' }, { key: owner.key })
    expect(made.agent).toBe(first.id)
    await agent(rouse, {}, { key: owner.key })
    expect((await create(rouse, { every: '1h' }, { key: owner.key })).status).toBe(422)
    expect(await all(rouse, '/v1/schedules', { key: owner.key })).toHaveLength(1)
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`, undefined, { key: owner.key })
  })

  test('people are made by an admin only, and settings of agents are for people', async () => {
    const plain = await person(rouse)
    const refused = await rouse.call('POST', '/v1/people', { name: 'x' }, { key: plain.key })
    expect(refused.status).toBe(403)
    const who = await actor(rouse)
    for (const [method, path, body] of [
      ['PATCH', `/v1/sessions/${who.session.id}`, { mode: 'autopilot' }],
      ['PATCH', `/v1/sessions/${who.session.id}`, { permission: 'yolo' }],
      ['POST', `/v1/agents/${who.agent.id}/keys`, {}],
      ['PATCH', `/v1/agents/${who.agent.id}`, { autoApprove: ['x'] }],
      ['POST', '/v1/people', { name: 'x' }],
    ] as const) {
      const answer = await rouse.call(method, path, body, who.as)
      expect([path, body, answer.status, answer.body.code]).toEqual([path, body, 403, 'person_only'])
    }
    expect(await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).toMatchObject({ mode: 'agent', permission: 'auto' })
  })

  test('a revoked key is refused', async () => {
    const who = await actor(rouse)
    const { id, key } = await rouse.ok('POST', `/v1/agents/${who.agent.id}/keys`, {})
    expect((await rouse.call('GET', '/v1/sessions', undefined, { key })).status).toBe(200)
    expect((await rouse.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    const answer = await rouse.call('GET', '/v1/sessions', undefined, { key })
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
    expect((await rouse.call('GET', '/v1/sessions', undefined, who.as)).status).toBe(200)
  })
})
