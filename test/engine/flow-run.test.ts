import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { createAgent, deleteAgent, editAgent } from '../../shared/engine/agents.ts'
import { getFlowRun, listFlowRuns, runFlow } from '../../shared/engine/flow-runs.ts'
import { suggestFlows } from '../../shared/engine/flow-suggestions.ts'
import { removeFlow } from '../../shared/engine/flows.ts'
import { removeTool } from '../../shared/engine/tools.ts'
import { getTrace, listTraces } from '../../shared/engine/traces.ts'
import type { OutboundRequest } from '../../shared/ports/world.ts'
import {
  called,
  endHost,
  flowRuns,
  how,
  latest,
  mixed,
  order,
  promote,
  replay,
  takeJob,
  tools,
  worker,
} from './flowing.ts'
import { answered } from './outside.ts'
import { keyOf, minute, newPerson, openRoom, type Room, refusalOf } from './room.ts'
import { put } from './tooling.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
  await tools(room)
})
afterEach(() => room.close())

const requests = () => room.outside.sent as OutboundRequest[]
const json = (of: OutboundRequest) => JSON.parse(of.body ?? 'null')
const trace = async () => await getTrace(room.call(), (await latest(room)).trace!)

describe('a run of a flow', () => {
  it('S1-20 takes the steps one after the other, and says how it ended', async () => {
    await promote(room)
    const run = await replay(room)
    expect(how(run)).toEqual(['ok', null, 4])
    expect(run).toMatchObject({ flow: 'shopping', agent: room.agent, plan: { steps: 3 } })
    expect(requests().map(({ method }) => method)).toEqual(['GET', 'POST', 'POST'])
  })

  it('S1-2 repeats argument for argument', async () => {
    await promote(room)
    await replay(room)
    expect(requests().slice(1).map(json)).toEqual([{ what: 'bread' }, { what: 'milk' }])
  })

  it('sends a key with each step that names run and step, so that a receiver can tell a repeat', async () => {
    await promote(room)
    const { id } = await replay(room)
    expect(requests().map(({ headers }) => headers['idempotency-key'] ?? null)).toEqual([
      null,
      `${id}:2:0`,
      `${id}:3:0`,
    ])
  })

  it('S1-27 leaves a trace as a turn does, with what its steps gave', async () => {
    room.outside.answer = (_, nth) => answered(200, { 'content-type': 'application/json' }, `{"nth":${nth}}`)
    await promote(room)
    const { id } = await replay(room)
    const { trace: head, calls } = await trace()
    expect(head).toMatchObject({ source: 'flow', outcome: 'ok', tokens: 0, calls: 3, session: null, agent: room.agent })
    expect(head.origin).toMatchObject({ kind: 'user', run: id })
    expect(calls.map(({ tool, args, status, result }) => [tool, args, status, result])).toEqual([
      ['rate', '{"of":"eur"}', 'ok', '{"nth":1}'],
      ['buy', '{"what":"bread"}', 'ok', '{"nth":2}'],
      ['buy', '{"what":"milk"}', 'ok', '{"nth":3}'],
    ])
    const page = { limit: 10, before: null }
    const filter = { agent: room.agent, project: null, session: null, outcome: null }
    expect((await listTraces(room.call(), filter, page)).items.map((view) => view.trace.id)).toContain(head.id)
  })

  it('S1-27 also when it failed: with the calls up to there, the last one failed', async () => {
    room.outside.answer = (_, nth) => answered(nth === 2 ? 500 : 200)
    await promote(room)
    const run = await replay(room)
    expect(how(run)).toEqual(['failed', 'step_failed', 2])
    expect(run.detail).toBe('step 2 (buy): POST bank.test answered 500')
    const { trace: head, calls } = await trace()
    expect([head.outcome, head.fingerprint]).toEqual(['failed', null])
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'failed'])
    expect(requests()).toHaveLength(2)
  })

  it('does not suggest itself again', async () => {
    await promote(room)
    await replay(room)
    await replay(room)
    await removeFlow(room.call(), room.agent, 'shopping')
    await room.table.catchUp()
    const [suggested] = await suggestFlows(room.call(), room.agent)
    expect(suggested).toMatchObject({ count: 2, tokens: 2_000 })
  })

  it('clips what a step gave, in its record and in the trace', async () => {
    room.outside.answer = () => answered(200, {}, 'x'.repeat(10_000))
    await promote(room, [order[0]!, order[1]!])
    await replay(room)
    const [first] = (await trace()).calls
    expect([first!.resultClipped, first!.result!.length]).toEqual([true, limits.toolCallBytesMax])
  })

  it('goes on with the steps it began with when the flow is replaced or removed meanwhile', async () => {
    await promote(room)
    await runFlow(room.call(), room.agent, 'shopping')
    await promote(room, [order[1]!], { overwrite: true })
    await removeFlow(room.call(), room.agent, 'shopping')
    await room.settle()
    expect(how(await latest(room))).toEqual(['ok', null, 4])
  })

  it('takes more steps than one item holds, in order', async () => {
    const many = Array.from({ length: 120 }, (_, n) => called('buy', { n, what: 'x'.repeat(3_000) }))
    await promote(room, many)
    const run = await replay(room)
    expect(run.plan!.chunks.length).toBeGreaterThan(3)
    expect(how(run)).toEqual(['ok', null, 121])
    expect(requests().map((request) => json(request).n)).toEqual(many.map((_, n) => n))
    expect((await trace()).calls.map(({ args }) => JSON.parse(args).n)).toEqual(many.map((_, n) => n))
  })
})

