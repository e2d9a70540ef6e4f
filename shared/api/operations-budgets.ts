import * as z from 'zod'
import type { Limits } from '../domain/budget.ts'
import { type Budget, listBudgets, type SessionBudget, sessionBudget, setOwnBudget } from '../engine/budget-calls.ts'
import { ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Budgets'

export const budgetOperations = [
  operation({
    name: 'listBudgets',
    method: 'get',
    path: '/v1/budgets',
    summary:
      "What your own budget and those of your agents allow today, have used and have left; with `session` that session's counters besides",
    tag,
    query: z.strictObject({ session: schemas.id.optional() }),
    run: async (call, { query }) => {
      const own = query.session === undefined ? [] : [sessionRow(await sessionBudget(call, query.session))]
      return ok({ data: [...own, ...(await listBudgets(call)).map(budget)], nextCursor: null })
    },
  }),
  operation({
    name: 'setBudget',
    method: 'patch',
    path: '/v1/budgets',
    summary: 'Set your own limits a day; null takes one away. Those of an agent are set with the agent',
    tag,
    body: schemas.budgetPatch,
    run: async (call, { body }) => {
      const given = Object.entries(body).filter(([, limit]) => limit !== undefined)
      await setOwnBudget(call, Object.fromEntries(given) as Partial<Limits>)
      return ok({ data: (await listBudgets(call)).map(budget), nextCursor: null })
    },
  }),
]

const sessionRow = ({ session, day, prompts, monitors, ticks, tickTokens }: SessionBudget) => ({
  scope: 'session' as const,
  id: session,
  day,
  prompts: of(prompts.limit, prompts.used),
  monitors: of(monitors.limit, monitors.used),
  ticks: of(ticks.limit, ticks.used),
  tickTokens: of(tickTokens.limit, tickTokens.used),
})

const budget = ({ scope, id, day, limits, used }: Budget) => ({
  scope,
  id,
  day,
  wakes: of(limits.wakesPerDay, used.wakes),
  tokens: of(limits.tokensPerDay, used.tokens),
  usd: of(limits.usdPerDay, used.usd),
})

const of = (limit: number | null, used: number) => ({
  limit,
  used,
  left: limit === null ? null : Math.max(0, limit - used),
})
