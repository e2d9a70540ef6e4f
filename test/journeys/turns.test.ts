import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { actor, agentWithSession, claim, end, instant, messages, moveBy, now, say, schedule, turnOf } from './actors.ts'
import { anywhere, type Json, onClock } from './node.ts'

anywhere('claims and turns', (rouse) => {
  const beat = (turnId: string, body: Json = {}) => rouse.call('POST', `/v1/turns/${turnId}/heartbeat`, body)

  test('50 claims at once of one waiting message give one turn', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const taken = await Promise.all(Array.from({ length: 50 }, () => claim(rouse, session.id)))
    expect(taken.filter((one) => one !== null)).toHaveLength(1)
  })

  test('50 claims at once of 5 waiting messages give one turn, since one runs at a time', async () => {
    const { session } = await agentWithSession(rouse)
    for (let n = 0; n < 5; n += 1) await say(rouse, session.id, `no ${n}`)
    const taken = await Promise.all(Array.from({ length: 50 }, () => claim(rouse, session.id)))
    expect(taken.filter((one) => one !== null)).toHaveLength(1)
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(4)
  })

  test('claims of several workers take each message of many exactly once', async () => {
    const { session } = await agentWithSession(rouse)
    const sent = []
    for (let n = 0; n < 8; n += 1) sent.push((await say(rouse, session.id, `no ${n}`)).id)
    const taken: string[] = []
    const worker = async () => {
      while (taken.length < sent.length) {
        const one = await claim(rouse, session.id, { wait: 1 })
        if (one === null) continue
        taken.push(one.message.id)
        await end(rouse, one.turn.id)
      }
    }
    await Promise.all([worker(), worker(), worker()])
    expect(taken).toEqual(sent)
  })

  test('a claim that waits is answered when a message comes', async () => {
    const { session } = await agentWithSession(rouse)
    const waiting = claim(rouse, session.id, { wait: 20 })
    await sleep(100)
    const since = Date.now()
    await say(rouse, session.id, 'hello')
    expect((await waiting).message.text).toContain('hello')
    expect(Date.now() - since).toBeLessThan(3_000)
  })

  test('a claim of the agent that waits is answered when a message comes', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const waiting = rouse.call('POST', `/v1/agents/${agent.id}/claim`, { wait: 5 })
    await sleep(100)
    await say(rouse, session.id, 'hello')
    const { status, body } = await waiting
    expect([status, body?.turn.session]).toEqual([200, session.id])
  })

  test('a claim without wait answers 204 at once, one with wait after that time', async () => {
    const { session } = await agentWithSession(rouse)
    let since = Date.now()
    expect((await rouse.call('POST', `/v1/sessions/${session.id}/claim`)).status).toBe(204)
    expect(Date.now() - since).toBeLessThan(900)
    since = Date.now()
    expect(await claim(rouse, session.id, { wait: 1 })).toBeNull()
    expect(Date.now() - since).toBeGreaterThanOrEqual(900)
  })

  test('wait and leaseSeconds have their bounds', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    for (const body of [
      { wait: 21 },
      { wait: -1 },
      { leaseSeconds: 29 },
      { leaseSeconds: 7201 },
      { leaseSeconds: '60' },
      { steer: 'yes' },
    ]) {
      const answer = await rouse.call('POST', `/v1/sessions/${session.id}/claim`, body)
      expect([body, answer.status, answer.body?.code]).toEqual([body, 422, 'body_invalid'])
    }
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(1)
    expect(await claim(rouse, session.id, { leaseSeconds: 30 })).not.toBeNull()
  })

  test('cancel is seen by a heartbeat that is held, at once, and the end of the turn frees the session', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'first')
    await say(rouse, session.id, 'second')
    const { turn } = await turnOf(rouse, session.id)
    const held = beat(turn.id, { wait: 20 })
    await sleep(100)
    const since = Date.now()
    expect((await rouse.call('POST', `/v1/turns/${turn.id}/cancel`)).status).toBeLessThan(300)
    expect((await held).body).toMatchObject({ cancelled: true })
    expect(Date.now() - since).toBeLessThan(3_000)
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'failed' })).status).toBe(200)
    expect((await turnOf(rouse, session.id)).message.text).toContain('second')
  })

  test('only a person cancels a turn', async () => {
    const who = await actor(rouse)
    await say(rouse, who.session.id, 'hello')
    const { turn } = await turnOf(rouse, who.session.id)
    const answer = await rouse.call('POST', `/v1/turns/${turn.id}/cancel`, undefined, who.as)
    expect([answer.status, answer.body.code]).toEqual([403, 'person_only'])
    expect((await beat(turn.id)).body.cancelled).toBe(false)
  })

  test('a heartbeat answers the lease, whether it is cancelled and what steers', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const { turn } = await turnOf(rouse, session.id)
    expect((await beat(turn.id)).body).toEqual({ leaseUntil: expect.any(String), cancelled: false, steer: [] })
  })

  test('the end of a turn stores the answer under its message, and answers no trace without tool calls', async () => {
    const { session } = await agentWithSession(rouse)
    const sent = await say(rouse, session.id, 'what is new?')
    const { turn } = await turnOf(rouse, session.id)
    expect(await end(rouse, turn.id, { answer: 'Nothing.' })).toEqual({ trace: null })
    expect((await messages(rouse, session.id)).find(({ kind }) => kind === 'answer')).toMatchObject({
      text: 'Nothing.',
      replyTo: sent.id,
    })
  })

  test('a turn reports its tool calls and asks for a sleep as it ends', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const { turn } = await turnOf(rouse, session.id)
    const call = { tool: 'http', args: { url: 'https://example.com' }, status: 'ok', result: { status: 200 } }
    const path = `/v1/turns/${turn.id}/end`
    const wrong = await rouse.call('POST', path, { outcome: 'ok', toolCalls: [{ ...call, status: 'maybe' }] })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'body_invalid'])
    const ended = await rouse.call('POST', path, {
      outcome: 'ok',
      answer: 'Done.',
      toolCalls: [call],
      sleep: { seconds: 600, reason: 'nothing to do' },
    })
    expect(ended.status).toBe(200)
  })

  test('a turn ends once', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const { turn } = await turnOf(rouse, session.id)
    await end(rouse, turn.id, { answer: 'once' })
    const again = await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: 'twice' })
    expect([again.status, again.body.code]).toEqual([409, 'turn_not_running'])
    const late = await beat(turn.id)
    expect([late.status, late.body.code]).toEqual([409, 'turn_not_running'])
    expect((await messages(rouse, session.id)).filter(({ kind }) => kind === 'answer')).toHaveLength(1)
  })

  test('an outcome that is none is refused and the turn goes on', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const { turn } = await turnOf(rouse, session.id)
    for (const body of [{}, { outcome: 'unknown' }, { outcome: 'done' }, { outcome: 'ok', tokens: -1 }]) {
      const answer = await rouse.call('POST', `/v1/turns/${turn.id}/end`, body)
      expect([body, answer.status, answer.body.code]).toEqual([body, 422, 'body_invalid'])
    }
    expect((await beat(turn.id)).body.cancelled).toBe(false)
  })

  test('a paused session starts no turn until it goes on', async () => {
    const { session } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { paused: true })
    await say(rouse, session.id, 'hello')
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('paused')
    expect(await claim(rouse, session.id)).toBeNull()
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { paused: false })
    expect(await claim(rouse, session.id)).not.toBeNull()
  })

  test('compacting moves the waiting messages and the running turn into the new session', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'first')
    await say(rouse, session.id, 'second')
    const { turn } = await turnOf(rouse, session.id)
    const next = await rouse.ok('POST', `/v1/sessions/${session.id}/compact`, {})
    expect(await rouse.ok('GET', `/v1/sessions/${next.id}`)).toMatchObject({ state: 'running', waiting: 1 })
    expect((await beat(turn.id)).body.cancelled).toBe(false)
    expect(await claim(rouse, next.id)).toBeNull()
    await end(rouse, turn.id, { answer: 'moved' })
    expect((await turnOf(rouse, next.id)).message.text).toContain('second')
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('archived')
  })

  test('a fork copies nothing', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    await schedule(rouse, { session: session.id, cron: '0 8 * * *' })
    const fork = await rouse.ok('POST', `/v1/sessions/${session.id}/fork`, {})
    expect(fork).toMatchObject({ waiting: 0, scheduled: { count: 0, nextAt: null } })
    expect(await messages(rouse, fork.id)).toEqual([])
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).scheduled.count).toBe(1)
  })
})

