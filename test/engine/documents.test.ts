import { expect, test } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import {
  getDocument,
  getDocumentHead,
  listDocuments,
  pathFault,
  putDocument,
  removeDocument,
} from '../../shared/engine/documents.ts'
import type { Table } from '../../shared/ports/table.ts'
import { inRoom, newPerson, type Room, refusalOf } from './room.ts'

const always = { ifMatch: null, ifNoneMatch: null }
const text = (words: string) => ({ type: 'text', media: 'text/plain', text: words }) as const
const put = (room: Room, path: string, words: string) => putDocument(room.call(), path, text(words), always)

test('a body whose JSON does not fit into one item is kept in parts, whole characters each', async () => {
  await inRoom(async (room) => {
    // What takes most room as JSON, and what must not be cut in two.
    for (const unit of ['\u0001', '"', '😀']) {
      const words = `x${unit.repeat(Math.floor((limits.documentBytesMax - 1) / Buffer.byteLength(unit)))}`
      await put(room, 'big', words)
      expect((await getDocument(room.call(), 'big')).text === words, unit).toBe(true)
    }
    await put(room, 'big', 'small again')
    expect((await getDocument(room.call(), 'big')).text).toBe('small again')
    const { items } = await room.table.list(`D#${ownerOf(room)}`)
    expect(items.map(({ key }) => key[1])).toEqual(['B0#big', 'H#big'])
  })
})

test('a reader never sees parts of two versions', async () => {
  await inRoom(async (room) => {
    const [a, b] = ['a', 'b'].map((letter) => `${letter}${'\u0001'.repeat(200_000)}${letter}`) as [string, string]
    await put(room, 'd', a)
    const other = room.through((inner) => {
      let reads = 0
      return {
        ...bound(inner),
        async get(keys) {
          const found = await inner.get(keys)
          if (reads++ === 0) await put(room, 'd', b)
          return found
        },
      }
    })
    const read = await getDocument(room.call({ world: other }), 'd')
    expect([read.version, read.text === b]).toEqual([2, true])
  })
})

test('the version goes on after a delete, so that an old If-Match does not hold for the successor', async () => {
  await inRoom(async (room) => {
    await put(room, 'd', '1')
    await put(room, 'd', '2')
    await removeDocument(room.call(), 'd', always)
    expect(await refusalOf(getDocument(room.call(), 'd'))).toBe('not_found')
    expect(await refusalOf(removeDocument(room.call(), 'd', always))).toBe('not_found')
    expect((await listDocuments(room.call(), '', { limit: 10, after: null })).items).toEqual([])
    expect((await put(room, 'd', '3')).version).toBe(3)
    const old = { ifMatch: '"2"', ifNoneMatch: null }
    expect(await refusalOf(putDocument(room.call(), 'd', text('4'), old))).toBe('precondition_failed')
    expect((await getDocumentHead(room.call(), 'd')).version).toBe(3)
  })
})

test('a list holds the paths of one person and one prefix, in byte order', async () => {
  await inRoom(async (room) => {
    for (const path of ['b/2', 'b/10', 'b', 'b0', 'a/1', 'b/é']) await put(room, path, path)
    await putDocument(room.call({ caller: await newPerson(room) }), 'b/foreign', text('x'), always)
    const found: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await listDocuments(room.call(), 'b/', { limit: 1, after })
      found.push(...page.items.map(({ path }) => path))
      after = page.next
      if (after === null) break
    }
    expect(found).toEqual(['b/10', 'b/2', 'b/é'])
  })
})

test('paths have parts that mean what they say', () => {
  for (const path of ['a', 'briefs/2026-03-02/mail.md', 'ünïcode/日本 語', '...', 'a.b/.c', 'x'.repeat(500)])
    expect([path, pathFault(path)]).toEqual([path, null])
  for (const path of [
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    'a/../b',
    './a',
    'a\u0000',
    'a\nb',
    'a\tb',
    'a\u202eb',
    'x'.repeat(501),
  ])
    expect(pathFault(path), path).not.toBeNull()
  expect(pathFault('日'.repeat(334))).toContain('1002 bytes')
})

const ownerOf = (room: Room): string => (room.ann.kind === 'person' ? room.ann.person.slice(4) : '')

const bound = (inner: Table) => ({
  get: inner.get.bind(inner),
  list: inner.list.bind(inner),
  find: inner.find.bind(inner),
  commit: inner.commit.bind(inner),
})
