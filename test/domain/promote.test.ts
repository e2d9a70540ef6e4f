import { describe, expect, it, test } from 'vitest'
import { decidePromotion, flowNameFault, needsApproval, type Proof } from '../../shared/domain/promote.ts'
import { Refused } from '../../shared/domain/refused.ts'
import { type Reported, recorded } from '../../shared/domain/trace.ts'

const step = (tool: string, args: unknown = {}, over: Partial<Reported> = {}) =>
  recorded({ tool, args, status: 'ok', ...over })
const proof = (id: string, calls: Proof['calls'], over: Partial<Proof['trace']> = {}): Proof => ({
  trace: { id, agent: 'agt_1', outcome: 'ok', ...over },
  calls,
})
const same = [step('fetch', { url: 'https://example.com' }), step('send', { to: 'team' })]

function decided(
  proofs: readonly (Proof | null)[],
  o: { from?: string[]; exists?: boolean; overwrite?: boolean } = {},
) {
  try {
    return decidePromotion({
      name: 'weekly-digest',
      agent: 'agt_1',
      from: o.from ?? proofs.map((found, i) => found?.trace.id ?? `trc_${i}`),
      proofs,
      exists: o.exists ?? false,
      overwrite: o.overwrite ?? false,
    })
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
}
const code = (of: ReturnType<typeof decided>): string => (of instanceof Refused ? of.code : 'promoted')
const words = (of: ReturnType<typeof decided>): string => (of instanceof Refused ? of.detail : '')

const refusal =
  "could not promote: those traces didn't make the exact same tool calls, in the same order, with the same arguments - flows only replay identical sequences"

test('S1-5 one trace alone is no proof, nor is it when it is named twice', () => {
  const one = proof('trc_a', same)
  expect(code(decided([one]))).toBe('flow_needs_two_traces')
  expect(code(decided([]))).toBe('flow_needs_two_traces')
  expect(words(decided([one, one]))).toContain('only trc_a')
})

test('S1-6 two or more that did the very same are promoted', () => {
  expect(decided([proof('trc_a', same), proof('trc_b', same)])).toEqual(same)
  expect(decided([proof('trc_a', same), proof('trc_b', same), proof('trc_c', same)])).toEqual(same)
})

test('S1-7 a different argument is refused', () => {
  const other = [same[0]!, step('send', { to: 'all' })]
  expect(code(decided([proof('trc_a', same), proof('trc_b', other)]))).toBe('flow_traces_differ')
})

test('S1-8 a different order is refused', () => {
  expect(code(decided([proof('trc_a', same), proof('trc_b', same.toReversed())]))).toBe('flow_traces_differ')
})

test('S1-9 an extra step in one is refused, whichever it is', () => {
  const more = [...same, step('send', { to: 'team' })]
  for (const pair of [
    [same, more],
    [more, same],
  ] as const)
    expect(code(decided([proof('trc_a', pair[0]), proof('trc_b', pair[1])]))).toBe('flow_traces_differ')
})

test('S1-10 the refusal names the first trace and step that differ', () => {
  const other = [same[0]!, step('send', { to: 'all' }), step('more')]
  expect(words(decided([proof('trc_a', same), proof('trc_b', same), proof('trc_c', other)]))).toBe(
    `${refusal}: trace trc_c differs from trc_a at step 2: expected send {"to":"team"}, got send {"to":"all"}`,
  )
  expect(words(decided([proof('trc_a', same), proof('trc_b', [...same, step('more')])]))).toBe(
    `${refusal}: trace trc_b differs from trc_a at step 3: expected no further call, got more {}`,
  )
  expect(words(decided([proof('trc_a', same), proof('trc_b', [])]))).toContain(
    'at step 1: expected fetch {"url":"https://example.com"}, got no further call',
  )
})

test('S1-10 what others wrote does not get out of the refusal', () => {
  const nasty = [step('send', { text: `\u202e\n${'x'.repeat(5_000)}` })]
  const said = words(decided([proof('trc_a', same), proof('trc_b', nasty)]))
  expect(said.length).toBeLessThan(700)
  expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('S1-12 nothing is inferred: a counter, a date or a run id that varies is another sequence', () => {
  for (const [a, b] of [
    [{ page: 1 }, { page: 2 }],
    [{ day: '2026-03-01' }, { day: '2026-03-02' }],
    [{ n: 1 }, { n: '1' }],
    [{ n: 1 }, { n: 1, m: null }],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: '' }, { a: null }],
  ])
    expect(code(decided([proof('trc_a', [step('t', a)]), proof('trc_b', [step('t', b)])]))).toBe('flow_traces_differ')
})

test('the order of keys and the blanks of JSON are no arguments', () => {
  const [a, b] = ['{"x":1,"y":[2]}', '{ "y": [2], "x": 1.0 }'].map((text) => [step('t', JSON.parse(text))])
  expect(code(decided([proof('trc_a', a!), proof('trc_b', b!)]))).toBe('promoted')
})

test('S1-13 a call that was denied is refused though the sequences match', () => {
  const denied = [same[0]!, step('send', { to: 'team' }, { status: 'denied' })]
  const refused = decided([proof('trc_a', same), proof('trc_b', denied)])
  expect([code(refused), words(refused)]).toEqual([
    'flow_trace_not_clean',
    "could not promote: step 2 of trace trc_b (send) was denied by the agent's own permission gate; a flow is made of traces in which everything went well",
  ])
})

test('S1-14 a step that really failed is refused', () => {
  const failed = [step('fetch', { url: 'https://example.com' }, { status: 'failed' }), same[1]!]
  const refused = decided([proof('trc_a', failed), proof('trc_b', same)])
  expect([code(refused), words(refused)]).toEqual([
    'flow_trace_not_clean',
    expect.stringContaining('step 1 of trace trc_a (fetch) failed'),
  ])
})

test('S1-15 arguments that were clipped are refused though what is left of them matches; a clipped result is not', () => {
  const long = { text: 'x'.repeat(5_000) }
  const clipped = [step('send', long)]
  expect(clipped[0]!.argsClipped).toBe(true)
  expect(code(decided([proof('trc_a', clipped), proof('trc_b', clipped)]))).toBe('flow_trace_not_clean')
  const results = [step('send', {}, { result: long })]
  expect(code(decided([proof('trc_a', results), proof('trc_b', results)]))).toBe('promoted')
})

test('a trace that did not end well is refused', () => {
  const refused = decided([proof('trc_a', same), proof('trc_b', same, { outcome: 'failed' })])
  expect([code(refused), words(refused)]).toEqual([
    'flow_trace_not_clean',
    expect.stringContaining('trace trc_b ended failed'),
  ])
})

test('S1-16 traces of another agent are refused', () => {
  const refused = decided([proof('trc_a', same), proof('trc_b', same, { agent: 'agt_2' })])
  expect([code(refused), words(refused)]).toEqual([
    'flow_other_agent',
    expect.stringContaining('trace trc_b is of agent agt_2'),
  ])
  const both = [proof('trc_a', same, { agent: 'agt_2' }), proof('trc_b', same, { agent: 'agt_2' })]
  expect(code(decided(both))).toBe('flow_other_agent')
})

test('S1-22 a name that is taken is refused, unless it is to be overwritten', () => {
  const proofs = [proof('trc_a', same), proof('trc_b', same)]
  expect(code(decided(proofs, { exists: true }))).toBe('flow_exists')
  expect(code(decided(proofs, { exists: true, overwrite: true }))).toBe('promoted')
})

describe('the order of the refusals', () => {
  const dirty = [step('fetch', {}, { status: 'failed' })]
  it.each([
    ['too few before one that is not there', [null], 'flow_needs_two_traces'],
    [
      'one that is not there before a difference',
      [proof('trc_a', same), proof('trc_b', dirty), null],
      'trace_not_found',
    ],
    ['a difference before what is not clean', [proof('trc_a', dirty), proof('trc_b', same)], 'flow_traces_differ'],
    [
      'a difference before another agent',
      [proof('trc_a', same), proof('trc_b', dirty, { agent: 'agt_2' })],
      'flow_traces_differ',
    ],
    ['no calls at all', [proof('trc_a', []), proof('trc_b', [])], 'flow_no_tool_calls'],
    [
      'what is not clean before another agent',
      [proof('trc_a', dirty), proof('trc_b', dirty, { agent: 'agt_2' })],
      'flow_trace_not_clean',
    ],
    [
      'another agent before a name that is taken',
      [proof('trc_a', same), proof('trc_b', same, { agent: 'agt_2' })],
      'flow_other_agent',
    ],
  ] as const)('%s', (_title, proofs, wanted) => {
    expect(code(decided(proofs, { exists: true }))).toBe(wanted)
  })

  it('names the trace that is not there', () => {
    expect(words(decided([proof('trc_a', same), null], { from: ['trc_a', 'trc_gone'] }))).toContain('trc_gone')
  })
})

test('tools that nobody approved are named once, in the order of their first step', () => {
  const steps = ['send', 'fetch', 'send', 'read'].map((tool) => ({ tool }))
  expect(needsApproval(steps, [])).toEqual(['send', 'fetch', 'read'])
  expect(needsApproval(steps, ['fetch', 'other'])).toEqual(['send', 'read'])
})

test.each([
  ['weekly-digest', true],
  ['Wöchentlich 📬', true],
  ['', false],
  ['..', false],
  ['a/b', false],
  ['a\nb', false],
  [' a', false],
  ['a\u202eb', false],
  ['x'.repeat(120), true],
  ['x'.repeat(121), false],
])('a flow may be named %j: %s', (name, may) => {
  expect(flowNameFault(name) === null).toBe(may)
})
