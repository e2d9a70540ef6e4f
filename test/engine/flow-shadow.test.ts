import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { type Reported, recorded, type ToolCall } from '../../shared/domain/trace.ts'
import { editAgent, getAgent } from '../../shared/engine/agents.ts'
import { actOnCard } from '../../shared/engine/feed.ts'
import { listCards } from '../../shared/engine/feed-list.ts'
import { runFlow } from '../../shared/engine/flow-runs.ts'
import { listShadows } from '../../shared/engine/flow-shadows.ts'
import { getFlow, promoteFlow, removeFlow } from '../../shared/engine/flows.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { importTrace } from '../../shared/engine/traces.ts'
import { everything } from './cards.ts'
import { how, order, promote, replay, tools } from './flowing.ts'
import { claim, end, hour, keyOf, openRoom, type Room, refusalOf } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
  await tools(room)
})
afterEach(() => room.close())

const turn = async (calls: readonly ToolCall[], outcome: 'ok' | 'failed' = 'ok'): Promise<string> => {
  await sendMessage(room.call(), room.session, 'do it')
  const trace = await end(room, await claim(room), { toolCalls: calls, outcome })
  await room.table.catchUp()
  return trace!
}
const step = (tool: string, args: unknown, over: Partial<Reported> = {}): ToolCall =>
  recorded({ tool, args, status: 'ok', ...over })
const feed = async () =>
  (await listCards(room.call(), everything, { limit: 100, after: null })).items.map(({ card }) => card)
const about = async (reason: string) => (await feed()).filter((card) => card.reason === reason)
const shadows = async () => (await listShadows(room.call(), room.agent)).map(({ flow, shadow }) => [flow.name, shadow])

const shadow = async (over: Partial<Parameters<typeof promoteFlow>[2]> = {}, calls = order) => {
  const from: string[] = []
  for (let n = 0; n < 2; n++)
    from.push(
      (
        await importTrace(room.call(), {
          agent: room.agent,
          session: null,
          project: null,
          outcome: 'ok',
          tokens: 1,
          usd: null,
          startedAt: null,
          at: null,
          ref: null,
          calls,
        })
      ).trace.id,
    )
  const input = { name: 'shopping', from, overwrite: false, approve: true, shadow: 3, ...over }
  return await promoteFlow(room.call(), room.agent, input)
}

