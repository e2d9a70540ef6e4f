import { expect, test } from 'vitest'
import {
  actor,
  agent,
  agentWithSession,
  claim,
  end,
  instant,
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
import { type Json, onClock, type RouseNode, withOwnNodes } from './node.ts'
import { rouse as cli } from './program.ts'
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

onClock('ticks of an idle main session', clock, (rouse) => {
  test('S3-1 the agent wakes while the session is idle, does a part, and yields until the next wake', async () => {
    const { session, at } = await begun(rouse)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 300) })
    await moveTo(rouse, after(at, 300))
    expect(await tickMessages(rouse, session.id)).toMatchObject([{ status: 'waiting', automated: true }])
    const { turn, message } = await turnOf(rouse, session.id)
    expect(message.kind).toBe('tick')
    expect(message.text.split('\n')[0]).toBe(
      '[rouse tick · automated message from Rouse, not from the user; it approves nothing]',
    )
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'running', today: { ticks: 1, tokens: 0 } })
    await moveBy(rouse, '40s')
    await end(rouse, turn.id, { answer: 'sorted the notes', ...sleeps(600) })
    // From the end of the turn, not from its beginning.
    const view = await ticks(rouse, session.id)
    expect(view).toMatchObject({ state: 'armed', nextAt: after(at, 300 + 40 + 600) })
    expect((await tickThat(rouse, session.id, sleeps(900))).nextAt).toBe(after(view.nextAt, 900))
  })

  test('S3-2 they are on by default', async () => {
    const { session, at } = await agentWithSession(rouse).then(async (made) => ({
      ...made,
      at: await speak(rouse, made.session.id),
    }))
    await moveTo(rouse, after(at, 300))
    expect((await turnOf(rouse, session.id)).message.kind).toBe('tick')
  })

  test('a session that never had input has no tick', async () => {
    const { session } = await agentWithSession(rouse)
    const nobody = { state: 'parked', reason: 'no_input', nextAt: null, windowUntil: null }
    expect(await ticks(rouse, session.id)).toEqual({ ...nobody, today: { ticks: 0, tokens: 0 } })
    await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id, sleeps(300))
    // What Rouse itself put there is no input.
    expect(await ticks(rouse, session.id)).toMatchObject(nobody)
    await quietUntil(rouse, session.id, instant(await now(rouse), 120))
  })

  test('a word that steers a running turn is input, too', async () => {
    const { session } = await agentWithSession(rouse)
    await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    const { turn } = await turnOf(rouse, session.id)
    await say(rouse, session.id, 'look here')
    expect((await claim(rouse, session.id, { steer: true })).message.kind).toBe('user')
    await end(rouse, turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 300) })
  })

  test('S3-5 proactive.enabled = false in the agent closes the second gate', async () => {
    const { agent, session, at } = await begun(rouse)
    await patchAgent(rouse, agent.id, { enabled: false })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'off', reason: 'disabled' })
    await quietUntil(rouse, session.id, instant(at, 600))
  })

  test('S3-6 with the gate closed there is no planner: off, with the reason', async () => {
    const { session } = await begun(rouse, { enabled: false })
    expect(await ticks(rouse, session.id)).toEqual({
      state: 'off',
      reason: 'disabled',
      nextAt: null,
      today: { ticks: 0, tokens: 0 },
      windowUntil: null,
    })
  })

  test('S3-7 where there is no planner a sleep is refused with ticks_off, and the turn goes on', async () => {
    const { agent, session } = await begun(rouse, { enabled: false })
    await say(rouse, session.id, 'and now?')
    const { turn } = await turnOf(rouse, session.id)
    const refused = await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: 'x', ...sleeps(600) })
    expect([refused.status, refused.body.code]).toEqual([409, 'ticks_off'])
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('running')
    expect((await rouse.call('POST', `/v1/turns/${turn.id}/heartbeat`, {})).status).toBe(200)
    // Nothing of the refused end was kept.
    expect((await messages(rouse, session.id)).filter(({ text }) => text === 'x')).toEqual([])
    await end(rouse, turn.id, { answer: 'y' })
    // Where they are on it is taken.
    await patchAgent(rouse, agent.id, { enabled: true })
    await speak(rouse, session.id, sleeps(600))
    expect((await ticks(rouse, session.id)).nextAt).toBe(after(await now(rouse), 600))
  })

  test('S3-8 with the gate closed there is no alarm', async () => {
    const { agent, session, at } = await begun(rouse, { enabled: false })
    await quietUntil(rouse, session.id, instant(at, 24 * 60))
    // Nothing is left over that would wake it later, when the gate opens and nothing else happens.
    const { session: other, agent: its, at: since } = await begun(rouse)
    await patchAgent(rouse, its.id, { enabled: false })
    await quietUntil(rouse, other.id, instant(since, 30))
    expect((await ticks(rouse, other.id)).nextAt).toBeNull()
    expect((await ticks(rouse, session.id)).nextAt).toBeNull()
    expect(agent.proactive.enabled).toBe(false)
  })

  test('null and {} mean the defaults, and a part of them leaves the rest', async () => {
    const made = await agent(rouse, { proactive: { tickSeconds: 600 } })
    const { proactive: standard } = await agent(rouse)
    expect(made.proactive).toEqual({ ...standard, tickSeconds: 600 })
    const more = await patchAgent(rouse, made.id, { maxTicksPerDay: 5 })
    expect(more.proactive).toMatchObject({ maxTicksPerDay: 5 })
    for (const reset of [null, {}]) {
      await patchAgent(rouse, made.id, { tickSeconds: 900, allowYolo: true })
      expect((await patchAgent(rouse, made.id, reset)).proactive).toEqual(standard)
    }
  })

  test('S3-18 only a main session gets ticks', async () => {
    const { agent } = await begun(rouse)
    const second = await session(rouse, agent.id, { main: false })
    await speak(rouse, second.id)
    expect(await ticks(rouse, second.id)).toMatchObject({ state: 'off', reason: 'not_main', nextAt: null })
    await quietUntil(rouse, second.id, instant(await now(rouse), 60))
  })

  test('S3-19 child sessions never get ticks', async () => {
    const parent = await begun(rouse)
    const child = await session(rouse, parent.agent.id, { parent: parent.session.id })
    await speak(rouse, child.id)
    expect(await ticks(rouse, child.id)).toMatchObject({ state: 'off', reason: 'child_session', nextAt: null })
    await quietUntil(rouse, child.id, instant(await now(rouse), 60))
  })

  test('S3-20 the loop must be idle: no tick while a turn runs', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: instant(at, 4) })
    await moveTo(rouse, instant(at, 4))
    // With a schedule at minute 4 the first tick would have come at minute 5.
    const { turn } = await turnOf(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'turn_running' })
    await quietUntil(rouse, session.id, instant(at, 60))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'turn_running' })
    await end(rouse, turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(instant(at, 60), 300) })
  })

  const gates: readonly [string, string, string, Json, Json][] = [
    ['S3-21', 'no tick while the session is paused', 'paused', { paused: true }, { paused: false }],
    ['S3-23', 'no tick while requests are open', 'pending_requests', { pendingRequests: 2 }, { pendingRequests: 0 }],
    ['S3-24', 'no tick while the session is compacted', 'compacting', { compacting: true }, { compacting: false }],
    ['S3-25', 'no tick while a goal is active', 'goal', { goal: 'ship it' }, { goal: null }],
    ['S3-27', 'permission must be auto', 'permission_manual', { permission: 'manual' }, { permission: 'auto' }],
  ]
  for (const [id, title, reason, close, open] of gates)
    test(`${id} ${title}`, async () => {
      const { session, at } = await begun(rouse)
      await patchSession(rouse, session.id, close)
      expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason })
      await quietUntil(rouse, session.id, after(at, 1000))
      const view = await ticks(rouse, session.id)
      expect(view).toMatchObject({ state: 'waiting', reason })
      expect(view.nextAt > after(at, 1000) && view.nextAt <= after(at, 1300)).toBe(true)
      await patchSession(rouse, session.id, open)
      expect((await nextTick(rouse, session.id)).message.kind).toBe('tick')
    })

  test('S3-22 no tick while something waits in the queue', async () => {
    const { session, at } = await begun(rouse, { tickSeconds: 600 })
    const sender = await actor(rouse)
    await letAgentsUseSessions(rouse)
    await say(rouse, session.id, 'from an agent', sender.as)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'queue' })
    await quietUntil(rouse, session.id, instant(at, 60))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'queue' })
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: instant(at, 70) })
  })

  test('S3-26 a tick never comes within its horizon of the next schedule', async () => {
    const { session, at } = await begun(rouse)
    // The first tick would come at 300 s; its horizon reaches to 600 s.
    const soon = await schedule(rouse, { session: session.id, at: after(at, 590) })
    await quietUntil(rouse, session.id, after(at, 300))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'schedule_soon' })
    await quietUntil(rouse, session.id, after(at, 589))
    await moveTo(rouse, after(at, 590))
    const { turn, message } = await turnOf(rouse, session.id)
    expect(message.origin).toMatchObject({ schedule: soon.id })
    await end(rouse, turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 890) })
  })

  test('a tick that the next schedule will hold back is not said to be armed', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: after(at, 590) })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'schedule_soon' })
  })

  test('a schedule beyond the horizon leaves the tick where it is', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: after(at, 601) })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 300) })
    expect((await nextTick(rouse, session.id)).message.kind).toBe('tick')
    expect(await now(rouse)).toBe(after(at, 300))
  })

  test('a schedule that is paused holds no tick back', async () => {
    const { session, at } = await begun(rouse)
    const { id } = await schedule(rouse, { session: session.id, at: after(at, 590) })
    await rouse.ok('POST', `/v1/schedules/${id}/pause`, {})
    await nextTick(rouse, session.id)
    expect(await now(rouse)).toBe(after(at, 300))
  })

  test('S3-28 with yolo there are none unless allowYolo', async () => {
    const { agent, session, at } = await begun(rouse, {}, { session: { permission: 'yolo' } })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'permission_yolo' })
    await quietUntil(rouse, session.id, instant(at, 60))
    await patchAgent(rouse, agent.id, { allowYolo: true })
    expect((await nextTick(rouse, session.id)).message.kind).toBe('tick')
  })

  test('S3-29 with manual there are none, allowYolo or not', async () => {
    const { session, at } = await begun(rouse, { allowYolo: true }, { session: { permission: 'manual' } })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'permission_manual' })
    await quietUntil(rouse, session.id, instant(at, 120))
  })

  test('S3-30 no tick once those of the day are used up', async () => {
    const { session } = await begun(rouse, { maxTicksPerDay: 2 })
    await tickThat(rouse, session.id, sleeps(300))
    const view = await tickThat(rouse, session.id, sleeps(300))
    expect(view).toMatchObject({ state: 'waiting', reason: 'max_ticks_per_day', today: { ticks: 2 } })
    await quietUntil(rouse, session.id, instant(await now(rouse), 120))
  })

  test('S3-31 no tick once the tokens of the day are used up', async () => {
    const { session } = await begun(rouse, { maxTokensPerDay: 1000 })
    expect(await tickThat(rouse, session.id, { ...sleeps(300), tokens: 999 })).toMatchObject({
      state: 'armed',
      today: { ticks: 1, tokens: 999 },
    })
    // The last one may go over: what a turn costs is known when it has ended.
    expect(await tickThat(rouse, session.id, { ...sleeps(300), tokens: 500 })).toMatchObject({
      state: 'waiting',
      reason: 'max_tokens_per_day',
      today: { ticks: 2, tokens: 1499 },
    })
    await quietUntil(rouse, session.id, instant(await now(rouse), 120))
  })

  test('S3-32 no tick once the window has run out', async () => {
    const { session, at } = await begun(rouse, { maxWindowMinutes: 20, tickSeconds: 600 })
    expect(await ticks(rouse, session.id)).toMatchObject({ windowUntil: instant(at, 20) })
    await tickThat(rouse, session.id, sleeps(900))
    await quietUntil(rouse, session.id, instant(at, 120))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'max_window', nextAt: null })
  })

  test('S3-33 a closed gate waits and never spins', async () => {
    const { session, at } = await begun(rouse, { tickSeconds: 60 })
    await patchSession(rouse, session.id, { paused: true })
    for (let looks = 0; looks < 10; looks += 1) {
      const { nextAt } = await ticks(rouse, session.id)
      expect(nextAt).toBe(after(at, 60 * (looks + 1)))
      await quietUntil(rouse, session.id, nextAt)
    }
  })

  test('S3-34 it looks again after tickSeconds', async () => {
    const { session, at } = await begun(rouse)
    await patchSession(rouse, session.id, { pendingRequests: 1 })
    await quietUntil(rouse, session.id, after(at, 300))
    expect(await ticks(rouse, session.id)).toMatchObject({ reason: 'pending_requests', nextAt: after(at, 600) })
    await patchSession(rouse, session.id, { pendingRequests: 0 })
    await nextTick(rouse, session.id)
    expect(await now(rouse)).toBe(after(at, 600))
  })

  test('S3-35 it never looks again beyond the next schedule', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: after(at, 450) })
    await patchSession(rouse, session.id, { pendingRequests: 1 })
    await quietUntil(rouse, session.id, after(at, 300))
    const { nextAt } = await ticks(rouse, session.id)
    expect(nextAt <= after(at, 450)).toBe(true)
    expect(nextAt > after(at, 300)).toBe(true)
  })

  test('S3-36 it is off for what will not change: the config is closed, or the session is not the main one', async () => {
    const { agent, session: own, at } = await begun(rouse)
    const second = await session(rouse, agent.id, { main: false })
    await speak(rouse, second.id)
    await patchAgent(rouse, agent.id, { enabled: false })
    for (const { id } of [own, second])
      expect(await ticks(rouse, id)).toMatchObject({ state: 'off', nextAt: null, windowUntil: null })
    await quietUntil(rouse, own.id, instant(at, 60))
    await rouse.ok('POST', `/v1/sessions/${own.id}/archive`)
    expect(await ticks(rouse, own.id)).toMatchObject({ state: 'off', nextAt: null })
  })

  test('S3-37 sleep ends the turn and plans the next wake, after a person’s turn as after a tick', async () => {
    const { session } = await agentWithSession(rouse)
    const at = await speak(rouse, session.id, { sleep: { seconds: 1200, reason: 'the build runs' } })
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).state).toBe('idle')
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 1200) })
    const view = await tickThat(rouse, session.id, sleeps(700))
    expect(view).toMatchObject({ state: 'armed', nextAt: after(at, 1900) })
  })

  for (const [seconds, clamped] of [
    [29, 30],
    [30, 30],
    [31, 31],
    [3600, 3600],
    [3601, 3600],
    [86_400, 3600],
  ] as const)
    test(`S3-38 a sleep of ${seconds} becomes ${clamped}`, async () => {
      const { session } = await begun(rouse)
      const at = await speak(rouse, session.id, sleeps(seconds))
      expect((await ticks(rouse, session.id)).nextAt).toBe(after(at, clamped))
    })

  test('S3-39 asking for 10 seconds cannot spin the loop', async () => {
    const { session, at } = await begun(rouse)
    for (let n = 0; n < 5; n += 1) {
      const view = await tickThat(rouse, session.id, sleeps(10))
      expect(view.nextAt).toBe(after(at, 300 + 30 * (n + 1)))
    }
  })

  test('S3-40 the text asks to sleep at least 300 seconds unless something outside is about to happen', async () => {
    const { session } = await begun(rouse)
    const { message } = await nextTick(rouse, session.id)
    expect(message.text).toMatch(/sleep[^.]*\b(at least 300|300 or more)\b[^.]*unless[^.]*(external|outside)/)
    expect(message.text).toMatch(/every wake costs/i)
  })

  test('S3-41 writing while a tick holds the loop cancels its turn, and the turn of the word runs', async () => {
    const { session } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    const beat = rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, { wait: 20 })
    await say(rouse, session.id, 'stop that')
    const since = Date.now()
    expect((await beat).cancelled).toBe(true)
    expect(Date.now() - since).toBeLessThan(2_000)
    const late = await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'failed' })
    expect(late.status).toBe(200)
    const next = await turnOf(rouse, session.id)
    expect(next.message).toMatchObject({ kind: 'user', text: 'stop that' })
    await end(rouse, next.turn.id)
    // The person's word is no cancel: the planner goes on from its turn's end.
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 300) })
  })

  test('a turn of anybody else than a tick is not cancelled by writing', async () => {
    const { session, at } = await begun(rouse)
    await schedule(rouse, { session: session.id, at: instant(at, 4) })
    await moveTo(rouse, instant(at, 4))
    const { turn } = await turnOf(rouse, session.id)
    await say(rouse, session.id, 'meanwhile')
    expect(await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})).toMatchObject({ cancelled: false })
  })

  test('S3-42 when the user writes, a tick that has not started is dropped', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'not_claimed' })
    await say(rouse, session.id, 'here I am')
    expect(await tickMessages(rouse, session.id)).toMatchObject([{ status: 'dropped' }])
    const { turn, message } = await turnOf(rouse, session.id)
    expect(message.kind).toBe('user')
    await end(rouse, turn.id)
    expect(await claim(rouse, session.id)).toBeNull()
    // It never began, so it does not count.
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', today: { ticks: 0 } })
  })

  test('S3-43 cancelling a turn of a tick parks the planner, with a reason', async () => {
    const { session, at } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    await rouse.ok('POST', `/v1/turns/${turn.id}/cancel`)
    const parked = { state: 'parked', reason: 'cancelled', nextAt: null }
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await end(rouse, turn.id, { outcome: 'failed' })
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await quietUntil(rouse, session.id, instant(at, 120))
  })

  test('cancelling a turn of a person’s word does not park it', async () => {
    const { session } = await begun(rouse)
    await say(rouse, session.id, 'go')
    const { turn } = await turnOf(rouse, session.id)
    await rouse.ok('POST', `/v1/turns/${turn.id}/cancel`)
    await end(rouse, turn.id, { outcome: 'failed' })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 300) })
  })

  test('S3-44 only new input starts it again', async () => {
    await letAgentsUseSessions(rouse)
    const { agent, session, at } = await begun(rouse)
    const { turn } = await nextTick(rouse, session.id)
    await rouse.ok('POST', `/v1/turns/${turn.id}/cancel`)
    await end(rouse, turn.id, { outcome: 'failed' })
    const parked = { state: 'parked', reason: 'cancelled', nextAt: null }

    const sender = await actor(rouse)
    await say(rouse, session.id, 'from an agent', sender.as)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id, sleeps(60))
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await schedule(rouse, { session: session.id, at: instant(at, 10) })
    await moveTo(rouse, instant(at, 10))
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await patchSession(rouse, session.id, { mode: 'autopilot', paused: true })
    await patchSession(rouse, session.id, { paused: false })
    await patchAgent(rouse, agent.id, { enabled: false })
    await patchAgent(rouse, agent.id, { enabled: true, tickSeconds: 60 })
    expect(await ticks(rouse, session.id)).toMatchObject(parked)
    await quietUntil(rouse, session.id, instant(at, 120))

    const since = await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(since, 60) })
  })

  test('S3-45 a fork starts parked, and leaves the other as it was', async () => {
    const { session, at } = await begun(rouse)
    const derived = await rouse.ok('POST', `/v1/sessions/${session.id}/fork`, {})
    const parked = { state: 'parked', reason: 'fork', nextAt: null }
    expect(await ticks(rouse, derived.id)).toMatchObject(parked)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(at, 300) })
    await quietUntil(rouse, derived.id, instant(at, 60))
    expect(await ticks(rouse, derived.id)).toMatchObject(parked)
  })

  test('S3-46 a turn of a tick that ends without sleep is unproductive, whatever it said', async () => {
    for (const how of [{ outcome: 'ok', answer: 'done' }, { outcome: 'nothing_to_do' }, { outcome: 'failed' }]) {
      const { session, at } = await begun(rouse)
      expect(await tickThat(rouse, session.id, how)).toMatchObject({ state: 'armed', nextAt: after(at, 360) })
    }
  })

  test('S3-47 after unproductive turns the next wakes are 60, 300, 900 and 3600 seconds away', async () => {
    const { session, at } = await begun(rouse, { idleTickLimit: 7 })
    let from = after(at, 300)
    for (const seconds of [60, 300, 900, 3600, 3600]) {
      const view = await tickThat(rouse, session.id)
      expect(view).toMatchObject({ state: 'armed', nextAt: after(from, seconds) })
      from = view.nextAt
    }
  })

  test('a turn that sleeps ends the row of unproductive ones', async () => {
    const { session } = await begun(rouse)
    for (const seconds of [60, 300]) {
      const view = await tickThat(rouse, session.id)
      expect(view.nextAt).toBe(after(await now(rouse), seconds))
    }
    await tickThat(rouse, session.id, sleeps(300))
    expect((await tickThat(rouse, session.id)).nextAt).toBe(after(await now(rouse), 60))
  })

  test('S3-48 after the third unproductive turn it parks', async () => {
    const { session, at } = await begun(rouse)
    await tickThat(rouse, session.id)
    expect(await tickThat(rouse, session.id)).toMatchObject({ state: 'armed' })
    const parked = { state: 'parked', reason: 'idle_tick_limit', nextAt: null }
    expect(await tickThat(rouse, session.id)).toMatchObject(parked)
    await quietUntil(rouse, session.id, instant(at, 300))
    // New input starts the row anew.
    await speak(rouse, session.id)
    expect(await tickThat(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(await now(rouse), 60) })
  })

  test('a lease that ran out is an unproductive turn, too', async () => {
    const { session, at } = await begun(rouse, { idleTickLimit: 1 })
    await moveTo(rouse, after(at, 300))
    expect((await claim(rouse, session.id, { leaseSeconds: 30 })).message.kind).toBe('tick')
    await moveTo(rouse, after(at, 331))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'idle_tick_limit' })
  })

  test('POST park parks it until a person writes, and drops a tick that waits', async () => {
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    const parked = { state: 'parked', reason: 'parked', nextAt: null }
    expect(await rouse.ok('POST', `/v1/sessions/${session.id}/ticks/park`)).toMatchObject(parked)
    expect(await tickMessages(rouse, session.id)).toMatchObject([{ status: 'dropped' }])
    expect(await claim(rouse, session.id)).toBeNull()
    await quietUntil(rouse, session.id, instant(at, 60))
    await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed' })
  })

  test('a tick goes last', async () => {
    await letAgentsUseSessions(rouse)
    const { session, at } = await begun(rouse)
    const sender = await actor(rouse)
    await moveTo(rouse, after(at, 300))
    await say(rouse, session.id, 'from an agent', sender.as)
    expect((await turnOf(rouse, session.id)).message.kind).toBe('agent')
  })

  test('turns of schedules and agents move the next tick to their end', async () => {
    await letAgentsUseSessions(rouse)
    const { session, at } = await begunActor(rouse)
    const sender = await actor(rouse)
    await moveTo(rouse, after(at, 200))
    await say(rouse, session.id, 'from an agent', sender.as)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({
      state: 'armed',
      nextAt: after(at, 500),
      windowUntil: instant(at, 480),
    })
  })

  test('only those who see the session see its ticks, and only they park it', async () => {
    const { session } = await begun(rouse)
    const { key } = await rouse.ok('POST', '/v1/people', { name: 'A stranger' })
    for (const [method, path] of [
      ['GET', `/v1/sessions/${session.id}/ticks`],
      ['POST', `/v1/sessions/${session.id}/ticks/park`],
    ] as const) {
      const { status, body } = await rouse.call(method, path, method === 'GET' ? undefined : {}, { key })
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
    expect((await ticks(rouse, session.id)).state).toBe('armed')
  })
})

