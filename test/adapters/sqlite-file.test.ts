import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { schemaVersion } from '../../shared/adapters/sqlite/layout.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import { scratchFolder } from './folder.ts'

const folder = scratchFolder()
const clock = { now: () => Date.UTC(2026, 10, 30) }
let files = 0
const freshFile = () => join(folder, `${++files}.db`)
const open = (file: string) => openTable({ file, clock })

it('what was committed is there after close and open, and the file is alone in its folder then', async () => {
  const file = freshFile()
  const first = open(file)
  await first.commit([{ put: ['S#1', 'A'], item: { n: 1 }, expect: 'absent', index: { due: ['0', 5] } }], '1')
  await first.close()
  expect(readdirSync(folder).filter((name) => name.startsWith(`${files}.db`))).toEqual([`${files}.db`])
  const second = open(file)
  expect(await second.get([['S#1', 'A']])).toEqual([{ key: ['S#1', 'A'], version: 1, item: { n: 1 } }])
  expect((await second.find('due', '0')).items).toEqual([{ key: ['S#1', 'A'], sk: 5 }])
  await second.close()
})

it('a closed file opens with any SQLite, everything in its tables', async () => {
  const file = freshFile()
  const table = open(file)
  await table.commit([{ put: ['C#1', 'A'], item: { n: 1 }, expect: 'absent', ttl: 9 }], '1')
  await table.close()
  const db = new Database(file)
  expect(db.prepare('SELECT pk, sk, ver, ttl, body FROM sessions').raw().all()).toEqual([['C#1', 'A', 1, 9, '{"n":1}']])
  db.close()
})

it('only its owner can read a new file and its log', async () => {
  const file = freshFile()
  const table = open(file)
  for (const path of [file, `${file}-log1`, `${file}-log2`]) expect(statSync(path).mode & 0o777, path).toBe(0o600)
  await table.close()
})

it('a second node on the same file is refused, and says which file; afterwards it is free', async () => {
  const file = freshFile()
  const table = open(file)
  expect(() => open(file)).toThrow(Unavailable)
  expect(() => open(file)).toThrow(`${file} is served by another running node`)
  await table.close()
  await open(file).close()
})

it('a file of a newer schema is refused, and says what to do', async () => {
  const file = freshFile()
  await open(file).close()
  const db = new Database(file)
  db.exec('PRAGMA user_version = 99')
  db.close()
  expect(() => open(file)).toThrow(`${file} was written by a newer Rouse (schema 99, this one knows ${schemaVersion})`)
})

it('a file of an older schema gets what was declared since, and keeps what it holds', async () => {
  const file = freshFile()
  const db = new Database(file)
  // As the first schema created it, with fewer tables and, in one of them, fewer indexes than today.
  db.exec(`
    CREATE TABLE schedules (pk TEXT NOT NULL, sk TEXT NOT NULL, ver INTEGER NOT NULL, ttl INTEGER,
      due_pk TEXT, due_sk INTEGER, body TEXT NOT NULL, PRIMARY KEY (pk, sk)) WITHOUT ROWID;
    CREATE INDEX schedules_due ON schedules (due_pk, due_sk) WHERE due_pk IS NOT NULL;
    CREATE TABLE journal (n INTEGER PRIMARY KEY, entry TEXT NOT NULL);
    INSERT INTO schedules VALUES ('S#1', 'A', 3, NULL, '0', 5, '{"n":1}');
    INSERT INTO journal (entry) VALUES ('{"schedules":[["S#2","A",1,null,{"n":2},"0",6]]}');
    PRAGMA application_id = ${0x526f7573}; PRAGMA user_version = 1`)
  db.close()
  for (let opened = 1; opened <= 2; opened++) {
    const table = open(file)
    expect(
      await table.get([
        ['S#1', 'A'],
        ['S#2', 'A'],
      ]),
    ).toMatchObject([{ item: { n: 1 } }, { item: { n: 2 } }])
    expect((await table.find('due', '0')).items.map(({ sk }) => sk)).toEqual([5, 6])
    const [before] = await table.get([['S#1', 'A']])
    await table.commit(
      [
        {
          put: ['S#1', 'A'],
          item: { n: 1 },
          expect: before!.version,
          index: { due: ['0', 5], schedulesByMaker: ['p', `${opened}`] },
        },
        { put: [`E#${opened}`, 'A'], item: {}, expect: 'absent' },
      ],
      `${opened}`,
    )
    expect((await table.find('schedulesByMaker', 'p')).items.map(({ sk }) => sk)).toEqual([`${opened}`])
    await table.close()
  }
})

it("another program's file is refused and left as it is", async () => {
  const file = freshFile()
  const db = new Database(file)
  db.exec('CREATE TABLE notes (text)')
  db.close()
  expect(() => open(file)).toThrow(`${file} belongs to another program`)
  const after = new Database(file)
  expect(after.prepare('SELECT name FROM sqlite_schema').raw().all()).toEqual([['notes']])
  await after.close()
})

it('what is no database, damaged, a folder, or nowhere is refused by name', async () => {
  const text = freshFile()
  writeFileSync(text, 'not a database at all. '.repeat(400))
  expect(() => open(text)).toThrow(`${text} is no SQLite file`)

  const damaged = freshFile()
  await open(damaged).close()
  writeFileSync(damaged, Buffer.alloc(4096, 7), { flag: 'r+' })
  expect(() => open(damaged)).toThrow(damaged)

  expect(() => open(folder)).toThrow(`${folder} cannot be opened`)
  const nowhere = join(folder, 'missing', 'rouse.db')
  expect(() => open(nowhere)).toThrow(`${nowhere} cannot be created: its folder does not exist`)
})

it.skipIf(process.getuid?.() === 0)(
  'a file that cannot be written is refused, and says to check its mode',
  async () => {
    const file = freshFile()
    await open(file).close()
    chmodSync(file, 0o400)
    expect(() => open(file)).toThrow(`${file} cannot be written`)
  },
)
