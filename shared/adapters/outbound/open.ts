import { later } from '../../ports/later.ts'
import type { Outbound } from '../../ports/world.ts'
import { allowList, look, type Resolve } from './guard.ts'
import { invokeLambda, lambdaList, lambdaRefusal } from './lambda.ts'

const http = later(() => import('./http.ts'))
const mcp = later(() => import('./mcp.ts'))
const sns = later(() => import('./sns.ts'))

export interface OutboundOptions {
  /** `ROUSE_ALLOW_HOSTS`, `ROUSE_TELEGRAM_API` (a bot API server of one's own), `ROUSE_LAMBDAS` and `AWS_ENDPOINT_URL`. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly resolve?: Resolve
  /** Ends what is under way: the process is about to stop. */
  readonly stop?: AbortSignal
}

/** The way out of Rouse, the same in every world. @throws Error when the environment cannot be read */
export function openOutbound({ env, resolve, stop }: OutboundOptions): Outbound {
  const allow = allowList(env.ROUSE_ALLOW_HOSTS)
  const stopping = stop === undefined ? {} : { stop }
  const endpointOf = (service: string) => env[`AWS_ENDPOINT_URL_${service}`] || env.AWS_ENDPOINT_URL || null
  const allowed = lambdaList(env.ROUSE_LAMBDAS)
  const request: Outbound['request'] = async (asked) =>
    (await http()).makeRequest(asked, { allow, ...stopping, ...(resolve === undefined ? {} : { resolve }) })
  return {
    telegramApi: (env.ROUSE_TELEGRAM_API || 'https://api.telegram.org').replace(/\/+$/, ''),
    request,
    publish: async (message) => (await sns()).publishToTopic(message, { endpoint: endpointOf('SNS'), ...stopping }),
    invoke: (invocation) => invokeLambda(invocation, { allowed, endpoint: endpointOf('LAMBDA'), ...stopping }),
    mcpCall: async (call) => (await mcp()).callMcpTool(request, call),
    mcpTool: async (asked) => (await mcp()).describeMcpTool(request, asked),
    refusal(address) {
      if (address.startsWith('arn:')) return lambdaRefusal(address, allowed)
      const seen = look(address, allow)
      return seen instanceof URL ? null : seen.refused
    },
  }
}
