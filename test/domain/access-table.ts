import type { Deed, Standing, Verdict } from '../../shared/domain/access-matrix.ts'

/**
 * What the access matrix has to say, written down a second time and in words: a slip of the hand in one of the two shows. The same
 * cells are tried over HTTP by test/journeys/matrix.test.ts.
 */
const everyAgent = ['itself', 'alone', 'maker_agent', 'sibling', 'ally', 'foreign'] as const
const itselfOnly = ['itself', 'alone'] as const
const talkers = ['owner', 'friend', 'team'] as const

interface Rule {
  readonly yes: readonly Standing[]
  readonly ownerOnly?: readonly Standing[]
  readonly personOnly?: readonly Standing[]
  /** Of everybody else. */
  readonly others: Verdict
}

const rules: Record<Deed, Rule> = {
  see_agent: { yes: [...talkers, 'itself', 'alone'], others: 'hidden' },
  set_agent: { yes: ['owner'], ownerOnly: ['friend', 'team'], personOnly: itselfOnly, others: 'hidden' },
  set_tools: { yes: ['owner', ...itselfOnly], ownerOnly: ['friend', 'team'], others: 'hidden' },
  delete_agent: { yes: ['owner'], ownerOnly: ['friend', 'team'], personOnly: itselfOnly, others: 'hidden' },
  make_keys: { yes: ['owner'], ownerOnly: ['friend', 'team'], personOnly: itselfOnly, others: 'hidden' },
  change_key: { yes: ['owner'], personOnly: everyAgent, others: 'hidden' },
  use_sessions: { yes: [...talkers, 'itself', 'alone'], others: 'hidden' },
  rule_session: { yes: talkers, personOnly: everyAgent, others: 'hidden' },
  rule_flows: { yes: talkers, personOnly: everyAgent, others: 'hidden' },
  send: { yes: [...talkers, 'itself', 'alone', 'sibling', 'ally'], others: 'hidden' },
  aim_schedule: { yes: [...talkers, 'itself', 'alone', 'sibling', 'ally'], others: 'schedule_agent_not_allowed' },
  set_check: { yes: ['owner', ...itselfOnly], ownerOnly: ['friend', 'team', 'maker', 'maker_agent'], others: 'hidden' },
  use_schedule: { yes: [...talkers, 'maker', 'itself', 'alone', 'maker_agent'], others: 'hidden' },
}

export const deeds = Object.keys(rules) as Deed[]

export function expected(deed: Deed, standing: Standing): Verdict {
  const rule = rules[deed]
  if (rule.yes.includes(standing)) return 'yes'
  if (rule.ownerOnly?.includes(standing)) return 'owner_only'
  if (rule.personOnly?.includes(standing)) return 'person_only'
  return rule.others
}
