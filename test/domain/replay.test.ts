import { describe, expect, it, test } from 'vitest'
import {
  decideReplay,
  type FlowRun,
  placeOfStep,
  type Replay,
  type ReplayLook,
  type StepRecord,
} from '../../shared/domain/replay.ts'

const now = 1_000_000
const run: FlowRun = {
  id: 'flr_01JFLOWRUN000000000000000A',
  agent: 'agt_01JAGENT0000000000000000AA',
  flow: 'shopping',
  principal: 'per_01JANN0000000000000000000A',
  plan: { rev: 'flw_01JFLOW000000000000000000A', fingerprint: 'f', steps: 3, chunks: [0], bytes: 10 },
  schedule: null,
  row: null,
  step: 1,
  phase: 'ready',
  status: 'running',
  reason: null,
  detail: null,
  lookAt: now,
  cancelled: null,
  trace: null,
  createdAt: 0,
  startedAt: 0,
  endedAt: null,
}
const record: StepRecord = {
  tool: 'buy',
  status: 'calling',
  readOnly: false,
  result: null,
  resultClipped: false,
  startedAt: 0,
  endedAt: null,
}
const registered: ReplayLook = {
  run,
  now,
  agent: { autoApprove: ['buy'], runsHostSteps: false },
  flowIsGone: false,
  step: { tool: 'buy', args: '{}', hash: 'h' },
  tool: { hash: 'h', readOnly: false },
  record: null,
  job: null,
}
const hosted: ReplayLook = {
  ...registered,
  agent: { autoApprove: ['buy'], runsHostSteps: true },
  step: { tool: 'buy', args: '{}', hash: null },
  tool: null,
}
const calling = (over: Partial<ReplayLook> = {}, until = now): ReplayLook => ({
  ...registered,
  run: { ...run, phase: 'calling', lookAt: until },
  record,
  ...over,
})
const onHost = (job: ReplayLook['job']): ReplayLook => ({ ...hosted, run: { ...run, phase: 'host' }, record, job })
const gone = { ...run, cancelled: 'overlap' } as const

/** In one word. */
const said = (decided: Replay): string =>
  decided.kind === 'end' ? `${decided.status} ${decided.reason ?? ''}`.trim() : decided.kind

test.each<[string, string, ReplayLook]>([
  ['a registered tool that nothing stops', 'call', registered],
  ['a tool of the host, with a worker', 'host', hosted],
  ['behind the last step', 'ok', { ...registered, step: null }],
  ['a newer run took its place', 'failed cancelled_by_overlap', { ...registered, run: gone }],
  ['… even behind the last step', 'failed cancelled_by_overlap', { ...registered, run: gone, step: null }],
  ['the agent is deleted', 'failed agent_deleted', { ...registered, agent: null }],
  ['the flow was removed before it began', 'failed unknown_flow', { ...registered, flowIsGone: true, step: null }],
  [
    'nobody has approved the tool',
    'blocked not_auto_approved',
    { ...registered, agent: { autoApprove: [], runsHostSteps: true } },
  ],
  ['the tool is gone', 'failed unknown_tool', { ...registered, tool: null }],
  ['the tool does something else', 'failed tool_changed', { ...registered, tool: { hash: 'i', readOnly: true } }],
  ['a host tool is a registered one by now', 'failed tool_changed', { ...hosted, tool: { hash: 'h', readOnly: true } }],
  ['no worker', 'blocked no_worker', { ...hosted, agent: { autoApprove: ['buy'], runsHostSteps: false } }],
  [
    'of several stops the first of the list',
    'blocked not_auto_approved',
    { ...hosted, agent: { autoApprove: [], runsHostSteps: false } },
  ],
  ['it waits for the run before it', 'wait', { ...registered, run: { ...run, phase: 'waiting', lookAt: null } }],
  ['it is over', 'wait', { ...registered, run: { ...run, phase: 'over', lookAt: null } }],
  ['somebody calls it right now', 'wait', calling({}, now + 1)],
  ['somebody called it and is lost', 'unknown outcome_unknown', calling()],
  ['… though a newer run took its place', 'unknown outcome_unknown', calling({ run: { ...gone, phase: 'calling' } })],
  ['… and its record too', 'unknown outcome_unknown', calling({ record: null })],
  ['somebody called what only reads, and is lost', 'call', calling({ record: { ...record, readOnly: true } })],
  [
    '… and it was changed since',
    'failed tool_changed',
    calling({ record: { ...record, readOnly: true }, tool: { hash: 'i', readOnly: true } }),
  ],
  ['its job waits', 'wait', onHost({ taken: false, until: now + 1, result: null })],
  ['its job was taken', 'wait', onHost({ taken: true, until: now + 1, result: null })],
  ['its job was not taken in time', 'failed not_taken', onHost({ taken: false, until: now, result: null })],
  ['its worker is lost', 'unknown outcome_unknown', onHost({ taken: true, until: now, result: null })],
  ['its job is gone', 'unknown outcome_unknown', onHost(null)],
  ['its job ended well', 'done', onHost({ taken: true, until: 0, result: { exit: 0, output: '1' } })],
  ['its job failed', 'failed step_failed', onHost({ taken: true, until: 0, result: { exit: 1, output: 'no' } })],
  [
    'its worker does not know it',
    'failed unknown_tool',
    onHost({ taken: true, until: 0, result: { exit: 127, output: 'no tool "buy"' } }),
  ],
])('%s: %s', (_, wanted, look) => {
  expect(said(decideReplay(look))).toBe(wanted)
})

describe('what an end says', () => {
  it('names the step, from 1, and its tool', () => {
    expect(decideReplay({ ...registered, tool: null })).toMatchObject({ detail: 'step 2 (buy): the tool was removed' })
  })

  it('keeps the words of a worker on one line, and short', () => {
    const decided = decideReplay(
      onHost({ taken: true, until: 0, result: { exit: 1, output: `a\nb${'x'.repeat(900)}` } }),
    )
    expect(decided).toMatchObject({ record: { status: 'failed' } })
    const { detail } = decided as { detail: string }
    expect([detail.length, detail.slice(0, 22)]).toEqual([500, 'step 2 (buy): a bxxxxx'])
  })

  it('an exit without a word is named by its number', () => {
    const decided = decideReplay(onHost({ taken: true, until: 0, result: { exit: 3, output: ' ' } }))
    expect(decided).toMatchObject({ detail: 'step 2 (buy): it ended with exit 3' })
  })

  it('only a step that was called has a record to be closed', () => {
    expect(decideReplay({ ...registered, tool: null })).toMatchObject({ record: null })
    expect(decideReplay(calling())).toMatchObject({ record: { status: 'unknown' } })
    expect(decideReplay(onHost({ taken: false, until: now, result: null }))).toMatchObject({ record: null })
  })
})

it('finds the item that holds a step', () => {
  const plan = { ...run.plan!, steps: 7, chunks: [0, 3, 6] }
  expect([0, 2, 3, 5, 6, 7].map((step) => placeOfStep(plan, step))).toEqual([
    { chunk: 0, nth: 0 },
    { chunk: 0, nth: 2 },
    { chunk: 1, nth: 0 },
    { chunk: 1, nth: 2 },
    { chunk: 2, nth: 0 },
    null,
  ])
})
