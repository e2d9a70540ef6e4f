import { expect, test } from 'vitest'
import { agent, all, claim, end, fresh, letAgentsUseSessions, moveBy, now, say, schedule, session } from './actors.ts'
import { type CallOptions, type Json, onClock, type RouseNode } from './node.ts'

const person = (rouse: RouseNode): Promise<Json> => rouse.ok('POST', '/v1/people', { name: fresh('person') })
const trail = (rouse: RouseNode, o: CallOptions): Promise<Json[]> => all(rouse, '/v1/audit', o)
const told = (rows: Json[]) => rows.map(({ operation, by, targets }) => [operation, by.id, targets])

onClock('the audit trail', '2026-03-02T09:00:00Z', (rouse) => {
  test('says who did what to what with which key, newest first, and of calls that changed something only', async () => {
    const me = await person(rouse)
    const o = { key: me.key }
    const mine = await agent(rouse, {}, o)
    await moveBy(rouse, 'PT1M')
    const where = await session(rouse, mine.id, {}, o)
    await moveBy(rouse, 'PT1M')
    const made = await schedule(rouse, { session: where.id, every: '1h' }, o)
    const at = await now(rouse)
    await rouse.ok('GET', `/v1/schedules/${made.id}`, undefined, o)
    await rouse.ok('POST', '/v1/schedules/preview', { every: '1h' }, o)
    await rouse.call('PATCH', `/v1/schedules/${made.id}`, { every: '1s' }, o)
    await rouse.call('DELETE', `/v1/schedules/sch_${'0'.repeat(26)}`, undefined, o)
    const rows = await trail(rouse, o)
    expect(told(rows)).toEqual([
      ['createSchedule', me.id, [made.id]],
      ['createSession', me.id, [where.id]],
      ['createAgent', me.id, [mine.id]],
    ])
    const [{ id: key }] = (await all(rouse, '/v1/keys', o)) as [Json]
    expect(rows[0]).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      at,
      by: { kind: 'person', id: me.id, key, session: null },
      principal: me.id,
      operation: 'createSchedule',
      targets: [made.id],
      status: 201,
    })
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`, undefined, o)
    expect(told(await trail(rouse, o))[0]).toEqual(['removeSchedule', me.id, [made.id]])
  })

  test('leaves out messages and turns', async () => {
    const me = await person(rouse)
    const o = { key: me.key }
    const where = await session(rouse, (await agent(rouse, {}, o)).id, {}, o)
    const before = (await trail(rouse, o)).length
    await say(rouse, where.id, 'hello', o)
    const { turn } = await claim(rouse, where.id, {}, o)
    await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {}, o)
    await end(rouse, turn.id, {}, o)
    expect(await trail(rouse, o)).toHaveLength(before)
    await say(rouse, where.id, 'again', o)
    const second = await claim(rouse, where.id, {}, o)
    await rouse.ok('POST', `/v1/turns/${second.turn.id}/cancel`, {}, o)
    expect(told(await trail(rouse, o))[0]).toEqual(['cancelTurn', me.id, [second.turn.id]])
  })

  test('what an agent does stands in the trail of its owner, as done by the agent', async () => {
    await letAgentsUseSessions(rouse)
    const me = await person(rouse)
    const o = { key: me.key }
    const mine = await agent(rouse, {}, o)
    const where = await session(rouse, mine.id, {}, o)
    const { id, key } = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    const as = { key, headers: { 'x-rouse-session': where.id } }
    const made = await schedule(rouse, { every: '1h' }, as)
    const [row] = (await trail(rouse, o)) as [Json]
    expect([row.by, row.principal]).toEqual([{ kind: 'agent', id: mine.id, key: id, session: where.id }, me.id])
    expect(row.targets).toEqual([made.id])
    const refused = await rouse.call('GET', '/v1/audit', undefined, as)
    expect([refused.status, refused.body.code]).toEqual([403, 'person_only'])
  })

  test('what others do to my agents and my schedules stands in mine and in theirs, and in nobody else’s', async () => {
    const [owner, friend, stranger] = [await person(rouse), await person(rouse), await person(rouse)]
    const [own, theirs] = [{ key: owner.key }, { key: friend.key }]
    const shared = await agent(rouse, { sharedWith: [friend.id] }, own)
    const where = await session(rouse, shared.id, {}, own)
    const made = await schedule(rouse, { session: where.id, every: '1h' }, theirs)
    for (const o of [own, theirs])
      expect(told(await trail(rouse, o))[0]).toEqual(['createSchedule', friend.id, [made.id]])
    // It is the friend's schedule, on the owner's agent.
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {}, own)
    for (const o of [own, theirs])
      expect(told(await trail(rouse, o))[0]).toEqual(['pauseSchedule', owner.id, [made.id]])
    expect(await trail(rouse, { key: stranger.key })).toEqual([])
  })

  test('a call that is repeated under its Idempotency-Key stands there once', async () => {
    const o = { key: (await person(rouse)).key, headers: { 'idempotency-key': 'k' } }
    const body = { name: fresh('agent') }
    const first = await rouse.ok('POST', '/v1/agents', body, o)
    const second = await rouse.ok('POST', '/v1/agents', body, o)
    expect(second).toEqual(first)
    expect(told(await trail(rouse, o)).map(([operation]) => operation)).toEqual(['createAgent'])
  })

  test('is paged, and holds no contents and no keys', async () => {
    const me = await person(rouse)
    const o = { key: me.key }
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.unshift((await agent(rouse, { project: 'secret plan' }, o)).id)
    const { key } = await rouse.ok('POST', `/v1/agents/${made[0]}/keys`, {}, o)
    const first = await rouse.ok('GET', '/v1/audit?limit=4', undefined, o)
    const second = await rouse.ok('GET', `/v1/audit?limit=4&cursor=${first.nextCursor}`, undefined, o)
    const targets = [...first.data, ...second.data].map((row: Json) => row.targets[0])
    expect([targets, second.nextCursor]).toEqual([[made[0], ...made], null])
    expect(JSON.stringify([first, second])).not.toMatch(/secret plan/)
    expect(JSON.stringify([first, second])).not.toContain(key)
  })
})
