import { expect, test } from 'vitest'
import {
  actor,
  agent,
  claim,
  end,
  instant,
  inTurn,
  letAgentsUseSessions,
  messages,
  moveBy,
  moveTo,
  now,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { type Json, onClock, withOwnNodes } from './node.ts'
import {
  after,
  begun,
  begunActor,
  nextTick,
  patchAgent,
  patchSession,
  quietUntil,
  sleeps,
  speak,
  tickMessages,
  ticks,
  tickThat,
} from './ticking.ts'

const clock = '2026-03-02T09:00:00Z'

withOwnNodes('ticks over restarts', (make) => {
  test('a tick that is planned survives a restart', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session, at } = await begun(rouse)
    await rouse.stop('SIGKILL')
    await rouse.start({ clock: after(clock, 200) })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 300) })
    await nextTick(rouse, session.id)
    expect(await now(rouse)).toBe(after(at, 300))
  })

  test('a tick that was due while Rouse was down comes once, and the next ones count from its end', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await begun(rouse)
    await rouse.stop()
    const back = instant(clock, 60)
    await rouse.start({ clock: back })
    await moveBy(rouse, '1s')
    const taken = await turnOf(rouse, session.id)
    expect(taken.message.kind).toBe('tick')
    await end(rouse, taken.turn.id, sleeps(300))
    expect(await claim(rouse, session.id)).toBeNull()
    expect(await ticks(rouse, session.id)).toMatchObject({ nextAt: after(back, 301), today: { ticks: 1 } })
  })

  test('a tick, a park, a count and a window outlive a restart', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const [waiting, running, parked, counted] = [
      await begun(rouse),
      await begun(rouse),
      await begun(rouse),
      await begun(rouse),
    ]
    await rouse.ok('POST', `/v1/sessions/${parked.session.id}/ticks/park`)
    await moveTo(rouse, after(clock, 300))
    await turnOf(rouse, running.session.id)
    await end(rouse, (await turnOf(rouse, counted.session.id)).turn.id, { tokens: 77 })
    const all = [waiting, running, parked, counted].map(({ session: { id } }) => id)
    const views = () => Promise.all(all.map((id) => ticks(rouse, id)))
    const before = await views()
    expect(before.map(({ state }) => state)).toEqual(['waiting', 'running', 'parked', 'armed'])
    expect(before[3].today).toEqual({ ticks: 1, tokens: 77 })
    await rouse.stop('SIGKILL')
    await rouse.start({ clock: after(clock, 301) })
    expect(await views()).toEqual(before)
    expect((await turnOf(rouse, waiting.session.id)).message.kind).toBe('tick')
  })

  test('a jump of the clock over many ticks gives one', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await begun(rouse)
    await moveBy(rouse, '3h', { down: true })
    await moveBy(rouse, '1h')
    expect(await tickMessages(rouse, session.id)).toHaveLength(1)
  })
})

