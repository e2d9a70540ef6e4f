import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assertCommit } from '../../shared/adapters/aws/bounds.ts'
import { limits } from '../../shared/domain/limits.ts'
import { type Repeated, totalsOf } from '../../shared/domain/repeated.ts'
import { type Reported, recorded } from '../../shared/domain/trace.ts'
import { createAgent, deleteAgent, editAgent } from '../../shared/engine/agents.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { listRuns } from '../../shared/engine/runs.ts'
import { createSession } from '../../shared/engine/sessions.ts'
import { getTrace, type ImportInput, importTrace, listTraces } from '../../shared/engine/traces.ts'
import { cancelTurn, endTurn } from '../../shared/engine/turns.ts'
import {
  addSchedule,
  addSession,
  claim,
  end,
  hour,
  keyOf,
  minute,
  newPerson,
  openRoom,
  type Room,
  refusalOf,
  start,
} from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const call = (tool: string, over: Partial<Reported> = {}) => recorded({ tool, args: {}, status: 'ok', ...over })
const digest = [call('fetch', { args: { url: 'https://example.com' } }), call('send', { args: { to: 'team' } })]

/** A turn of a person's message that ends with these calls. */
async function turn(
  calls = digest,
  over: Parameters<typeof end>[2] = {},
  session = room.session,
): Promise<string | null> {
  await sendMessage(room.call(), session, 'go on')
  return await end(room, await claim(room, session), { toolCalls: calls, tokens: 1_000, usd: 0.01, ...over })
}

const listed = async (filter: Partial<Parameters<typeof listTraces>[1]> = {}, limit = 100, over = {}) => {
  await room.table.catchUp()
  const none = { agent: null, project: null, session: null, outcome: null }
  return await listTraces(room.call(over), { ...none, ...filter }, { limit, before: null })
}
const idsOf = async (filter: Parameters<typeof listed>[0] = {}) =>
  (await listed(filter)).items.map(({ trace }) => trace.id)

const counts = async (): Promise<Repeated[]> =>
  (await room.table.list(`F#${room.agent.slice(4)}`)).items.map(({ item }) => item as unknown as Repeated)

describe('the trace that a turn leaves', () => {
  it('says who did what when, for what, and how it ended', async () => {
    await addSchedule(room)
    await room.move(start + hour)
    const claimed = await claim(room)
    room.jump(room.now() + minute)
    const id = await end(room, claimed, { toolCalls: digest, tokens: 1_000, usd: 0.01 })
    const { trace, calls } = await getTrace(room.call(), id!)
    expect(trace).toMatchObject({
      agent: room.agent,
      session: room.session,
      project: null,
      source: 'turn',
      turn: claimed!.turn!.id,
      origin: { kind: 'schedule', schedule: expect.stringMatching(/^sch_/) },
      outcome: 'ok',
      tokens: 1_000,
      usd: 0.01,
      startedAt: start + hour,
      at: start + hour + minute,
    })
    expect(calls).toEqual(digest)
    const [run] = (await listRuns(room.call(), trace.origin!.schedule!, { limit: 10, before: null } as never)).items
    expect(run).toMatchObject({ turn: claimed!.turn!.id, trace: id })
  })

  it('is none without tool calls, and none of a lease that ran out', async () => {
    expect(await turn([])).toBeNull()
    await sendMessage(room.call(), room.session, 'go on')
    await claim(room)
    await room.move(start + 3 * hour)
    expect(await idsOf()).toEqual([])
  })

  it('is left by a turn that was cancelled too, as failed', async () => {
    await sendMessage(room.call(), room.session, 'go on')
    const claimed = await claim(room)
    await cancelTurn(room.call(), claimed!.turn!.id)
    const id = await end(room, claimed, { toolCalls: digest, answer: 'no', outcome: 'ok' })
    expect((await getTrace(room.call(), id!)).trace).toMatchObject({ outcome: 'failed', fingerprint: null })
  })

  it('comes in the same commit as the end: one that is lost leaves neither', async () => {
    await sendMessage(room.call(), room.session, 'go on')
    const claimed = await claim(room)
    const world = room.through((inner) => ({
      ...inner,
      get: inner.get.bind(inner),
      list: inner.list.bind(inner),
      find: inner.find.bind(inner),
      commit: async () => {
        throw new Error('the node is gone')
      },
    }))
    const input = {
      outcome: 'ok',
      answer: null,
      summary: null,
      tokens: null,
      usd: null,
      toolCalls: digest,
      sleep: null,
    } as const
    await expect(endTurn(room.call({ world }), claimed!.turn!.id, input)).rejects.toThrow('gone')
    expect([await idsOf(), await counts()]).toEqual([[], []])
    expect(await end(room, claimed, { toolCalls: digest })).not.toBeNull()
  })

  it.each([
    [0, true],
    [5, true],
    [10, false],
  ])('fits its commit with a thousand long calls beside answers to %i channels', async (many, hasAll) => {
    const wide = '😀'.repeat(2_000)
    const long = Array.from({ length: limits.toolCallsPerTurnMax }, (_, i) =>
      call(`${i}-${'"'.repeat(180)}`, { args: { text: `"\\${wide}` }, result: { text: wide } }),
    )
    const sizes: number[] = []
    const channels: string[] = []
    for (let i = 0; i < many; i++) {
      channels.push(await addSession(room))
      await addSchedule(room, { channel: channels[i]! })
    }
    if (many === 0) await sendMessage(room.call(), room.session, 'go on')
    await room.move(start + hour)
    const claimed = await claim(room, room.session, true)
    for (let i = 1; i < many; i++) await claim(room, room.session, true)
    const world = room.through((inner) => ({
      get: inner.get.bind(inner),
      list: inner.list.bind(inner),
      find: inner.find.bind(inner),
      commit: async (ops, token) => {
        assertCommit(ops)
        sizes.push(ops.length)
        await inner.commit(ops, token)
      },
    }))
    const input = { outcome: 'ok', summary: null, tokens: null, usd: null, sleep: null } as const
    const answer = '€'.repeat(limits.answerCharsMax)
    const id = await endTurn(room.call({ world }), claimed!.turn!.id, { ...input, answer, toolCalls: long })
    const { calls } = await getTrace(room.call(), id!)
    const kept = long.slice(0, calls.length)
    expect(calls.map(({ tool, status }) => [tool, status])).toEqual(kept.map(({ tool, status }) => [tool, status]))
    expect([calls.length === long.length, calls.at(-1)!.argsClipped]).toEqual([hasAll, true])
    expect(sizes).toHaveLength(1)
  })

  it('is gone a month later, and so is the count', async () => {
    const id = await turn()
    room.jump(start + limits.traceMs - 1)
    expect((await getTrace(room.call(), id!)).trace.id).toBe(id)
    room.jump(start + limits.traceMs)
    expect(await refusalOf(getTrace(room.call(), id!))).toBe('not_found')
    expect(await idsOf()).toEqual([])
  })
})

