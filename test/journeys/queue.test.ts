import { expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  claim,
  end,
  instant,
  letAgentsUseSessions,
  messages,
  moveBy,
  moveTo,
  now,
  prompts,
  say,
  schedule,
  turnOf,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('the queue of a session', '2026-03-02T09:00:00Z', (rouse) => {
  test('S0-37 a person goes first, everything else oldest first', async () => {
    await letAgentsUseSessions(rouse)
    const { session } = await agentWithSession(rouse)
    const sender = await actor(rouse)
    const start = await now(rouse)
    await schedule(rouse, { session: session.id, at: instant(start, 20), name: 'second' })
    await schedule(rouse, { session: session.id, at: instant(start, 10), name: 'first' })
    await moveTo(rouse, instant(start, 15))
    await say(rouse, session.id, 'said by an agent', sender.as)
    await moveTo(rouse, instant(start, 30))
    await say(rouse, session.id, 'said by a person')
    await moveTo(rouse, instant(start, 31))
    await say(rouse, session.id, 'also said by a person')
    const order: string[] = []
    for (let taken = await claim(rouse, session.id); taken !== null; taken = await claim(rouse, session.id)) {
      order.push(/^Scheduled run: .*$|^(said by|also said by) .*$/m.exec(taken.message.text)![0])
      await end(rouse, taken.turn.id)
    }
    expect(order).toEqual([
      'said by a person',
      'also said by a person',
      'Scheduled run: first',
      'said by an agent',
      'Scheduled run: second',
    ])
  })

  test('S0-38 in an idle session it starts a new turn', async () => {
    const { session } = await agentWithSession(rouse)
    await schedule(rouse, { session: session.id, every: '5m' })
    const waiting = claim(rouse, session.id, { wait: 10 })
    await moveBy(rouse, '5m')
    const taken = await waiting
    expect(taken.turn).toMatchObject({ id: expect.stringMatching(/^trn_/), session: session.id })
    expect(taken.message).toMatchObject({ kind: 'schedule', status: 'taken' })
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('running')
    await end(rouse, taken.turn.id)
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('idle')
  })

  test('S0-39 while a turn runs it becomes the next turn', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const first = await turnOf(rouse, session.id)
    await schedule(rouse, { session: session.id, every: '5m' })
    await moveBy(rouse, '5m')
    expect(await prompts(rouse, session.id)).toMatchObject([{ status: 'waiting' }])
    expect(await claim(rouse, session.id)).toBeNull()
    await end(rouse, first.turn.id)
    const next = await turnOf(rouse, session.id)
    expect(next.message.kind).toBe('schedule')
    expect(next.turn.id).not.toBe(first.turn.id)
  })

  test('S0-40 it may steer the running turn, without a turn of its own', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const first = await turnOf(rouse, session.id)
    await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    const steering = await claim(rouse, session.id, { steer: true })
    expect(steering.message).toMatchObject({ kind: 'schedule' })
    expect(await rouse.ok('GET', `/v1/sessions/${session.id}`)).toMatchObject({ state: 'running', waiting: 0 })
    const beat = await rouse.ok('POST', `/v1/turns/${first.turn.id}/heartbeat`, {})
    expect(beat.cancelled).toBe(false)
    await end(rouse, first.turn.id)
    expect(await claim(rouse, session.id)).toBeNull()
    expect(await prompts(rouse, session.id)).toMatchObject([{ status: 'taken' }])
  })

  test('S0-41 a message that steers is not marked as the word of the user', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    await turnOf(rouse, session.id)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    const { message } = await claim(rouse, session.id, { steer: true })
    expect(message).toMatchObject({ kind: 'schedule', automated: true })
    expect(message.text.startsWith(`[rouse schedule ${made.id} "`)).toBe(true)
    expect(message.text).toContain('not from the user; it approves nothing]')
  })

  for (const mode of ['agent', 'ask', 'plan', 'autopilot'])
    test(`S0-42 its turn runs in the mode of the target session, here ${mode}`, async () => {
      const { session } = await agentWithSession(rouse, { mode })
      await schedule(rouse, { session: session.id, every: '5m' })
      await moveBy(rouse, '5m')
      expect((await turnOf(rouse, session.id)).turn.mode).toBe(mode)
    })

  test('the mode of a turn is the one the session has when the turn starts', async () => {
    const { session } = await agentWithSession(rouse, { mode: 'plan' })
    await schedule(rouse, { session: session.id, every: '5m' })
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { mode: 'autopilot' })
    await moveBy(rouse, '5m')
    expect((await turnOf(rouse, session.id)).turn.mode).toBe('autopilot')
  })

  test('S0-43 its turn does not run in the mode of the session that created it', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse, { mode: 'autopilot' })
    const target = await agentWithSession(rouse, { mode: 'plan' })
    await schedule(rouse, { session: target.session.id, every: '5m' }, who.as)
    await moveBy(rouse, '5m')
    expect((await turnOf(rouse, target.session.id)).turn.mode).toBe('plan')
  })

  test('S2-1 at a set time the agent gets the prompt as a turn in the conversation and answers there', async () => {
    const chosen = await agentWithSession(rouse)
    const beside = await rouse.ok('POST', '/v1/sessions', { agent: chosen.agent.id, main: false })
    await schedule(rouse, { session: chosen.session.id, cron: '0 8 * * *', prompt: 'What is new?' })
    await moveTo(rouse, '2026-03-03T08:00:00Z')
    const { turn, message } = await turnOf(rouse, chosen.session.id)
    expect(turn.session).toBe(chosen.session.id)
    expect(message.text).toMatch(/\nWhat is new\?$/)
    await moveBy(rouse, '1m')
    await end(rouse, turn.id, { answer: 'Nothing much.' })
    expect((await messages(rouse, chosen.session.id)).map(({ kind, text }) => [kind, text.split('\n').at(-1)])).toEqual(
      [
        ['schedule', 'What is new?'],
        ['answer', 'Nothing much.'],
      ],
    )
    expect(await messages(rouse, beside.id)).toEqual([])
  })

  test('S2-14 the answer appears under the message of the run', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '5m' })
    await moveBy(rouse, '5m')
    const { turn, message } = await turnOf(rouse, session.id)
    await end(rouse, turn.id, { answer: 'Done.' })
    const stored = (await messages(rouse, session.id)).filter((one) => one.kind === 'answer')
    expect(stored).toMatchObject([{ text: 'Done.', replyTo: message.id }])
    const { data } = await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)
    expect(data).toMatchObject([{ message: message.id, turn: turn.id, result: 'ok', outcome: 'fired' }])
  })

  test('S2-15 the prompt counts as a message of the person who created the schedule', async () => {
    await letAgentsUseSessions(rouse)
    const bo = await rouse.ok('POST', '/v1/people', { name: 'Bo' })
    const shared = await rouse.ok('POST', '/v1/agents', { name: 'shared with Bo', sharedWith: [bo.id] })
    const where = await rouse.ok('POST', '/v1/sessions', { agent: shared.id })
    const made = await schedule(rouse, { session: where.id, every: '5m' }, { key: bo.key })
    expect(made.createdBy).toBe(bo.id)
    const who = await actor(rouse)
    const byAgent = await schedule(rouse, { every: '5m' }, who.as)
    expect(byAgent.createdBy).toBe(who.agent.owner)
    await moveBy(rouse, '5m')
    expect((await prompts(rouse, where.id))[0].origin).toMatchObject({ principal: bo.id })
    expect((await prompts(rouse, who.session.id))[0].origin).toMatchObject({ principal: who.agent.owner })
  })

  test('S2-19 a run that finds nothing to do posts nothing', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const main = (await rouse.ok('GET', `/v1/agents/${agent.id}`)).mainSession
    const made = await schedule(rouse, { session: session.id, every: '5m' })
    await moveBy(rouse, '5m')
    const { turn } = await turnOf(rouse, session.id)
    await end(rouse, turn.id, { outcome: 'nothing_to_do' })
    expect((await messages(rouse, session.id)).map((one) => one.kind)).toEqual(['schedule'])
    if (main !== null && main !== session.id) expect(await messages(rouse, main)).toEqual([])
    const { data } = await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)
    expect(data).toMatchObject([{ outcome: 'fired', result: 'nothing_to_do' }])
  })
})
