import { describe, expect, it } from 'vitest'
import {
  type AgentAccess,
  type Caller,
  canReach,
  canTalk,
  canUseSchedule,
  canUseSessions,
  principalOf,
  type ScheduleAccess,
  standingOf,
  verdictOn,
  verdictOnCommon,
} from '../../shared/domain/access.ts'
import { commonMatrix, matrix, type Standing, standings } from '../../shared/domain/access-matrix.ts'
import { deeds, expected } from './access-table.ts'

const person = (id: string, admin = false): Caller => ({ kind: 'person', key: 'key_p', person: id, admin })
const agentKey = (agent: string, owner: string): Caller => ({ kind: 'agent', key: 'key_a', agent, owner })

const own: AgentAccess = { id: 'agt_own', owner: 'per_ann', team: false, sharedWith: ['per_bob'] }
const crew: AgentAccess = { ...own, team: true }
const anns: ScheduleAccess = { createdBy: 'per_ann', makerAgent: null }

interface Case {
  readonly caller: Caller
  readonly agent?: AgentAccess
  readonly schedule?: ScheduleAccess
  readonly inSession?: boolean
}
/** Somebody of each kind. */
const somebody: Record<Standing, Case> = {
  owner: { caller: person('per_ann') },
  friend: { caller: person('per_bob') },
  team: { caller: person('per_eve'), agent: crew },
  maker: { caller: person('per_eve'), schedule: { createdBy: 'per_eve', makerAgent: null } },
  admin: { caller: person('per_adm', true) },
  stranger: { caller: person('per_eve') },
  itself: { caller: agentKey('agt_own', 'per_ann') },
  alone: { caller: agentKey('agt_own', 'per_ann'), inSession: false },
  maker_agent: { caller: agentKey('agt_eves', 'per_eve'), schedule: { createdBy: 'per_eve', makerAgent: 'agt_eves' } },
  sibling: { caller: agentKey('agt_other', 'per_ann') },
  ally: { caller: agentKey('agt_bobs', 'per_bob') },
  foreign: { caller: agentKey('agt_eves', 'per_eve') },
}
const at = ({ agent = own, schedule = anns, inSession = true, caller }: Case) =>
  ({ caller, agent, o: { schedule, inSession } }) as const

describe('what the caller is to an agent', () => {
  it.each(standings)('%s', (standing) => {
    const { caller, agent, o } = at(somebody[standing])
    expect(standingOf(caller, agent, o)).toBe(standing)
  })

  it('of several, the first: an owner who is an admin and asked for the schedule is the owner', () => {
    expect(standingOf(person('per_ann', true), crew, { schedule: anns })).toBe('owner')
    expect(standingOf(person('per_bob', true), crew, { schedule: anns })).toBe('friend')
    expect(standingOf(person('per_adm', true), crew)).toBe('team')
    expect(standingOf(person('per_adm', true), own, { schedule: { createdBy: 'per_adm', makerAgent: null } })).toBe(
      'maker',
    )
  })

  it('without a session another agent is foreign, also one of the same owner or on a team agent', () => {
    for (const caller of [
      agentKey('agt_other', 'per_ann'),
      agentKey('agt_bobs', 'per_bob'),
      agentKey('agt_x', 'per_eve'),
    ])
      expect(standingOf(caller, crew, { inSession: false })).toBe('foreign')
  })

  it('what a person asked for is no reason for his agents, nor what an agent made for its owner elsewhere', () => {
    const bobs = { createdBy: 'per_eve', makerAgent: null }
    expect(standingOf(agentKey('agt_eves', 'per_eve'), own, { schedule: bobs })).toBe('foreign')
    expect(standingOf(person('per_eve'), own, { schedule: { createdBy: 'per_zoe', makerAgent: 'agt_eves' } })).toBe(
      'stranger',
    )
  })
})

describe('every cell', () => {
  it('the table has every deed, and each row every standing', () => {
    expect(deeds.toSorted()).toEqual(Object.keys(matrix).toSorted())
    for (const deed of deeds) expect(Object.keys(matrix[deed])).toEqual([...standings])
  })

  it.each(deeds.flatMap((deed) => standings.map((standing) => [deed, standing] as const)))(
    '%s by %s',
    (deed, standing) => {
      const { caller, agent, o } = at(somebody[standing])
      expect(verdictOn(deed, caller, agent, o)).toBe(expected(deed, standing))
    },
  )

  it.each([
    ['add_people', 'yes', 'admin_only', 'person_only'],
    ['act_as_person', 'yes', 'yes', 'person_only'],
  ] as const)('%s', (deed, admin, plain, agent) => {
    expect(verdictOnCommon(deed, person('per_adm', true))).toBe(admin)
    expect(verdictOnCommon(deed, person('per_eve'))).toBe(plain)
    expect(verdictOnCommon(deed, agentKey('agt_own', 'per_ann'))).toBe(agent)
    expect(Object.keys(commonMatrix)).toHaveLength(2)
  })

  it('what one may see is what one may use, and what one may send to one may schedule: one look-up serves both', () => {
    for (const standing of standings) {
      expect(matrix.see_agent[standing]).toBe(matrix.use_sessions[standing])
      expect(matrix.send[standing] === 'yes').toBe(matrix.aim_schedule[standing] === 'yes')
    }
  })
})

describe('the questions that the engine asks are cells', () => {
  it.each(standings)('%s', (standing) => {
    const { caller, agent, o } = at(somebody[standing])
    const is = (deed: (typeof deeds)[number]) => expected(deed, standing) === 'yes'
    expect(canUseSessions(caller, agent)).toBe(is('use_sessions'))
    // A maker is one by the schedule alone, which these two do not know.
    expect(canReach(caller, agent, o.inSession)).toBe(is('aim_schedule'))
    expect(canUseSchedule(caller, agent, o.schedule)).toBe(is('use_schedule'))
    if (caller.kind === 'person') expect(canTalk(caller.person, agent)).toBe(is('use_sessions'))
  })

  it('S2-52 who can talk to the agent: owner, people it is shared with, everybody for a team agent', () => {
    const talks = ['per_ann', 'per_bob', 'per_eve', 'per_adm'].map((id) => [canTalk(id, own), canTalk(id, crew)])
    expect(talks).toEqual([
      [true, true],
      [true, true],
      [false, true],
      [false, true],
    ])
  })

  it('S2-53 who asked for a schedule keeps that one, and no other of the agent', () => {
    const eves = { createdBy: 'per_eve', makerAgent: null }
    expect(canUseSchedule(person('per_eve'), own, eves)).toBe(true)
    expect(canUseSchedule(person('per_eve'), own, anns)).toBe(false)
  })

  it('S2-54 admins see no schedule of an agent that they cannot talk to', () => {
    expect(verdictOn('use_schedule', person('per_adm', true), own, { schedule: anns })).toBe('hidden')
  })

  it('S2-55 whoever cannot talk to an agent is told so when scheduling it, and nothing else', () => {
    for (const standing of standings)
      expect(['yes', 'schedule_agent_not_allowed']).toContain(matrix.aim_schedule[standing])
  })

  it('S2-77 an agent may schedule itself, with a session and without', () => {
    expect([matrix.aim_schedule.itself, matrix.aim_schedule.alone]).toEqual(['yes', 'yes'])
  })

  it('S2-78 what an agent does counts for its owner', () => {
    expect(principalOf(agentKey('agt_own', 'per_ann'))).toBe('per_ann')
  })
})
