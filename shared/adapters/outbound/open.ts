import type { Outbound } from '../../ports/world.ts'
import { allowList, look, type Resolve } from './guard.ts'
import { makeRequest } from './http.ts'
import { publishToTopic } from './sns.ts'

export interface OutboundOptions {
  /** `ROUSE_ALLOW_HOSTS`, `ROUSE_TELEGRAM_API` (a bot API server of one's own) and `AWS_ENDPOINT_URL`. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly resolve?: Resolve
  /** Ends what is under way: the process is about to stop. */
  readonly stop?: AbortSignal
}

/** The way out of Rouse, the same in every world. @throws Error when the environment cannot be read */
export function openOutbound({ env, resolve, stop }: OutboundOptions): Outbound {
  const allow = allowList(env.ROUSE_ALLOW_HOSTS)
  const stopping = stop === undefined ? {} : { stop }
  const endpoint = env.AWS_ENDPOINT_URL_SNS || env.AWS_ENDPOINT_URL || null
  return {
    telegramApi: (env.ROUSE_TELEGRAM_API || 'https://api.telegram.org').replace(/\/+$/, ''),
    request: (request) => makeRequest(request, { allow, ...stopping, ...(resolve === undefined ? {} : { resolve }) }),
    publish: (message) => publishToTopic(message, { endpoint, ...stopping }),
    refusal(url) {
      const seen = look(url, allow)
      return seen instanceof URL ? null : seen.refused
    },
  }
}