describe('what stops a run before a step', () => {
  const stopped = async (change: () => Promise<unknown>) => {
    await promote(room)
    await change()
    return await replay(room)
  }

  it('a tool that the agent may not call unasked: blocked, and it says which step', async () => {
    const run = await stopped(() => editAgent(room.call(), room.agent, { autoApprove: ['rate'] }))
    expect(how(run)).toEqual(['blocked', 'not_auto_approved', 2])
    expect(run.detail).toContain('step 2 (buy)')
    expect(requests()).toHaveLength(1)
    expect((await trace()).calls.map(({ tool }) => tool)).toEqual(['rate'])
  })

  it('a tool that does something else than when the flow was promoted', async () => {
    const run = await stopped(() =>
      put(room, 'buy', { steps: [{ http: { method: 'DELETE', url: 'https://a.test' } }] }),
    )
    expect(how(run)).toEqual(['failed', 'tool_changed', 2])
  })

  it('not one whose description alone is another', async () => {
    const buy = { steps: [{ http: { method: 'POST' as const, url: 'https://bank.test/orders', body: `\${args}` } }] }
    const run = await stopped(() => put(room, 'buy', { ...buy, description: 'Buys things.' }))
    expect(how(run)).toEqual(['ok', null, 4])
  })

  it('a tool that was removed', async () => {
    const run = await stopped(() => removeTool(room.call(), room.agent, 'buy'))
    expect(how(run)).toEqual(['failed', 'unknown_tool', 2])
  })

  it('a name that stands for a registered tool by now and did not when it was promoted', async () => {
    await promote(room, [called('shell', {}), called('shell', {})])
    await put(room, 'shell', {})
    expect(how(await replay(room))).toEqual(['failed', 'tool_changed', 1])
  })

  it('an agent that was deleted', async () => {
    await promote(room)
    const { id } = await runFlow(room.call(), room.agent, 'shopping')
    await deleteAgent(room.call(), room.agent)
    await room.settle()
    const stored = (await room.table.get([[`Q#${id.slice(4)}`, 'A']]))[0]!
    expect(stored.item).toMatchObject({ status: 'failed', reason: 'agent_deleted' })
    expect(requests()).toEqual([])
  })
})