onClock('ticks, compaction and the end of a session', clock, (rouse) => {
  const compact = (sessionId: string): Promise<Json> => rouse.ok('POST', `/v1/sessions/${sessionId}/compact`, {})

  test('compaction takes the plan along, its window and its counts', async () => {
    const { session } = await begun(rouse)
    await tickThat(rouse, session.id, { ...sleeps(900), tokens: 5 })
    const before = await ticks(rouse, session.id)
    const next = await compact(session.id)
    expect(await ticks(rouse, next.id)).toEqual(before)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'off', reason: 'session_archived', nextAt: null })
    await moveTo(rouse, before.nextAt)
    expect((await turnOf(rouse, next.id)).message.kind).toBe('tick')
    expect(await claim(rouse, session.id).catch(() => null)).toBeNull()
  })

  test('a tick that waits moves along, and comes once', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    const next = await compact(session.id)
    expect(await ticks(rouse, next.id)).toMatchObject({ state: 'waiting', reason: 'not_claimed' })
    const { turn, message } = await turnOf(rouse, next.id)
    expect([message.kind, turn.session]).toEqual(['tick', next.id])
    await end(rouse, turn.id, sleeps(300))
    expect(await claim(rouse, next.id)).toBeNull()
    expect((await ticks(rouse, next.id)).today.ticks).toBe(1)
  })

  test('a tick that runs goes on in the new session', async () => {
    const { session } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    const next = await compact(session.id)
    expect((await ticks(rouse, next.id)).state).toBe('running')
    await end(rouse, turn.id, sleeps(600))
    expect(await ticks(rouse, next.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 600) })
  })

  test('what is parked stays parked in the new session', async () => {
    const { session } = await begun(rouse)
    await rouse.ok('POST', `/v1/sessions/${session.id}/ticks/park`)
    const next = await compact(session.id)
    expect(await ticks(rouse, next.id)).toMatchObject({ state: 'parked', reason: 'parked' })
  })

  test('an archived session is off, and a tick that waits there is nobody’s', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    await rouse.ok('POST', `/v1/sessions/${session.id}/archive`)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'off', reason: 'session_archived', nextAt: null })
    expect((await tickMessages(rouse, session.id)).map(({ status }) => status)).not.toContain('waiting')
    await quietUntil(rouse, session.id, instant(at, 60))
  })

  test('a deleted session and one of a deleted agent have no ticks', async () => {
    const [gone, orphan] = [await begun(rouse), await begun(rouse)]
    await rouse.ok('DELETE', `/v1/sessions/${gone.session.id}`)
    expect((await rouse.call('GET', `/v1/sessions/${gone.session.id}/ticks`)).status).toBe(404)
    await rouse.ok('DELETE', `/v1/agents/${orphan.agent.id}`)
    await moveBy(rouse, '1h')
    for (const { session } of [gone, orphan])
      expect((await rouse.call('POST', `/v1/sessions/${session.id}/claim`, {})).status).not.toBe(200)
  })

  test('an agent that is disabled and enabled again plans from its next turn', async () => {
    const { agent, session, at } = await begun(rouse)
    await patchAgent(rouse, agent.id, { enabled: false })
    await quietUntil(rouse, session.id, after(at, 400))
    await patchAgent(rouse, agent.id, { enabled: true })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'next_turn' })
    await quietUntil(rouse, session.id, after(at, 2000))
    const since = await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(since, 300) })
  })

  test('what a tick has used is counted, also when the agent was disabled while it ran', async () => {
    const { agent, session } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    await patchAgent(rouse, agent.id, { enabled: false })
    await end(rouse, turn.id, { tokens: 700 })
    await patchAgent(rouse, agent.id, { enabled: true })
    expect(await ticks(rouse, session.id)).toMatchObject({ today: { ticks: 1, tokens: 700 } })
  })

  test('disabled and enabled again before its time, a planned tick comes when it was planned', async () => {
    const { agent, session, at } = await begun(rouse)
    await patchAgent(rouse, agent.id, { enabled: false })
    await moveTo(rouse, after(at, 100))
    await patchAgent(rouse, agent.id, { enabled: true })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 300) })
  })

  test('an agent that left the conversation gets none, and gets them again when it is back', async () => {
    const { session, at } = await begun(rouse)
    await rouse.ok('POST', `/v1/sessions/${session.id}/leave`)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'agent_left' })
    await quietUntil(rouse, session.id, instant(at, 30))
    await rouse.ok('POST', `/v1/sessions/${session.id}/join`)
    await nextTick(rouse, session.id)
  })
})

