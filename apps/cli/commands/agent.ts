import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Agent, Page } from '../../client/shapes.ts'
import { agentId } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { type Caller, calls, collect, given, onOrOff, type Shell } from '../shell.ts'

interface AgentOptions {
  readonly name?: string
  readonly team?: boolean
  readonly share?: readonly string[]
  readonly project?: string
  readonly proactive?: boolean
  readonly autoApprove?: readonly string[]
}

export function agentCommands(shell: Shell, program: Command): void {
  const agent = program.command('agent').description('the agents that Rouse wakes')
  const named = (name: string, description: string) =>
    agent.command(name).description(description).argument('<agent>', 'name or id')

  const add = settings(agent.command('add').description('add an agent').argument('<name>', 'unique among yours'))
  calls<AgentOptions>(
    shell,
    add,
    { example: 'rouse agent add assistant\nrouse agent add crew --team --project acme' },
    async ({ client, args, options, screen, show }) => {
      const body = { name: args[0]!, ...fieldsOf(options) }
      show(await client.call<Agent>('POST', '/v1/agents', { body }), ({ id, name }) => {
        screen.line(`Added agent ${screen.bold(name)}, ${id}.`)
        screen.line(`Next: \`rouse session add --agent ${quoted(name)}\` gives it a conversation,`)
        screen.line(`      \`rouse attach --agent ${quoted(name)} -- <command>\` serves it.`)
      })
    },
  )

  const list = pageOptions(agent.command('list').description('the agents you can talk to'))
  calls<PageOptions>(
    shell,
    list,
    { example: 'rouse agent list', looks: true },
    async ({ client, options, screen, show }) => {
      const page = await client.call<Page<Agent>>('GET', '/v1/agents', { query: pageQuery(options) })
      show(page, () =>
        showPage(screen, page, {
          none: 'No agents yet. `rouse agent add <name>` adds one.',
          rows: () =>
            screen.table(
              [{ head: 'AGENT' }, { head: 'NAME', narrowest: 8 }],
              page.data.map(({ id, name }) => [id, name]),
            ),
        }),
      )
    },
  )

  calls(
    shell,
    named('show', 'one agent and its settings'),
    { example: 'rouse agent show assistant', looks: true },
    async (caller) => showAgent(caller, await caller.client.call('GET', path`/v1/agents/${await idOf(caller)}`)),
  )

  const edit = settings(named('edit', 'change what is given; the rest stays')).option('--name <name>', 'a new name')
  calls<AgentOptions>(shell, edit, { example: 'rouse agent edit assistant --proactive off' }, async (caller) => {
    const body = given({ name: caller.options.name, ...fieldsOf(caller.options) })
    if (Object.keys(body).length === 0) throw new UsageError('nothing to change: give at least one option')
    showAgent(caller, await caller.client.call('PATCH', path`/v1/agents/${await idOf(caller)}`, { body }))
  })

  const remove = named('remove', 'delete an agent; its schedules end')
  calls(shell, remove, { example: 'rouse agent remove assistant' }, async (caller) => {
    const id = await idOf(caller)
    caller.show(await caller.client.call('DELETE', path`/v1/agents/${id}`), () => caller.screen.line(`Removed ${id}.`))
  })

  const key = named('key', 'make a key for an agent, to call Rouse with as itself')
  calls(shell, key, { example: 'rouse agent key assistant' }, async (caller) => {
    const answer = await caller.client.call<Key>('POST', path`/v1/agents/${await idOf(caller)}/keys`, { body: {} })
    caller.show(answer, (made) => showKey(caller.screen, made))
  })

  const revoke = agent.command('revoke-key').description('make a key useless, at once').argument('<keyId>', 'key_…')
  calls(shell, revoke, { example: 'rouse agent revoke-key key_01J…' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/keys/${args[0]!}`), () => screen.line(`Revoked ${args[0]}.`))
  })
}

const settings = (command: Command): Command =>
  command
    .option('--team', 'everybody here can talk to it')
    .option('--no-team', 'only its owner and those it is shared with can')
    .option('--share <person>', 'per_…, who can talk to it too; repeatable', collect)
    .option('--project <label>', 'a label for its work')
    .option('--proactive <on|off>', 'whether it wakes by itself while idle', onOrOff)
    .option('--auto-approve <tool>', 'a tool that flows may use without asking; repeatable', collect)

const fieldsOf = ({ team, share, project, proactive, autoApprove }: AgentOptions) =>
  given({
    team,
    sharedWith: share,
    project,
    proactive: proactive === undefined ? undefined : { enabled: proactive },
    autoApprove,
  })

const idOf = ({ client, args }: Caller<object>): Promise<string> => agentId(client, args[0]!)

function showAgent({ screen, show }: Caller<object>, answer: object): void {
  show(answer, () => screen.pairs(Object.entries(answer).map(([name, value]) => [name, wordsOf(value)])))
}

/** Settings as `enabled: true, tickSeconds: 300`; what is not set is left out. */
function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(wordsOf).join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .flatMap(([name, inner]) => (wordsOf(inner) === '' ? [] : [`${name}: ${wordsOf(inner)}`]))
    .join(', ')
}

interface Key {
  readonly id: string
  readonly key: string
}

function showKey(screen: Screen, { id, key }: Key): void {
  screen.pairs([
    ['id', id],
    ['key', key],
  ])
  screen.line('The key is shown this once. Set it as ROUSE_KEY where the agent runs.')
}

const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `"${name}"`)