onClock('the settings of an agent that has set none', clock, (rouse) => {
  test('S3-9 they are enabled', async () => {
    const { session } = await begun(rouse)
    expect((await ticks(rouse, session.id)).state).toBe('armed')
  })

  test('S3-10 the first tick comes after 300 seconds', async () => {
    const { session, at } = await begun(rouse)
    expect((await ticks(rouse, session.id)).nextAt).toBe(after(at, 300))
  })

  test('S3-11 no sleep is shorter than 30 seconds', async () => {
    const { session } = await begun(rouse)
    const at = await speak(rouse, session.id, sleeps(1))
    expect((await ticks(rouse, session.id)).nextAt).toBe(after(at, 30))
  })

  test('S3-12 no sleep is longer than 3600 seconds', async () => {
    const { session } = await begun(rouse)
    const at = await speak(rouse, session.id, sleeps(604_800))
    expect((await ticks(rouse, session.id)).nextAt).toBe(after(at, 3600))
  })

  test('S3-13 it parks after 3 unproductive ticks, and not after 2', async () => {
    const { session } = await begun(rouse)
    const states: string[] = []
    for (let n = 0; n < 3; n += 1) states.push((await tickThat(rouse, session.id)).state)
    expect(states).toEqual(['armed', 'armed', 'parked'])
  })

  test('S3-14 a day has 48 ticks', async () => {
    const { session } = await begun(rouse)
    for (let n = 1; n <= 47; n += 1)
      expect(await tickThat(rouse, session.id, sleeps(30))).toMatchObject({ state: 'armed', today: { ticks: n } })
    expect(await tickThat(rouse, session.id, sleeps(30))).toMatchObject({
      state: 'waiting',
      reason: 'max_ticks_per_day',
      today: { ticks: 48 },
    })
    await quietUntil(rouse, session.id, instant(await now(rouse), 120))
  })

  test('S3-15 a day has 2,000,000 tokens', async () => {
    const { session } = await begun(rouse)
    expect((await tickThat(rouse, session.id, { ...sleeps(30), tokens: 1_999_999 })).state).toBe('armed')
    expect(await tickThat(rouse, session.id, { ...sleeps(30), tokens: 1 })).toMatchObject({
      state: 'waiting',
      reason: 'max_tokens_per_day',
      today: { ticks: 2, tokens: 2_000_000 },
    })
  })

  test('S3-16 the window is 480 minutes wide', async () => {
    const { session, at } = await begun(rouse)
    expect((await ticks(rouse, session.id)).windowUntil).toBe(instant(at, 480))
  })

  test('S3-17 yolo is not allowed', async () => {
    const { session } = await begun(rouse, {}, { session: { permission: 'yolo' } })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'waiting', reason: 'permission_yolo' })
  })

  test('an agent shows all of them, those included that were never set', async () => {
    expect((await agent(rouse, { proactive: { tickSeconds: 600 } })).proactive).toEqual({
      enabled: true,
      tickSeconds: 600,
      minSleepSeconds: 30,
      maxSleepSeconds: 3600,
      idleTickLimit: 3,
      maxTicksPerDay: 48,
      maxTokensPerDay: 2_000_000,
      maxWindowMinutes: 480,
      allowYolo: false,
    })
  })
})

