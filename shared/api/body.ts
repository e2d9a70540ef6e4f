import type * as z from 'zod'
import { Refused } from '../domain/refused.ts'
import type { Operation } from './operation.ts'

/** What a caller sent, read within bounds and checked against its schema. */

export async function bodyText(op: Operation, request: Request): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? '0')
  if (declared > op.bodyBytesMax) throw tooLarge(op.bodyBytesMax)
  if (op.takes === 'json' && request.headers.has('content-length')) {
    const text = await request.text()
    if (text.length * 3 > op.bodyBytesMax && Buffer.byteLength(text) > op.bodyBytesMax) throw tooLarge(op.bodyBytesMax)
    assertMedia(op, request, text === '')
    return text
  }
  // No length declared: read no further than the bound.
  const bytes = await bytesOf(request, op.bodyBytesMax)
  assertMedia(op, request, bytes.length === 0)
  return op.takes === 'json' ? bytes.toString('utf8') : exact(bytes)
}

/** A body of any kind, as text and within its bound. @throws Refused `body_too_large`, `body_invalid` for what is no UTF-8 */
export const limitedText = async (request: Request, bytesMax: number): Promise<string> =>
  exact(await bytesOf(request, bytesMax))

async function bytesOf(request: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    // To stop reading is to cut the connection, which a client that still writes takes for a fault of the line.
    if (size > bytesMax + discardedBytesMax) throw tooLarge(bytesMax)
    if (size <= bytesMax) chunks.push(chunk)
  }
  if (size > bytesMax) throw tooLarge(bytesMax)
  return Buffer.concat(chunks)
}

const discardedBytesMax = 16_000_000

const tooLarge = (bytesMax: number): Refused =>
  new Refused('body_too_large', `expected a body of at most ${bytesMax / 1024} KB`)

/** What is kept must be what was sent: bytes that are no UTF-8 would be replaced, and a byte order mark dropped. */
function exact(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refused('body_invalid', 'expected UTF-8, got bytes that are none')
  }
}

function assertMedia(op: Operation, request: Request, isEmpty: boolean): void {
  if (isEmpty && op.bodyOptional) return
  const media = mediaOf(request)
  if (isJson(media)) return
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(request.headers.get('content-type') ?? '')?.[1] ?? ''
  const isText = /^text\/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}$/.test(media)
  if (op.takes === 'document' && isText && /^(utf-?8)?$/i.test(charset)) return
  const wanted = op.takes === 'json' ? 'application/json' : 'application/json or text/* in UTF-8'
  const got = charset === '' ? media : `${media}; charset=${charset}`
  throw new Refused(
    'media_type',
    `expected content-type ${wanted}, got ${media === '' ? 'none' : `"${got.slice(0, 60)}"`}`,
  )
}

const isJson = (media: string): boolean => media === 'application/json' || media.endsWith('+json')

const mediaOf = (request: Request): string =>
  (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()

/** A body that is kept as it was sent. */
export interface RawBody {
  readonly type: 'json' | 'text'
  readonly media: string
  readonly text: string
}

export function rawBody(op: Operation, request: Request, text: string): RawBody {
  const media = mediaOf(request)
  if (!isJson(media)) return { type: 'text', media, text }
  json(op, text)
  // Every kind of JSON goes out as JSON: what others named theirs is no name that we vouch for.
  return { type: 'json', media: 'application/json', text }
}

export function json(op: Operation, text: string): unknown {
  if (text === '' && op.bodyOptional) return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused(
      'json_invalid',
      // The parser's own message quotes the body.
      `the body is not JSON: ${op.secret === false && error instanceof Error ? error.message.slice(0, 120) : 'it does not parse'}`,
    )
  }
}

export function parsed(schema: z.ZodType | null, given: unknown, code: 'body_invalid' | 'query_invalid'): unknown {
  if (schema === null) return null
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const errors = result.error.issues
    .slice(0, 20)
    .map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  const first = errors[0]!
  throw new Refused(code, `${first.path === '' ? '' : `${first.path}: `}${first.message}`, errors)
}

/** The query of an address. @throws Refused `query_invalid` where a name stands twice: one of the two would go unread */
export function queryIn(given: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([path, values]) => {
      if (values.length === 1) return [path, values[0]!]
      const message = `expected it once, got it ${values.length} times`
      throw new Refused('query_invalid', `${path}: ${message}`, [{ path, message }])
    }),
  )
}
