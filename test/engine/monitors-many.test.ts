import { expect, test } from 'vitest'
import { editAgent } from '../../shared/engine/agents.ts'
import { createSession } from '../../shared/engine/sessions.ts'
import type { Table } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'
import { personOf } from './cards.ts'
import { inRoom, type Room } from './room.ts'
import { arm, events, put, shownAs } from './watching.ts'

/** Sessions with twenty monitors each. */
async function crowd(room: Room, sessions: number, path: (nth: number) => string, when?: string): Promise<string[]> {
  const made: string[] = []
  for (let i = 0; i < sessions; i++) {
    const session = (await createSession(room.call(), { agent: room.agent })).row.id
    made.push(session)
    for (let n = 0; n < 20; n++)
      await arm(room, {
        session,
        watch: { document: { path: path(i * 20 + n) } },
        ...(when === undefined ? {} : { when }),
      })
  }
  return made
}

/** The world once more, and how often its table is asked. */
function counted(room: Room): { readonly world: World; readonly count: { asked: number; commits: number } } {
  const count = { asked: 0, commits: 0 }
  const world = room.through((inner: Table) => ({
    get: (keys) => {
      count.asked++
      return inner.get(keys)
    },
    list: (pk, range) => {
      count.asked++
      return inner.list(pk, range)
    },
    find: (index, pk, range) => inner.find(index, pk, range),
    commit: (ops, token) => {
      count.commits++
      return inner.commit(ops, token)
    },
  }))
  return { world, count }
}

test('what a change costs follows those who watch its path, not what else is armed', async () => {
  await inRoom(async (room) => {
    const costs: object[] = []
    for (const round of [1, 2]) {
      await arm(room, { watch: { document: { path: `mine/${round}` } } })
      const { world, count } = counted(room)
      await put(room, `mine/${round}`, 1, { world })
      costs.push(count)
      await crowd(room, 15, (nth) => `far/${round}/${nth}`)
    }
    expect(costs[1]).toEqual(costs[0])
  })
})

test('twelve hundred on one path, in pages: all fire, in few commits, and one that is broken stops none', async () => {
  await inRoom(async (room) => {
    const sessions = await crowd(room, 60, () => 'd', 'doc.n > 0')
    const { items } = await room.table.list(`W#d/${personOf(room).slice(4)}/d`, { limit: 1 })
    const broken = items[0]!.key[1]
    const key = [`N#${broken.slice(4)}`, 'A'] as const
    await room.table.commit([{ put: key, item: { id: broken }, expect: 'any' }], 'broken')
    const quiet = counted(room)
    await put(room, 'd', { n: 0 }, { world: quiet.world })
    // The put itself, the debt that it settles, and what is broken.
    expect(quiet.count.commits).toBeLessThanOrEqual(3)
    const { world, count } = counted(room)
    await put(room, 'd', { n: 1 }, { world })
    const found = await Promise.all(sessions.map(async (session) => (await events(room, session)).length))
    expect(found.reduce((sum, one) => sum + one, 0)).toBe(1199)
    expect(count.commits).toBeLessThanOrEqual(65)
    expect(room.errors.length).toBeGreaterThan(0)
  })
}, 60_000)

test('where a budget is short, exactly as many go out as are left', async () => {
  await inRoom(async (room) => {
    await editAgent(room.call(), room.agent, { budget: { wakesPerDay: 7 } })
    const ids: string[] = []
    for (let i = 0; i < 15; i++) ids.push((await arm(room)).id)
    await put(room, 'd', 1)
    const all = await Promise.all(ids.map((id) => shownAs(room, id)))
    expect(all.filter(({ status }) => status === 'fired')).toHaveLength(7)
    expect(all.filter(({ reason }) => reason === 'agent_wakes_per_day')).toHaveLength(8)
    expect(await events(room)).toHaveLength(7)
  })
})
