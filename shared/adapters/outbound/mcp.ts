import type { Client } from '@modelcontextprotocol/client'
import type {
  McpCall,
  McpTool,
  Outbound,
  OutboundAnswer,
  OutboundFailure,
  OutboundRequest,
  OutboundText,
} from '../../ports/world.ts'

type Request = Outbound['request']
type Asked<T> = (client: Client, o: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>

/** What an MCP server lists of its tools, and what it says in between. */
const listingBytesMax = 1024 * 1024
const saidCharsMax = 300

/** @returns what the tool answered: its structured content as JSON, else its texts */
export async function callMcpTool(request: Request, call: McpCall): Promise<OutboundText | OutboundFailure> {
  const { tool, args, bytesMax } = call
  return await withClient(request, call, bytesMax, async (client, o) => {
    const { structuredContent, content, isError } = await client.callTool({ name: tool, arguments: { ...args } }, o)
    const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    if (isError === true) return failure('failed', `the MCP tool ${tool} failed${said(texts)}`, false)
    return { ok: true, text: structuredContent === undefined ? texts : JSON.stringify(structuredContent) }
  })
}

export async function describeMcpTool(
  request: Request,
  asked: McpTool,
): Promise<{ readonly ok: true; readonly readOnly: boolean } | OutboundFailure> {
  return await withClient(request, asked, listingBytesMax, async (client, o) => {
    const { tools } = await client.listTools({}, o)
    const found = tools.find(({ name }) => name === asked.tool)
    return found === undefined
      ? failure('failed', `it has no tool ${asked.tool}`, false)
      : { ok: true, readOnly: found.annotations?.readOnlyHint === true }
  })
}

/** One session with a server, all of it within one time. */
async function withClient<T extends { readonly ok: true }>(
  request: Request,
  { url, headers, timeoutMs }: McpTool,
  bytesMax: number,
  ask: Asked<T | OutboundFailure>,
): Promise<T | OutboundFailure> {
  const until = performance.now() + timeoutMs
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  let broken: OutboundFailure | null = null
  const guarded = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The stream on which servers speak unasked: nobody here listens.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    const answer = await request({
      method: init.method as OutboundRequest['method'],
      url: String(input),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? init.body : null,
      timeoutMs: Math.max(1, until - performance.now()),
      bytesMax,
      rest: 'fail',
    })
    broken = failureIn(answer, url) ?? broken
    if (!answer.ok) throw new Error(answer.error)
    return responseOf(answer)
  }
  try {
    const sdk = await import('@modelcontextprotocol/client')
    const client = new sdk.Client({ name: 'rouse', version: '1' })
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
      fetch: guarded,
      requestInit: { headers: { ...headers } },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
      },
    })
    const o = { signal: late.signal, timeout: timeoutMs }
    try {
      await client.connect(transport, o)
      const answered = await ask(client, o)
      // What it keeps for the session may go. How that ends is nobody's concern.
      await transport.terminateSession().catch(() => {})
      return answered
    } finally {
      await client.close().catch(() => {})
    }
  } catch (error) {
    if (broken !== null) return broken
    if (late.signal.aborted) return failure('timeout', `no answer within ${timeoutMs / 1000} s`, true)
    return failure('failed', `the MCP server refused${said(refusalIn(error))}`, false)
  } finally {
    clearTimeout(timer)
  }
}

/** A server may answer 405 where it has nothing to end, and 202 without a body. */
function failureIn(answer: OutboundAnswer, url: string): OutboundFailure | null {
  if (!answer.ok) return answer
  const { status } = answer
  if (status < 400 || status === 405) return null
  return failure('failed', `${new URL(url).host} answered ${status}`, status >= 500 || status === 429)
}

const responseOf = ({ status, headers, body }: Extract<OutboundAnswer, { ok: true }>): Response =>
  new Response(status === 204 || status === 205 || status === 304 ? null : body, { status, headers })

/** The words of the server in a JSON-RPC error; of everything else they may quote anything. */
function refusalIn(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return typeof code === 'number' && typeof message === 'string' ? message : ''
}

function said(words: string): string {
  const text = words.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return text === '' ? '' : `: ${text.slice(0, saidCharsMax)}`
}

const failure = (reason: OutboundFailure['reason'], error: string, retry: boolean): OutboundFailure => ({
  ok: false,
  reason,
  error,
  retry,
})