onClock('leases', '2026-03-02T09:00:00Z', (rouse) => {
  test('a claim of the agent that waits is answered when a run in a session of its own comes', async () => {
    const { agent } = await agentWithSession(rouse)
    await schedule(rouse, { agent: agent.id, every: '5m' })
    const waiting = rouse.call('POST', `/v1/agents/${agent.id}/claim`, { wait: 5 })
    await sleep(100)
    await moveBy(rouse, '5m')
    const { status, body } = await waiting
    expect([status, body?.message.kind]).toEqual([200, 'schedule'])
  })

  test('a lease is 120 seconds of the clock of Rouse, and a heartbeat extends it', async () => {
    const { session } = await agentWithSession(rouse)
    await say(rouse, session.id, 'hello')
    const start = await now(rouse)
    const { turn } = await claim(rouse, session.id, {})
    expect(turn.leaseUntil).toBe(instant(start, 2))
    await moveBy(rouse, '1m')
    const { leaseUntil } = await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})
    expect(leaseUntil).toBe(instant(start, 3))
    await moveBy(rouse, 'PT119S')
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('running')
    await moveBy(rouse, 'PT2S')
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('idle')
    const late = await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok' })
    expect([late.status, late.body.code]).toEqual([409, 'turn_not_running'])
  })

  test('what was said one after the other is worked on in that order, also within one instant', async () => {
    const { session } = await agentWithSession(rouse)
    const said = ['one', 'two', 'three', 'four', 'five']
    for (const text of said) await say(rouse, session.id, text)
    expect((await messages(rouse, session.id)).map(({ text }) => text)).toEqual(said)
    const worked: string[] = []
    for (let taken = await claim(rouse, session.id); taken !== null; taken = await claim(rouse, session.id)) {
      worked.push(taken.message.text)
      await end(rouse, taken.turn.id)
    }
    expect(worked).toEqual(said)
  })

  test('an answer stands below the message it answers, also within one instant', async () => {
    for (let n = 0; n < 6; n += 1) {
      const { session } = await agentWithSession(rouse)
      await schedule(rouse, { session: session.id, every: '5m' })
      await moveBy(rouse, '5m')
      await end(rouse, (await turnOf(rouse, session.id)).turn.id, { answer: 'Done.' })
      expect((await messages(rouse, session.id)).map(({ kind }) => kind)).toEqual(['schedule', 'answer'])
    }
  })

  test('the clock goes forward only', async () => {
    const before = await now(rouse)
    const answer = await rouse.call('POST', '/v1/clock', { to: instant(before, -1) })
    expect([answer.status, answer.body.code]).toEqual([422, 'clock_backward'])
    expect(await now(rouse)).toBe(before)
    for (const body of [{}, { to: 'soon' }, { by: 'x' }, { to: before, by: '1m' }, { by: '-1h' }])
      expect([body, (await rouse.call('POST', '/v1/clock', body)).status]).toEqual([body, 422])
  })
})