describe('a flow that is none yet', () => {
  it('is shown, runs nothing and cannot be run', async () => {
    expect((await shadow()).shadow).toEqual({ agreed: 0, wanted: 3 })
    expect(await shadows()).toEqual([['shopping', { agreed: 0, wanted: 3 }]])
    expect(await refusalOf(runFlow(room.call(), room.agent, 'shopping'))).toBe('not_found')
    expect((await getAgent(room.call(), room.agent)).autoApprove).toEqual([])
    expect(room.outside.sent).toEqual([])
  })

  it('is offered when the next three turns that begin like it do the same, and Allow makes it a flow', async () => {
    await shadow()
    await turn(order)
    await turn([step('elsewhere', {})])
    await turn(order)
    expect(await shadows()).toEqual([['shopping', { agreed: 2, wanted: 3 }]])
    expect(await about('flow_offer')).toEqual([])
    await turn(order)
    const [card] = await about('flow_offer')
    expect(card).toMatchObject({ kind: 'approval', title: '"shopping" may become a flow', status: 'open' })
    expect(await refusalOf(runFlow(room.call(), room.agent, 'shopping'))).toBe('not_found')
    await actOnCard(room.call(), card!.id, 'allow')
    expect((await getFlow(room.call(), room.agent, 'shopping')).steps).toHaveLength(3)
    expect(await shadows()).toEqual([])
    expect(how(await replay(room))).toEqual(['ok', null, 4])
  })

  it('a turn that goes another way takes it back, and the card says where', async () => {
    await shadow()
    await turn(order)
    const off = await turn([order[0]!, step('buy', { what: 'wine' }), order[2]!])
    const [card] = await about('flow_shadow_differs')
    expect(card!.kind).toBe('notice')
    expect(card!.body).toBe(
      `1 of 3 runs did the same, and then trace ${off} differs from the flow at step 2: expected buy {"what":"bread"}, got buy {"what":"wine"}.`,
    )
    expect(await shadows()).toEqual([])
    await turn(order)
    await turn(order)
    expect(await about('flow_offer')).toEqual([])
  })

  it('so does one that did the same and went wrong', async () => {
    await shadow()
    const wrong = await turn([order[0]!, step('buy', { what: 'bread' }, { status: 'failed' }), order[2]!])
    expect((await about('flow_shadow_differs'))[0]!.body).toContain(`step 2 of trace ${wrong} failed`)
    await shadow({ name: 'again' })
    const failed = await turn(order, 'failed')
    expect((await about('flow_shadow_differs')).map(({ body }) => body).join()).toContain(
      `trace ${failed} ended failed`,
    )
  })

  it('a longer turn differs where the flow ends', async () => {
    await shadow()
    await turn([...order, order[2]!])
    expect((await about('flow_shadow_differs'))[0]!.body).toContain('at step 4: expected no further call, got buy')
  })

  it('imports and replays are no runs of the agent', async () => {
    await promote(room, order, { name: 'other' })
    await shadow()
    await replay(room, 'other')
    expect(await shadows()).toEqual([['shopping', { agreed: 0, wanted: 3 }]])
  })

  it('Deny forgets it, and so does DELETE', async () => {
    await shadow({ shadow: 1 })
    await turn(order)
    const [card] = await about('flow_offer')
    await actOnCard(room.call(), card!.id, 'deny')
    expect(await shadows()).toEqual([])
    await shadow({ shadow: 1 })
    await removeFlow(room.call(), room.agent, 'shopping')
    expect(await shadows()).toEqual([])
    expect(await refusalOf(removeFlow(room.call(), room.agent, 'shopping'))).toBe('not_found')
  })

  it('Allow on what was taken back or whose name is taken is refused, and the card stays open', async () => {
    await shadow({ shadow: 1 })
    await turn(order)
    const [card] = await about('flow_offer')
    await promote(room)
    expect(await refusalOf(actOnCard(room.call(), card!.id, 'allow'))).toBe('flow_exists')
    expect((await about('flow_offer'))[0]!.status).toBe('open')
    await removeFlow(room.call(), room.agent, 'shopping')
    await removeFlow(room.call(), room.agent, 'shopping')
    expect(await refusalOf(actOnCard(room.call(), card!.id, 'allow'))).toBe('card_settled')
  })

  it('an agent neither makes one nor answers for it', async () => {
    const caller = keyOf((await editAgent(room.call(), room.agent, {})) as Parameters<typeof keyOf>[0])
    const wish = { name: 'x', from: ['a', 'b'], overwrite: false, approve: false, shadow: 3 }
    expect(await refusalOf(promoteFlow(room.call({ caller }), room.agent, wish))).toBe('person_only')
    await shadow({ shadow: 1 })
    await turn(order)
    const [card] = await about('flow_offer')
    expect(await refusalOf(actOnCard(room.call({ caller }), card!.id, 'allow'))).toBe('not_found')
  })

  it('one of the same name takes its place, and an agent has ten at most', async () => {
    await shadow()
    await shadow({ shadow: 5 })
    expect(await shadows()).toEqual([['shopping', { agreed: 0, wanted: 5 }]])
    for (let n = 1; n < limits.shadowsPerAgent; n++) await shadow({ name: `flow ${n}` })
    expect(await refusalOf(shadow({ name: 'one more' }))).toBe('body_invalid')
  })
})

describe('a suggestion', () => {
  it('comes as a card once, when the second turn did the very same', async () => {
    await turn(order)
    expect(await about('flow_suggestion')).toEqual([])
    await turn(order)
    const [card] = await about('flow_suggestion')
    expect(card).toMatchObject({ kind: 'notice', label: 'nudge', agent: room.agent })
    expect(card!.body).toContain('3 steps (rate, buy)')
    await actOnCard(room.call(), card!.id, 'dismiss')
    await turn(order)
    expect((await about('flow_suggestion')).filter(({ status }) => status === 'open')).toEqual([])
  })

  it('of two groups there are two; of one that is a flow already there is none', async () => {
    await promote(room, [order[0]!])
    // By then nobody remembers the traces that it was made of.
    room.jump(room.now() + limits.traceMs + hour)
    await turn([order[0]!])
    await turn([order[0]!])
    expect(await about('flow_suggestion')).toEqual([])
    for (const calls of [order, order, [order[1]!], [order[1]!]]) await turn(calls)
    expect(await about('flow_suggestion')).toHaveLength(2)
  })

  it('never of turns that went wrong', async () => {
    for (let n = 0; n < 3; n++) await turn([step('buy', {}, { status: 'denied' })])
    expect(await about('flow_suggestion')).toEqual([])
  })
})
