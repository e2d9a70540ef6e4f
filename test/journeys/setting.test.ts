import { beforeEach, expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  all,
  create,
  end,
  instant,
  letAgentsUseSessions,
  moveBy,
  now,
  prompts,
  runs,
  schedule,
  turnOf,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('the setting "Agents may start and use sessions"', '2026-03-02T09:00:00Z', (rouse) => {
  test('the setting is off until a person turns it on', async () => {
    expect((await rouse.ok('GET', '/v1/settings')).agentSessions).toBe(false)
    const who = await actor(rouse)
    const turnedOn = await rouse.call('PATCH', '/v1/settings', { agentSessions: true }, who.as)
    expect([turnedOn.status, turnedOn.body.code]).toEqual([403, 'person_only'])
    expect((await rouse.ok('GET', '/v1/settings')).agentSessions).toBe(false)
  })

  test('S0-7 with the setting off an agent is refused, and its schedules do not fire', async () => {
    const who = await actor(rouse)
    const other = await agentWithSession(rouse)
    const refused = await create(rouse, { session: other.session.id, every: '5m' }, who.as)
    expect([refused.status, refused.body.code]).toEqual([403, 'agent_sessions_off'])
    expect(await all(rouse, `/v1/schedules?session=${other.session.id}`)).toEqual([])

    await letAgentsUseSessions(rouse)
    const made = await schedule(rouse, { session: other.session.id, every: '5m' }, who.as)
    await letAgentsUseSessions(rouse, false)
    await moveBy(rouse, '5m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'blocked', message: null }])
    expect(await prompts(rouse, other.session.id)).toEqual([])
  })

  test('S0-8 the setting is required even for the own conversation of the agent', async () => {
    await letAgentsUseSessions(rouse, false)
    const who = await actor(rouse)
    for (const body of [{ every: '5m' }, { session: who.session.id, every: '5m' }]) {
      const answer = await create(rouse, body, who.as)
      expect([answer.status, answer.body.code]).toEqual([403, 'agent_sessions_off'])
    }
    expect(await all(rouse, `/v1/schedules?session=${who.session.id}`)).toEqual([])
    await letAgentsUseSessions(rouse)
    const made = await schedule(rouse, { every: '5m' }, who.as)
    await letAgentsUseSessions(rouse, false)
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).map((run) => run.outcome)).toEqual(['blocked', 'blocked'])
    expect(await prompts(rouse, who.session.id)).toEqual([])
  })

  test('turning the setting on again does not catch up', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { every: '10m' }, who.as)
    await letAgentsUseSessions(rouse, false)
    await moveBy(rouse, '25m')
    await letAgentsUseSessions(rouse)
    expect(await prompts(rouse, who.session.id)).toEqual([])
    await moveBy(rouse, '5m')
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'blocked' },
      { outcome: 'blocked' },
      { outcome: 'fired', nominalAt: instant(start, 30), missed: 0 },
    ])
  })

  test('the schedules of people need no setting', async () => {
    await letAgentsUseSessions(rouse, false)
    const { session } = await agentWithSession(rouse)
    await schedule(rouse, { session: session.id, every: '5m' })
    await moveBy(rouse, '5m')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })

  test('with the setting off an agent starts no session and sends no message', async () => {
    await letAgentsUseSessions(rouse, false)
    const who = await actor(rouse)
    const other = await agentWithSession(rouse)
    const sent = await rouse.call('POST', `/v1/sessions/${other.session.id}/messages`, { text: 'hi' }, who.as)
    expect([sent.status, sent.body.code]).toEqual([403, 'agent_sessions_off'])
    const begun = await rouse.call('POST', '/v1/sessions', { agent: who.agent.id, main: false }, who.as)
    expect([begun.status, begun.body.code]).toEqual([403, 'agent_sessions_off'])
    expect((await rouse.ok('GET', `/v1/sessions/${other.session.id}`)).waiting).toBe(0)
  })
})

onClock('hops', '2026-03-02T09:00:00Z', (rouse) => {
  beforeEach(() => letAgentsUseSessions(rouse))

  /** Four agents; each but the first has a running turn that the one before it caused by a direct prompt. */
  async function chain() {
    const [a, b, c, d] = [await actor(rouse), await actor(rouse), await actor(rouse), await actor(rouse)]
    await rouse.ok('POST', `/v1/sessions/${a.session.id}/messages`, { text: 'begin' })
    const turns = [await turnOf(rouse, a.session.id)]
    for (const [from, to] of [
      [a, b],
      [b, c],
    ] as const) {
      await rouse.ok('POST', `/v1/sessions/${to.session.id}/messages`, { text: 'go on' }, from.as)
      turns.push(await turnOf(rouse, to.session.id))
    }
    return { a, b, c, d, turns }
  }

  test('S0-44 the message keeps the origin of the prompt behind the schedule, hops included', async () => {
    const { a, b, c, d, turns } = await chain()
    expect(turns.map(({ message }) => message.origin.hops)).toEqual([0, 1, 2])
    const own = await schedule(rouse, { every: '5m' }, b.as)
    const toward = await schedule(rouse, { session: d.session.id, every: '5m' }, a.as)
    const further = await schedule(rouse, { session: d.session.id, every: '5m' }, b.as)
    await schedule(rouse, { every: '5m' }, c.as)
    await moveBy(rouse, '5m')
    const hops = async (sessionId: string, id: string) =>
      (await prompts(rouse, sessionId)).find((one) => one.text.includes(id)).origin.hops
    expect(await hops(b.session.id, own.id)).toBe(1)
    expect(await hops(d.session.id, toward.id)).toBe(1)
    expect(await hops(d.session.id, further.id)).toBe(2)
    expect((await prompts(rouse, c.session.id))[0].origin.hops).toBe(2)
  })

  test('S0-45 a schedule reaches no further than a direct prompt could', async () => {
    const { c, d, turns } = await chain()
    const direct = await rouse.call('POST', `/v1/sessions/${d.session.id}/messages`, { text: 'further' }, c.as)
    expect([direct.status, direct.body.code]).toEqual([403, 'hop_limit'])
    const toward = await create(rouse, { session: d.session.id, every: '5m' }, c.as)
    expect([toward.status, toward.body.code]).toEqual([403, 'hop_limit'])
    expect(await all(rouse, `/v1/schedules?session=${d.session.id}`)).toEqual([])
    // Nor by way of a schedule for itself: its turn has the same hops.
    await schedule(rouse, { at: instant(await now(rouse), 5) }, c.as)
    await end(rouse, turns[2].turn.id)
    await moveBy(rouse, '5m')
    const woken = await turnOf(rouse, c.session.id)
    expect(woken.message.kind).toBe('schedule')
    const again = await create(rouse, { session: d.session.id, every: '5m' }, c.as)
    expect([again.status, again.body.code]).toEqual([403, 'hop_limit'])
    const sent = await rouse.call('POST', `/v1/sessions/${d.session.id}/messages`, { text: 'further' }, c.as)
    expect([sent.status, sent.body.code]).toEqual([403, 'hop_limit'])
    expect(await prompts(rouse, d.session.id)).toEqual([])
  })

  test('a turn that a person began starts at no hops again', async () => {
    const { c, d, turns } = await chain()
    await end(rouse, turns[2].turn.id)
    await rouse.ok('POST', `/v1/sessions/${c.session.id}/messages`, { text: 'from the user' })
    await turnOf(rouse, c.session.id)
    await schedule(rouse, { session: d.session.id, every: '5m' }, c.as)
    await moveBy(rouse, '5m')
    expect((await prompts(rouse, d.session.id))[0].origin.hops).toBe(1)
  })
})