onClock('what a day and a window allow', '2026-03-02T20:00:00Z', (rouse) => {
  const toDayEnd = async (sessionId: string, opens: string, reason: string) => {
    expect(await ticks(rouse, sessionId)).toMatchObject({ state: 'waiting', reason })
    await quietUntil(rouse, sessionId, after(opens, -1))
    expect(await ticks(rouse, sessionId)).toMatchObject({ state: 'waiting', reason, nextAt: opens })
    await nextTick(rouse, sessionId)
    expect(await now(rouse)).toBe(opens)
  }

  for (const [reason, settings] of [
    ['max_ticks_per_day', { maxTicksPerDay: 1 }],
    ['max_tokens_per_day', { maxTokensPerDay: 1 }],
  ] as const)
    test(`${reason} says at once when it opens again`, async () => {
      const { session } = await begun(rouse, settings)
      const midnight = `${instant(await now(rouse), 24 * 60).slice(0, 10)}T00:00:00.000Z`
      expect(await tickThat(rouse, session.id, { ...sleeps(300), tokens: 1 })).toMatchObject({
        state: 'waiting',
        reason,
        nextAt: midnight,
      })
    })

  test('S3-49 the ticks of a day have a limit, and the next day begins anew', async () => {
    const { session } = await begun(rouse, { maxTicksPerDay: 3, maxWindowMinutes: 2880 })
    const midnight = `${instant(await now(rouse), 24 * 60).slice(0, 10)}T00:00:00.000Z`
    for (let n = 1; n <= 3; n += 1)
      expect((await tickThat(rouse, session.id, sleeps(300))).today).toEqual({ ticks: n, tokens: 0 })
    await toDayEnd(session.id, midnight, 'max_ticks_per_day')
    expect((await ticks(rouse, session.id)).today).toEqual({ ticks: 1, tokens: 0 })
  })

  test('S3-50 the tokens of a day have a limit, and only those of ticks count', async () => {
    const { session } = await begun(rouse, { maxTokensPerDay: 5000, maxWindowMinutes: 2880 })
    await speak(rouse, session.id, { tokens: 1_000_000 })
    expect((await ticks(rouse, session.id)).today).toEqual({ ticks: 0, tokens: 0 })
    const midnight = `${instant(await now(rouse), 24 * 60).slice(0, 10)}T00:00:00.000Z`
    await tickThat(rouse, session.id, { ...sleeps(300), tokens: 5000 })
    await toDayEnd(session.id, midnight, 'max_tokens_per_day')
    expect((await ticks(rouse, session.id)).today).toEqual({ ticks: 1, tokens: 0 })
  })

  test('S3-51 the window limits how long it stays armed, and only a person opens it again', async () => {
    const { session, at } = await begun(rouse, { maxWindowMinutes: 60, maxSleepSeconds: 600 })
    let put = 0
    for (let view = await ticks(rouse, session.id); view.nextAt < instant(at, 60); put += 1) {
      expect(view).toMatchObject({ state: 'armed', windowUntil: instant(at, 60) })
      view = await tickThat(rouse, session.id, sleeps(600))
    }
    expect(put).toBe(6)
    await quietUntil(rouse, session.id, instant(at, 120))
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'max_window', nextAt: null })
    await schedule(rouse, { session: session.id, at: instant(at, 125) })
    await moveTo(rouse, instant(at, 125))
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'max_window' })
    const since = await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', windowUntil: instant(since, 60) })
  })

  test('what is planned lies within the window', async () => {
    const { session, at } = await begun(rouse, { maxWindowMinutes: 60 })
    const view = await tickThat(rouse, session.id, sleeps(3600))
    // The tick of 65 minutes after the word cannot come: nothing says that it will.
    expect(view.nextAt === null || view.nextAt <= instant(at, 60)).toBe(true)
  })

  test('every word of a person opens the window anew', async () => {
    const { session, at } = await begun(rouse, { maxWindowMinutes: 60 })
    await moveTo(rouse, after(at, 240))
    const since = await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ windowUntil: instant(since, 60) })
  })
})

