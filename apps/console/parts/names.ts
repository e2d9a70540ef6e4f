import { useLiveList } from '../live.ts'
import type { Agent, Conversation } from '../shapes.ts'

/** How agents and conversations are called, by their ids; what is not among the first hundred goes by its id. */
export function useNames(): {
  readonly agents: readonly Agent[]
  readonly conversations: readonly Conversation[]
  readonly agent: (id: string) => string
  readonly conversation: (id: string) => string
} {
  const agents = useLiveList<Agent>('/v1/agents', { limit: 100 }).data ?? []
  const conversations = useLiveList<Conversation>('/v1/sessions', { limit: 100 }).data ?? []
  return {
    agents,
    conversations,
    agent: (id) => agents.find((agent) => agent.id === id)?.name ?? shortened(id),
    conversation: (id) => {
      const found = conversations.find((one) => one.id === id)
      return found === undefined ? shortened(id) : titleOf(found)
    },
  }
}

/** A conversation without a title goes by the end of its id, which differs first. */
export const titleOf = ({ id, title }: Pick<Conversation, 'id' | 'title'>): string =>
  title ?? `Untitled ${id.slice(-5)}`

const shortened = (id: string): string => `${id.slice(0, 4)}…${id.slice(-5)}`
