import { expect, test } from 'vitest'
import {
  type Actor,
  actor,
  all,
  end,
  instant,
  inTurn,
  moveBy,
  now,
  say,
  session as sessionOf,
  turnOf,
} from './actors.ts'
import { type Json, onClock } from './node.ts'
import { armed, events, monitor, put, readMonitor } from './watching.ts'

onClock('limits of monitors', '2026-03-02T08:00:00Z', (rouse) => {
  const soon = { watch: { time: { in: '5m' } } }
  const codeOf = async (body: Json, o: Json): Promise<string> => {
    const answer = await armed(rouse, body, o)
    return answer.status === 201 ? 'armed' : `${answer.status} ${answer.body.code}`
  }
  const cards = async (reason: string, session: string): Promise<Json[]> =>
    (await all(rouse, '/v1/feed')).filter((card) => card.reason === reason && card.session === session)

  /** The turn of an event: what it was armed by is `as`. */
  async function woken(who: Actor, as: Json): Promise<Json> {
    await monitor(rouse, soon, as)
    await moveBy(rouse, '5m')
    return (await turnOf(rouse, who.session.id)).turn
  }

  test('S4-31 each event draws on the budget of its agent; one that is used up ends the monitor, with a card', async () => {
    const who = await actor(rouse)
    await rouse.ok('PATCH', `/v1/agents/${who.agent.id}`, { budget: { wakesPerDay: 2 } })
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.push((await monitor(rouse, { watch: { document: { path: 'paid' } } }, who.as)).id)
    await put(rouse, 'paid', 1)
    const found = await Promise.all(ids.map((id) => readMonitor(rouse, id)))
    expect(found.filter(({ status }) => status === 'fired')).toHaveLength(2)
    expect(found.filter(({ reason }) => reason === 'agent_wakes_per_day')).toHaveLength(2)
    expect(await events(rouse, who.session.id)).toHaveLength(2)
    expect((await cards('agent_wakes_per_day', who.session.id)).map(({ seen }) => seen)).toEqual([2])
    const { data } = await rouse.ok('GET', '/v1/budgets')
    expect(data.find(({ id }: Json) => id === who.agent.id).wakes).toMatchObject({ used: 2, left: 0 })
  })

  test('S4-32 twenty events a day and conversation; the next monitor ends without one, and its person is told', async () => {
    const who = await actor(rouse)
    for (let i = 0; i < 20; i++) await monitor(rouse, { watch: { document: { path: 'many' } } }, who.as)
    await put(rouse, 'many', 1)
    expect(await events(rouse, who.session.id)).toHaveLength(20)
    const next = await monitor(rouse, { watch: { document: { path: 'many' } } }, who.as)
    await put(rouse, 'many', 2)
    expect(await readMonitor(rouse, next.id)).toMatchObject({ status: 'ended', reason: 'daily_limit', message: null })
    expect(await events(rouse, who.session.id)).toHaveLength(20)
    expect(await cards('daily_limit', who.session.id)).toHaveLength(1)
    await moveBy(rouse, '24h')
    await monitor(rouse, soon, who.as)
    await moveBy(rouse, '5m')
    expect(await events(rouse, who.session.id)).toHaveLength(21)
  })

  test('S4-33 a turn that a monitor woke may arm one, however it names itself', async () => {
    for (const named of ['turn', 'session', 'nothing'] as const) {
      const who = await actor(rouse)
      const turn = await woken(who, who.as)
      const as = named === 'turn' ? inTurn(who, turn.id) : named === 'session' ? who.as : { key: who.key }
      const body = { session: who.session.id, watch: { time: { in: '9h' } } }
      expect([named, await codeOf(body, as), await codeOf(body, as)]).toEqual([named, 'armed', '403 monitor_depth'])
      await end(rouse, turn.id)
      expect(await codeOf(body, who.as)).toBe('armed')
    }
  })

  test('S4-34 a turn that such a follow-up woke may arm none', async () => {
    const who = await actor(rouse)
    const first = await woken(who, who.as)
    const follow = await monitor(rouse, soon, inTurn(who, first.id))
    expect(follow.depth).toBe(2)
    await end(rouse, first.id)
    await moveBy(rouse, '5m')
    const second = (await turnOf(rouse, who.session.id)).turn
    for (const as of [inTurn(who, second.id), who.as]) expect(await codeOf(soon, as)).toBe('403 monitor_depth')
    const other = await sessionOf(rouse, who.agent.id)
    expect(await codeOf({ ...soon, session: other.id }, who.as)).toBe('403 monitor_depth')
    const around = { key: who.key, headers: { 'x-rouse-session': other.id } }
    expect(await codeOf({ ...soon, session: who.session.id }, around)).toBe('403 monitor_depth')
    await end(rouse, second.id)
    await say(rouse, who.session.id, 'Watch it again.')
    const third = (await turnOf(rouse, who.session.id)).turn
    expect(await codeOf(soon, inTurn(who, third.id))).toBe('armed')
  })

  test('of several at the same moment a turn that may arm one arms one', async () => {
    const who = await actor(rouse)
    const turn = await woken(who, who.as)
    const tried = await Promise.all(
      Array.from({ length: 8 }, () => codeOf({ watch: { time: { in: '9h' } } }, inTurn(who, turn.id))),
    )
    expect(tried.filter((one) => one === 'armed')).toHaveLength(1)
    expect(new Set(tried)).toEqual(new Set(['armed', '403 monitor_depth']))
  })

  test('S4-48 a cancelled one frees its place among the twenty', async () => {
    const who = await actor(rouse)
    const body = { watch: { time: { in: '9h' } } }
    const tried = await Promise.all(Array.from({ length: 21 }, () => armed(rouse, body, who.as)))
    expect(tried.filter(({ status }) => status === 201)).toHaveLength(20)
    const { id } = tried.find(({ status }) => status === 201)!.body
    expect(await codeOf(body, who.as)).toBe('409 monitor_limit')
    await rouse.ok('DELETE', `/v1/monitors/${id}`)
    expect([await codeOf(body, who.as), await codeOf(body, who.as)]).toEqual(['armed', '409 monitor_limit'])
    // Limits come first: what is wrong besides is said when there is room.
    expect(await codeOf({ ...body, when: 'nonsense(' }, who.as)).toBe('409 monitor_limit')
  })

  test('expired ones take no place', async () => {
    const who = await actor(rouse)
    const body = { watch: { document: { path: 'd' } }, expiresIn: '1h' }
    for (let i = 0; i < 20; i++) await monitor(rouse, body, who.as)
    await moveBy(rouse, '1h')
    expect(await codeOf(body, who.as)).toBe('armed')
  })

  test('into another conversation it counts as a prompt to it, and in mode ask a person is asked first', async () => {
    const who = await actor(rouse)
    const other = await sessionOf(rouse, who.agent.id)
    const body = { session: other.id, watch: { document: { path: 'far' } } }
    const made = await monitor(rouse, body, who.as)
    expect(made).toMatchObject({ session: other.id, createdIn: who.session.id })
    await put(rouse, 'far', 1)
    expect((await events(rouse, other.id)).map(({ origin }) => [origin.hops, origin.depth])).toEqual([[1, 1]])
    await rouse.ok('PATCH', `/v1/sessions/${who.session.id}`, { mode: 'ask' })
    const refused = await armed(rouse, body, who.as)
    expect([refused.status, refused.body.code]).toEqual([403, 'approval_needed'])
    expect(refused.body.card).toMatch(/^crd_/)
    expect(await codeOf({ watch: { document: { path: 'near' } } }, who.as)).toBe('armed')
  })

  test('thirty prompts to others are thirty, monitors among them', async () => {
    const who = await actor(rouse)
    const others = [await sessionOf(rouse, who.agent.id), await sessionOf(rouse, who.agent.id)]
    const answers: string[] = []
    for (let i = 0; i < 31; i++)
      answers.push(await codeOf({ session: others[i % 2]!.id, watch: { time: { in: '9h' } } }, who.as))
    expect([answers.filter((one) => one === 'armed').length, answers.at(-1)]).toEqual([30, '403 approval_needed'])
  })

  test('a person arms in any session that they can use, and the setting agentSessions does not govern monitors', async () => {
    const who = await actor(rouse)
    const settings = await rouse.ok('GET', '/v1/settings')
    expect(settings.agentSessions).toBe(false)
    const byPerson = await monitor(rouse, { session: who.session.id, watch: { time: { in: '1h' } } })
    expect(byPerson).toMatchObject({ depth: 1, nextLookAt: instant(await now(rouse), 60) })
    expect((await armed(rouse, { watch: { time: { in: '1h' } } })).body).toMatchObject({
      status: 422,
      errors: [{ path: 'session' }],
    })
  })
})
