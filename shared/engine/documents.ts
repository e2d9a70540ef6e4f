import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { faultOf } from '../ports/log.ts'
import type { IndexEntries, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import {
  type DocumentHead,
  documentsOf,
  type Gone,
  goneKey,
  headKey,
  type Part,
  partKey,
  pathFault,
  readDebt,
  restOf,
} from './document-state.ts'
import { onDocumentChange } from './monitor-look.ts'
import { actingIn, principal } from './reach.ts'
import { asItem, commit, read, readAll, shardOf, ttlAfter } from './store.ts'
import { hasWatchers } from './watchers.ts'

export { type DocumentHead, pathFault } from './document-state.ts'

export interface DocumentBody {
  readonly type: 'json' | 'text'
  readonly media: string
  readonly text: string
}

export interface Preconditions {
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
}

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
  const written = await retrying(async () => {
    const [[stored, gone], owed] = await Promise.all([
      readAll<unknown>(world, [headKey(owner, path), goneKey(owner, path)]) as Promise<
        [Stored<DocumentHead> | null, Stored<Gone> | null]
      >,
      owes(world, owner, path, call.now),
    ])
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
    const isOwed = owed.item.owed === true
    const ops: Op[] = [
      {
        put: headKey(owner, path),
        expect: stored?.version ?? 'absent',
        item: asItem({ ...head, ...owed.item }),
        ...owed.place,
      },
      ...pieces.map((text, i): Op => {
        const part: Part = { version: head.version, media: body.media, parts: pieces.length, text }
        return { put: partKey(owner, path, i), item: asItem(part), expect: 'any' }
      }),
      ...removeParts(owner, path, pieces.length, stored?.item.parts ?? 0),
      gone === null ? { check: goneKey(owner, path), expect: 'absent' } : { delete: gone.key, expect: gone.version },
    ]
    await commitTelling(call, owner, path, ops, isOwed)
    return { head, owed: isOwed }
  })
  await bring(call, owner, path, written.owed)
  return written.head
}

/**
 * Where somebody watches, a change carries the debt to tell them, so that one that breaks off is found by the sweep. Nobody watches most
 * documents, and those cost nothing more.
 */
async function owes(
  world: World,
  owner: string,
  path: string,
  now: number,
): Promise<{ readonly item: { readonly owed?: true }; readonly place: { readonly index?: IndexEntries } }> {
  if (!(await hasWatchers(world, owner, path))) return { item: {}, place: {} }
  return { item: { owed: true }, place: { index: { changes: [shardOf(world, owner), now] } } }
}

/**
 * Commits a change that somebody watches. The embedded node applies a commit at once, and what it has to tell can share its sync with it:
 * whoever waits for the document waits half as long. Where it was not there to be seen yet, it is still owed, and told afterwards.
 */
async function commitTelling(
  call: Call,
  owner: string,
  path: string,
  ops: readonly Op[],
  owed: boolean,
): Promise<void> {
  const committed = commit(call.world, ops)
  if (owed && !call.world.streamed) await Promise.all([committed, tell(call, owner, path)])
  await committed
}

/** Tells whoever watches what they were not told yet; they may have begun to just now. */
async function bring(call: Call, owner: string, path: string, owed: boolean): Promise<void> {
  const { world } = call
  if (world.streamed) return
  const isLeft = owed ? (await readDebt(world, owner, path)) !== null : await hasWatchers(world, owner, path)
  if (isLeft) await tell(call, owner, path)
}

/** What fails here is owed. */
async function tell({ world, now }: Call, owner: string, path: string): Promise<void> {
  try {
    await onDocumentChange(world, owner, path, now)
  } catch (error) {
    world.log('warn', 'change of a document not told', faultOf(error))
  }
}

/** The body as it was put. @throws Refused `not_found` */
export async function getDocument(call: Call, path: string): Promise<{ media: string; text: string; version: number }> {
  const owner = principal(call)
  return await retrying(async () => {
    const first = pathFault(path) === null ? await read<Part>(call.world, partKey(owner, path, 0)) : null
    if (first === null) throw notFound('document', path)
    const { version, media } = first.item
    return { media, version, text: await restOf(call.world, owner, path, version, first) }
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
  const isOwed = await retrying(async () => {
    const { key, version, item: head } = await headFor(call, path)
    assertHolds(path, head, when)
    const owed = await owes(call.world, owner, path, call.now)
    const isOwed = owed.item.owed === true
    const ops: Op[] = [
      { delete: key, expect: version },
      ...removeParts(owner, path, 0, head.parts),
      {
        put: goneKey(owner, path),
        item: asItem({ version: head.version, ...owed.item }),
        expect: 'any',
        ttl: ttlAfter(call.now),
        ...owed.place,
      },
    ]
    await commitTelling(call, owner, path, ops, isOwed)
    return isOwed
  })
  await bring(call, owner, path, isOwed)
}

/** Documents of the caller's person in the byte order of their paths. `next` is the last path shown. */
export async function listDocuments(
  call: Call,
  prefix: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly DocumentHead[]; readonly next: string | null }> {
  const { after, limit } = page
  const found = await call.world.table.list(documentsOf(principal(call)), {
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
