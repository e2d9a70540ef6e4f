import { describe, expect, it } from 'vitest'
import {
  type AgentAccess,
  type Caller,
  canReach,
  canTalk,
  canUseSchedule,
  canUseSessions,
  principalOf,
} from '../../shared/domain/access.ts'
import { reachOf } from '../../shared/domain/provenance.ts'
import { Refused } from '../../shared/domain/refused.ts'

const agentOf = (id: string, over: Partial<AgentAccess> = {}): AgentAccess => ({
  id,
  owner: 'per_ann',
  team: false,
  sharedWith: [],
  ...over,
})
const own = agentOf('agt_own')
const shared = agentOf('agt_shared', { sharedWith: ['per_bob'] })
const team = agentOf('agt_team', { team: true })

const person = (id: string, admin = false): Caller => ({ kind: 'person', key: 'key_1', person: id, admin })
const key = (agent: string, owner: string): Caller => ({ kind: 'agent', key: 'key_2', agent, owner })
const ann = person('per_ann')
const bob = person('per_bob')
const eve = person('per_eve')
const admin = person('per_adm', true)
const itself = key('agt_own', 'per_ann')
const sibling = key('agt_other', 'per_ann')
const bobs = key('agt_bobs', 'per_bob')
const stranger = key('agt_eves', 'per_eve')

const yes = true
const no = false

describe('who may do what', () => {
  // caller, agent, uses its sessions, reaches it, uses a schedule of it that Ann made
  const cells: readonly [string, Caller, AgentAccess, boolean, boolean, boolean][] = [
    ['the owner', ann, own, yes, yes, yes],
    ['a person it is not shared with', bob, own, no, no, no],
    ['a stranger', eve, own, no, no, no],
    ['an admin', admin, own, no, no, no],
    ['the agent itself', itself, own, yes, yes, yes],
    ["another agent of the owner's", sibling, own, no, yes, no],
    ["another person's agent", bobs, own, no, no, no],
    ["a stranger's agent", stranger, own, no, no, no],

    ['the owner of a shared one', ann, shared, yes, yes, yes],
    ['a person it is shared with', bob, shared, yes, yes, yes],
    ['a stranger to a shared one', eve, shared, no, no, no],
    ['an admin to a shared one', admin, shared, no, no, no],
    ['the agent of a person it is shared with', bobs, shared, no, yes, no],
    ["a stranger's agent to a shared one", stranger, shared, no, no, no],

    ['anybody to a team agent', eve, team, yes, yes, yes],
    ['an admin to a team agent', admin, team, yes, yes, yes],
    ["anybody's agent to a team agent", stranger, team, no, yes, no],
  ]
  it.each(cells)('%s', (_who, caller, agent, sessions, reaches, schedules) => {
    const made = { createdBy: 'per_ann', makerAgent: null }
    expect([canUseSessions(caller, agent), canReach(caller, agent), canUseSchedule(caller, agent, made)]).toEqual([
      sessions,
      reaches,
      schedules,
    ])
  })

  it('S2-52 owner, people it is shared with, everybody for a team agent', () => {
    expect([canTalk('per_ann', shared), canTalk('per_bob', shared), canTalk('per_eve', shared)]).toEqual([yes, yes, no])
    expect(canTalk('per_eve', team)).toBe(yes)
  })

  it('S2-53 the person who asked for the schedule keeps it', () => {
    expect(canUseSchedule(bob, own, { createdBy: 'per_bob', makerAgent: null })).toBe(yes)
    expect(canUseSchedule(eve, own, { createdBy: 'per_bob', makerAgent: null })).toBe(no)
  })

  it('S2-54 admins do not see the schedules of agents they cannot talk to', () => {
    expect(canUseSchedule(admin, own, { createdBy: 'per_ann', makerAgent: null })).toBe(no)
  })

  it('an agent keeps what it made for another one, and sees nothing of its owner elsewhere', () => {
    expect(canUseSchedule(sibling, own, { createdBy: 'per_ann', makerAgent: 'agt_other' })).toBe(yes)
    expect(canUseSchedule(sibling, own, { createdBy: 'per_ann', makerAgent: 'agt_own' })).toBe(no)
  })

  it('S2-78 what an agent does counts for its owner', () => {
    expect([principalOf(itself), principalOf(bobs), principalOf(eve)]).toEqual(['per_ann', 'per_bob', 'per_eve'])
  })
})

describe('how far a prompt reaches', () => {
  it('S0-44 it keeps the hops of its origin in its own session', () => {
    expect(reachOf({ hops: 2, depth: 1 }, false)).toEqual({ hops: 2, depth: 1 })
  })

  it('into another session it is one hop more', () => {
    expect(reachOf({ hops: 0, depth: 0 }, true)).toEqual({ hops: 1, depth: 0 })
    expect(reachOf({ hops: 1, depth: 1 }, true)).toEqual({ hops: 2, depth: 1 })
  })

  it('S0-45 past the second hop it is refused', () => {
    expect(() => reachOf({ hops: 2, depth: 0 }, true)).toThrow(Refused)
    expect(() => reachOf({ hops: 2, depth: 0 }, true)).toThrow(/hop_limit/)
  })
})