describe('a step of the host', () => {
  beforeEach(async () => {
    await promote(room, mixed)
  })

  it('is a job of the worker, named by run and step; its end goes on with the run', async () => {
    await worker(room, true)
    const waiting = await replay(room)
    expect([waiting.status, waiting.phase, waiting.step]).toEqual(['running', 'host', 1])
    const { job } = (await takeJob(room))!
    expect(job).toMatchObject({
      kind: 'host_step',
      tool: 'shell',
      args: { cmd: 'ls' },
      flow: { run: waiting.id, step: 2 },
    })
    await endHost(room, job.id, 0, '["a","b"]')
    expect(how(await latest(room))).toEqual(['ok', null, 4])
    expect((await trace()).calls.map(({ result }) => result)).toEqual(['""', '["a","b"]', '""'])
  })

  it('without a worker that runs host steps: blocked before the step', async () => {
    expect(how(await replay(room))).toEqual(['blocked', 'no_worker', 2])
    await worker(room, true)
    await worker(room, false)
    expect(how(await replay(room))).toEqual(['blocked', 'no_worker', 2])
  })

  it('that the worker does not know: exit 127', async () => {
    await worker(room, true)
    await replay(room)
    const { job } = (await takeJob(room))!
    await endHost(room, job.id, 127, 'this worker has no tool "shell"')
    const run = await latest(room)
    expect(how(run)).toEqual(['failed', 'unknown_tool', 2])
    expect(run.detail).toContain('this worker has no tool "shell"')
  })

  it('that fails: with the words of the worker', async () => {
    await worker(room, true)
    await replay(room)
    const { job } = (await takeJob(room))!
    await endHost(room, job.id, 1, 'no such folder')
    expect((await latest(room)).detail).toBe('step 2 (shell): no such folder')
    expect((await trace()).calls.map(({ status, result }) => [status, result]).at(-1)).toEqual([
      'failed',
      '"no such folder"',
    ])
  })

  it('that nobody takes within its wait: not_taken, and nobody takes it later', async () => {
    await worker(room, true)
    await replay(room)
    await room.move(room.now() + limits.jobWaitMs + minute)
    expect(how(await latest(room))).toEqual(['failed', 'not_taken', 2])
    expect(await takeJob(room)).toBeNull()
  })

  it('whose worker fell silent: its outcome is not known, and it is not done again', async () => {
    await worker(room, true)
    await replay(room)
    const { job } = (await takeJob(room))!
    await room.move(room.now() + 3 * minute)
    expect(how(await latest(room))).toEqual(['unknown', 'outcome_unknown', 2])
    expect(await refusalOf(endHost(room, job.id, 0, '1'))).toBe('job_not_running')
    expect((await trace()).calls.at(-1)!.status).toBe('failed')
  })

  it('that was taken late still has its whole time', async () => {
    await worker(room, true)
    await replay(room)
    await room.move(room.now() + 9 * minute)
    const { job } = (await takeJob(room))!
    await room.move(room.now() + 50_000)
    await endHost(room, job.id, 0, '1')
    expect(how(await latest(room))).toEqual(['ok', null, 4])
  })
})

describe('who may run flows and see their runs', () => {
  beforeEach(async () => {
    await promote(room)
  })

  it('a person who can talk to the agent; its own key may not', async () => {
    const agent = (await editAgent(room.call(), room.agent, {})) as Parameters<typeof keyOf>[0]
    expect(await refusalOf(runFlow(room.call({ caller: keyOf(agent) }), room.agent, 'shopping'))).toBe('person_only')
    const friend = await newPerson(room)
    expect(await refusalOf(runFlow(room.call({ caller: friend }), room.agent, 'shopping'))).toBe('not_found')
    await editAgent(room.call(), room.agent, { sharedWith: [(friend as { person: string }).person] })
    expect(await refusalOf(runFlow(room.call({ caller: friend }), room.agent, 'shopping'))).toBe('done')
  })

  it('a run is hidden from those who cannot see the agent', async () => {
    const { id } = await replay(room)
    const stranger = room.call({ caller: await newPerson(room) })
    expect(await refusalOf(getFlowRun(stranger, id))).toBe('not_found')
    expect(await refusalOf(listFlowRuns(stranger, room.agent, { limit: 10, before: null }))).toBe('not_found')
    expect((await getFlowRun(room.call(), id)).id).toBe(id)
  })

  it('a flow that is not there, and a run that is not there', async () => {
    expect(await refusalOf(runFlow(room.call(), room.agent, 'other'))).toBe('not_found')
    expect(await refusalOf(getFlowRun(room.call(), 'flr_01ARZ3NDEKTSV4RRFFQ69G5FAV'))).toBe('not_found')
    expect(await refusalOf(getFlowRun(room.call(), 'nonsense'))).toBe('not_found')
  })

  it('are listed newest first, a page at a time, each agent its own', async () => {
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      room.jump(room.now() + minute)
      ids.unshift((await replay(room)).id)
    }
    const first = await listFlowRuns(room.call(), room.agent, { limit: 2, before: null })
    expect([first.items.map(({ id }) => id), first.next]).toEqual([ids.slice(0, 2), ids[1]])
    const rest = await listFlowRuns(room.call(), room.agent, { limit: 2, before: first.next })
    expect([rest.items.map(({ id }) => id), rest.next]).toEqual([ids.slice(2), null])
    const other = await createAgent(room.call(), { name: 'scout' })
    expect((await listFlowRuns(room.call(), other.id, { limit: 2, before: null })).items).toEqual([])
    expect(await flowRuns(room)).toHaveLength(3)
  })
})
