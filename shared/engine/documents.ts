import { bodyFault } from '../domain/define.ts'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { textFault } from '../domain/names.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { Conflict, type Key, type Op, type Stored } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { actingIn, principal } from './reach.ts'
import { asItem, commit, read, readAll, ttlAfter } from './store.ts'

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
}

export interface DocumentBody {
  readonly type: 'json' | 'text'
  readonly media: string
  readonly text: string
}

export interface Preconditions {
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
}

/**
 * A piece of the body; the first one says how many there are. Written and deleted with the head. It carries the head's version and
 * media, so that reading a document is reading one item, which is never of two versions.
 */
interface Part {
  readonly version: number
  readonly media: string
  readonly parts: number
  readonly text: string
}

const pkOf = (owner: string): string => `D#${bare(owner)}`
const headKey = (owner: string, path: string): Key => [pkOf(owner), `H#${path}`]
const partKey = (owner: string, path: string, part: number): Key => [pkOf(owner), `B${part}#${path}`]
/** The version that a deleted document had: `If-Match` of somebody who read it must not hold for its successor. Deleted by TTL. */
const goneKey = (owner: string, path: string): Key => [pkOf(owner), `V#${path}`]

/** @throws Refused `body_invalid`, `precondition_failed` */
export async function putDocument(
  call: Call,
  path: string,
  body: DocumentBody,
  when: Preconditions,
): Promise<DocumentHead> {
  const fault = pathFault(path)
  if (fault !== null) throw bodyFault('path', fault)
  await actingIn(call)
  const { world, caller } = call
  const owner = principal(call)
  const pieces = partsOf(body.text)
  return await retrying(async () => {
    const [stored, gone] = (await readAll<unknown>(world, [headKey(owner, path), goneKey(owner, path)])) as [
      Stored<DocumentHead> | null,
      Stored<{ readonly version: number }> | null,
    ]
    assertHolds(path, stored?.item ?? null, when)
    const head: DocumentHead = {
      path,
      version: (stored?.item.version ?? gone?.item.version ?? 0) + 1,
      updatedAt: call.now,
      by: caller.kind === 'person' ? caller.person : caller.agent,
      type: body.type,
      media: body.media,
      bytes: Buffer.byteLength(body.text),
      parts: pieces.length,
    }
    await commit(world, [
      { put: headKey(owner, path), item: asItem(head), expect: stored?.version ?? 'absent' },
      ...pieces.map((text, i): Op => {
        const part: Part = { version: head.version, media: body.media, parts: pieces.length, text }
        return { put: partKey(owner, path, i), item: asItem(part), expect: 'any' }
      }),
      ...removeParts(owner, path, pieces.length, stored?.item.parts ?? 0),
      gone === null ? { check: goneKey(owner, path), expect: 'absent' } : { delete: gone.key, expect: gone.version },
    ])
    return head
  })
}

/** The body as it was put. @throws Refused `not_found` */
export async function getDocument(call: Call, path: string): Promise<{ media: string; text: string; version: number }> {
  const owner = principal(call)
  return await retrying(async () => {
    const first = pathFault(path) === null ? await read<Part>(call.world, partKey(owner, path, 0)) : null
    if (first === null) throw notFound('document', path)
    const { version, media, parts } = first.item
    const keys = Array.from({ length: parts - 1 }, (_, i) => partKey(owner, path, i + 1))
    const rest = await readAll<Part>(call.world, keys)
    // Another put came between the two reads.
    for (const [i, part] of rest.entries()) if (part?.item.version !== version) throw new Conflict(i, keys[i]!)
    return { media, version, text: [first, ...rest].map((part) => part!.item.text).join('') }
  })
}

/** @throws Refused `not_found` */
export async function getDocumentHead(call: Call, path: string): Promise<DocumentHead> {
  return (await headFor(call, path)).item
}

async function headFor(call: Call, path: string): Promise<Stored<DocumentHead>> {
  const stored = pathFault(path) === null ? await read<DocumentHead>(call.world, headKey(principal(call), path)) : null
  if (stored === null) throw notFound('document', path)
  return stored
}

/** @throws Refused `not_found`, `precondition_failed` */
export async function removeDocument(call: Call, path: string, when: Preconditions): Promise<void> {
  await actingIn(call)
  const owner = principal(call)
  await retrying(async () => {
    const { key, version, item: head } = await headFor(call, path)
    assertHolds(path, head, when)
    await commit(call.world, [
      { delete: key, expect: version },
      ...removeParts(owner, path, 0, head.parts),
      { put: goneKey(owner, path), item: { version: head.version }, expect: 'any', ttl: ttlAfter(call.now) },
    ])
  })
}

/** Documents of the caller's person in the byte order of their paths. `next` is the last path shown. */
export async function listDocuments(
  call: Call,
  prefix: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly DocumentHead[]; readonly next: string | null }> {
  const { after, limit } = page
  const found = await call.world.table.list(pkOf(principal(call)), {
    prefix: `H#${prefix}`,
    limit: limit + 2,
    ...(after === null ? {} : { from: `H#${after}` }),
  })
  const heads = (found.items as readonly Stored<unknown>[] as readonly Stored<DocumentHead>[]).map(({ item }) => item)
  const rest = heads.filter(({ path }) => path !== after)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? items.at(-1)!.path : null }
}

export const etagOfVersion = (version: number): string => `"${version}"`

/** RFC 9110 13.1: a header names versions, or `*` for any. @throws Refused `precondition_failed` */
function assertHolds(path: string, head: DocumentHead | null, { ifMatch, ifNoneMatch }: Preconditions): void {
  const holds = (ifMatch === null || isNamed(ifMatch, head)) && (ifNoneMatch === null || !isNamed(ifNoneMatch, head))
  if (holds) return
  const is = head === null ? 'does not exist' : `is ${etagOfVersion(head.version)} now`
  const asked = ifMatch === null ? `If-None-Match: ${ifNoneMatch}` : `If-Match: ${ifMatch}`
  throw new Refused(
    'precondition_failed',
    `document ${path} ${is}, asked for with ${asked.slice(0, 80)}. Read it again`,
  )
}

function isNamed(header: string, head: DocumentHead | null): boolean {
  if (head === null) return false
  const names = header.split(',').map((name) => name.trim())
  return names.includes('*') || names.includes(etagOfVersion(head.version))
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

/** Nearly always one. The bound on an item counts JSON, where a quote takes two bytes and a control character six. */
function partsOf(text: string): string[] {
  if (Buffer.byteLength(JSON.stringify(text)) <= limits.documentPartBytesMax) return [text]
  const half = text.length >> 1
  // Half of a surrogate pair cannot be stored.
  const middle = /[\uDC00-\uDFFF]/.test(text[half]!) ? half + 1 : half
  return [...partsOf(text.slice(0, middle)), ...partsOf(text.slice(middle))]
}

const removeParts = (owner: string, path: string, from: number, to: number): Op[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({
    delete: partKey(owner, path, from + i),
    expect: 'any' as const,
  }))
