import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { editAgent } from '../../shared/engine/agents.ts'
import { listBudgets, setOwnBudget } from '../../shared/engine/budget-calls.ts'
import { look } from '../../shared/engine/look.ts'
import { backfill, runNow, why } from '../../shared/engine/runs.ts'
import { keys } from '../../shared/engine/store.ts'
import { rowsOf } from './ledger.ts'
import { addSchedule, addSession, claim, end, hour, minute, openRoom, type Room, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const limit = (budget: object) => editAgent(room.call(), room.agent, { budget: budget as Record<string, number> })
const usedBy = async (id: string) => (await listBudgets(room.call())).find((one) => one.id === id)!.used
const outcomes = async (id: string) => (await rowsOf(room, id)).map((r) => [r.outcome, r.reason])

/** Hour after hour, each prompt worked on. */
const workUntil = async (to: number): Promise<void> => {
  for (let at = room.now() + hour; at <= to; at += hour) {
    await room.move(at)
    const claimed = await claim(room)
    if (claimed !== null) await end(room, claimed)
  }
}

describe('budgets', () => {
  it('without a limit nothing is counted: no write', async () => {
    await idOf()
    await room.move(start + hour)
    expect((await room.table.list(`B#${room.agent.slice(4)}`)).items).toEqual([])
    expect((await room.table.list(keys.limits(room.ann.kind === 'person' ? room.ann.person : '')[0])).items).toEqual([])
  })

  it('wakes of an agent are limited a day, what is refused is in the ledger by the name of the budget, and the next day begins anew', async () => {
    await limit({ wakesPerDay: 2 })
    const id = await idOf()
    await workUntil(start + 4 * hour)
    expect(await outcomes(id)).toEqual([
      ['fired', null],
      ['fired', null],
      ['blocked', 'agent_wakes_per_day'],
      ['blocked', 'agent_wakes_per_day'],
    ])
    expect(await usedBy(room.agent)).toEqual({ wakes: 2, tokens: 0, usd: 0 })
    await workUntil(start + 25 * hour)
    expect((await rowsOf(room, id)).at(-1)?.outcome).toBe('fired')
  })

  it('days are those of the owner of the budget', async () => {
    const { person } = room.ann as { person: string }
    const [stored] = await room.table.get([keys.person(person)])
    await room.table.commit(
      [{ put: keys.person(person), item: { ...stored!.item, tz: 'Pacific/Auckland' }, expect: stored!.version }],
      'tz',
    )
    await limit({ wakesPerDay: 1 })
    const id = await idOf()
    // Midnight in Auckland is 11:00 UTC.
    await workUntil(start + 12 * hour)
    const rows = await rowsOf(room, id)
    expect(rows.filter((r) => r.outcome === 'fired').map((r) => r.nominalAt)).toEqual([start + hour, start + 11 * hour])
  })

  it('of many due at once exactly as many go out as are left, a person’s before an agent’s', async () => {
    await limit({ wakesPerDay: 3 })
    const ids: string[] = []
    for (let i = 0; i < 8; i++) ids.push(await idOf({ session: await addSession(room) }))
    room.jump(start + hour)
    await Promise.all([look(room.world, ids, room.now()), look(room.world, ids, room.now())])
    const fired = (await Promise.all(ids.map((id) => rowsOf(room, id)))).flat().filter((r) => r.outcome === 'fired')
    expect(fired).toHaveLength(3)
    expect(await usedBy(room.agent)).toMatchObject({ wakes: 3 })
  })

  it('a person’s own limit holds over all agents, and null takes it away', async () => {
    await setOwnBudget(room.call(), { wakesPerDay: 1 })
    const one = await idOf({ session: await addSession(room) })
    const two = await idOf({ session: await addSession(room), every: '61m' })
    await room.move(start + 62 * minute)
    expect(await outcomes(one)).toEqual([['fired', null]])
    expect(await outcomes(two)).toEqual([['blocked', 'person_wakes_per_day']])
    await setOwnBudget(room.call(), { wakesPerDay: null })
    await runNow(room.call(), two)
    expect((await outcomes(two)).at(-1)).toEqual(['fired', null])
  })

  it('tokens and money that automated turns report are counted, and stop the next wake', async () => {
    await limit({ tokensPerDay: 1000, usdPerDay: 5 })
    const id = await idOf()
    await room.move(start + hour)
    await end(room, (await claim(room))!, { tokens: 1200, usd: 0.25 })
    expect(await usedBy(room.agent)).toEqual({ wakes: 1, tokens: 1200, usd: 0.25 })
    await room.move(start + 2 * hour)
    expect((await outcomes(id)).at(-1)).toEqual(['blocked', 'agent_tokens_per_day'])
    expect((await why(room.call(), id)).holds.map((hold) => hold.code)).toContain('agent_tokens_per_day')
  })

  it('run now and a backfill draw on them too', async () => {
    const id = await idOf({ misfire: 'skip' })
    room.jump(start + 5 * hour + 2 * minute)
    await room.settle()
    await limit({ wakesPerDay: 1 })
    expect((await runNow(room.call(), id)).outcome).toBe('fired')
    await end(room, await claim(room))
    expect((await runNow(room.call(), id)).reason).toBe('agent_wakes_per_day')
    const range = { from: new Date(start).toISOString(), to: new Date(start + 3 * hour).toISOString() }
    await backfill(room.call(), id, range)
    expect((await rowsOf(room, id)).filter((r) => r.trigger === 'backfill').map((r) => r.outcome)).toEqual(['blocked'])
  })
})