onClock('a tick that waits and a gate that closes meanwhile', clock, (rouse) => {
  /** A tick waits, and nobody has taken it. */
  const put = async (proactive: Json = {}) => {
    const made = await begun(rouse, proactive)
    await moveTo(rouse, after(made.at, 300))
    expect(await ticks(rouse, made.session.id)).toMatchObject({ reason: 'not_claimed' })
    return made
  }

  test('it does not begin once the agent is disabled', async () => {
    const { agent, session } = await put()
    await patchAgent(rouse, agent.id, { enabled: false })
    expect(await claim(rouse, session.id)).toBeNull()
  })

  for (const [reason, change] of [
    ['goal', { goal: 'ship it' }],
    ['pending_requests', { pendingRequests: 1 }],
    ['compacting', { compacting: true }],
    ['paused', { paused: true }],
    ['permission_manual', { permission: 'manual' }],
    ['permission_yolo', { permission: 'yolo' }],
  ] as const)
    test(`it does not begin behind the gate ${reason}`, async () => {
      const { session } = await put()
      await patchSession(rouse, session.id, change)
      expect(await claim(rouse, session.id)).toBeNull()
      expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason })
    })

  test('it does not begin when its window has run out before a worker came', async () => {
    const { session, at } = await put({ maxWindowMinutes: 10 })
    await moveTo(rouse, instant(at, 60))
    expect(await claim(rouse, session.id)).toBeNull()
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'max_window' })
  })

  test('it does not begin right before a schedule', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: after(at, 700) })
    await moveTo(rouse, after(at, 300))
    expect(await ticks(rouse, session.id)).toMatchObject({ reason: 'not_claimed' })
    await moveTo(rouse, after(at, 690))
    expect(await claim(rouse, session.id)).toBeNull()
    await moveTo(rouse, after(at, 700))
    expect((await turnOf(rouse, session.id)).message.kind).toBe('schedule')
  })

  test('it does not begin when the limit of the day was lowered', async () => {
    const { agent, session } = await put()
    await patchAgent(rouse, agent.id, { maxTicksPerDay: 0 })
    expect(await claim(rouse, session.id)).toBeNull()
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'max_ticks_per_day' })
  })

  for (const [gate, change] of [
    ['paused', { paused: true }],
    ['permission_manual', { permission: 'manual' }],
    ['goal', { goal: 'ship it' }],
  ] as const)
    test(`behind the gate ${gate} the end of the window parks, and nothing spins`, async () => {
      const { session, at } = await begun(rouse, { maxWindowMinutes: 10 })
      await patchSession(rouse, session.id, change)
      await quietUntil(rouse, session.id, instant(at, 30))
      expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'max_window', nextAt: null })
    })

  test('a tick that waited while a schedule ran does not come right after it', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: after(at, 700) })
    await moveTo(rouse, after(at, 700))
    const { turn, message } = await turnOf(rouse, session.id)
    expect(message.kind).toBe('schedule')
    await end(rouse, turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 1000) })
    expect(await claim(rouse, session.id)).toBeNull()
  })
})

onClock('parks', clock, (rouse) => {
  const park = (sessionId: string) => rouse.ok('POST', `/v1/sessions/${sessionId}/ticks/park`)
  const parked = { state: 'parked', reason: 'parked', nextAt: null }

  test('parking while a turn of a person’s word runs holds beyond its end', async () => {
    const { session } = await begun(rouse)
    await say(rouse, session.id, 'do this, and then be quiet')
    const { turn } = await turnOf(rouse, session.id)
    await park(session.id)
    await end(rouse, turn.id)
    // No word came after the park.
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await quietUntil(rouse, session.id, instant(await now(rouse), 60))
  })

  test('a word that waits when it is parked is older than the park', async () => {
    const { session } = await begun(rouse)
    await say(rouse, session.id, 'do this, and then be quiet')
    await park(session.id)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
  })

  test('a word after the park starts it again, also while a turn runs', async () => {
    const { session } = await begun(rouse)
    await say(rouse, session.id, 'first')
    const { turn } = await turnOf(rouse, session.id)
    await park(session.id)
    await say(rouse, session.id, 'second')
    await end(rouse, turn.id)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 300) })
  })

  test('a word starts the planner of a fork', async () => {
    const { session } = await begun(rouse)
    const derived = await rouse.ok('POST', `/v1/sessions/${session.id}/fork`, {})
    const since = await speak(rouse, derived.id)
    expect(await ticks(rouse, derived.id)).toMatchObject({ state: 'armed', nextAt: after(since, 300) })
  })

  test('parking while a tick runs lets it end, and none follows', async () => {
    const { session } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    await park(session.id)
    await end(rouse, turn.id, sleeps(60))
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await quietUntil(rouse, session.id, instant(await now(rouse), 60))
  })

  test('a session can be parked before anybody has written, and the first word starts it', async () => {
    const own = await session(rouse, (await agent(rouse)).id)
    expect(await park(own.id)).toMatchObject({ state: 'parked', nextAt: null })
    await speak(rouse, own.id)
    expect((await ticks(rouse, own.id)).state).toBe('armed')
  })

  test('a cancelled tick whose worker never ends it leaves it parked when its lease runs out', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    const { turn } = await claim(rouse, session.id, { leaseSeconds: 30 })
    await rouse.ok('POST', `/v1/turns/${turn.id}/cancel`)
    await moveTo(rouse, instant(at, 60))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'cancelled', nextAt: null })
  })

  test('a word while a tick runs leaves no trace in the row of unproductive ones', async () => {
    const { session } = await begun(rouse, { idleTickLimit: 2 })
    await tickThat(rouse, session.id)
    const { turn } = await nextTick(rouse, session.id)
    await say(rouse, session.id, 'stop that')
    await end(rouse, turn.id, { outcome: 'failed', tokens: 40 })
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', today: { ticks: 2, tokens: 40 } })
    expect((await tickThat(rouse, session.id)).nextAt).toBe(after(await now(rouse), 60))
  })

  test('a tick that is interrupted cannot plan the next wake', async () => {
    const { session } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    await rouse.ok('POST', `/v1/turns/${turn.id}/cancel`)
    await end(rouse, turn.id, sleeps(60))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'cancelled', nextAt: null })
  })
})

