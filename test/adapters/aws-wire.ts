import { Readable } from 'node:stream'

/** A request as it left the SDK. */
export interface Sent {
  /** `PutItem`, or the method and path of a service that is called by paths. */
  readonly action: string
  // biome-ignore lint/suspicious/noExplicitAny: what AWS is sent has as many shapes as it has calls
  readonly input: any
}

/** What the other side does with it: answers, refuses, or the line breaks. */
export type Answer =
  | { readonly ok: object | string }
  | { readonly refused: string; readonly with?: object }
  | { readonly broken: string }

interface Outgoing {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * The far end of an SDK client, in place of the network.
 *
 * @param answer  called with every request, retries of the SDK's own included
 * @returns       what a client's options need, and everything that was sent
 */
export function wire(answer: (sent: Sent, count: number) => Answer) {
  const sent: Sent[] = []
  const requestHandler = {
    async handle(request: Outgoing) {
      const one = read(request)
      sent.push(one)
      const said = answer(one, sent.length)
      if ('broken' in said)
        throw Object.assign(new Error('the line broke'), { code: said.broken, name: 'TimeoutError' })
      const refused = 'refused' in said
      const body = refused ? { __type: said.refused, message: 'no', ...said.with } : said.ok
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return {
        response: {
          statusCode: refused ? 400 : 200,
          headers: {
            'content-type': text.startsWith('<') ? 'text/xml' : 'application/x-amz-json-1.0',
            ...(refused ? { 'x-amzn-errortype': said.refused } : {}),
          },
          body: Readable.from([Buffer.from(text)]),
        },
      }
    },
  }
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' }
  return { sent, options: { region: 'eu-west-1', credentials, requestHandler: requestHandler as never } }
}

function read({ method, path, headers, body }: Outgoing): Sent {
  const text = typeof body === 'string' ? body : body === undefined ? '' : new TextDecoder().decode(body as Uint8Array)
  const target = headers['x-amz-target']
  if (target !== undefined) return { action: target.split('.')[1]!, input: JSON.parse(text) }
  if (text.startsWith('Action=') || text.includes('&Action=')) {
    const input = Object.fromEntries(new URLSearchParams(text))
    return { action: input.Action!, input }
  }
  return { action: `${method} ${path}`, input: text === '' ? {} : JSON.parse(text) }
}
