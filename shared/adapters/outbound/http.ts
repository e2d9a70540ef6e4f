import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from '../../ports/world.ts'
import { type Address, type Allowed, hostOf, type Resolve, systemResolve, type Vetted, vet } from './guard.ts'

export interface HttpOptions {
  readonly allow: readonly Allowed[]
  readonly resolve?: Resolve
  /** Ends what is under way: the process is about to stop. */
  readonly stop?: AbortSignal
}

const redirectsMax = 3
const headerBytesMax = 16_384

/**
 * Makes one request within its bounds. Never throws. A failure names the host and what went wrong, never the path, the query, a header or
 * a body, since all of these may hold secrets.
 */
export async function makeRequest(request: OutboundRequest, options: HttpOptions): Promise<OutboundAnswer> {
  const fault = headerFault(request.headers)
  if (fault !== null) return failure('invalid', fault, false)
  const late = new AbortController()
  const timer = setTimeout(
    () => late.abort(failure('timeout', `no answer within ${request.timeoutMs / 1000} s`, true)),
    request.timeoutMs,
  )
  try {
    return await followed(request, options, AbortSignal.any([late.signal, ...(options.stop ? [options.stop] : [])]))
  } catch {
    // What node refuses to send, such as a path with a control character, it refuses by throwing.
    return failure('invalid', 'the request could not be made', false)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Follows redirects that keep the method, each checked anew. A 301, 302 or 303 after anything but a GET would send a GET in its place and
 * lose the body: that one is the answer.
 */
async function followed(asked: OutboundRequest, options: HttpOptions, signal: AbortSignal): Promise<OutboundAnswer> {
  let request = asked
  for (let redirects = 0; ; redirects++) {
    const vetted = await orAborted(
      vet(request.url, { allow: options.allow, resolve: options.resolve ?? systemResolve }),
      signal,
    )
    if (vetted === null) return endedBy(signal)
    if ('refused' in vetted) return failure(vetted.final ? 'refused' : 'unreachable', vetted.refused, !vetted.final)
    const answer = await exchange(request, vetted, signal)
    const to = answer.ok ? redirectOf(request, answer.status, answer.headers.location) : null
    if (to === null) return answer
    if (redirects >= redirectsMax) return failure('refused', `more than ${redirectsMax} redirects`, false)
    if (vetted.url.protocol === 'https:' && to.protocol === 'http:')
      return failure('refused', `${hostOf(vetted.url)} redirects from https to http`, false)
    const sameOrigin = to.origin === vetted.url.origin
    request = { ...request, url: to.href, headers: sameOrigin ? request.headers : plainHeaders(request.headers) }
  }
}

function redirectOf({ method, url }: OutboundRequest, status: number, location: string | undefined): URL | null {
  const keepsMethod = status === 307 || status === 308
  const reads = method === 'GET' || method === 'HEAD'
  if (!keepsMethod && !(reads && (status === 301 || status === 302 || status === 303))) return null
  return location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null
}

/** Another origin is somebody else: what was meant for the first one, in whatever header, stays with it. */
const plain = /^(accept|content-type|user-agent|webhook-(id|timestamp|signature))$/i
const plainHeaders = (headers: OutboundRequest['headers']): OutboundRequest['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => plain.test(name)))

/** What frames the request or names its receiver is ours to say: a second opinion there is how requests are smuggled. */
const ours =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept-encoding|proxy-.*|http2-settings)$/i

function headerFault(headers: OutboundRequest['headers']): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name)) return 'a header has a name that none can have'
    if (ours.test(name)) return `the header ${name} cannot be set`
    if (!/^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value)) return `the header ${name} has a value that none can have`
  }
  return null
}