onClock('many at once', clock, (rouse) => {
  test('20 words at the moment a tick is due leave one order: the words, no tick', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 299))
    await Promise.all([
      moveTo(rouse, after(at, 300)),
      ...Array.from({ length: 20 }, (_, n) => say(rouse, session.id, `word ${n}`)),
    ])
    const kinds: string[] = []
    for (let taken = await claim(rouse, session.id); taken !== null; taken = await claim(rouse, session.id)) {
      kinds.push(taken.message.kind)
      await end(rouse, taken.turn.id)
    }
    expect(kinds).toEqual(Array(20).fill('user'))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', today: { ticks: 0 } })
  })

  test('many workers claim one tick once', async () => {
    const { session, at } = await begun(rouse)
    const claims = Array.from({ length: 10 }, (_, n) => claim(rouse, session.id, { wait: n % 2 === 0 ? 3 : 0 }))
    await moveTo(rouse, after(at, 300))
    const more = Array.from({ length: 10 }, () => claim(rouse, session.id))
    const taken = (await Promise.all([...claims, ...more])).filter((one) => one !== null)
    expect(taken.map(({ message }) => message.kind)).toEqual(['tick'])
    expect((await ticks(rouse, session.id)).today.ticks).toBe(1)
  })

  test('a claim that waits is answered when a tick comes', async () => {
    const { session, at } = await begun(rouse)
    const waiting = claim(rouse, session.id, { wait: 15 })
    await moveTo(rouse, after(at, 300))
    expect((await waiting).message.kind).toBe('tick')
  })

  test('writing and claiming at once: the tick does not begin, or is cancelled', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { session, at } = await begun(rouse)
      await moveTo(rouse, after(at, 300))
      const [taken] = await Promise.all([claim(rouse, session.id), say(rouse, session.id, 'me first')])
      if (taken === null || taken.message.kind === 'user') {
        expect(await tickMessages(rouse, session.id)).toMatchObject([{ status: 'dropped' }])
        continue
      }
      expect(await rouse.ok('POST', `/v1/turns/${taken.turn.id}/heartbeat`, {})).toMatchObject({ cancelled: true })
      await end(rouse, taken.turn.id, { outcome: 'failed' })
      expect((await turnOf(rouse, session.id)).message.kind).toBe('user')
    }
  })

  test('an alarm for a plan that is no more does nothing: later sleep, later word, park', async () => {
    const [sleeping, spoken, parked] = [await begun(rouse), await begun(rouse), await begun(rouse)]
    const { at } = parked
    await speak(rouse, sleeping.session.id, sleeps(3600))
    await moveTo(rouse, after(at, 200))
    await speak(rouse, spoken.session.id)
    await rouse.ok('POST', `/v1/sessions/${parked.session.id}/ticks/park`)
    for (const { session } of [sleeping, spoken, parked]) await quietUntil(rouse, session.id, after(at, 499))
    await moveTo(rouse, after(at, 500))
    expect(await tickMessages(rouse, spoken.session.id)).toHaveLength(1)
    await quietUntil(rouse, sleeping.session.id, after(at, 3500))
  })
})