describe('a list of traces', () => {
  it('is the newest first, and filters by agent, project, session and outcome', async () => {
    const other = await createAgent(room.call(), { name: 'scout', project: 'acme' })
    const theirs = (await createSession(room.call(), { agent: other.id })).row.id
    const mine = (await createSession(room.call(), { agent: room.agent, main: false, project: 'acme' })).row.id
    const ids: string[] = []
    for (const session of [room.session, mine, theirs]) {
      room.jump(room.now() + minute)
      ids.push((await turn(digest, {}, session))!)
    }
    room.jump(room.now() + minute)
    ids.push((await turn(digest, { outcome: 'failed' }))!)
    const [plain, labelled, ofScout, failed] = ids
    expect(await idsOf()).toEqual([failed, ofScout, labelled, plain])
    expect(await idsOf({ agent: room.agent })).toEqual([failed, labelled, plain])
    expect(await idsOf({ project: 'acme' })).toEqual([ofScout, labelled])
    expect(await idsOf({ project: 'acme', agent: room.agent })).toEqual([labelled])
    expect(await idsOf({ session: mine })).toEqual([labelled])
    expect(await idsOf({ session: mine, agent: other.id })).toEqual([])
    expect(await idsOf({ outcome: 'failed' })).toEqual([failed])
  })

  it('pages without a gap, also where a page ends early since its calls are long', async () => {
    const long = Array.from({ length: 100 }, () => call('say', { result: 'x'.repeat(3_900) }))
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      room.jump(room.now() + minute)
      ids.unshift((await turn(i % 2 === 0 ? long : digest))!)
    }
    await room.table.catchUp()
    const found: string[] = []
    const sizes: number[] = []
    let before: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listed>> = await listTraces(
        room.call(),
        { agent: null, project: null, session: null, outcome: null },
        { limit: 5, before },
      )
      sizes.push(page.items.length)
      found.push(...page.items.map(({ trace }) => trace.id))
      before = page.next
    } while (before !== null)
    expect(found).toEqual(ids)
    expect(sizes[0]).toBeLessThan(5)
  })

  it('shows nobody what others may not see: strangers, other agents, traces of a deleted agent', async () => {
    const id = (await turn())!
    const eve = await newPerson(room)
    const other = await createAgent(room.call(), { name: 'scout' })
    for (const caller of [eve, keyOf(other)]) {
      expect(await refusalOf(getTrace(room.call({ caller }), id))).toBe('not_found')
      expect((await listed({}, 10, { caller })).items).toEqual([])
      expect(await refusalOf(listed({ agent: room.agent }, 10, { caller }))).toBe('not_found')
    }
    const own = keyOf((await editAgent(room.call(), room.agent, {})) as never)
    expect((await getTrace(room.call({ caller: own }), id)).trace.id).toBe(id)
    await deleteAgent(room.call(), room.agent)
    expect(await refusalOf(getTrace(room.call(), id))).toBe('not_found')
    expect(await idsOf()).toEqual([])
    for (const odd of ['', 'trc_', 'trc_00000000000000000000000000', '../x', 'A'])
      expect(await refusalOf(getTrace(room.call(), odd))).toBe('not_found')
  })
})

