import { describe, expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import { actor, agent, agentWithSession, all, end, fresh, say, turnOf } from './actors.ts'
import { anywhere, type Json } from './node.ts'

const refusal =
  "could not promote: those traces didn't make the exact same tool calls, in the same order, with the same arguments - flows only replay identical sequences"
const none = 'trc_01ARZ3NDEKTSV4RRFFQ69G5FAV'

const fetched = { tool: 'fetch', args: { url: 'https://example.com' }, status: 'ok', result: 'page' }
const sent = { tool: 'send', args: { to: 'team', text: 'hello' }, status: 'ok' }
const digest = [fetched, sent]

anywhere('flows', (rouse) => {
  /** The traces that turns of one agent leave. */
  async function worked(...turns: Json[][]): Promise<{ agent: Json; ids: string[] }> {
    const { agent, session } = await agentWithSession(rouse)
    const ids: string[] = []
    for (const toolCalls of turns) {
      await say(rouse, session.id, 'go on')
      const { turn } = await turnOf(rouse, session.id)
      ids.push((await end(rouse, turn.id, { toolCalls, tokens: 1_000 })).trace)
    }
    return { agent, ids }
  }
  const promote = (agentId: string, from: readonly string[], more: Json = {}, o = {}) =>
    rouse.call('POST', `/v1/agents/${agentId}/flows`, { name: 'weekly-digest', from, ...more }, o)
  const flows = (agentId: string): Promise<Json[]> => all(rouse, `/v1/agents/${agentId}/flows`)
  const cli = (...argv: string[]) => command(argv, { env: { ROUSE_URL: rouse.url, ROUSE_KEY: rouse.key } })

  test('S1-1 a flow has the same tool calls in the same order with the same arguments', async () => {
    const { agent, ids } = await worked(digest, digest)
    const made = await promote(agent.id, ids)
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      name: 'weekly-digest',
      agent: agent.id,
      steps: digest.map(({ tool, args }) => ({ tool, args, hash: null })),
      shadow: null,
      needsApproval: ['fetch', 'send'],
      from: ids,
      createdAt: expect.any(String),
      by: expect.stringMatching(/^per_/),
    })
    expect(await rouse.ok('GET', `/v1/agents/${agent.id}/flows/weekly-digest`)).toEqual(made.body)
    expect(await flows(agent.id)).toEqual([made.body])
  })

  test('S1-2 it repeats argument for argument: what varies is not guessed, and results do not matter', async () => {
    const { agent, ids } = await worked(digest, [{ ...fetched, result: 'another page' }, sent])
    const { body } = await promote(agent.id, ids)
    expect(body.steps[1].args).toEqual({ to: 'team', text: 'hello' })
  })

  test('S1-4 `rouse flow promote weekly-digest --agent … --from a,b` promotes the named traces', async () => {
    const { agent, ids } = await worked(digest, digest)
    const said = await cli('flow', 'promote', 'weekly-digest', '--agent', agent.name, '--from', ids.join(','))
    expect([said.code, said.stdout.split('\n')[0]]).toEqual([0, 'Promoted weekly-digest: 2 steps, no model call.'])
    expect((await cli('flow', 'list', '--agent', agent.name)).stdout).toContain('weekly-digest  2')
    expect((await cli('flow', 'show', agent.name, 'weekly-digest')).stdout).toContain('{"text":"hello","to":"team"}')
  })

  test('S1-5 one trace alone is refused, also when it is named twice', async () => {
    const { agent, ids } = await worked(digest)
    for (const from of [[], ids, [ids[0]!, ids[0]!]]) {
      const { status, body } = await promote(agent.id, from)
      expect([status, body.code]).toEqual([422, 'flow_needs_two_traces'])
    }
    expect(await flows(agent.id)).toEqual([])
  })

  describe('S1-6 all named traces are checked to have done the very same before anything is stored', () => {
    test.each([
      ['S1-7 a different argument', [fetched, { ...sent, args: { to: 'all', text: 'hello' } }], 2],
      ['S1-8 a different order', [sent, fetched], 1],
      ['S1-9 an extra step', [...digest, sent], 3],
      ['a missing step', [fetched], 2],
      ['a different tool', [fetched, { ...sent, tool: 'mail' }], 2],
    ])('%s is refused', async (_title, other, step) => {
      const { agent, ids } = await worked(digest, digest, other)
      const { status, body } = await promote(agent.id, ids)
      expect([status, body.code]).toEqual([422, 'flow_traces_differ'])
      expect(body.detail).toMatch(
        new RegExp(`^${refusal.replaceAll(/[.]/g, '\\.')}: trace ${ids[2]} differs from ${ids[0]} at step ${step}: `),
      )
      expect(await flows(agent.id)).toEqual([])
    })
  })

  test('S1-10 the CLI shows the refusal word for word, and the first trace and step that differ', async () => {
    const { agent, ids } = await worked(digest, [sent])
    const said = await cli('flow', 'promote', 'weekly-digest', '--agent', agent.id, '--from', ids.join(','))
    expect([said.code, said.stdout]).toEqual([1, ''])
    expect(said.stderr).toContain(`✗ ${refusal}`)
    expect(said.stderr).toContain(`trace ${ids[1]} differs from ${ids[0]} at step 1`)
  })

  test('S1-11 on a refusal nothing is stored, autoApprove included', async () => {
    const { agent, ids } = await worked(digest, [sent])
    await promote(agent.id, ids, { approve: true, overwrite: true })
    expect(await flows(agent.id)).toEqual([])
    expect((await rouse.ok('GET', `/v1/agents/${agent.id}`)).autoApprove).toEqual([])
  })

  test.each([
    ['S1-13 a call that was denied', [fetched, { ...sent, status: 'denied' }]],
    ['S1-14 a step that failed', [{ ...fetched, status: 'failed' }, sent]],
    ['S1-15 arguments that were clipped', [{ ...fetched, args: { text: 'x'.repeat(5_000) } }, sent]],
  ])('%s is refused even if the sequences match', async (_title, calls) => {
    const { agent, ids } = await worked(calls, calls)
    const { status, body } = await promote(agent.id, ids)
    expect([status, body.code]).toEqual([422, 'flow_trace_not_clean'])
    expect(body.detail).toContain(ids[0])
    expect(await flows(agent.id)).toEqual([])
  })

  test('S1-16 traces of another agent are refused', async () => {
    const [mine, theirs] = [await worked(digest), await worked(digest)]
    const { status, body } = await promote(mine.agent.id, [...mine.ids, ...theirs.ids])
    expect([status, body.code]).toEqual([422, 'flow_other_agent'])
    expect(await flows(mine.agent.id)).toEqual([])
  })

  test('a trace that is not there, or not to be seen, is none', async () => {
    const { agent, ids } = await worked(digest)
    for (const id of [none, 'trc_none', 'x']) {
      const { status, body } = await promote(agent.id, [...ids, id])
      expect([status, body.code]).toEqual([404, 'trace_not_found'])
    }
    const eve = { key: (await rouse.ok('POST', '/v1/people', { name: fresh('eve') })).key }
    const hers = await rouse.ok('POST', '/v1/agents', { name: fresh('agent') }, eve)
    const { status, body } = await promote(hers.id, [...ids, ...(await worked(digest)).ids], {}, eve)
    expect([status, body.code]).toEqual([404, 'trace_not_found'])
  })

  test('S1-18 `rouse flow list --agent …` lists all flows of the agent, in the order of their names', async () => {
    const { agent, ids } = await worked(digest, digest)
    for (const name of ['b', 'a', 'c d', 'ä']) expect((await promote(agent.id, ids, { name })).status).toBe(201)
    expect((await flows(agent.id)).map(({ name }) => name)).toEqual(['a', 'b', 'c d', 'ä'])
    const page = await rouse.ok('GET', `/v1/agents/${agent.id}/flows?limit=3`)
    const rest = await rouse.ok('GET', `/v1/agents/${agent.id}/flows?limit=3&cursor=${page.nextCursor}`)
    expect([page.data.length, rest.data.map(({ name }: Json) => name), rest.nextCursor]).toEqual([3, ['ä'], null])
    expect((await rouse.ok('GET', `/v1/agents/${agent.id}/flows/${encodeURIComponent('c d')}`)).name).toBe('c d')
    const said = await cli('flow', 'list', '--agent', agent.id)
    expect(said.stdout.split('\n')).toHaveLength(6)
    const long = '日'.repeat(120)
    for (const name of [long, `${long.slice(1)}月`]) await promote(agent.id, ids, { name })
    const first = await rouse.ok('GET', `/v1/agents/${agent.id}/flows?limit=5`)
    const last = await rouse.ok('GET', `/v1/agents/${agent.id}/flows?limit=5&cursor=${first.nextCursor}`)
    expect([first.data[4].name, last.data.map(({ name }: Json) => name)]).toEqual([long, [`${long.slice(1)}月`]])
  })

  test('S1-21 `rouse flow remove` removes it, and only it', async () => {
    const { agent, ids } = await worked(digest, digest)
    for (const name of ['weekly-digest', 'weekly']) await promote(agent.id, ids, { name })
    expect((await cli('flow', 'remove', agent.id, 'weekly-digest')).code).toBe(0)
    expect((await flows(agent.id)).map(({ name }) => name)).toEqual(['weekly'])
    const gone = await rouse.call('DELETE', `/v1/agents/${agent.id}/flows/weekly-digest`)
    expect([gone.status, gone.body.code]).toEqual([404, 'not_found'])
    expect((await cli('flow', 'show', agent.id, 'weekly-digest')).code).toBe(1)
  })

  test('S1-22 the same name again is refused unless --overwrite', async () => {
    const { agent, ids } = await worked(digest, digest, [sent], [sent])
    await promote(agent.id, ids.slice(0, 2))
    const again = await promote(agent.id, ids.slice(2))
    expect([again.status, again.body.code]).toEqual([409, 'flow_exists'])
    const from = ids.slice(2).join(',')
    expect((await cli('flow', 'promote', 'weekly-digest', '--agent', agent.id, '--from', from)).code).toBe(1)
    expect(
      (await cli('flow', 'promote', 'weekly-digest', '--agent', agent.id, '--from', from, '--overwrite')).code,
    ).toBe(0)
    expect((await flows(agent.id)).map(({ steps }) => steps.length)).toEqual([1])
  })

  test('S1-23 a promotion that is refused leaves the flow that is there as it was', async () => {
    const { agent, ids } = await worked(digest, digest, [sent], [sent])
    const { body } = await promote(agent.id, ids.slice(0, 2))
    await promote(agent.id, ids.slice(2))
    await promote(agent.id, ids.slice(1, 3), { overwrite: true })
    expect(await flows(agent.id)).toEqual([body])
  })

  test('an agent promotes nothing and removes nothing, whosever agent it is', async () => {
    const { agent: made, ids } = await worked(digest, digest)
    await promote(made.id, ids)
    const other = await actor(rouse)
    const own = { key: (await rouse.ok('POST', `/v1/agents/${made.id}/keys`, {})).key }
    for (const o of [own, other.as]) {
      const made2 = await promote(made.id, ids, { name: 'mine' }, o)
      const removed = await rouse.call('DELETE', `/v1/agents/${made.id}/flows/weekly-digest`, undefined, o)
      for (const { status, body } of [made2, removed]) expect([status, body.code]).toEqual([403, 'person_only'])
    }
    expect((await rouse.ok('GET', `/v1/agents/${made.id}/flows`, undefined, own)).data).toHaveLength(1)
    expect((await rouse.call('GET', `/v1/agents/${made.id}/flows`, undefined, other.as)).status).toBe(404)
  })

  test('approve lets the agent call the tools of the flow unasked', async () => {
    const { agent, ids } = await worked(digest, digest)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { autoApprove: ['other', 'send'] })
    expect((await promote(agent.id, ids)).body.needsApproval).toEqual(['fetch'])
    expect((await promote(agent.id, ids, { overwrite: true, approve: true })).body.needsApproval).toEqual([])
    expect((await rouse.ok('GET', `/v1/agents/${agent.id}`)).autoApprove).toEqual(['other', 'send', 'fetch'])
  })

  test('the same promotion under one Idempotency-Key is one', async () => {
    const { agent, ids } = await worked(digest, digest)
    const o = { headers: { 'idempotency-key': fresh('key') } }
    const [first, again] = [await promote(agent.id, ids, {}, o), await promote(agent.id, ids, {}, o)]
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
  })

  test('suggestions show what was done again and again until it is promoted', async () => {
    const { agent, ids } = await worked(digest, digest, [sent], [{ ...sent, status: 'failed' }], digest)
    const suggested = async (): Promise<Json[]> =>
      (await rouse.ok('GET', `/v1/agents/${agent.id}/flow-suggestions`)).data
    await expect.poll(async () => (await suggested()).map(({ count }) => count)).toEqual([3])
    expect((await suggested())[0]).toEqual({
      fingerprint: expect.any(String),
      count: 3,
      tokens: 3_000,
      usd: 0,
      traces: [ids[4], ids[1], ids[0]],
      steps: digest.map(({ tool, args }) => ({ tool, args })),
      lastAt: expect.any(String),
    })
    expect((await cli('flow', 'suggest', agent.id)).stdout).toContain('3 traces did the same, for 3,000 tokens:')
    await promote(agent.id, ids.slice(0, 2))
    expect(await suggested()).toEqual([])
  })

  test('the first trace tells the CLI whose flow it is', async () => {
    const { agent, ids } = await worked(digest, digest)
    expect((await cli('flow', 'promote', 'd', '--from', ids[0]!, '--from', ids[1]!)).code).toBe(0)
    expect((await flows(agent.id)).map(({ name }) => name)).toEqual(['d'])
  })

  test.each(['', ' ', '..', 'a/b', 'a\nb', 'a\u202eb', 'x'.repeat(121)])('a flow is not named %j', async (name) => {
    const { id } = await agent(rouse)
    const { status, body } = await promote(id, [none, none], { name })
    expect([status, body.code]).toEqual([422, 'body_invalid'])
  })

  test('twenty traces are enough', async () => {
    const { id } = await agent(rouse)
    const { status, body } = await promote(
      id,
      Array.from({ length: 21 }, () => none),
    )
    expect([status, body.code]).toEqual([422, 'body_invalid'])
  })
})
