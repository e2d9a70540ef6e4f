import { isLocal } from '../client/access.ts'
import { type Client, everyItem } from '../client/client.ts'
import type { Agent, Page } from '../client/shapes.ts'
import { NotThere, UsageError } from './report.ts'

/** An agent by its id or its name. @throws NotThere, UsageError when two agents that the caller sees are called that */
export async function agentId(client: Client, nameOrId: string): Promise<string> {
  if (/^agt_[0-9A-HJKMNP-TV-Z]{26}$/i.test(nameOrId)) return nameOrId
  const agents: Agent[] = []
  for await (const agent of everyItem<Agent>(client, '/v1/agents')) agents.push(agent)
  const called = agents.filter(({ name }) => name === nameOrId)
  if (called.length === 1) return called[0]!.id
  if (called.length > 1)
    throw new UsageError(
      `${called.length} agents are called "${nameOrId}"; give the id: ${called.map(({ id }) => id).join(', ')}`,
    )
  const others =
    agents.length === 0 ? 'you can see none yet: `rouse agent add <name>`' : `you can see ${namesOf(agents)}`
  throw new NotThere(`there is no agent "${nameOrId}" (not_found); ${others}`)
}

const namesOf = (agents: readonly Agent[]): string =>
  agents
    .slice(0, 10)
    .map(({ name }) => `"${name}"`)
    .join(', ') + (agents.length > 10 ? ` and ${agents.length - 10} more` : '')

/** Names of agents by id, for tables; an agent that is not among the first hundred shows by its id. */
export async function agentNames(client: Client): Promise<ReadonlyMap<string, string>> {
  const page = await client
    .call<Page<Agent>>('GET', '/v1/agents', { query: { limit: 100 } })
    .catch(() => ({ data: [] }))
  return new Map(page.data.map(({ id, name }) => [id, name]))
}

/** Epoch ms by Rouse's clock: a node started with `--clock` lives in a time of its own. */
export async function serverNow(client: Client): Promise<number> {
  if (!isLocal(client.url)) return Date.now()
  const clock = await client.call<{ now: string }>('GET', '/v1/clock').catch(() => null)
  return clock === null ? Date.now() : Date.parse(clock.now)
}
