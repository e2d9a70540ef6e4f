import { hasLimit, type Limits, noLimits, nothingUsed } from '../domain/budget.ts'
import { limits as bounds } from '../domain/limits.ts'
import { promptsSent } from '../domain/session.ts'
import { counted } from '../domain/tick.ts'
import { dayOf } from '../time/index.ts'
import { allAgents } from './agents.ts'
import { type Counter, countersOf, type Limited, limitsOfAgent, readOwnLimits } from './budgets.ts'
import { type Call, retrying } from './call.ts'
import { assertPerson, principal, sessionFor } from './reach.ts'
import { asItem, commit, keys, type Person, read } from './store.ts'
import { proactiveOf, todayOf } from './ticks.ts'

/** What a budget allows and has used today; without a limit nothing is counted, and `used` is what it was when one was set. */
export type Budget = Pick<Counter, 'scope' | 'id' | 'day' | 'limits' | 'used'>

/** The caller's own budget and those of the agents it can talk to. */
export async function listBudgets(call: Call): Promise<Budget[]> {
  const { world, now } = call
  const person = principal(call)
  const own = { ...noLimits, ...(await readOwnLimits(world, person))?.item }
  const agents = await allAgents(call)
  const all: Limited[] = [
    { scope: 'person', id: person, owner: person, limits: own },
    ...agents.map((agent) => ({
      scope: 'agent' as const,
      id: agent.id,
      owner: agent.owner,
      limits: limitsOfAgent(agent),
    })),
  ]
  const counters = await countersOf(
    world,
    all.filter(({ limits }) => hasLimit(limits)),
    now,
  )
  const tz = (await read<Person>(world, keys.person(person)))?.item.tz ?? 'UTC'
  return all.map(
    ({ scope, id, limits }) => counters.get(id) ?? { scope, id, day: dayOf(now, tz).day, limits, used: nothingUsed },
  )
}

/** What a session's own counters allow and have used: prompts since its person's last word, the others today. */
export interface SessionBudget {
  readonly session: string
  readonly day: string
  readonly prompts: { readonly limit: number; readonly used: number }
  readonly monitors: { readonly limit: number; readonly used: number }
  readonly ticks: { readonly limit: number; readonly used: number }
  readonly tickTokens: { readonly limit: number; readonly used: number }
}

/** @throws Refused `not_found` */
export async function sessionBudget(call: Call, id: string): Promise<SessionBudget> {
  const { world, now } = call
  const { head, agent } = await sessionFor(call, id)
  const { item } = head
  const { day } = await todayOf(world, item.owner, now)
  const fired = await read<{ readonly monitors?: number }>(world, keys.events(item.conv, day))
  const settings = proactiveOf(agent)
  const ticked = item.tick == null ? { ticks: 0, tokens: 0 } : counted(item.tick, day)
  return {
    session: item.session,
    day,
    prompts: { limit: bounds.promptsToOthersMax, used: promptsSent(item) },
    monitors: { limit: bounds.monitorFiresPerDay, used: fired?.item.monitors ?? 0 },
    ticks: { limit: settings.maxTicksPerDay, used: ticked.ticks },
    tickTokens: { limit: settings.maxTokensPerDay, used: ticked.tokens },
  }
}

/** A person's own limits on what wakes in their name; null takes one away. */
export async function setOwnBudget(call: Call, patch: Partial<Limits>): Promise<void> {
  const person = assertPerson(call, 'set a budget')
  await retrying(async () => {
    const stored = await readOwnLimits(call.world, person)
    const next: Limits = { ...noLimits, ...stored?.item, ...patch }
    await commit(call.world, [{ put: keys.limits(person), item: asItem(next), expect: stored?.version ?? 'absent' }])
  })
}
