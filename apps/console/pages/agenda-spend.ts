import type { Entry } from './agenda-shapes.ts'

/** What the API answers of budgets, as far as it counts here. */
export interface Budget {
  readonly scope: string
  readonly id: string
  readonly wakes?: { readonly limit: number | null }
  readonly tokens?: { readonly limit: number | null }
  readonly usd?: { readonly limit: number | null }
}

type Amounts = NonNullable<Entry['budget']>

/** `20 wakes · 50,000 tokens · $2.00 left today`; of a time that comes in a new day, what that day allows. */
export function spendWords({ kind, budget, agent, who }: Entry, budgets: readonly Budget[]): string {
  if (kind === 'flow') return 'no tokens: it runs without a model'
  const today = budget === null ? '' : amounts(budget)
  if (today !== '') return `${today} left today`
  const drawn = budgets.filter(({ scope, id }) => (scope === 'agent' ? id === agent : id === who.person))
  const least = (of: 'wakes' | 'tokens' | 'usd'): number | null =>
    drawn.reduce<number | null>((found, row) => {
      const limit = row[of]?.limit ?? null
      return limit === null ? found : Math.min(limit, found ?? limit)
    }, null)
  const anew = amounts({ wakes: least('wakes'), tokens: least('tokens'), usd: least('usd') })
  return anew === '' ? 'any amount: no limit is set' : `${anew} of the new day`
}

function amounts({ wakes, tokens, usd }: Amounts): string {
  return [
    wakes === null ? [] : wakes === 1 ? '1 wake' : `${wakes.toLocaleString('en')} wakes`,
    tokens === null ? [] : `${tokens.toLocaleString('en')} tokens`,
    usd === null ? [] : `$${usd.toFixed(2)}`,
  ]
    .flat()
    .join(' · ')
}
