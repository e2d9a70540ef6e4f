import type { Access } from './access.ts'
import { ApiError, problemOf, Unreachable } from './errors.ts'

export interface Document {
  /** As it was put. */
  readonly text: string
  readonly contentType: string
  /** Its version, where an answer tells it. */
  readonly etag?: string
}

/**
 * Puts or gets a document. Apart from the client's other calls, since what goes over the wire here is not the API's own JSON: it
 * must reach the other end byte by byte.
 *
 * @throws ApiError     Rouse answered and said no
 * @throws Unreachable  no answer came
 */
export async function transfer(
  access: Access,
  path: string,
  put: (Document & { readonly headers: Readonly<Record<string, string>> }) | null,
): Promise<Document> {
  const url = access.url.replace(/\/+$/, '')
  const headers: Record<string, string> = { authorization: `Bearer ${access.key}`, ...put?.headers }
  if (access.session !== undefined) headers['x-rouse-session'] = access.session
  if (access.turn !== undefined) headers['x-rouse-turn'] = access.turn
  if (put !== null) headers['content-type'] = put.contentType
  try {
    const answer = await fetch(url + path, {
      // A redirect would carry the key elsewhere.
      redirect: 'error',
      headers,
      ...(put === null ? {} : { method: 'PUT', body: new TextEncoder().encode(put.text) }),
    })
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer())
    if (!answer.ok) throw problemOf(answer, text)
    const etag = answer.headers.get('etag')
    return { text, contentType: answer.headers.get('content-type') ?? '', ...(etag === null ? {} : { etag }) }
  } catch (error) {
    throw error instanceof ApiError ? error : new Unreachable(url, error)
  }
}
