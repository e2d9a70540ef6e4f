import { expect, test } from 'vitest'
import {
  actor,
  agent,
  agentWithSession,
  end,
  fresh,
  instant,
  keyOf,
  letAgentsUseSessions,
  now,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { heldRun } from './holding.ts'
import { type CallOptions, type Json, onClock } from './node.ts'
import { monitor, put } from './watching.ts'

onClock('the agenda', '2026-03-02T09:00:00Z', (rouse) => {
  const agenda = (query = '', o: CallOptions = {}): Promise<Json> => rouse.ok('GET', `/v1/agenda${query}`, undefined, o)
  const person = async (more: Json = {}): Promise<Json> => {
    const made = await rouse.ok('POST', '/v1/people', { name: fresh('person'), ...more })
    return { ...made, as: { key: made.key } }
  }

  test('an empty one says from when to when and in which zone', async () => {
    const someone = await person({ tz: 'Asia/Tokyo' })
    const at = await now(rouse)
    expect(await agenda('', someone.as)).toEqual({
      from: at,
      to: instant(at, 24 * 60),
      tz: 'Asia/Tokyo',
      data: [],
      truncated: false,
    })
  })

  test('times of schedules stand in order, in the zone of the viewer or the one that is asked for', async () => {
    const someone = await person({ tz: 'Europe/Amsterdam' })
    const mine = await agent(rouse, {}, someone.as)
    const where = await session(rouse, mine.id, {}, someone.as)
    const late = await schedule(rouse, { session: where.id, cron: '0 18 * * *', name: 'Late' }, someone.as)
    const early = await schedule(rouse, { agent: mine.id, at: '2026-03-02T10:30', name: 'Ear\nly' }, someone.as)
    const { data, tz } = await agenda('', someone.as)
    expect(tz).toBe('Europe/Amsterdam')
    expect(data).toEqual([
      {
        at: '2026-03-02T10:30:00.000Z',
        local: '2026-03-02T11:30:00+01:00[Europe/Amsterdam]',
        adjusted: null,
        kind: 'prompt',
        id: early.id,
        name: 'Ear ly',
        session: null,
        agent: mine.id,
        who: { person: someone.id, agent: null },
        checked: false,
        budget: null,
        hold: null,
      },
      expect.objectContaining({ id: late.id, at: '2026-03-02T18:00:00.000Z', session: where.id }),
    ])
    const [first] = (await agenda('?tz=Asia/Tokyo', someone.as)).data
    expect(first.local).toBe('2026-03-02T19:30:00+09:00[Asia/Tokyo]')
    expect((await agenda('?hours=1', someone.as)).data).toEqual([])
  })

  test.each([
    ['hours=0', 'hours'],
    ['hours=169', 'hours'],
    ['hours=1.5', 'hours'],
    ['hours=x', 'hours'],
    ['tz=Mars/Olympus', 'tz'],
    ['day=1', ''],
  ])('%s is refused, naming the field', async (query, path) => {
    const { status, body } = await rouse.call('GET', `/v1/agenda?${query}`)
    expect([status, body.code]).toEqual([422, 'query_invalid'])
    expect(body.errors.map((error: Json) => error.path)).toContain(path)
  })

  test('a frequent schedule shows fifty times and says that there are more', async () => {
    const someone = await person()
    const mine = await agent(rouse, {}, someone.as)
    await schedule(rouse, { agent: mine.id, every: '5m' }, someone.as)
    const full = await agenda('', someone.as)
    expect([full.data.length, full.truncated]).toEqual([50, true])
    const hour = await agenda('?hours=2', someone.as)
    // At two hours sharp it is over: the end is not in it.
    expect([hour.data.length, hour.truncated]).toEqual([23, false])
  })

  test('five hundred entries are the most, the earliest of all', async () => {
    const someone = await person()
    const mine = await agent(rouse, {}, someone.as)
    for (let i = 0; i < 11; i++) await schedule(rouse, { agent: mine.id, every: '30m' }, someone.as)
    const { data, truncated } = await agenda('?hours=24', someone.as)
    expect([data.length, truncated]).toEqual([500, true])
    expect(data.map(({ at }: Json) => at)).toEqual(data.map(({ at }: Json) => at).sort())
  })

  test('maxRuns and until end it, and a paused schedule has no times', async () => {
    const someone = await person()
    const mine = await agent(rouse, {}, someone.as)
    const at = await now(rouse)
    await schedule(rouse, { agent: mine.id, every: '1h', maxRuns: 2, name: 'two' }, someone.as)
    await schedule(rouse, { agent: mine.id, every: '1h', until: instant(at, 180), name: 'three' }, someone.as)
    const paused = await schedule(rouse, { agent: mine.id, every: '1h', name: 'none' }, someone.as)
    await rouse.ok('POST', `/v1/schedules/${paused.id}/pause`, {}, someone.as)
    const names = (await agenda('', someone.as)).data.map(({ name }: Json) => name).sort()
    expect(names).toEqual(['three', 'three', 'three', 'two', 'two'])
  })

  test('nothing of others is in it, and of an agent that one may talk to everything', async () => {
    const [owner, friend, stranger] = [await person(), await person(), await person()]
    const shared = await agent(rouse, { sharedWith: [friend.id] }, owner.as)
    const where = await session(rouse, shared.id, {}, owner.as)
    const made = await schedule(rouse, { session: where.id, every: '12h' }, owner.as)
    const armed = await monitor(rouse, { session: where.id, watch: { time: { in: '2h' } } }, owner.as)
    const ids = async (o: CallOptions) => (await agenda('', o)).data.map(({ id }: Json) => id)
    expect(await ids(owner.as)).toEqual([armed.id, made.id])
    expect(await ids(friend.as)).toEqual([armed.id, made.id])
    expect(await ids(stranger.as)).toEqual([])
    // Nor does the first person, an admin, see it.
    expect(await ids({})).not.toContain(made.id)
  })

  test('the key of an agent sees what wakes it and what it made', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const { agent: other, session: theirs } = await agentWithSession(rouse)
    const own = await schedule(rouse, { session: who.session.id, every: '12h' })
    const sent = await schedule(rouse, { session: theirs.id, every: '13h' }, who.as)
    const hidden = await schedule(rouse, { session: theirs.id, every: '14h' })
    const ids = (await agenda('', who.as)).data.map(({ id }: Json) => id)
    expect(ids).toEqual([own.id, sent.id])
    expect((await agenda('', { key: await keyOf(rouse, other.id) })).data.map(({ id }: Json) => id)).toEqual([
      sent.id,
      hidden.id,
    ])
    const [, second] = (await agenda('', who.as)).data
    expect(second.who).toEqual({ person: who.agent.owner, agent: who.agent.id })
  })

  test('monitors show the time that they wait for; a watched tool shows looks up to its expiry, not wakes', async () => {
    const someone = await person()
    const mine = await agent(rouse, {}, someone.as)
    const where = await session(rouse, mine.id, {}, someone.as)
    const at = await now(rouse)
    await put(rouse, 'rates/eur', { rate: 1 }, someone.as)
    await rouse.ok(
      'PUT',
      `/v1/agents/${mine.id}/tools/rate`,
      {
        description: 'Reads.',
        parameters: { type: 'object', additionalProperties: false },
        readOnly: true,
        steps: [{ http: { method: 'GET', url: 'https://example.com/rate' } }],
      },
      someone.as,
    )
    const note = `Tell them the rate.\nAll of it${' and more'.repeat(20)}`
    await monitor(
      rouse,
      { session: where.id, note, expiresIn: '35m', watch: { tool: { name: 'rate', every: '10m' } } },
      someone.as,
    )
    const timed = await monitor(rouse, { session: where.id, watch: { time: { in: '15m' } } }, someone.as)
    await monitor(rouse, { session: where.id, watch: { document: { path: 'rates/eur' } } }, someone.as)
    const { data } = await agenda('?hours=1', someone.as)
    expect(data.map(({ at: time, kind }: Json) => [time, kind])).toEqual([
      [instant(at, 10), 'look'],
      [instant(at, 15), 'monitor'],
      [instant(at, 20), 'look'],
      [instant(at, 30), 'look'],
    ])
    expect(data[0]).toMatchObject({ checked: true, session: where.id, agent: mine.id })
    expect(data[0].name).toMatch(/^rate: Tell them the rate\. All of it and more.*…$/)
    expect(data[1]).toMatchObject({ id: timed.id, checked: false, name: 'Tell them how it went.' })
  })

  test('a planned tick is in it with what would stop it', async () => {
    const someone = await person()
    const mine = await agent(rouse, { proactive: { tickSeconds: 600 } }, someone.as)
    const where = await session(rouse, mine.id, { title: 'Desk' }, someone.as)
    await say(rouse, where.id, 'hello', someone.as)
    const { turn } = await turnOf(rouse, where.id, someone.as)
    expect((await agenda('', someone.as)).data).toEqual([])
    await end(rouse, turn.id, {}, someone.as)
    const at = await now(rouse)
    const [tick] = (await agenda('', someone.as)).data
    expect(tick).toMatchObject({ kind: 'tick', id: where.id, at: instant(at, 10), name: 'Tick in Desk', hold: null })
    await rouse.ok('PATCH', `/v1/sessions/${where.id}`, { goal: 'ship it' }, someone.as)
    expect((await agenda('', someone.as)).data[0].hold.code).toBe('goal')
    await rouse.ok('POST', `/v1/sessions/${where.id}/ticks/park`, {}, someone.as)
    expect((await agenda('', someone.as)).data).toEqual([])
  })

  test('a held run stands first, with the word that it waits for, and holds up the times after it', async () => {
    const held = await heldRun(rouse, {}, { title: 'Front desk' })
    const { data } = await agenda('?hours=1')
    const ours = data.filter(({ id }: Json) => id === held.made.id)
    expect(ours[0]).toMatchObject({ kind: 'held', at: instant(held.start, 5) })
    expect(ours[0].hold).toEqual({
      code: 'held',
      detail: expect.stringMatching(/^waiting until you write in Front desk/),
    })
    expect(ours.length).toBeGreaterThan(5)
    for (const later of ours.slice(1)) expect(later.hold.code).toMatch(/prompts_spent|previous_held/)
  })

  test('a trigger that settles is in it once something has happened', async () => {
    const someone = await person()
    const mine = await agent(rouse, {}, someone.as)
    const body = { name: 'New mail', agent: mine.id, prompt: 'Read it.', on: { document: { prefix: 'mail/' } } }
    const made = await rouse.ok('POST', '/v1/triggers', { ...body, settle: '10m' }, someone.as)
    expect((await agenda('', someone.as)).data).toEqual([])
    const at = await now(rouse)
    await put(rouse, 'mail/1', 'hello', someone.as)
    expect((await agenda('', someone.as)).data).toEqual([
      expect.objectContaining({ kind: 'trigger', id: made.id, name: 'New mail', at: instant(at, 10), hold: null }),
    ])
  })

  test('what a budget has left today stands with each, and past it the times of today are on hold, not those of tomorrow', async () => {
    const someone = await person()
    const mine = await agent(rouse, { budget: { wakesPerDay: 1 } }, someone.as)
    const made = await schedule(rouse, { agent: mine.id, every: '6h' }, someone.as)
    const before = (await agenda('', someone.as)).data
    expect(before[0].budget).toEqual({ wakes: 1, tokens: null, usd: null })
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`, {}, someone.as)
    const after = (await agenda('?hours=30', someone.as)).data
    const day = (entry: Json) => entry.at.slice(0, 10)
    for (const entry of after)
      if (day(entry) === day(after[0])) {
        expect(entry.hold.code).toBe('agent_wakes_per_day')
        expect(entry.budget).toEqual({ wakes: 0, tokens: null, usd: null })
      } else expect([entry.hold?.code ?? null, entry.budget]).toEqual([null, null])
    expect(new Set(after.map(day)).size).toBe(2)
  })

  test('with the setting off, what agents made is on hold', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const made = await schedule(rouse, { every: '6h' }, who.as)
    await letAgentsUseSessions(rouse, false)
    const own = (await agenda('', who.as)).data.filter(({ id }: Json) => id === made.id)
    expect(own.map(({ hold }: Json) => hold.code)).toEqual(own.map(() => 'agent_sessions_off'))
    await letAgentsUseSessions(rouse)
  })
})
