import { expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import { actor, agent, all, fresh, keyOf, moveBy, session } from './actors.ts'
import { anywhere, type CallOptions, type Json, onClock, type RouseNode } from './node.ts'

/** A person with a feed that nobody else writes to. */
async function person(rouse: RouseNode, more: Json = {}): Promise<CallOptions & { key: string }> {
  return { key: (await rouse.ok('POST', '/v1/people', { name: fresh('person'), ...more })).key }
}

const post = (rouse: RouseNode, who: CallOptions, body: Json): Promise<Json> => rouse.ok('POST', '/v1/feed', body, who)
const act = (rouse: RouseNode, who: CallOptions, id: string, action: string) =>
  rouse.call('POST', `/v1/feed/${id}/actions/${action}`, {}, who)
const titles = (cards: Json[]): string[] => cards.map(({ title }) => title)
const isoDay = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

anywhere('the feed', (rouse) => {
  test('S2-69 an agent posts with group, label and loop key, and prints its group', async () => {
    const who = await person(rouse)
    const scout = await keyOfAgentOf(who)
    const io = { env: { ROUSE_URL: rouse.url, ROUSE_KEY: scout } }
    const group = 'Morning brief 2 Mar'
    for (const label of ['money', 'promise', 'decide', 'nudge', 'risk', 'fyi'])
      expect(
        (await command(['feed', 'post', `About ${label}`, '--group', group, '--label', label, '--loop', label], io))
          .code,
      ).toBe(0)
    expect((await command(['feed', 'post', 'x', '--group', group, '--label', 'urgent'], io)).code).toBe(2)
    const printed = await command(['feed', 'group-summary', group], io)
    expect(printed.stdout).toContain('Morning brief 2 Mar: 6 open')
    expect(printed.stdout).toContain('money 1 · promise 1 · decide 1 · nudge 1 · risk 1 · fyi 1')
    expect(printed.stdout).toContain('[risk] About risk · loop risk')
    const cards = await all(rouse, '/v1/feed', who)
    expect(cards[0]).toMatchObject({ kind: 'post', title: 'About fyi', group, label: 'fyi', loop: 'fyi', seen: 1 })
  })

  async function keyOfAgentOf(who: CallOptions): Promise<string> {
    const made = await agent(rouse, {}, who)
    return (await rouse.ok('POST', `/v1/agents/${made.id}/keys`, {}, who)).key
  }

  test('S2-70 the newest group comes first, and one label may be picked of those that there are', async () => {
    const who = await person(rouse)
    for (const [title, group, label] of [
      ['m1', 'Mon', 'fyi'],
      ['t1', 'Tue', 'money'],
      ['m2', 'Mon', 'risk'],
      ['w1', 'Wed', 'fyi'],
    ])
      await post(rouse, who, { title, group, label })
    const whole = await rouse.ok('GET', '/v1/feed', undefined, who)
    expect(titles(whole.data)).toEqual(['w1', 'm2', 'm1', 't1'])
    expect(whole.labels).toEqual({ money: 1, risk: 1, fyi: 2 })
    const picked = await rouse.ok('GET', '/v1/feed?label=fyi', undefined, who)
    expect([titles(picked.data), picked.labels]).toEqual([['w1', 'm1'], whole.labels])
    expect(titles(await all(rouse, '/v1/feed?group=Mon', who))).toEqual(['m2', 'm1'])
    expect(titles(await all(rouse, '/v1/feed?group=Mon&label=risk', who))).toEqual(['m2'])
  })

  test('S2-75 posting again under a loop key moves the card to the new group and counts how often it was seen', async () => {
    const who = await person(rouse)
    const first = await post(rouse, who, { title: 'Lease', group: 'Mon', loop: 'lease' })
    await post(rouse, who, { title: 'Other', group: 'Mon' })
    expect((await act(rouse, who, first.id, 'dismiss')).body.status).toBe('dismissed')
    const again = await post(rouse, who, { title: 'Lease, again', group: 'Tue', loop: 'lease' })
    expect(again).toMatchObject({ id: first.id, group: 'Tue', title: 'Lease, again', seen: 2, status: 'open' })
    expect((await rouse.ok('GET', '/v1/feed/groups/Mon/summary', undefined, who)).open).toBe(1)
    await Promise.all(
      Array.from({ length: 20 }, () => post(rouse, who, { title: 'Lease', group: 'Wed', loop: 'lease' })),
    )
    const cards = await all(rouse, '/v1/feed', who)
    expect(cards.map(({ title, group, seen }) => [title, group, seen])).toEqual([
      ['Lease', 'Wed', 22],
      ['Other', 'Mon', 1],
    ])
  })

  test('the same Idempotency-Key counts once, another body under it is refused', async () => {
    const who = await person(rouse)
    const keyed = { ...who, headers: { 'idempotency-key': 'once' } }
    await post(rouse, who, { title: 'Lease', loop: 'lease' })
    const first = await post(rouse, keyed, { title: 'Lease', loop: 'lease' })
    expect(await post(rouse, keyed, { title: 'Lease', loop: 'lease' })).toEqual(first)
    expect((await rouse.call('POST', '/v1/feed', { title: 'x' }, keyed)).body.code).toBe('idempotency_mismatch')
    expect((await all(rouse, '/v1/feed', who)).map(({ seen }) => seen)).toEqual([2])
  })

  test('a list is paged, and a cursor of another list is refused', async () => {
    const who = await person(rouse)
    for (let i = 0; i < 7; i++) await post(rouse, who, { title: `card ${i}`, group: `G${i % 2}` })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = await rouse.ok('GET', `/v1/feed?limit=2${cursor}`, undefined, who)
      seen.push(...titles(page.data))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
      await post(rouse, who, { title: 'new', group: 'G1' })
    }
    expect(seen).toEqual(['card 6', 'card 4', 'card 2', 'card 0', 'card 5', 'card 3', 'card 1'])
    const wrong = await rouse.call('GET', '/v1/feed?cursor=AAAA', undefined, who)
    expect([wrong.status, wrong.body.code]).toEqual([400, 'cursor_invalid'])
  })

  test('an agent posts for its owner from its session, and acts on no card', async () => {
    const scout = await actor(rouse)
    const card = await post(rouse, scout.as, { title: fresh('found') })
    expect(card).toMatchObject({ agent: scout.agent.id, session: scout.session.id, actions: ['dismiss'] })
    expect(await rouse.ok('GET', `/v1/feed/${card.id}`)).toEqual(card)
    expect(await rouse.ok('GET', `/v1/feed/${card.id}`, undefined, scout.as)).toEqual(card)
    const refused = await act(rouse, scout.as, card.id, 'dismiss')
    expect([refused.status, refused.body.code]).toEqual([403, 'person_only'])
    const done = await act(rouse, {}, card.id, 'dismiss')
    expect([done.status, done.body.status, done.body.actions]).toEqual([200, 'dismissed', []])
  })

  test('another person, also an admin, and another person’s agent get 404', async () => {
    const who = await person(rouse)
    const { id } = await post(rouse, who, { title: 'private', group: 'Mine' })
    const stranger = await person(rouse, { admin: true })
    const spy = await keyOf(rouse, (await agent(rouse)).id)
    for (const other of [stranger, { key: spy }]) {
      expect((await rouse.call('GET', `/v1/feed/${id}`, undefined, other)).status).toBe(404)
      expect((await act(rouse, other, id, 'dismiss')).status).toBe(404)
      expect((await rouse.ok('GET', '/v1/feed/groups/Mine/summary', undefined, other)).open).toBe(0)
    }
    expect(await all(rouse, '/v1/feed', stranger)).toEqual([])
    expect((await rouse.ok('GET', `/v1/feed/${id}`, undefined, who)).status).toBe('open')
  })

  test('what a card does not take is 409 card_settled with what it was, an action that does not exist 404', async () => {
    const who = await person(rouse)
    const { id } = await post(rouse, who, { title: 'x' })
    for (const action of ['allow', 'deny', 'run-now', 'stop']) {
      const answer = await act(rouse, who, id, action)
      expect([action, answer.status, answer.body.code]).toEqual([action, 409, 'card_settled'])
      expect(answer.body.detail).toContain('is an open post')
    }
    await act(rouse, who, id, 'dismiss')
    const again = await act(rouse, who, id, 'dismiss')
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('was dismissed at')])
    expect((await act(rouse, who, id, 'burn')).status).toBe(404)
    expect((await act(rouse, who, `crd_${'0'.repeat(26)}`, 'dismiss')).status).toBe(404)
    expect((await act(rouse, who, 'nonsense', 'dismiss')).status).toBe(404)
  })

  test('cards that do not fit are refused and nothing is stored', async () => {
    const who = await person(rouse)
    const bodies: Json[] = [
      {},
      { title: '' },
      { title: ' \n' },
      { title: 5 },
      { title: null },
      { title: 'x'.repeat(201) },
      { title: 'a\u202eb' },
      { title: 'a\u0000b' },
      { title: 'x', colour: 'red' },
      { title: 'x', person: 'per_1' },
      { title: 'x', body: 'x'.repeat(10_001) },
      { title: 'x', body: 'a\u0007b' },
      { title: 'x', group: '' },
      { title: 'x', group: 'x'.repeat(121) },
      { title: 'x', label: 'urgent' },
      { title: 'x', label: ['fyi'] },
      { title: 'x', loop: '' },
      { title: 'x', loop: 'a\u0000b' },
      ...[
        '2026-02-30',
        '2099-2-3',
        '2099-13-01',
        'soon',
        '',
        '2099-01-01T00:00',
        isoDay(-2),
        '0000-01-01',
        20_990_101,
      ].map((autoSendOn) => ({ title: 'x', autoSendOn })),
    ]
    for (const body of bodies) {
      const answer = await rouse.call('POST', '/v1/feed', body, who)
      expect([JSON.stringify(body).slice(0, 60), answer.status, answer.body.code]).toEqual([
        JSON.stringify(body).slice(0, 60),
        422,
        'body_invalid',
      ])
      expect(answer.body.errors).not.toHaveLength(0)
    }
    for (const raw of ['', '[]', '{', 'null', '"x"'])
      expect((await rouse.call('POST', '/v1/feed', undefined, { ...who, raw })).status).toBeGreaterThanOrEqual(400)
    for (const query of ['label=urgent', 'status=gone', 'limit=0', 'limit=101', 'colour=red', 'group=', `group=a%00b`])
      expect([query, (await rouse.call('GET', `/v1/feed?${query}`, undefined, who)).status]).toEqual([query, 422])
    expect(await all(rouse, '/v1/feed?status=all', who)).toEqual([])
    const whole = { title: '⏰'.repeat(200), body: 'é'.repeat(10_000), group: 'a/b ?#%', loop: 'ü' }
    expect(await post(rouse, who, whole)).toMatchObject(whole)
    const path = `/v1/feed/groups/${encodeURIComponent(whole.group)}/summary`
    expect(await rouse.ok('GET', path, undefined, who)).toMatchObject({ group: whole.group, open: 1 })
  })

  test('a session that is not the agent’s own, and a turn that does not run, post nothing', async () => {
    const scout = await actor(rouse)
    const other = await session(rouse, (await agent(rouse)).id)
    const title = fresh('nothing')
    const from = (headers: Record<string, string>) => ({ key: scout.key, headers })
    const foreign = await rouse.call('POST', '/v1/feed', { title }, from({ 'x-rouse-session': other.id }))
    expect(foreign.status).toBe(404)
    const turn = { 'x-rouse-session': scout.session.id, 'x-rouse-turn': `trn_${'0'.repeat(26)}` }
    expect((await rouse.call('POST', '/v1/feed', { title }, from(turn))).body.code).toBe('turn_not_running')
    expect(titles(await all(rouse, '/v1/feed'))).not.toContain(title)
  })
})

