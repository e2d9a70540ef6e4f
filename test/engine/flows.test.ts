import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { type Reported, recorded, type ToolCall } from '../../shared/domain/trace.ts'
import { createAgent, deleteAgent, getAgent } from '../../shared/engine/agents.ts'
import { declineSuggestion, suggestFlows } from '../../shared/engine/flow-suggestions.ts'
import { getFlow, listFlows, promoteFlow, removeFlow } from '../../shared/engine/flows.ts'
import { putTool } from '../../shared/engine/tools.ts'
import { importTrace } from '../../shared/engine/traces.ts'
import { keyOf, minute, newPerson, openRoom, type Room, refusalOf, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const step = (tool: string, args: unknown = {}, over: Partial<Reported> = {}): ToolCall =>
  recorded({ tool, args, status: 'ok', ...over })
const digest = [
  step('fetch', { url: 'https://example.com' }),
  step('send', { to: 'team' }),
  step('fetch', { url: 'https://example.com/b' }),
]

async function did(
  calls: readonly ToolCall[] = digest,
  over: { tokens?: number; agent?: string } = {},
): Promise<string> {
  room.jump(room.now() + minute)
  const { trace } = await importTrace(room.call(), {
    agent: over.agent ?? room.agent,
    session: null,
    project: null,
    outcome: 'ok',
    tokens: over.tokens ?? 1_000,
    usd: 0.25,
    startedAt: null,
    at: null,
    ref: null,
    calls,
  })
  return trace.id
}
const twice = async (calls: readonly ToolCall[] = digest, over: Parameters<typeof did>[1] = {}): Promise<string[]> => [
  await did(calls, over),
  await did(calls, over),
]
const promote = (
  from: readonly string[],
  over: Partial<Parameters<typeof promoteFlow>[2]> & { caller?: never } = {},
  as = {},
) => promoteFlow(room.call(as), room.agent, { name: 'weekly-digest', from, overwrite: false, approve: false, ...over })
const names = async (): Promise<string[]> =>
  (await listFlows(room.call(), room.agent, { limit: 100, after: null })).items.map(({ flow }) => flow.name)
/** Everything that is stored of flows. */
const stored = async () => (await room.table.list(`L#${room.agent.slice(4)}`)).items

describe('promoting', () => {
  it('S1-1 copies the same calls with the same arguments in the same order', async () => {
    const from = await twice()
    const made = await promote(from)
    expect(made.steps).toEqual(digest.map(({ tool, args }) => ({ tool, args, hash: null })))
    expect(await getFlow(room.call(), room.agent, 'weekly-digest')).toEqual(made)
    expect(made.flow).toMatchObject({ from, steps: 3, by: (room.ann as { person: string }).person })
  })

  it('goes on without its traces: the steps are copies', async () => {
    await promote(await twice())
    room.jump(start + limits.traceMs + 60 * minute)
    expect((await getFlow(room.call(), room.agent, 'weekly-digest')).steps).toHaveLength(3)
  })

  it('S1-11 nothing is stored when it is refused', async () => {
    const [a] = await twice()
    const other = await createAgent(room.call(), { name: 'scout' })
    const refusals: [string, string[]][] = [
      ['flow_needs_two_traces', [a!]],
      ['flow_needs_two_traces', [a!, a!]],
      ['trace_not_found', [a!, 'trc_01ARZ3NDEKTSV4RRFFQ69G5FAV']],
      ['flow_traces_differ', [a!, await did(digest.toReversed())]],
      ['flow_no_tool_calls', await twice([])],
      ['flow_trace_not_clean', await twice([step('send', {}, { status: 'failed' })])],
      ['flow_other_agent', [a!, await did(digest, { agent: other.id })]],
    ]
    for (const [code, from] of refusals)
      expect([code, await refusalOf(promote(from, { approve: true }))]).toEqual([code, code])
    expect(await stored()).toEqual([])
    expect((await getAgent(room.call(), room.agent)).autoApprove).toEqual([])
  })

  it('S1-23 a second one of the same name replaces the first only when it says so', async () => {
    await promote(await twice())
    const others = await twice([step('other')])
    expect(await refusalOf(promote(others))).toBe('flow_exists')
    expect((await getFlow(room.call(), room.agent, 'weekly-digest')).steps).toHaveLength(3)
    const replaced = await promote(others, { overwrite: true })
    expect((await getFlow(room.call(), room.agent, 'weekly-digest')).steps).toEqual(replaced.steps)
    expect(await names()).toEqual(['weekly-digest'])
  })

  it('leaves the steps that were replaced or removed to those who still run them', async () => {
    const first = (await promote(await twice())).flow
    await promote(await twice([step('other')]), { overwrite: true })
    await removeFlow(room.call(), room.agent, 'weekly-digest')
    const [kept] = (await stored()).filter(({ key }) => key[1] === `S#${first.rev.slice(4)}#0`)
    expect(kept?.item.steps).toHaveLength(3)
    expect(await names()).toEqual([])
  })

  it('two of one name at once: one is made, the other is told', async () => {
    const [a, b] = [await twice(), await twice([step('other')])]
    const codes = await Promise.all([refusalOf(promote(a)), refusalOf(promote(b))])
    expect(codes.toSorted()).toEqual(['done', 'flow_exists'])
  })

  it('under an Idempotency-Key a repeat after a crash finds the flow that it made', async () => {
    const from = await twice()
    const as = { newId: () => 'flw_01ARZ3NDEKTSV4RRFFQ69G5FAV' as never, repeatable: true }
    const first = await promote(from, {}, as)
    expect(await promote(from, {}, as)).toEqual(first)
  })

  it('names the tools that nobody approved, and with approve lets the agent call them, in the same commit', async () => {
    const from = await twice()
    expect((await promote(from)).needsApproval).toEqual(['fetch', 'send'])
    const approved = await promote(from, { overwrite: true, approve: true })
    expect(approved.needsApproval).toEqual([])
    expect((await getAgent(room.call(), room.agent)).autoApprove).toEqual(['fetch', 'send'])
    const many = Array.from({ length: limits.autoApproveMax }, (_, i) => step(`tool-${i}`))
    expect(await refusalOf(promote(await twice(many), { name: 'many', approve: true }))).toBe('body_invalid')
    expect(await names()).toEqual(['weekly-digest'])
  })

  it('keeps what each registered tool did at that time', async () => {
    const tool = await putTool(room.call(), room.agent, 'send', {
      description: 'Say it.',
      parameters: { type: 'object' },
      readOnly: false,
      steps: [{ document: { put: 'said', body: 'it' } }],
      output: null,
    } as never)
    const made = await promote(await twice())
    expect(made.steps.map(({ hash }) => hash)).toEqual([null, tool.hash, null])
  })

  it('a person who can talk to the agent may, but not approve; strangers and agents may not', async () => {
    const from = await twice()
    const own = keyOf(await getAgent(room.call(), room.agent))
    expect(await refusalOf(promote(from, {}, { caller: own }))).toBe('person_only')
    const foreign = keyOf(await createAgent(room.call(), { name: 'scout' }))
    expect(await refusalOf(promote(from, {}, { caller: foreign }))).toBe('person_only')
    expect(await refusalOf(removeFlow(room.call({ caller: own }), room.agent, 'weekly-digest'))).toBe('person_only')
    const eve = await newPerson(room)
    expect(await refusalOf(promote(from, {}, { caller: eve }))).toBe('not_found')
    await deleteAgent(room.call(), room.agent)
    expect(await refusalOf(promote(from))).toBe('not_found')
  })

  it('takes a thousand steps, and lists flows page by page where they are long', async () => {
    const long = Array.from({ length: 1_000 }, (_, i) => step('say', { text: `${i}"${'x'.repeat(1_500)}` }))
    const from = await twice(long)
    for (const name of ['a', 'b']) {
      const { flow, steps } = await promote(from, { name })
      expect([flow.steps, steps.length]).toEqual([1_000, 1_000])
      expect(flow.chunks[0]).toBe(0)
      expect(flow.chunks.length).toBeGreaterThan(10)
    }
    await promote(from, { name: 'b', overwrite: true })
    const first = await listFlows(room.call(), room.agent, { limit: 10, after: null })
    expect([first.items.map(({ flow }) => flow.name), first.next]).toEqual([['a'], 'a'])
    const second = await listFlows(room.call(), room.agent, { limit: 10, after: first.next })
    expect([second.items.map(({ steps }) => steps.length), second.next]).toEqual([[1_000], null])
  })
})

describe('suggestions', () => {
  const suggested = async () => {
    await room.table.catchUp()
    return await suggestFlows(room.call(), room.agent)
  }

  it('are groups of two clean traces or more that no flow stands for, the costliest first', async () => {
    await did([step('once')])
    const cheap = await twice([step('cheap')], { tokens: 10 })
    const dear = [...(await twice(digest)), await did(digest)]
    await twice([step('broken', {}, { status: 'failed' })])
    const found = await suggested()
    expect(found.map(({ count, tokens, usd, traces }) => ({ count, tokens, usd, traces }))).toEqual([
      { count: 3, tokens: 3_000, usd: 0.75, traces: dear.toReversed() },
      { count: 2, tokens: 20, usd: 0.5, traces: cheap.toReversed() },
    ])
    expect(found[0]!.steps).toEqual(digest.map(({ tool, args }) => ({ tool, args })))
  })

  it('go when they are promoted, and come back when the flow is removed or stands for something else', async () => {
    const from = await twice()
    await promote((await suggested())[0]!.traces)
    expect(await suggested()).toEqual([])
    await promote(await twice([step('other')]), { overwrite: true })
    expect((await suggested()).map(({ traces }) => traces)).toEqual([from.toReversed()])
    await removeFlow(room.call(), room.agent, 'weekly-digest')
    expect(await suggested()).toHaveLength(2)
  })

  it('go when they are declined, however often it is done again, and leave the others', async () => {
    await twice()
    await twice([step('other')], { tokens: 1 })
    const [first, second] = await suggested()
    await declineSuggestion(room.call(), room.agent, first!.fingerprint)
    await declineSuggestion(room.call(), room.agent, first!.fingerprint)
    await did()
    expect((await suggested()).map(({ fingerprint }) => fingerprint)).toEqual([second!.fingerprint])
    expect(await refusalOf(declineSuggestion(room.call(), room.agent, 'none'))).toBe('not_found')
  })

  it('go with their traces', async () => {
    await twice()
    room.jump(start + limits.traceMs + 2 * 24 * 60 * minute)
    expect(await suggested()).toEqual([])
    await did()
    expect(await suggested()).toEqual([])
  })

  it('are none to be declined, where all of their traces have gone since', async () => {
    await twice()
    const [{ fingerprint } = { fingerprint: '' }] = await suggested()
    room.jump(room.now() + limits.traceMs)
    expect(await refusalOf(declineSuggestion(room.call(), room.agent, fingerprint))).toBe('not_found')
  })

  it('are a hundred at most', async () => {
    for (let i = 0; i < 105; i++) {
      await twice([step('t', i)], { tokens: i })
      if (i === 104) await promote(await twice([step('t', i)]))
    }
    const found = await suggested()
    expect(found).toHaveLength(limits.suggestionsMax)
    expect(found[0]!.steps[0]!.args).toBe('103')
  })

  test('another agent’s are its own', async () => {
    const other = await createAgent(room.call(), { name: 'scout' })
    await did()
    await did(digest, { agent: other.id })
    expect(await suggested()).toEqual([])
  })
})
