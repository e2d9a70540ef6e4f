import { type Client, path } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'
import type { Agent } from '../client/shapes.ts'

/**
 * Tells Rouse whether a worker listens, so that a schedule to an agent nobody serves is recorded as missed (decision 24),
 * and whether it runs checks and host steps (S2-28).
 *
 * @returns the refusal, when telling is not allowed: the worker can do its work all the same
 * @throws ApiError, Unreachable  when connecting: the target or the key does not hold, or the server is away.
 *                                When disconnecting nothing is thrown, since nobody waits for the answer
 */
export async function tellConnected(o: {
  readonly client: Client
  readonly sessions: readonly string[]
  readonly connected: boolean
  readonly checks: boolean
}): Promise<ApiError | null> {
  for (const session of o.sessions) {
    try {
      const body = { workerConnected: o.connected, checks: o.checks }
      await o.client.call('PATCH', path`/v1/sessions/${session}`, { body, timeoutMs: 5_000 })
    } catch (error) {
      if (!o.connected) continue
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      return error
    }
  }
  return null
}

/** The session by which an agent says that its worker listens; none yet, nothing to say. @throws ApiError when there is no such agent */
export async function mainSessionOf(client: Client, agent: string): Promise<readonly string[]> {
  const { mainSession } = await client.call<Agent>('GET', path`/v1/agents/${agent}`)
  return mainSession ? [mainSession] : []
}