onClock('a day is one of the owner’s zone', '2026-10-24T20:00:00Z', (rouse) => {
  test('the ticks of a day begin anew at midnight there, also on the day that has 25 hours', async () => {
    const { key } = await rouse.ok('POST', '/v1/people', { name: 'Dutch', tz: 'Europe/Amsterdam' })
    const as = (method: string, path: string, body: Json) => rouse.ok(method, path, body, { key })
    const own = await as('POST', '/v1/agents', {
      name: 'assistant',
      proactive: { maxTicksPerDay: 1, maxWindowMinutes: 4 * 24 * 60 },
    })
    const { id } = await as('POST', '/v1/sessions', { agent: own.id })
    await as('POST', `/v1/sessions/${id}/messages`, { text: 'hello' })
    const answer = async (sleep: Json = {}) => {
      const { turn, message } = await as('POST', `/v1/sessions/${id}/claim`, {})
      await as('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', ...sleep })
      return message.kind
    }
    await answer()
    for (const opens of ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', '2026-10-26T23:00:00.000Z']) {
      const first = await rouse.ok('GET', `/v1/sessions/${id}/ticks`, undefined, { key })
      await moveTo(rouse, first.nextAt)
      expect(await answer(sleeps(300))).toBe('tick')
      // Looked at once more before the day is over, so that its end is what is planned.
      await moveBy(rouse, '5m')
      expect(await rouse.ok('GET', `/v1/sessions/${id}/ticks`, undefined, { key })).toMatchObject({
        state: 'waiting',
        reason: 'max_ticks_per_day',
        nextAt: opens,
      })
    }
  })
})

