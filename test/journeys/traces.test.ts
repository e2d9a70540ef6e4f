import { describe, expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import {
  actor,
  agent,
  agentWithSession,
  all,
  claim,
  end,
  fresh,
  moveBy,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { anywhere, type Json, onClock, type RouseNode } from './node.ts'

const look = { tool: 'look', args: { b: [1, 2], a: 'x' }, status: 'ok', result: { seen: true } }

/** A turn that ends so; answers the id of its trace. */
async function turn(rouse: RouseNode, sessionId: string, body: Json): Promise<string | null> {
  await say(rouse, sessionId, 'go on')
  const { turn } = await turnOf(rouse, sessionId)
  return (await end(rouse, turn.id, body)).trace
}
const read = (rouse: RouseNode, id: string | null): Promise<Json> => rouse.ok('GET', `/v1/traces/${id}`)
const told = ({ status, body }: { status: number; body: Json }): [number, string] => [status, body?.code]

anywhere('traces', (rouse) => {
  test('the end of a turn answers its trace, which says what was done', async () => {
    const { agent, session } = await agentWithSession(rouse, { project: 'acme' })
    const id = await turn(rouse, session.id, {
      tokens: 1200,
      usd: 0.02,
      toolCalls: [
        look,
        { tool: 'send', args: null, status: 'denied' },
        { tool: 'send', args: [], status: 'failed', result: 'no' },
      ],
    })
    const plain = { clipped: false, argsClipped: false, resultClipped: false }
    expect(await read(rouse, id)).toEqual({
      id,
      agent: agent.id,
      session: session.id,
      project: 'acme',
      source: 'turn',
      turn: expect.stringMatching(/^trn_/),
      origin: { kind: 'user', agent: null, session: null, schedule: null, run: null },
      outcome: 'ok',
      tokens: 1200,
      usd: 0.02,
      startedAt: expect.any(String),
      at: expect.any(String),
      calls: [
        { ...look, ...plain },
        { tool: 'send', args: null, status: 'denied', result: null, ...plain },
        { tool: 'send', args: [], status: 'failed', result: 'no', ...plain },
      ],
    })
    expect(await turn(rouse, session.id, { toolCalls: [] })).toBeNull()
  })

  test('arguments and results over 4,000 bytes are clipped and marked', async () => {
    const { session } = await agentWithSession(rouse)
    const long = '€'.repeat(2_000)
    const { calls } = await read(
      rouse,
      await turn(rouse, session.id, {
        toolCalls: [
          { tool: 't', args: { text: long }, status: 'ok', result: 'short' },
          { tool: 't', args: {}, status: 'ok', result: long },
        ],
      }),
    )
    expect(calls.map(({ clipped, argsClipped, resultClipped }: Json) => [clipped, argsClipped, resultClipped])).toEqual(
      [
        [true, true, false],
        [true, false, true],
      ],
    )
    for (const text of [calls[0].args, calls[1].result]) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_000)
      expect(Buffer.byteLength(text)).toBeGreaterThan(3_990)
    }
  })

  test('lists are the newest first, in pages, by agent, project, session and outcome', async () => {
    const { agent, session: first } = await agentWithSession(rouse)
    const project = fresh('project')
    const second = await session(rouse, agent.id, { main: false, project })
    const ids: (string | null)[] = []
    for (const [where, outcome] of [
      [first.id, 'ok'],
      [second.id, 'ok'],
      [second.id, 'failed'],
    ] as const)
      ids.unshift(await turn(rouse, where, { outcome, toolCalls: [look] }))
    const listed = async (query: string) => (await all(rouse, `/v1/traces?${query}`)).map(({ id }) => id)
    await expect.poll(() => listed(`agent=${agent.id}`)).toEqual(ids)
    expect(await listed(`project=${project}`)).toEqual(ids.slice(0, 2))
    expect(await listed(`session=${first.id}`)).toEqual(ids.slice(2))
    expect(await listed(`agent=${agent.id}&outcome=failed`)).toEqual(ids.slice(0, 1))
    const page = await rouse.ok('GET', `/v1/traces?agent=${agent.id}&limit=2`)
    expect(page.data.map(({ id }: Json) => id)).toEqual(ids.slice(0, 2))
    expect(page.data[0].calls).toHaveLength(1)
    const rest = await rouse.ok('GET', `/v1/traces?agent=${agent.id}&limit=2&cursor=${page.nextCursor}`)
    expect([rest.data.map(({ id }: Json) => id), rest.nextCursor]).toEqual([ids.slice(2), null])
    expect(told(await rouse.call('GET', '/v1/traces?cursor=zzz'))).toEqual([400, 'cursor_invalid'])
    expect(told(await rouse.call('GET', '/v1/traces?outcome=fine'))).toEqual([422, 'query_invalid'])
    expect(told(await rouse.call('GET', '/v1/traces?agent=agt_none'))).toEqual([404, 'not_found'])
  })

  test('S1-3 `rouse traces --project acme` lists the runs of that project, whichever agent made them', async () => {
    const project = fresh('acme')
    const ids: (string | null)[] = []
    for (let i = 0; i < 2; i++) {
      const { session } = await agentWithSession(rouse, { project })
      ids.unshift(await turn(rouse, session.id, { toolCalls: [look] }))
    }
    const { session: other } = await agentWithSession(rouse)
    await turn(rouse, other.id, { toolCalls: [look] })
    const env = { ROUSE_URL: rouse.url, ROUSE_KEY: rouse.key }
    const listed = async () => {
      const said = await command(['traces', '--project', project], { env })
      return said.stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(' ')[0])
    }
    await expect.poll(listed).toEqual(ids)
  })

  test('an agent sees its own traces and imports its own, and nobody sees what others did', async () => {
    const mine = await actor(rouse)
    const other = await actor(rouse)
    const id = await turn(rouse, mine.session.id, { toolCalls: [look] })
    expect((await rouse.ok('GET', `/v1/traces/${id}`, undefined, mine.as)).id).toBe(id)
    expect(told(await rouse.call('GET', `/v1/traces/${id}`, undefined, other.as))).toEqual([404, 'not_found'])
    const body = { agent: mine.agent.id, calls: [look] }
    expect((await rouse.call('POST', '/v1/traces', body, mine.as)).status).toBe(201)
    expect(told(await rouse.call('POST', '/v1/traces', body, other.as))).toEqual([404, 'not_found'])
    const eve = { key: (await rouse.ok('POST', '/v1/people', { name: fresh('eve') })).key }
    expect(told(await rouse.call('GET', `/v1/traces/${id}`, undefined, eve))).toEqual([404, 'not_found'])
    expect((await rouse.ok('GET', '/v1/traces', undefined, eve)).data).toEqual([])
    await rouse.ok('DELETE', `/v1/agents/${mine.agent.id}`)
    expect(told(await rouse.call('GET', `/v1/traces/${id}`))).toEqual([404, 'not_found'])
    expect(told(await rouse.call('GET', '/v1/traces/trc_none'))).toEqual([404, 'not_found'])
  })

  describe('an import', () => {
    test('answers the trace; the same ref again answers the one that is there', async () => {
      const { id: agentId } = await agent(rouse)
      const body = {
        agent: agentId,
        ref: fresh('ref'),
        project: 'acme',
        at: '2026-02-02T08:00:00+01:00',
        tokens: 5,
        calls: [look],
      }
      const first = await rouse.call('POST', '/v1/traces', body)
      expect(first.status).toBe(201)
      expect(first.body).toMatchObject({
        source: 'import',
        origin: null,
        project: 'acme',
        at: '2026-02-02T07:00:00.000Z',
        outcome: 'ok',
      })
      expect(await read(rouse, first.body.id)).toEqual(first.body)
      const again = await rouse.call('POST', '/v1/traces', { ...body, calls: [] })
      expect([again.status, again.body]).toEqual([200, first.body])
    })

    test('of a file by the CLI, twice, makes no duplicates', async () => {
      const { id: agentId } = await agent(rouse)
      const env = { ROUSE_URL: rouse.url, ROUSE_KEY: rouse.key }
      for (const [format, name, traces] of [
        ['claude', 'claude-session.jsonl', 3],
        ['openai', 'openai-responses.jsonl', 4],
        ['openai', 'openai-chat.json', 2],
        ['otel', 'otel-spans.json', 2],
      ] as const) {
        const file = new URL(`../fixtures/traces/${name}`, import.meta.url).pathname
        for (let i = 0; i < 2; i++) {
          const said = await command(['traces', 'import', '--format', format, '--agent', agentId, file], { env })
          expect([said.code, said.stdout]).toEqual([0, expect.stringContaining(`: ${traces} trace`)])
        }
      }
      await expect.poll(async () => (await all(rouse, `/v1/traces?agent=${agentId}`)).length).toBe(11)
      const [latest] = await all(rouse, `/v1/traces?agent=${agentId}`)
      expect(latest.at).toMatch(/^2026-02-02T08:0/)
    })

    test('is refused where it does not fit', async () => {
      const { agent: made, session: own } = await agentWithSession(rouse)
      const other = await agentWithSession(rouse)
      const body = { agent: made.id, calls: [look] }
      for (const [over, code] of [
        [{ session: other.session.id }, 'body_invalid'],
        [{ at: 'yesterday' }, 'body_invalid'],
        [{ at: '2999-01-01T00:00:00Z' }, 'body_invalid'],
        [{ outcome: 'fine' }, 'body_invalid'],
        [{ calls: [{ tool: 't', status: 'ok' }] }, 'body_invalid'],
        [{ calls: [{ ...look, tool: ' ' }] }, 'body_invalid'],
        [{ calls: [{ ...look, tool: 'a\u202eb' }] }, 'body_invalid'],
        [{ calls: Array.from({ length: 1_001 }, () => look) }, 'body_invalid'],
        [{ more: 1 }, 'body_invalid'],
        [{ agent: 'agt_none' }, 'not_found'],
        [{ session: 'ses_none' }, 'not_found'],
      ] as const)
        expect([over, (await rouse.call('POST', '/v1/traces', { ...body, ...over })).body.code]).toEqual([over, code])
      expect((await rouse.call('POST', '/v1/traces', { ...body, session: own.id })).status).toBe(201)
      const big = { ...body, calls: [{ ...look, result: 'x'.repeat(1024 * 1024) }] }
      expect(told(await rouse.call('POST', '/v1/traces', big))).toEqual([413, 'body_too_large'])
    })
  })

  describe('hostile calls', () => {
    const sent = async (raw: string): Promise<[number, Json]> => {
      const { session } = await agentWithSession(rouse)
      await say(rouse, session.id, 'go on')
      const { turn } = await turnOf(rouse, session.id)
      const answer = await rouse.call('POST', `/v1/turns/${turn.id}/end`, undefined, { raw })
      return [answer.status, answer.status === 200 ? await read(rouse, answer.body.trace) : answer.body]
    }
    const ending = (args: string, more = ''): string =>
      `{"outcome":"ok","toolCalls":[{"tool":"t","args":${args},"status":"ok"${more}}]}`

    test('JSON that nests without end is refused and the node goes on', async () => {
      for (const deep of ['['.repeat(101) + ']'.repeat(101), `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`]) {
        const [status, body] = await sent(ending(deep))
        expect([status, body.code]).toEqual([422, 'body_invalid'])
        const [ofResult] = await sent(ending('1', `,"result":${deep}`))
        expect(ofResult).toBe(422)
      }
      expect((await sent(ending('['.repeat(100) + ']'.repeat(100))))[0]).toBe(200)
    })

    test('keys such as __proto__ and constructor are kept as keys', async () => {
      const args = '{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":null}'
      const { session } = await agentWithSession(rouse)
      await say(rouse, session.id, 'go on')
      const { turn } = await turnOf(rouse, session.id)
      const { trace } = (await rouse.call('POST', `/v1/turns/${turn.id}/end`, undefined, { raw: ending(args) })).body
      const answer = await fetch(`${rouse.url}/v1/traces/${trace}`, {
        headers: { authorization: `Bearer ${rouse.key}` },
      })
      expect(await answer.text()).toContain(
        '"args":{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":null}',
      )
    })

    test('a thousand calls of 900 bytes come back whole, one more is refused', async () => {
      const calls = Array.from({ length: 1_000 }, (_, i) => ({
        tool: 't',
        args: { n: i, text: '"'.repeat(430) },
        status: 'ok',
      }))
      const [status, trace] = await sent(JSON.stringify({ outcome: 'ok', toolCalls: calls }))
      expect(status).toBe(200)
      expect(trace.calls.map(({ args }: Json) => args)).toEqual(calls.map(({ args }) => args))
      expect((await sent(JSON.stringify({ outcome: 'ok', toolCalls: [...calls, calls[0]] })))[0]).toBe(422)
    })

    test('numbers whose digits are lost, lone surrogates and control characters do no harm', async () => {
      const [, trace] = await sent(ending('[12345678901234567890, 1e400, "\\ud800", "\\u0000"]', ',"result":"\\udfff"'))
      expect(trace.calls[0]).toMatchObject({ argsClipped: true, result: '\udfff' })
      expect((await sent(ending('1').replace('"t"', '"\\ud800"')))[0]).toBe(422)
      expect((await sent(ending('1').replace('"t"', '"\\u0007"')))[0]).toBe(422)
    })
  })
})

onClock('traces over time', '2026-03-02T09:00:00Z', (rouse) => {
  test('the run of a schedule names its trace, which names the schedule', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    await moveBy(rouse, '1h')
    const { turn } = await claim(rouse, session.id)
    const { trace } = await end(rouse, turn.id, { toolCalls: [look] })
    const [run] = (await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)).data
    expect(run).toMatchObject({ turn: turn.id, trace })
    expect((await read(rouse, trace)).origin).toMatchObject({ kind: 'schedule', schedule: made.id })
    await moveBy(rouse, '1h')
    const next = await claim(rouse, session.id)
    await end(rouse, next.turn.id)
    expect((await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)).data[0].trace).toBeNull()
  })

  test('decision 37: traces are kept for 30 days', async () => {
    const { session } = await agentWithSession(rouse)
    const id = await turn(rouse, session.id, { toolCalls: [look] })
    await moveBy(rouse, '29d')
    expect((await rouse.call('GET', `/v1/traces/${id}`)).status).toBe(200)
    await moveBy(rouse, '1d')
    expect(told(await rouse.call('GET', `/v1/traces/${id}`))).toEqual([404, 'not_found'])
  })
})