onClock('the feed from day to day', '2026-03-02T22:30:00Z', (rouse) => {
  test('S2-76 a card counts down to the day it is sent on, and Stop ends that', async () => {
    const who = await person(rouse, { tz: 'Europe/Amsterdam' })
    const card = await post(rouse, who, { title: 'Reply to Kim', autoSendOn: '2026-03-04', loop: 'kim' })
    expect(card).toMatchObject({ autoSendOn: '2026-03-04', daysLeft: 2, actions: ['stop', 'dismiss'] })
    // Half an hour on it is the 3rd in Amsterdam, and still the 2nd in UTC.
    await moveBy(rouse, '45m')
    expect((await rouse.ok('GET', `/v1/feed/${card.id}`, undefined, who)).daysLeft).toBe(1)
    const late = await rouse.call('POST', '/v1/feed', { title: 'x', autoSendOn: '2026-03-02' }, who)
    expect([late.status, late.body.detail]).toEqual([422, expect.stringContaining('2026-03-03')])
    const stopped = await act(rouse, who, card.id, 'stop')
    expect(stopped.body).toMatchObject({ autoSendOn: null, daysLeft: null, actions: ['dismiss'], status: 'open' })
    expect((await act(rouse, who, card.id, 'stop')).body.code).toBe('card_settled')
  })
})
