import type {
  Invocation,
  McpCall,
  Outbound,
  OutboundAnswer,
  OutboundFailure,
  OutboundRequest,
  OutboundText,
  Secrets,
  TopicMessage,
} from '../../shared/ports/world.ts'

/** The secrets of a room: a map, gone with it. */
export function openSecrets(): Secrets {
  const kept = new Map<string, string>()
  const place = (owner: string, name: string): string => `${owner} ${name}`
  return {
    async put(owner, name, value) {
      kept.set(place(owner, name), value)
    },
    get: async (owner, name) => kept.get(place(owner, name)) ?? null,
    remove: async (owner, name) => kept.delete(place(owner, name)),
    names: async (owner) =>
      [...kept.keys()].flatMap((key) => (key.startsWith(`${owner} `) ? [key.slice(owner.length + 1)] : [])).sort(),
  }
}

/** What left a room, and what answers it: everything that is sent arrives, unless `answer` says otherwise. */
export interface Outside {
  readonly sent: (OutboundRequest | TopicMessage)[]
  answer: (request: OutboundRequest | TopicMessage, nth: number) => Promise<OutboundAnswer> | OutboundAnswer
  /** What functions and MCP tools were called with, and what they answer. */
  readonly called: (Invocation | McpCall)[]
  says: (call: Invocation | McpCall) => OutboundText | OutboundFailure
  /** The MCP tools that their servers call read-only. */
  readonly readOnly: Set<string>
}

/** An answer of a receiver. */
export const answered = (status: number, headers: Record<string, string> = {}, body = ''): OutboundAnswer => ({
  ok: true,
  status,
  headers,
  body,
})

export function openOutside(): { readonly outside: Outside; readonly outbound: Outbound } {
  const outside: Outside = {
    sent: [],
    answer: () => answered(200),
    called: [],
    says: () => ({ ok: true, text: 'null' }),
    readOnly: new Set(),
  }
  const call = async (asked: Invocation | McpCall): Promise<OutboundText | OutboundFailure> => {
    outside.called.push(asked)
    return outside.says(asked)
  }
  const send = async (request: OutboundRequest | TopicMessage): Promise<OutboundAnswer> => {
    const nth = outside.sent.push(request)
    return await outside.answer(request, nth)
  }
  return {
    outside,
    outbound: {
      telegramApi: 'https://telegram.test',
      request: send,
      async publish(message) {
        const answer = await send(message)
        return answer.ok ? null : answer
      },
      invoke: call,
      mcpCall: call,
      mcpTool: async ({ tool }) => ({ ok: true, readOnly: outside.readOnly.has(tool) }),
      refusal: (url) => (url.includes('127.0.0.1') ? 'not reached from here' : null),
    },
  }
}
