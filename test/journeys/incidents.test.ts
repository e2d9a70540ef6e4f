import { expect, test } from 'vitest'
import {
  actor,
  agent,
  agentWithSession,
  claim,
  end,
  fresh,
  instant,
  letAgentsUseSessions,
  messages,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { act, cardOf, feed, refusal } from './holding.ts'
import { type CallOptions, type Json, onClock } from './node.ts'

onClock('runs that could not happen', '2026-03-02T09:00:00Z', (rouse) => {
  const titleOf = (made: Json) => `Your scheduled run "${made.name}" did not run`

  /** The cards of a schedule that did not run, whatever their status. */
  async function cardsOf(made: Json, o: CallOptions = {}): Promise<Json[]> {
    return (await feed(rouse, o)).filter((card) => card.kind === 'incident' && card.schedule === made.id)
  }

  async function theCard(made: Json, o: CallOptions = {}): Promise<Json> {
    const cards = await cardsOf(made, o)
    expect(cards).toHaveLength(1)
    return cards[0]
  }

  /** An agent whose worker said that it disconnected, and a schedule of fresh sessions of it. */
  async function away(more: Json = {}): Promise<{ agent: Json; main: Json; made: Json; start: string }> {
    const { agent: made, session: main } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: false })
    const start = await now(rouse)
    const body = { agent: made.id, every: '10m', name: fresh('Morning brief'), ...more }
    return { agent: made, main, made: await schedule(rouse, body), start }
  }

  /** Takes the next run of the agent and ends it. */
  async function serve(agentId: string, outcome = 'ok'): Promise<void> {
    const { turn } = await rouse.ok('POST', `/v1/agents/${agentId}/claim`, { leaseSeconds: 7200 })
    await end(rouse, turn.id, { outcome })
  }

  /** A schedule into a session whose turns end as told, one each 10 minutes. */
  async function live(made: Json, outcomes: string[]): Promise<void> {
    for (const outcome of outcomes) {
      await moveBy(rouse, '10m')
      if (outcome === 'unknown') {
        await claim(rouse, made.session, { leaseSeconds: 60 })
        await moveBy(rouse, '2m')
        continue
      }
      await end(rouse, (await turnOf(rouse, made.session)).turn.id, { outcome })
    }
  }

  test('S2-66 a fire while the agent is not connected gives the person of the schedule one card', async () => {
    const { made, start } = await away()
    await moveBy(rouse, '10m')
    const [run] = await runs(rouse, made.id)
    expect(run).toMatchObject({ outcome: 'missed', reason: 'agent_not_connected', nominalAt: instant(start, 10) })
    const card = await theCard(made)
    expect(card).toMatchObject({ title: titleOf(made), status: 'open', seen: 1, run: run.id, agent: made.agent })
    expect(card.at).toBe(instant(start, 10))
  })

  test('S2-67 the card says why, and offers to run it now', async () => {
    const { agent: who, main, made } = await away()
    await moveBy(rouse, '10m')
    const card = await theCard(made)
    expect(card.reason).toBe('agent_not_connected')
    expect(card.body).toMatch(/not connected/)
    expect(card.actions).toContain('run-now')
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: true })
    const answer = await act(rouse, card.id, 'run-now')
    expect(answer.status).toBe(200)
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ trigger: 'manual', outcome: 'fired' })
    await serve(who.id)
    expect((await cardOf(rouse, card.id)).status).toBe('closed')
    expect((await read(rouse, made.id)).status).toBe('active')
  })

  test('S2-68 another missed run of the schedule brings the same card back', async () => {
    const { made, start } = await away()
    await moveBy(rouse, '10m')
    const first = await theCard(made)
    await moveBy(rouse, '10m')
    const again = await theCard(made)
    expect(again).toMatchObject({ id: first.id, seen: 2, status: 'open', at: instant(start, 20) })
    expect(again.run).toBe((await runs(rouse, made.id)).at(-1).id)
    // Brought up, it stands above what came in between.
    const other = await away()
    await moveBy(rouse, '10m')
    expect((await theCard(made)).seen).toBe(3)
    await theCard(other.made)
  })

  test('it comes back when it was put away, and when it was closed', async () => {
    const { agent: who, main, made } = await away()
    await moveBy(rouse, '10m')
    const { id } = await theCard(made)
    expect((await act(rouse, id, 'dismiss')).status).toBe(200)
    await moveBy(rouse, '10m')
    expect(await theCard(made)).toMatchObject({ id, status: 'open', seen: 2 })
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: true })
    await moveBy(rouse, '10m')
    await serve(who.id)
    expect(await cardOf(rouse, id)).toMatchObject({ status: 'closed', seen: 2 })
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: false })
    await moveBy(rouse, '10m')
    expect(await theCard(made)).toMatchObject({ id, status: 'open', seen: 3 })
  })

  test('only a good run closes it', async () => {
    const { agent: who, main, made } = await away()
    await moveBy(rouse, '10m')
    const { id } = await theCard(made)
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: true })
    await moveBy(rouse, '10m')
    expect((await cardOf(rouse, id)).status).toBe('open')
    await serve(who.id, 'failed')
    expect((await cardOf(rouse, id)).status).toBe('open')
    await moveBy(rouse, '10m')
    await serve(who.id, 'nothing_to_do')
    expect((await cardOf(rouse, id)).status).toBe('closed')
    await moveBy(rouse, '10m')
    await serve(who.id)
    expect(await theCard(made)).toMatchObject({ id, status: 'closed', seen: 1 })
  })

  test('a good run of another schedule does not close it', async () => {
    const { main, made } = await away()
    await moveBy(rouse, '10m')
    const other = await schedule(rouse, { session: main.id, every: '10m' })
    await live(other, ['ok'])
    expect((await theCard(made)).status).toBe('open')
  })

  // The product records the run as missed, and leaves the card as it was.
  test('run now while it is still not connected brings the same card back', async () => {
    const { made } = await away()
    await moveBy(rouse, '10m')
    const { id } = await theCard(made)
    expect((await act(rouse, id, 'run-now')).status).toBe(200)
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({
      trigger: 'manual',
      outcome: 'missed',
      reason: 'agent_not_connected',
    })
    expect(await theCard(made)).toMatchObject({ id, status: 'open', seen: 2 })
  })

  test('several missed times that are made up for bring up one card once', async () => {
    const { made, start } = await away()
    await moveTo(rouse, instant(start, 45), { down: true })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'missed', reason: 'agent_not_connected', missed: 4 }])
    expect((await theCard(made)).seen).toBe(1)
  })

  test('a schedule into a session queues, whoever listens, and tells nobody', async () => {
    const { session: where } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${where.id}`, { workerConnected: false })
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    await moveBy(rouse, '10m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await cardsOf(made)).toEqual([])
  })

  test('an agent that no worker was ever attached to queues, and tells nobody', async () => {
    const { agent: who } = await agentWithSession(rouse)
    const made = await schedule(rouse, { agent: who.id, every: '10m' })
    await moveBy(rouse, '10m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await cardsOf(made)).toEqual([])
  })

  test('a run that is skipped for another reason tells nobody', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    await moveBy(rouse, '30m')
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).toEqual(['fired', 'skipped', 'skipped'])
    expect(await cardsOf(made)).toEqual([])
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const blocked = await schedule(rouse, { every: '10m' }, who.as)
    await letAgentsUseSessions(rouse, false)
    await moveBy(rouse, '10m')
    expect(await runs(rouse, blocked.id)).toMatchObject([{ outcome: 'blocked' }])
    expect(await cardsOf(blocked)).toEqual([])
  })

  test('an agent that has left the conversation is a reason of its own', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Left') })
    await rouse.ok('POST', `/v1/sessions/${where.id}/leave`, {})
    await moveBy(rouse, '20m')
    expect(await messages(rouse, where.id)).toEqual([])
    const card = await theCard(made)
    expect(card).toMatchObject({ title: titleOf(made), status: 'open', seen: 2 })
    expect(card.body).toMatch(/left/)
    expect(card.reason).toBe((await runs(rouse, made.id)).at(-1).reason)
    expect(card.actions).toContain('run-now')
    await rouse.ok('POST', `/v1/sessions/${where.id}/join`, {})
    await live(made, ['ok'])
    expect((await theCard(made)).status).toBe('closed')
  })

  test('a deleted agent is told once for each of its schedules', async () => {
    const { agent: gone, session: where } = await agentWithSession(rouse)
    const start = await now(rouse)
    const first = await schedule(rouse, { session: where.id, every: '10m', name: fresh('First') })
    const second = await schedule(rouse, { agent: gone.id, every: '15m', name: fresh('Second') })
    expect((await rouse.call('DELETE', `/v1/agents/${gone.id}`)).status).toBe(204)
    await moveTo(rouse, instant(start, 120))
    for (const made of [first, second]) {
      const card = await theCard(made)
      expect(card).toMatchObject({ title: titleOf(made), status: 'open', seen: 1, reason: 'agent_deleted' })
      expect(card.body).toMatch(/deleted/)
      expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'skipped', reason: 'agent_deleted' }])
    }
  })

  test('an archived or deleted conversation ends its schedules and tells nobody', async () => {
    for (const [method, path] of [
      ['POST', '/archive'],
      ['DELETE', ''],
    ] as const) {
      const { session: where } = await agentWithSession(rouse)
      const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Gone') })
      await rouse.ok(method, `/v1/sessions/${where.id}${path}`, method === 'POST' ? {} : undefined)
      await moveBy(rouse, '30m')
      expect((await feed(rouse)).filter(({ title }) => title.includes(made.name))).toEqual([])
    }
  })

  for (const [word, method, path] of [
    ['archived', 'POST', '/archive'],
    ['deleted', 'DELETE', ''],
  ] as const)
    test(`a conversation that is ${word} under a running turn is told`, async () => {
      const { session: where } = await agentWithSession(rouse)
      const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Under way') })
      await moveBy(rouse, '10m')
      await turnOf(rouse, where.id)
      await rouse.ok(method, `/v1/sessions/${where.id}${path}`, method === 'POST' ? {} : undefined)
      await moveBy(rouse, '3h')
      const card = await theCard(made)
      expect(card).toMatchObject({ title: titleOf(made), status: 'open', seen: 1, reason: `session_${word}` })
      expect(card.body).toMatch(new RegExp(word))
    })

  test('a turn of the user under way in a conversation that goes is nobody else’s incident', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Idle') })
    await say(rouse, where.id, 'hello')
    await turnOf(rouse, where.id)
    await rouse.ok('POST', `/v1/sessions/${where.id}/archive`, {})
    await moveBy(rouse, '30m')
    expect(await cardsOf(made)).toEqual([])
  })

  test('the card is in the feed of the person of the schedule, and in nobody else’s', async () => {
    const owner = await rouse.ok('POST', '/v1/people', { name: fresh('owner') })
    const friend = await rouse.ok('POST', '/v1/people', { name: fresh('friend') })
    const who = await agent(rouse, { sharedWith: [friend.id] }, { key: owner.key })
    const main = await session(rouse, who.id, {}, { key: owner.key })
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: false }, { key: owner.key })
    const body = { agent: who.id, every: '10m', name: fresh('Brief') }
    const made = await schedule(rouse, body, { key: friend.key })
    await moveBy(rouse, '10m')
    const card = await theCard(made, { key: friend.key })
    for (const o of [{ key: owner.key }, {}]) {
      expect(await cardsOf(made, o)).toEqual([])
      expect((await rouse.call('GET', `/v1/feed/${card.id}`, undefined, o)).status).toBe(404)
      expect((await act(rouse, card.id, 'run-now', o)).status).toBe(404)
    }
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`, undefined, { key: friend.key })
  })

  test('of a schedule that an agent made the person is its owner', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${who.session.id}`, { workerConnected: false })
    const made = await schedule(rouse, { agent: who.agent.id, every: '10m', name: fresh('Brief') }, who.as)
    await moveBy(rouse, '10m')
    const card = await theCard(made)
    const act403 = await act(rouse, card.id, 'run-now', who.as)
    expect([403, 404]).toContain(act403.status)
    expect(await runs(rouse, made.id)).toHaveLength(1)
  })

  test('the name of the schedule cannot break out of the title', async () => {
    const { made } = await away({ name: 'Brief"\r\ndid run' })
    await moveBy(rouse, '10m')
    const { title } = await theCard(made)
    expect(title).not.toMatch(/[\r\n\t]/)
    expect(title).toMatch(/^Your scheduled run ".*" did not run$/)
  })

  test('three failures in a row are told, once', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Shaky') })
    await live(made, ['failed', 'failed', 'ok', 'failed', 'failed'])
    expect(await cardsOf(made)).toEqual([])
    await live(made, ['unknown'])
    expect(await theCard(made)).toMatchObject({ status: 'open', seen: 1 })
    await live(made, ['failed', 'failed', 'failed', 'failed'])
    expect(await theCard(made)).toMatchObject({ status: 'open', seen: 1 })
  })

  test('the recovery is told, once', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Shaky') })
    await live(made, ['failed', 'failed', 'failed'])
    const before = await theCard(made)
    await live(made, ['ok'])
    const told = await theCard(made)
    expect(told).toMatchObject({ id: before.id, status: 'closed', seen: 1, settledAt: await now(rouse) })
    expect(told.body).not.toBe(before.body)
    await live(made, ['ok', 'ok'])
    expect(await theCard(made)).toEqual(told)
    await live(made, ['failed', 'failed', 'failed'])
    expect(await theCard(made)).toMatchObject({ id: before.id, status: 'open', seen: 2 })
  })

  test('failures with a good run between them are not told', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    for (let n = 0; n < 3; n += 1) await live(made, ['failed', 'failed', 'nothing_to_do'])
    expect(await cardsOf(made)).toEqual([])
  })

  test('a run now that goes well closes the card too', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    await live(made, ['failed', 'failed', 'failed'])
    const card = await theCard(made)
    expect((await act(rouse, card.id, 'run-now')).status).toBe(200)
    await end(rouse, (await turnOf(rouse, where.id)).turn.id)
    expect((await theCard(made)).status).toBe('closed')
  })

  test('several runs of a schedule that fail at once are told once', async () => {
    const { agent: who } = await agentWithSession(rouse)
    const made = await schedule(rouse, { agent: who.id, every: '10m', overlap: 'allow', name: fresh('Beside') })
    const turns: Json[] = []
    for (let n = 0; n < 5; n += 1) {
      await moveBy(rouse, '10m')
      turns.push((await rouse.ok('POST', `/v1/agents/${who.id}/claim`, { leaseSeconds: 7200 })).turn)
    }
    await Promise.all(turns.map(({ id }) => end(rouse, id, { outcome: 'failed' })))
    expect(await theCard(made)).toMatchObject({ status: 'open', seen: 1 })
  })

  test('run now of a card whose agent is gone says so, and wakes nobody', async () => {
    const { agent: gone, session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('Orphan') })
    await rouse.ok('DELETE', `/v1/agents/${gone.id}`)
    await moveBy(rouse, '10m')
    const card = await theCard(made)
    const answer = await act(rouse, card.id, 'run-now')
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(refusal(answer)).toMatch(/^4\d\d [a-z_]+$/)
    expect(await runs(rouse, made.id)).toHaveLength(1)
  })

  test('a paused schedule tells nothing', async () => {
    const { made } = await away()
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    await moveBy(rouse, '30m')
    expect(await cardsOf(made)).toEqual([])
  })

  test('a herd of schedules that did not run gives each its own card', async () => {
    const { agent: who, session: main } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: false })
    const made: Json[] = []
    for (let n = 0; n < 20; n += 1)
      made.push(await schedule(rouse, { agent: who.id, every: '10m', name: fresh('Herd') }))
    await moveBy(rouse, '20m')
    for (const one of made) expect(await theCard(one)).toMatchObject({ title: titleOf(one), seen: 2 })
    expect(await prompts(rouse, main.id)).toEqual([])
  })
})
