import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { firstPerson } from '../../apps/cli/bootstrap.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import { sha256 } from '../../shared/api/keys.ts'
import { type Table, Unavailable } from '../../shared/ports/table.ts'
import { scratchFolder } from '../adapters/folder.ts'
import { rouse } from './rouse.ts'

const folder = scratchFolder()
const now = Date.UTC(2026, 10, 30)
let files = 0
let table: Table
beforeEach(() => {
  table = openTable({ file: join(folder, `${++files}.db`), clock: { now: () => now } })
})

const make = (t: Table = table) => firstPerson(t, openIds(), { name: 'colleague', tz: 'Europe/Amsterdam', now })
const ownerOf = async (key: string) => (await table.get([[`K#${sha256(key)}`, 'A']]))[0]?.item.person

describe('the first person of a deployment', () => {
  test('is an admin with a key, of which only the hash is stored', async () => {
    const made = await make()
    if (made.kind !== 'made') throw new Error('there was one')
    expect(await ownerOf(made.key)).toBe(made.person)
    const [person] = await table.get([[`P#${made.person.slice(4)}`, 'A']])
    expect(person?.item).toMatchObject({ name: 'colleague', tz: 'Europe/Amsterdam', admin: true })
  })

  test('is made once: whoever comes later is told who it is and since when', async () => {
    const made = await make()
    expect(await make()).toEqual({ kind: 'before', person: made.person, at: now })
  })

  test('is one, however many make it at once', async () => {
    const all = await Promise.all([make(), make(), make()])
    expect(all.map(({ kind }) => kind).sort()).toEqual(['before', 'before', 'made'])
    expect(new Set(all.map(({ person }) => person)).size).toBe(1)
  })

  test('whose making was answered by silence is found, and the key is told all the same', async () => {
    const made = await make({
      ...bound(table),
      async commit(ops, token) {
        await table.commit(ops, token)
        throw new Unavailable('the answer was lost')
      },
    })
    if (made.kind !== 'made') throw new Error('there was one')
    expect(await ownerOf(made.key)).toBe(made.person)
  })

  test('that could not be written is not there, and the next try makes it', async () => {
    const away = { ...bound(table), commit: () => Promise.reject(new Unavailable('the store is away')) }
    await expect(make(away)).rejects.toThrow('the store is away')
    expect((await make()).kind).toBe('made')
  })
})

describe('rouse admin bootstrap', () => {
  test('refuses a zone and a name that make no sense before it calls anybody', async () => {
    const zone = await rouse(['admin', 'bootstrap', '--tz', 'Nowhere'], { env: {} })
    expect(zone).toMatchObject({ code: 2, stdout: '' })
    expect(zone.stderr).toContain('--tz: expected an IANA zone')
    expect((await rouse(['admin', 'bootstrap', '--name', ' '], { env: {} })).code).toBe(2)
  })
})

const bound = (t: Table): Table => ({
  get: (keys) => t.get(keys),
  list: (pk, range) => t.list(pk, range),
  find: (index, pk, range) => t.find(index, pk, range),
  commit: (ops, token) => t.commit(ops, token),
})
