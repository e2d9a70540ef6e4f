import { type CommonDeed, commonMatrix, type Deed, matrix, type Standing, type Verdict } from './access-matrix.ts'

/** Who calls. A key belongs to a person or to an agent; an agent's key acts as that agent only. */
export type Caller =
  | { readonly kind: 'person'; readonly key: string; readonly person: string; readonly admin: boolean }
  | {
      readonly kind: 'agent'
      readonly key: string
      readonly agent: string
      readonly owner: string
      /** The key of a check's process: it reads, and does nothing else (S2-26). */
      readonly reads?: true
    }

/** What access needs to know of an agent. */
export interface AgentAccess {
  readonly id: string
  readonly owner: string
  readonly team: boolean
  readonly sharedWith: readonly string[]
}

/** What access needs to know of a schedule. */
export interface ScheduleAccess {
  readonly createdBy: string
  readonly makerAgent: string | null
}

/** What the caller is to an agent, and to a schedule of it where one is meant. */
export function standingOf(
  caller: Caller,
  agent: AgentAccess,
  /** `inSession`: an agent's key names a session of its own; without one it reaches only its own agent. */
  o: { readonly schedule?: ScheduleAccess | null; readonly inSession?: boolean } = {},
): Standing {
  const { schedule = null, inSession = true } = o
  if (caller.kind === 'person') {
    const near = nearness(caller.person, agent)
    if (near !== null) return near
    if (schedule?.createdBy === caller.person) return 'maker'
    return caller.admin ? 'admin' : 'stranger'
  }
  if (caller.agent === agent.id) return inSession ? 'itself' : 'alone'
  if (schedule?.makerAgent === caller.agent) return 'maker_agent'
  if (!inSession || nearness(caller.owner, agent) === null) return 'foreign'
  return caller.owner === agent.owner ? 'sibling' : 'ally'
}

function nearness(person: string, agent: AgentAccess): 'owner' | 'friend' | 'team' | null {
  if (agent.owner === person) return 'owner'
  if (agent.sharedWith.includes(person)) return 'friend'
  return agent.team ? 'team' : null
}

/** A cell of the matrix. */
export const verdictOn = (
  deed: Deed,
  caller: Caller,
  agent: AgentAccess,
  o: { readonly schedule?: ScheduleAccess | null; readonly inSession?: boolean } = {},
): Verdict => matrix[deed][standingOf(caller, agent, o)]

/** The same for what concerns no agent. */
export const verdictOnCommon = (deed: CommonDeed, caller: Caller): Verdict =>
  commonMatrix[deed][caller.kind === 'agent' ? 'agent' : caller.admin ? 'admin' : 'person']

/** S2-52: the owner, people it is shared with, everybody for a team agent. Admins get nothing more (decision 34). */
export const canTalk = (person: string, agent: AgentAccess): boolean =>
  matrix.use_sessions[nearness(person, agent) ?? 'stranger'] === 'yes'

/** Decision 26: an agent reaches what its owner can talk to. */
export const principalOf = (caller: Caller): string => (caller.kind === 'person' ? caller.person : caller.owner)

/** May the caller see and use the sessions of this agent? An agent's key: its own only. */
export const canUseSessions = (caller: Caller, agent: AgentAccess): boolean =>
  verdictOn('use_sessions', caller, agent) === 'yes'

/** May the caller address a send or a schedule to this agent? */
export const canReach = (caller: Caller, agent: AgentAccess, inSession = true): boolean =>
  verdictOn('aim_schedule', caller, agent, { inSession }) === 'yes'

/** S2-52, S2-53: who can talk to the agent, and who asked for the schedule. An agent: its own, and what it made. */
export const canUseSchedule = (caller: Caller, agent: AgentAccess, schedule: ScheduleAccess): boolean =>
  verdictOn('use_schedule', caller, agent, { schedule }) === 'yes'