describe('how often the same was done', () => {
  it('counts clean traces of the same sequence, exactly, also when they end at once', async () => {
    const sessions = [room.session]
    for (let i = 0; i < 5; i++) sessions.push(await addSession(room))
    const claims = []
    for (const session of sessions) {
      await sendMessage(room.call(), session, 'go')
      claims.push(await claim(room, session))
    }
    await Promise.all(claims.map((claimed) => end(room, claimed, { toolCalls: digest, tokens: 10, usd: null })))
    const [row, ...others] = await counts()
    expect(others).toEqual([])
    expect(totalsOf(row!, room.now())).toEqual({ traces: 6, tokens: 60, usd: 0 })
    expect(new Set(row!.recent.map(([id]) => id)).size).toBe(6)
  })

  it('does not count what is not clean', async () => {
    await turn([call('send', { status: 'failed' })])
    await turn([call('send', { status: 'denied' })])
    await turn([call('send', { args: 'x'.repeat(5_000) })])
    await turn(digest, { outcome: 'failed' })
    expect(await counts()).toEqual([])
    await turn([call('send', { result: 'x'.repeat(5_000) })])
    expect(await counts()).toHaveLength(1)
  })

  it('tells sequences apart that look the same when they are put together', async () => {
    await turn([call('a', { args: 'b' }), call('c', { args: 'd' })])
    await turn([call('a', { args: 'b' }), call('c', { args: 'e' })])
    await turn([call('c', { args: 'd' }), call('a', { args: 'b' })])
    await turn([call('ab', { args: '' }), call('c', { args: 'd' })])
    expect(await counts()).toHaveLength(4)
  })
})

describe('an import', () => {
  const input = (over: Partial<ImportInput> = {}): ImportInput => ({
    agent: room.agent,
    session: null,
    project: null,
    outcome: 'ok',
    tokens: 500,
    usd: null,
    startedAt: null,
    at: start - 90 * 24 * hour,
    ref: 'abc',
    calls: digest,
    ...over,
  })

  it('is kept a month from when it came, sorts by when it happened, and counts', async () => {
    const ours = (await turn())!
    const { trace, isNew } = await importTrace(room.call(), input())
    expect([isNew, trace.source, trace.at]).toEqual([true, 'import', start - 90 * 24 * hour])
    expect(await idsOf()).toEqual([ours, trace.id])
    const [row] = await counts()
    expect(totalsOf(row!, room.now())).toMatchObject({ traces: 2, tokens: 1_500 })
  })

  it('of the same ref comes in once per agent, also at the same moment', async () => {
    const twice = await Promise.all([importTrace(room.call(), input()), importTrace(room.call(), input())])
    expect(twice.map(({ isNew }) => isNew).toSorted()).toEqual([false, true])
    expect(new Set(twice.map(({ trace }) => trace.id)).size).toBe(1)
    const other = await createAgent(room.call(), { name: 'scout' })
    expect((await importTrace(room.call(), input({ agent: other.id }))).isNew).toBe(true)
    expect((await importTrace(room.call(), input({ ref: null }))).isNew).toBe(true)
    expect(totalsOf((await counts())[0]!, room.now()).traces).toBe(2)
  })

  it('may come again when the first one has gone by its retention', async () => {
    await importTrace(room.call(), input())
    room.jump(start + limits.traceMs)
    expect(await importTrace(room.call(), input())).toMatchObject({ isNew: true, trace: { storedAt: room.now() } })
  })

  it('takes the project of its session, else of its agent, unless it says one', async () => {
    await editAgent(room.call(), room.agent, { project: 'home' })
    const session = (await createSession(room.call(), { agent: room.agent, main: false, project: 'acme' })).row.id
    const projects = []
    for (const over of [{ session, ref: '1' }, { ref: '2' }, { session, project: 'own', ref: '3' }])
      projects.push((await importTrace(room.call(), input(over))).trace.project)
    expect(projects).toEqual(['acme', 'home', 'own'])
  })

  it('is refused for a session of another agent, and for a time that lies ahead', async () => {
    const other = await createAgent(room.call(), { name: 'scout' })
    const session = (await createSession(room.call(), { agent: other.id })).row.id
    expect(await refusalOf(importTrace(room.call(), input({ session })))).toBe('body_invalid')
    expect(await refusalOf(importTrace(room.call(), input({ at: start + 48 * hour })))).toBe('body_invalid')
    expect(await refusalOf(importTrace(room.call({ caller: keyOf(other) }), input()))).toBe('not_found')
  })
})
