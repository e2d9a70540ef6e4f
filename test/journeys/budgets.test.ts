import { expect, test } from 'vitest'
import { agentWithSession, claim, end, moveBy, say, schedule } from './actors.ts'
import { type Json, onClock } from './node.ts'

onClock('budgets', '2026-11-02T00:00:00Z', (rouse) => {
  const budgetOf = async (id: string) =>
    (await rouse.ok('GET', '/v1/budgets')).data.find((one: { id: string }) => one.id === id)

  test("an agent's wakes a day are limited, shown as used and left, and named in the ledger when they are used up", async () => {
    const { agent, session } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { budget: { wakesPerDay: 1 } })
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    await moveBy(rouse, '1h')
    const claimed = await claim(rouse, session.id)
    await end(rouse, claimed.turn.id)
    expect(await budgetOf(agent.id)).toEqual({
      scope: 'agent',
      id: agent.id,
      day: '2026-11-02',
      wakes: { limit: 1, used: 1, left: 0 },
      tokens: { limit: null, used: 0, left: null },
      usd: { limit: null, used: 0, left: null },
    })
    await moveBy(rouse, '1h')
    const runs = (await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)).data
    expect([runs[0].outcome, runs[0].reason]).toEqual(['blocked', 'agent_wakes_per_day'])
    expect((await rouse.ok('GET', `/v1/schedules/${made.id}/why`)).holds[0].code).toBe('agent_wakes_per_day')
  })

  test('a person sets their own limits, null takes one away, and bad ones are refused with nothing changed', async () => {
    const set = await rouse.ok('PATCH', '/v1/budgets', { wakesPerDay: 100, usdPerDay: 2.5 })
    expect(set.data[0]).toMatchObject({ scope: 'person', wakes: { limit: 100 }, usd: { limit: 2.5 } })
    for (const body of [{ wakesPerDay: -1 }, { wakesPerDay: '5' }, { wakesPerDay: 1.5 }, { perDay: 1 }]) {
      const answer = await rouse.call('PATCH', '/v1/budgets', body)
      expect([answer.status, answer.body.code]).toEqual([422, 'body_invalid'])
    }
    const cleared = await rouse.ok('PATCH', '/v1/budgets', { wakesPerDay: null, usdPerDay: null })
    expect(cleared.data[0]).toMatchObject({ wakes: { limit: null }, usd: { limit: null } })
  })

  test("an agent's key reads budgets and sets none", async () => {
    const { agent } = await agentWithSession(rouse)
    const { key } = await rouse.ok('POST', `/v1/agents/${agent.id}/keys`, {})
    expect((await rouse.call('GET', '/v1/budgets', undefined, { key })).status).toBe(200)
    const refused = await rouse.call('PATCH', '/v1/budgets', { wakesPerDay: 1 }, { key })
    expect([refused.status, refused.body.code]).toEqual([403, 'person_only'])
  })

  test('every kind of wake draws on one budget: schedules, monitors, prompts of agents and ticks; ticks go last', async () => {
    const { agent, session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    await end(rouse, (await claim(rouse, session.id)).turn.id)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { budget: { wakesPerDay: 2 } })
    // The tick, planned for five minutes from now, the schedule and the monitor are due in the same moment.
    await rouse.ok('POST', '/v1/monitors', { session: session.id, note: 'Now.', watch: { time: { in: '5m' } } })
    const made = await schedule(rouse, { agent: agent.id, every: '5m' })
    await moveBy(rouse, '5m')
    const [run] = (await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)).data
    expect([run.outcome, run.reason]).toEqual(['fired', null])
    const kinds = (await rouse.ok('GET', `/v1/sessions/${session.id}/messages`)).data.map((m: Json) => m.kind)
    expect(kinds).toContain('monitor')
    expect(kinds).not.toContain('tick')
    expect((await budgetOf(agent.id)).wakes).toEqual({ limit: 2, used: 2, left: 0 })
  })

  test("a session's own counters are shown with it: prompts, monitors, ticks and their tokens", async () => {
    const { agent, session } = await agentWithSession(rouse)
    const rows = async () => (await rouse.ok('GET', `/v1/budgets?session=${session.id}`)).data
    expect((await rows())[0]).toEqual({
      scope: 'session',
      id: session.id,
      day: expect.any(String),
      prompts: { limit: 30, used: 0, left: 30 },
      monitors: { limit: 20, used: 0, left: 20 },
      ticks: { limit: 48, used: 0, left: 48 },
      tickTokens: { limit: 2_000_000, used: 0, left: 2_000_000 },
    })
    await rouse.ok('POST', '/v1/monitors', { session: session.id, note: 'Now.', watch: { time: { in: '1m' } } })
    await moveBy(rouse, '1m')
    await end(rouse, (await claim(rouse, session.id)).turn.id)
    await say(rouse, session.id, 'hello')
    await end(rouse, (await claim(rouse, session.id)).turn.id)
    await moveBy(rouse, '5m')
    await end(rouse, (await claim(rouse, session.id)).turn.id, { tokens: 700, sleep: { seconds: 3600 } })
    expect((await rows())[0]).toMatchObject({
      monitors: { used: 1, left: 19 },
      ticks: { used: 1, left: 47 },
      tickTokens: { used: 700 },
    })
    expect((await rows()).some(({ id }: Json) => id === agent.id)).toBe(true)
    expect((await rouse.call('GET', '/v1/budgets?session=ses_none')).status).toBe(404)
  })
})
