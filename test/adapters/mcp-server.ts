import type { Received, Reply } from '../journeys/receiver.ts'

interface FakeTool {
  readonly readOnlyHint?: boolean
  readonly call: (args: Record<string, unknown>) => object
}

/** An MCP server over Streamable HTTP, as far as tools go: answers what a `Receiver` is asked. */
export function mcpServer(
  tools: Readonly<Record<string, FakeTool>>,
  o: { readonly asEvents?: boolean; readonly token?: string } = {},
): (request: Received) => Reply {
  return ({ method, headers, body }) => {
    if (o.token !== undefined && headers.authorization !== `Bearer ${o.token}`) return { status: 401 }
    if (method === 'DELETE') return { status: 200 }
    if (method !== 'POST') return { status: 405 }
    const asked = JSON.parse(body) as { id?: number; method: string; params?: Json }
    if (asked.id === undefined) return { status: 202 }
    const answer = { jsonrpc: '2.0', id: asked.id, ...said(tools, asked) }
    const session = { 'mcp-session-id': 'one' }
    return o.asEvents
      ? {
          status: 200,
          headers: { 'content-type': 'text/event-stream', ...session },
          body: `event: message\ndata: ${JSON.stringify(answer)}\n\n`,
        }
      : { status: 200, headers: { 'content-type': 'application/json', ...session }, body: JSON.stringify(answer) }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a client sends is under test
type Json = any

function said(
  tools: Readonly<Record<string, FakeTool>>,
  { method, params }: { method: string; params?: Json },
): object {
  if (method === 'initialize')
    return {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'fake', version: '1' },
      },
    }
  if (method === 'tools/list')
    return {
      result: {
        tools: Object.entries(tools).map(([name, { readOnlyHint }]) => ({
          name,
          inputSchema: { type: 'object' },
          ...(readOnlyHint === undefined ? {} : { annotations: { readOnlyHint } }),
        })),
      },
    }
  const tool = tools[params.name]
  return method === 'tools/call' && tool !== undefined
    ? { result: tool.call(params.arguments) }
    : { error: { code: -32602, message: `there is no ${params?.name ?? method}` } }
}

export const texts = (...said: string[]): object => ({ content: said.map((text) => ({ type: 'text', text })) })
