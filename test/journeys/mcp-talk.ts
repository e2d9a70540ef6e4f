import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Actor } from './actors.ts'
import { rouseProgram } from './bundle.ts'
import type { Json, RouseNode } from './node.ts'

/** `2026`: the line without handshake; `2025`: the one with it. */
export type Line = '2025' | '2026'
export const lines: readonly Line[] = ['2025', '2026']

export interface Talk {
  readonly client: Client
  /** Names of the tools that are listed. */
  tools(): Promise<string[]>
  /** Calls a tool; what it said, and whether that was an error. */
  call(name: string, args?: Json): Promise<{ error: boolean; text: string; data: Json }>
  /** Calls a tool, which must do it. */
  ok(name: string, args?: Json): Promise<Json>
  close(): Promise<void>
}

export async function talk(transport: Transport, line: Line = '2026'): Promise<Talk> {
  const mode = line === '2026' ? ({ pin: '2026-07-28' } as const) : ('legacy' as const)
  const client = new Client({ name: 'journey', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const call: Talk['call'] = async (name, args = {}) => {
    const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args })
    const text = content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n')
    return { error: isError, text, data: structuredContent }
  }
  return {
    client,
    call,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async ok(name, args) {
      const said = await call(name, args)
      if (said.error) throw new Error(`${name} ${JSON.stringify(args)} said ${said.text}`)
      return said.data
    },
    close: () => client.close(),
  }
}

/** Over HTTP, with a key and the headers of a session and a turn. */
export const overHttp = (
  rouse: RouseNode,
  o: { readonly key?: string; readonly session?: string; readonly turn?: string; readonly line?: Line } = {},
): Promise<Talk> => {
  const headers: Record<string, string> = { authorization: `Bearer ${o.key ?? rouse.key}` }
  if (o.session !== undefined) headers['x-rouse-session'] = o.session
  if (o.turn !== undefined) headers['x-rouse-turn'] = o.turn
  return talk(new StreamableHTTPClientTransport(new URL(`${rouse.url}/mcp`), { requestInit: { headers } }), o.line)
}

export const asActor = (rouse: RouseNode, who: Actor, o: { readonly turn?: string; readonly line?: Line } = {}) =>
  overHttp(rouse, { key: who.key, session: who.session.id, ...o })

/** `rouse mcp` as a process of its own, over stdio. */
export async function overStdio(env: Record<string, string>, line: Line = '2026'): Promise<Talk> {
  const args = [await rouseProgram(), 'mcp']
  return talk(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }), line)
}
