import { expect } from 'vitest'
import { Conflict, type Key, type Op, type Table } from '../../shared/ports/table.ts'
import type { Case } from './suite.ts'

/** Reads, decides and commits until no other won the race. */
async function retried(table: Table, token: string, decide: (attempt: number) => Promise<Op[]>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await table.commit(await decide(attempt), `${token} ${attempt}`)
      return
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
    }
  }
}

export const raceCases: readonly Case[] = [
  {
    title: 'of 200 parallel read-modify-writes on one item none is lost',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      await table.commit([{ put: key, item: { seen: [] }, expect: 'absent' }], key[0])
      const writers = Array.from({ length: 200 }, (_, i) =>
        retried(table, `${key[0]} ${i}`, async () => {
          const [stored] = await table.get([key])
          const seen = [...(stored!.item.seen as number[]), i]
          return [{ put: key, item: { seen }, expect: stored!.version }]
        }),
      )
      await Promise.all(writers)
      const [stored] = await table.get([key])
      expect(stored?.version).toBe(201)
      expect((stored!.item.seen as number[]).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 200 }, (_, i) => i),
      )
    },
  },
  {
    title: 'of 200 parallel sends that are allowed 30, exactly 30 pass',
    async run({ table }, fresh) {
      const pk = fresh('C')
      await table.commit([{ put: [pk, 'A'], item: { sends: 0 }, expect: 'absent' }], pk)
      const sends = await Promise.allSettled(
        Array.from({ length: 200 }, (_, i) =>
          table.commit(
            [
              { patch: [pk, 'A'], add: { sends: 1 }, guards: [{ attr: 'sends', is: '<', value: 30 }] },
              { put: [pk, `M#${i}`], item: { i }, expect: 'absent' },
            ],
            `${pk} ${i}`,
          ),
        ),
      )
      const refused = sends.filter((send) => send.status === 'rejected')
      expect(refused).toHaveLength(170)
      expect(refused.every(({ reason }) => reason instanceof Conflict && reason.op === 0)).toBe(true)
      expect((await table.get([[pk, 'A']]))[0]?.item).toEqual({ sends: 30 })
      expect((await table.list(pk, { prefix: 'M#' })).items).toHaveLength(30)
    },
  },
  {
    title: 'of 50 parallel claims of one slot one wins',
    async run({ table }, fresh) {
      const slot: Key = [fresh('S'), 'R#2026-11-30T08:00Z']
      const claims = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) =>
          table.commit([{ put: slot, item: { by: i }, expect: 'absent' }], `${slot[0]} ${i}`),
        ),
      )
      expect(claims.filter((claim) => claim.status === 'fulfilled')).toHaveLength(1)
      expect((await table.get([slot]))[0]?.version).toBe(1)
    },
  },
  {
    title: 'transfers between shared items, in any order, keep the sum',
    async run({ table }, fresh) {
      const pk = fresh('C')
      const accounts = ['a', 'b', 'c', 'd'].map((sk): Key => [pk, sk])
      await table.commit(
        accounts.map((put) => ({ put, item: { units: 25 }, expect: 'absent' })),
        pk,
      )
      const transfers = Array.from({ length: 60 }, (_, i) => {
        const [from, to] = [accounts[i % 4]!, accounts[(i * 7 + 1) % 4]!]
        if (from === to) return Promise.resolve()
        return retried(table, `${pk} ${i}`, async () => {
          const [a, b] = await table.get([from, to])
          return [
            { put: from, item: { units: (a!.item.units as number) - 1 }, expect: a!.version },
            { put: to, item: { units: (b!.item.units as number) + 1 }, expect: b!.version },
          ]
        })
      })
      await Promise.all(transfers)
      const units = (await table.get(accounts)).map((stored) => stored!.item.units as number)
      expect(units.reduce((sum, n) => sum + n, 0)).toBe(100)
    },
  },
]