onClock('bounds', clock, (rouse) => {
  const put = (agentId: string, proactive: Json) => rouse.call('PATCH', `/v1/agents/${agentId}`, { proactive })

  test('a number that is none, is out of bounds or is unknown is refused, and nothing changes', async () => {
    const made = await agent(rouse)
    for (const proactive of [
      { tickSeconds: 0 },
      { tickSeconds: -1 },
      { tickSeconds: 1.5 },
      { tickSeconds: '300' },
      { tickSeconds: 1e12 },
      { minSleepSeconds: 0 },
      { maxSleepSeconds: 1e9 },
      { idleTickLimit: 0 },
      { maxTicksPerDay: -1 },
      { maxTokensPerDay: -1 },
      { maxWindowMinutes: 0 },
      { maxWindowMinutes: 1e9 },
      { allowYolo: 'yes' },
      { enabled: null },
      { tick_seconds: 300 },
      { tickSeconds: 600, maxTicksPerDay: -1 },
      [],
      'off',
      7,
    ]) {
      const { status, body } = await put(made.id, proactive)
      expect([proactive, status, body.code]).toEqual([proactive, 422, 'body_invalid'])
    }
    expect((await rouse.ok('GET', `/v1/agents/${made.id}`)).proactive).toEqual(made.proactive)
  })

  test('where the shortest sleep is beyond the longest one, the shortest holds: nothing spins', async () => {
    const { session } = await begun(rouse, { minSleepSeconds: 600, maxSleepSeconds: 60 })
    for (const seconds of [1, 300, 7200]) {
      const at = await speak(rouse, session.id, sleeps(seconds))
      expect((await ticks(rouse, session.id)).nextAt).toBe(after(at, 600))
    }
  })

  test('a sleep that is no number of seconds is refused, and the turn goes on', async () => {
    const { session } = await begun(rouse)
    await say(rouse, session.id, 'again')
    const { turn } = await turnOf(rouse, session.id)
    for (const seconds of [-1, '60', null, 1e300]) {
      const { status, body } = await rouse.call('POST', `/v1/turns/${turn.id}/end`, {
        outcome: 'ok',
        sleep: { seconds },
      })
      expect([seconds, status, body.code]).toEqual([seconds, 422, 'body_invalid'])
    }
    await end(rouse, turn.id, sleeps(60))
  })

  test('only a person’s key changes the settings', async () => {
    const who = await actor(rouse)
    const { status, body } = await rouse.call('PATCH', `/v1/agents/${who.agent.id}`, { proactive: {} }, who.as)
    expect([status, body.code]).toEqual([403, 'person_only'])
  })

  test('0 ticks a day are none at all, with their reason', async () => {
    const { session, at } = await begun(rouse, { maxTicksPerDay: 0 })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'max_ticks_per_day' })
    await quietUntil(rouse, session.id, instant(at, 60))
  })
})

