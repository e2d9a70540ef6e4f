import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { textFault } from '../domain/names.ts'
import { Conflict, type Key, type Op, type Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { retrying } from './call.ts'
import { commit, read, readAll } from './store.ts'

/**
 * What a list shows of a document. Written by each put, read by lists and by what decides on a version, deleted with the document.
 *
 * Documents are a person's: agents read and write those of their owner. All of one person stand in one partition, the heads by
 * themselves in the order of their paths, so that a prefix is one range of it.
 */
export interface DocumentHead {
  readonly path: string
  /** Counts the writes from 1. Goes on where a deleted one stopped, while that is remembered (`limits.retentionMs`). */
  readonly version: number
  readonly updatedAt: number
  /** The person or the agent that wrote it. */
  readonly by: string
  readonly type: 'json' | 'text'
  /** As it was sent, without parameters: `text/markdown`. */
  readonly media: string
  readonly bytes: number
  readonly parts: number
  /** Somebody watched it when it was written, and this version has not been brought to all of them yet. */
  readonly owed?: true
}

/**
 * A piece of the body; the first one says how many there are. Written and deleted with the head. It carries the head's version and
 * media, so that reading a document is reading one item, which is never of two versions.
 */
export interface Part {
  readonly version: number
  readonly media: string
  readonly parts: number
  readonly text: string
}

/** That a document was deleted. Deleted by TTL. */
export interface Gone {
  readonly version: number
  /** As on a head. */
  readonly owed?: true
}

/** Says what is wrong with a path, or null. */
export function pathFault(path: string): string | null {
  const chars = [...path].length
  const bounds = `expected 1 to ${limits.documentPathCharsMax} characters, ${limits.documentPathBytesMax} bytes at most`
  if (chars === 0 || chars > limits.documentPathCharsMax) return `${bounds}; got ${chars} characters`
  const bytes = Buffer.byteLength(path)
  if (bytes > limits.documentPathBytesMax) return `${bounds}; got ${bytes} bytes`
  if (/[\t\r\n]/.test(path)) return 'holds a tab or a line break; leave it out'
  const odd = path.split('/').find((part) => part === '' || part === '.' || part === '..')
  if (odd !== undefined)
    return `expected parts with "/" between them, none of them empty, "." or ".."; got ${odd === '' ? 'an empty one' : `"${odd}"`}`
  return textFault(path)
}

export const documentsOf = (owner: string): string => `D#${bare(owner)}`
export const headKey = (owner: string, path: string): Key => [documentsOf(owner), `H#${path}`]
export const partKey = (owner: string, path: string, part: number): Key => [documentsOf(owner), `B${part}#${path}`]
/** The version that a deleted document had: `If-Match` of somebody who read it must not hold for its successor. */
export const goneKey = (owner: string, path: string): Key => [documentsOf(owner), `V#${path}`]

/** A document whose state is followed, there or not. */
export interface DocumentState {
  readonly owner: string
  readonly path: string
  /** Null: there is none. */
  readonly head: Stored<DocumentHead> | null
  readonly text: string | null
  /** Another one for every state, and larger for a later one while a deleted version is remembered. 0: it never was. */
  readonly mark: number
}

/** Reads a document, deleted ones included, as of one instant. */
export async function readDocument(world: World, owner: string, path: string): Promise<DocumentState> {
  return await retrying(async () => {
    const [head, gone, first] = (await readAll<unknown>(world, [
      headKey(owner, path),
      goneKey(owner, path),
      partKey(owner, path, 0),
    ])) as [Stored<DocumentHead> | null, Stored<Gone> | null, Stored<Part> | null]
    if (head === null) return { owner, path, head, text: null, mark: gone === null ? 0 : gone.item.version * 2 + 1 }
    const text = await restOf(world, owner, path, head.item.version, first)
    return { owner, path, head, text, mark: head.item.version * 2 }
  })
}

/**
 * The whole text that begins with `first`.
 *
 * @throws Conflict when a part is of another version: a put came between
 */
export async function restOf(
  world: World,
  owner: string,
  path: string,
  version: number,
  first: Stored<Part> | null,
): Promise<string> {
  if (first?.item.version !== version) throw new Conflict(0, partKey(owner, path, 0))
  const keys = Array.from({ length: first.item.parts - 1 }, (_, i) => partKey(owner, path, i + 1))
  const rest = keys.length === 0 ? [] : await readAll<Part>(world, keys)
  for (const [i, part] of rest.entries()) if (part?.item.version !== version) throw new Conflict(i, keys[i]!)
  return [first, ...rest].map((part) => part!.item.text).join('')
}

/** That whoever arms on what was read has missed nothing: for the commit that does. */
export const documentUnchanged = ({ owner, path, head }: DocumentState): Op => ({
  check: headKey(owner, path),
  expect: head?.version ?? 'absent',
})

/** That somebody is still to be told of a state of a document. */
export interface Debt {
  readonly key: Key
  readonly version: number
}

/** To be read before whoever watches is looked for: what is changed later has a debt of its own. */
export async function readDebt(world: World, owner: string, path: string): Promise<Debt | null> {
  const rows = await readAll<Gone>(world, [headKey(owner, path), goneKey(owner, path)])
  const owing = rows.find((row) => row?.item.owed === true)
  return owing == null ? null : { key: owing.key, version: owing.item.version }
}

/** Everybody who watches the document has been told of this state. */
export async function settleDebt(world: World, debt: Debt | null): Promise<void> {
  if (debt === null) return
  try {
    await commit(world, [
      {
        patch: debt.key,
        unset: ['owed'],
        guards: [{ attr: 'version', is: '=', value: debt.version }],
        index: {},
      },
    ])
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
  }
}

/** The document of a debt that an index named; null: it is no such item, or nothing is owed any more. */
export async function owedAt(world: World, key: Key): Promise<{ owner: string; path: string } | null> {
  const owed = await read<{ readonly owed?: true }>(world, key)
  if (owed?.item.owed !== true || !/^[HV]#/.test(key[1])) return null
  return { owner: `per_${key[0].slice(2)}`, path: key[1].slice(2) }
}