withOwnNodes('the switch of a deployment', (make) => {
  const closed = { ROUSE_EXPERIMENTAL_PROACTIVE: '0' }

  test('S3-3 closing one of the two gates is enough', async () => {
    const [open, shut] = [make(), make()]
    await Promise.all([open.start({ clock }), shut.start({ clock, env: closed })])
    const state = async (rouse: RouseNode, enabled: boolean) => {
      const { session } = await begun(rouse, { enabled })
      return (await ticks(rouse, session.id)).state
    }
    expect(await state(open, true)).toBe('armed')
    expect(await state(open, false)).toBe('off')
    expect(await state(shut, true)).toBe('off')
    expect(await state(shut, false)).toBe('off')
  })

  test('S3-4 ROUSE_EXPERIMENTAL_PROACTIVE=0 closes the first', async () => {
    const rouse = make()
    await rouse.start({ clock, env: closed })
    const { session, at } = await begun(rouse)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'off', reason: 'switch_off', nextAt: null })
    await quietUntil(rouse, session.id, instant(at, 24 * 60))
    await say(rouse, session.id, 'and now?')
    const { turn } = await turnOf(rouse, session.id)
    const refused = await rouse.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', ...sleeps(600) })
    expect([refused.status, refused.body.code]).toEqual([409, 'ticks_off'])
  })

  test('a switch that is closed on a restart stops what was planned, and opened it needs a turn', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session, at } = await begun(rouse)
    await moveTo(rouse, after(at, 300))
    await rouse.stop()
    await rouse.start({ clock: after(at, 360), env: closed })
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'off', reason: 'switch_off', nextAt: null })
    // The tick that had been put does not begin behind a closed gate.
    expect(await claim(rouse, session.id)).toBeNull()
    await rouse.stop()
    await rouse.start({ clock: after(at, 420) })
    const since = await speak(rouse, session.id)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'armed', nextAt: after(since, 300) })
  })

  test('rouse ticks says what holds and rouse ticks park parks', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await begun(rouse)
    const said = await cli(rouse, ['ticks', session.id])
    expect([said.code, said.stderr]).toEqual([0, ''])
    expect(said.stdout).toContain('armed')
    expect(said.stdout).toContain('2026-03-02T09:05:00.000Z')
    expect((await cli(rouse, ['ticks', 'park', session.id])).code).toBe(0)
    expect(await ticks(rouse, session.id)).toMatchObject({ state: 'parked', reason: 'parked' })
  })
})