onClock('what a tick sets in motion', clock, (rouse) => {
  const send = (who: { key: string; session: Json }, turn: string, to: string) =>
    rouse.call('POST', `/v1/sessions/${to}/messages`, { text: 'do it' }, inTurn(who as never, turn))
  const arm = (who: { key: string; session: Json }, turn: string, path: string) =>
    rouse.call(
      'POST',
      '/v1/monitors',
      { session: who.session.id, note: 'look', watch: { document: { path } } },
      inTurn(who as never, turn),
    )
  const write = (path: string) => rouse.ok('PUT', `/v1/documents/${path}`, { at: String(Math.random()) })

  test('a tick has the hops of the turn that it follows', async () => {
    await letAgentsUseSessions(rouse)
    const [a, b, c, d] = [await begunActor(rouse), await begunActor(rouse), await begunActor(rouse), await actor(rouse)]
    await say(rouse, a.session.id, 'begin')
    const first = (await turnOf(rouse, a.session.id)).turn
    expect((await send(a, first.id, b.session.id)).status).toBe(201)
    await end(rouse, (await turnOf(rouse, b.session.id)).turn.id, sleeps(120))
    await end(rouse, first.id)
    const tick = await nextTick(rouse, b.session.id)
    expect(tick.message.origin).toMatchObject({ kind: 'tick', hops: 1 })
    expect((await send(b, tick.turn.id, c.session.id)).status).toBe(201)
    await end(rouse, (await turnOf(rouse, c.session.id)).turn.id, sleeps(120))
    await end(rouse, tick.turn.id, sleeps(3600))
    const last = await nextTick(rouse, c.session.id)
    expect(last.message.origin).toMatchObject({ kind: 'tick', hops: 2 })
    const refused = await send(c, last.turn.id, d.session.id)
    expect([refused.status, refused.body.code]).toEqual([403, 'hop_limit'])
    // Nor does the tick after it.
    await end(rouse, last.turn.id, sleeps(60))
    const more = await nextTick(rouse, c.session.id)
    expect((await send(c, more.turn.id, d.session.id)).body.code).toBe('hop_limit')
    await end(rouse, more.turn.id)
    // A person's word does.
    await say(rouse, c.session.id, 'go on')
    const own = await turnOf(rouse, c.session.id)
    expect((await send(c, own.turn.id, d.session.id)).status).toBe(201)
    await end(rouse, own.turn.id)
    expect((await nextTick(rouse, c.session.id)).message.origin).toMatchObject({ hops: 0 })
  })

  test('a tick after a turn that a monitor woke has its depth, and arms no deeper', async () => {
    await letAgentsUseSessions(rouse)
    const who = await begunActor(rouse)
    await rouse.ok('POST', '/v1/monitors', {
      session: who.session.id,
      note: 'look',
      watch: { document: { path: 'deep/1' } },
    })
    await write('deep/1')
    const woken = await turnOf(rouse, who.session.id)
    expect(woken.message.kind).toBe('monitor')
    await end(rouse, woken.turn.id, sleeps(60))
    const tick = await nextTick(rouse, who.session.id)
    expect(tick.message.origin).toMatchObject({ depth: 1 })
    expect((await arm(who, tick.turn.id, 'deep/2')).status).toBe(201)
    await write('deep/2')
    await end(rouse, tick.turn.id)
    const deeper = await turnOf(rouse, who.session.id)
    expect(deeper.message.kind).toBe('monitor')
    await end(rouse, deeper.turn.id, sleeps(60))
    const last = await nextTick(rouse, who.session.id)
    expect(last.message.origin).toMatchObject({ depth: 2 })
    const refused = await arm(who, last.turn.id, 'deep/3')
    expect([refused.status, refused.body.code]).toEqual([403, 'monitor_depth'])
  })

  test('a tick works as the owner, and is not the person’s word', async () => {
    const { agent, session } = await begun(rouse)
    const { message } = await nextTick(rouse, session.id)
    expect(message).toMatchObject({ automated: true, origin: { kind: 'tick', principal: agent.owner } })
  })

  test('what a tick says is an answer under it', async () => {
    const { session } = await begun(rouse)
    const { turn, message } = await nextTick(rouse, session.id)
    await end(rouse, turn.id, { answer: 'tidied up', ...sleeps(300) })
    const said = (await messages(rouse, session.id)).filter(
      ({ kind, replyTo }) => kind === 'answer' && replyTo === message.id,
    )
    expect(said).toMatchObject([{ text: 'tidied up' }])
  })

  test('a tick that has taken the last wake of the day waits for a worker, and for nothing else', async () => {
    const { agent, session, at } = await begun(rouse)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { budget: { wakesPerDay: 1 } })
    await moveTo(rouse, after(at, 300))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'not_claimed' })
    expect((await turnOf(rouse, session.id)).message.kind).toBe('tick')
  })

  test('a tick draws on the wakes of the agent’s budget, and waits where they are used up', async () => {
    const { agent, session } = await begun(rouse)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { budget: { wakesPerDay: 1 } })
    await tickThat(rouse, session.id, sleeps(300))
    const view = await ticks(rouse, session.id)
    expect(view).toMatchObject({ state: 'waiting', reason: expect.stringMatching(/budget|wakes/) })
    await quietUntil(rouse, session.id, instant(await now(rouse), 60))
  })
})
