import type * as z from 'zod'
import { Refused } from '../domain/refused.ts'
import type { Operation } from './operation.ts'

/** What a caller sent, read within bounds and checked against its schema. */

export async function bodyText(op: Operation, request: Request): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? '0')
  if (declared > op.bodyBytesMax) throw tooLarge(op)
  const chunks: Uint8Array[] = []
  let size = 0
  if (request.headers.has('content-length')) {
    const text = await request.text()
    if (text.length * 3 > op.bodyBytesMax && Buffer.byteLength(text) > op.bodyBytesMax) throw tooLarge(op)
    assertMedia(op, request, text)
    return text
  }
  // No length declared: read no further than the bound.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > op.bodyBytesMax) throw tooLarge(op)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  assertMedia(op, request, text)
  return text
}

const tooLarge = (op: Operation): Refused =>
  new Refused('body_too_large', `expected a body of at most ${op.bodyBytesMax / 1024} KB`)

function assertMedia(op: Operation, request: Request, text: string): void {
  if (text === '' && op.bodyOptional) return
  const media = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (media !== 'application/json' && !media.endsWith('+json'))
    throw new Refused(
      'media_type',
      `expected content-type application/json, got ${media === '' ? 'none' : `"${media.slice(0, 60)}"`}`,
    )
}

export function json(op: Operation, text: string): unknown {
  if (text === '' && op.bodyOptional) return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused(
      'json_invalid',
      // The parser's own message quotes the body.
      `the body is not JSON: ${!op.secret && error instanceof Error ? error.message.slice(0, 120) : 'it does not parse'}`,
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
