import { type Command, InvalidArgumentError } from 'commander'
import { type Client, path } from '../../client/client.ts'
import { agentId } from '../lookup.ts'
import { UsageError } from '../report.ts'
import { calls, type Shell } from '../shell.ts'

interface SetFlags {
  readonly agent?: string
  readonly wakes?: Limit
  readonly tokens?: Limit
  readonly usd?: Limit
}

/** Null: none. */
type Limit = number | null

export function budgetCommands(shell: Shell, program: Command): void {
  const budget = program
    .command('budget')
    .description('what wakes, tokens and money a day allow, and what today has used')

  const list = budget.command('list').description('your own budget and those of your agents')
  calls(shell, list, { example: 'rouse budget list', looks: true }, async ({ client, screen, show }) => {
    const answer = await client.call<Budgets>('GET', '/v1/budgets')
    show(answer, ({ data }) =>
      screen.table(
        ['BUDGET', 'DAY', 'WAKES', 'TOKENS', 'USD'].map((head) => ({ head })),
        data.map((one) => [
          one.scope === 'person' ? 'you' : one.id,
          one.day,
          shown(one.wakes),
          shown(one.tokens),
          shown(one.usd),
        ]),
      ),
    )
  })

  const set = budget
    .command('set')
    .description('set limits a day, your own or those of an agent; "none" takes one away')
    .option('--agent <agent>', 'name or id; without it: your own, over all agents')
    .option('--wakes <n>', 'schedules, checks, ticks and prompts between agents', limit)
    .option('--tokens <n>', "of turns that nobody's own word began", limit)
    .option('--usd <n>', 'likewise', limit)
  const example = 'rouse budget set --wakes 200\nrouse budget set --agent assistant --usd 5 --tokens none'
  calls<SetFlags>(shell, set, { example }, async ({ client, options, screen, show }) => {
    const given = { wakesPerDay: options.wakes, tokensPerDay: options.tokens, usdPerDay: options.usd }
    const limits = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    if (Object.keys(limits).length === 0) throw new UsageError('expected --wakes, --tokens or --usd, got none of them')
    const answer = await change(client, options.agent, limits)
    show(answer, () => screen.line('Set. `rouse budget list` shows what is left today.'))
  })
}

async function change(client: Client, agent: string | undefined, limits: object): Promise<unknown> {
  if (agent === undefined) return await client.call('PATCH', '/v1/budgets', { body: limits })
  const id = await agentId(client, agent)
  return await client.call('PATCH', path`/v1/agents/${id}`, { body: { budget: limits } })
}

function limit(value: string): Limit {
  if (value === 'none') return null
  const amount = Number(value)
  if (value.trim() === '' || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError('Expected a number from 0, or "none".')
  return amount
}

const shown = ({ limit, used, left }: Amount): string =>
  limit === null ? 'no limit' : `${used} of ${limit}${left === 0 ? ': used up' : ''}`

interface Amount {
  readonly limit: Limit
  readonly used: number
  readonly left: number | null
}

interface Budgets {
  readonly data: readonly {
    readonly scope: 'person' | 'agent'
    readonly id: string
    readonly day: string
    readonly wakes: Amount
    readonly tokens: Amount
    readonly usd: Amount
  }[]
}