/** One hop: connects to the addresses that were vetted, and to no other. */
function exchange(request: OutboundRequest, { url, addresses }: Vetted, signal: AbortSignal): Promise<OutboundAnswer> {
  const host = hostOf(url)
  return new Promise((done) => {
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest
    const outgoing = make({
      hostname: host,
      ...(url.port === '' ? {} : { port: url.port }),
      path: url.pathname + url.search,
      method: request.method,
      // Compressed answers are not asked for: a small one could grow without end.
      headers: { 'user-agent': 'Rouse', ...request.headers, host: url.host, 'accept-encoding': 'identity' },
      // A connection of its own: one that was kept might lead to an address that was vetted for somebody else.
      agent: false,
      lookup: only(addresses),
      maxHeaderSize: headerBytesMax,
      signal,
    })
    let answering = false
    const broken = (error?: NodeJS.ErrnoException): void => {
      // From then on the answer says how it ends.
      if (answering) return
      done(signal.aborted ? endedBy(signal) : connectionFailure(host, error))
    }
    outgoing.on('error', broken)
    outgoing.once('close', () => broken())
    outgoing.once('upgrade', (_incoming, socket) => {
      socket.destroy()
      done(failure('unreachable', `${host} answered with another protocol`, false))
    })
    outgoing.once('response', (incoming) => {
      answering = true
      readBody(request, outgoing, incoming, signal).then(done)
    })
    outgoing.end(request.body ?? undefined)
  })
}

/** Answers the vetted addresses to whoever asks for the host's, so that the name is not resolved a second time. */
const only =
  (addresses: readonly Address[]): LookupFunction =>
  (_host, options, answer) => {
    if (options.all) answer(null, [...addresses])
    else answer(null, addresses[0]!.address, addresses[0]!.family)
  }

function readBody(
  request: OutboundRequest,
  outgoing: ClientRequest,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  return new Promise((done) => {
    const chunks: Buffer[] = []
    let size = 0
    const answer = (): OutboundAnswer => ({
      ok: true,
      status: incoming.statusCode ?? 0,
      headers: Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(', ') : (value ?? ''),
        ]),
      ),
      body: Buffer.concat(chunks).toString('utf8'),
    })
    /** The status is known: whoever needs no more has an answer, whoever needs it whole has none. */
    const short = (otherwise: OutboundFailure): void => done(request.rest === 'cut' ? answer() : otherwise)
    incoming.on('data', (chunk: Buffer) => {
      const room = request.bytesMax - size
      size += chunk.byteLength
      chunks.push(size > request.bytesMax ? chunk.subarray(0, room) : chunk)
      if (size <= request.bytesMax) return
      incoming.removeAllListeners('data')
      short(failure('too_large', `the answer is larger than ${request.bytesMax} bytes`, false))
      outgoing.destroy()
    })
    incoming.once('end', () => done(answer()))
    const broken = (): void =>
      short(signal.aborted ? endedBy(signal) : failure('unreachable', 'the answer broke off', true))
    incoming.on('error', broken)
    incoming.once('close', () => (incoming.complete ? undefined : broken()))
  })
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let stopped = (): void => {}
  const aborted = new Promise<null>((done) => {
    stopped = () => done(null)
    if (signal.aborted) stopped()
    signal.addEventListener('abort', stopped)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stopped)
  }
}

const failure = (reason: OutboundFailure['reason'], error: string, retry: boolean): OutboundFailure => ({
  ok: false,
  reason,
  error,
  retry,
})

const endedBy = ({ reason }: AbortSignal): OutboundFailure =>
  reason instanceof Error ? failure('unreachable', 'Rouse stopped before the answer came', true) : reason

/** Only the code: messages of node and of OpenSSL quote what they were given. */
function connectionFailure(host: string, error: NodeJS.ErrnoException | undefined): OutboundFailure {
  const code = error?.code ?? 'closed'
  if (code === 'HPE_HEADER_OVERFLOW') return failure('too_large', `${host} answered with too many headers`, false)
  const answered = code.startsWith('HPE_')
  return failure('unreachable', answered ? `${host} did not answer in HTTP` : `${host} was not reached (${code})`, true)
}
