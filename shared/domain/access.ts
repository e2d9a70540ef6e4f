/** Who calls. A key belongs to a person or to an agent; an agent's key acts as that agent only. */
export type Caller =
  | { readonly kind: 'person'; readonly key: string; readonly person: string; readonly admin: boolean }
  | {
      readonly kind: 'agent'
      readonly key: string
      readonly agent: string
      readonly owner: string
    }

/** What access needs to know of an agent. */
export interface AgentAccess {
  readonly id: string
  readonly owner: string
  readonly team: boolean
  readonly sharedWith: readonly string[]
}

/** S2-52: the owner, people it is shared with, everybody for a team agent. Admins get nothing more (decision 34). */
export const canTalk = (person: string, agent: AgentAccess): boolean =>
  agent.team || agent.owner === person || agent.sharedWith.includes(person)

/** Decision 26: an agent reaches what its owner can talk to. */
export const principalOf = (caller: Caller): string => (caller.kind === 'person' ? caller.person : caller.owner)

/** May the caller see and use the sessions of this agent? An agent's key: its own only. */
export const canUseSessions = (caller: Caller, agent: AgentAccess): boolean =>
  caller.kind === 'person' ? canTalk(caller.person, agent) : caller.agent === agent.id

/** May the caller address a send or a schedule to this agent? */
export const canReach = (caller: Caller, agent: AgentAccess): boolean => canTalk(principalOf(caller), agent)

/** S2-52, S2-53: who can talk to the agent, and who asked for the schedule. An agent: its own, and what it made. */
export const canUseSchedule = (
  caller: Caller,
  agent: AgentAccess,
  schedule: { readonly createdBy: string; readonly makerAgent: string | null },
): boolean =>
  caller.kind === 'person'
    ? canTalk(caller.person, agent) || schedule.createdBy === caller.person
    : caller.agent === agent.id || schedule.makerAgent === caller.agent
