import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Client, path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import type { RegisteredTool, ToolAnswer } from '../../client/tools.ts'
import { agentId } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { type Caller, calls, readInput, type Shell } from '../shell.ts'

interface AgentOptions {
  readonly agent?: string
}

interface PutOptions extends AgentOptions {
  readonly file: string
}

export function toolCommands(shell: Shell, program: Command): void {
  const tool = program.command('tool').description('tools of an agent, whose steps Rouse takes itself')
  const of = (command: Command): Command =>
    command.option('--agent <agent>', 'name or id; else ROUSE_AGENT, else the only agent you can see')
  const named = (command: string, description: string) =>
    of(tool.command(command).description(description).argument('<name>', 'letters, digits, "_", "-" and "."'))

  const put = named('put', 'register a tool, or change it').requiredOption(
    '--file <file>',
    'JSON with description, parameters, readOnly, steps and output; - is the standard input',
  )
  calls<PutOptions>(
    shell,
    put,
    { example: 'rouse tool put rate --file rate.json --agent assistant' },
    async (caller) => {
      const { client, args, options, io, screen, show } = caller
      const body = jsonOf(await textOf(options.file, io.stdin), options.file)
      show(await client.call<RegisteredTool>('PUT', await at(caller, args[0]!), { body }), (kept) => {
        screen.line(`Kept tool ${screen.bold(kept.name)}: ${stepsOf(kept)}${kept.readOnly ? ', read-only' : ''}.`)
      })
    },
  )

  const list = pageOptions(of(tool.command('list').description('the tools of an agent, in the order of their names')))
  calls<PageOptions & AgentOptions>(
    shell,
    list,
    { example: 'rouse tool list --agent assistant', looks: true },
    async ({ client, options, io, screen, show }) => {
      const agent = await agentIn(client, options.agent ?? io.env.ROUSE_AGENT)
      const query = pageQuery(options)
      const page = await client.call<Page<RegisteredTool>>('GET', path`/v1/agents/${agent}/tools`, { query })
      show(page, () =>
        showPage(screen, page, {
          none: 'No tools yet. `rouse tool put <name> --file tool.json` registers one.',
          rows: () =>
            screen.table(
              [{ head: 'NAME' }, { head: 'READ-ONLY' }, { head: 'STEPS' }, { head: 'DESCRIPTION', narrowest: 20 }],
              page.data.map((row) => [
                row.name,
                row.readOnly ? 'yes' : 'no',
                row.steps.map(kindOf).join(', '),
                row.description.split('\n')[0]!,
              ]),
            ),
        }),
      )
    },
  )

  const show = named('show', 'what a tool takes, and what its steps are')
  calls<AgentOptions>(shell, show, { example: 'rouse tool show rate', looks: true }, async (caller) => {
    const { client, args, screen } = caller
    caller.show(await client.call<RegisteredTool>('GET', await at(caller, args[0]!)), (row) => shown(screen, row))
  })

  const call = named('call', 'run a tool now, with your secrets and documents').argument(
    '[args]',
    'JSON; - is the standard input',
    '{}',
  )
  calls<AgentOptions>(shell, call, { example: `rouse tool call rate '{"pair":"EURUSD"}'` }, async (caller) => {
    const { client, args, io, screen } = caller
    const [name, given] = args as [string, string]
    const text = given === '-' ? await readInput(io.stdin) : given
    const body = { args: jsonOf(text, 'the arguments') }
    const answer = await client.call<ToolAnswer>('POST', `${await at(caller, name)}/call`, { body })
    caller.show(answer, ({ output }) =>
      screen.line(typeof output === 'string' ? output : JSON.stringify(output, null, 2)),
    )
  })

  const remove = named('rm', 'remove a tool; watches on it end')
  calls<AgentOptions>(shell, remove, { example: 'rouse tool rm rate' }, async (caller) => {
    const { client, args, screen } = caller
    caller.show(await client.call('DELETE', await at(caller, args[0]!)), () => screen.line(`Removed ${args[0]}.`))
  })
}

const at = async ({ client, options, io }: Caller<AgentOptions>, name: string): Promise<string> =>
  path`/v1/agents/${await agentIn(client, options.agent ?? io.env.ROUSE_AGENT)}/tools/${name}`

/** The agent that is named, or the only one there is. @throws UsageError, NotThere */
async function agentIn(client: Client, named: string | undefined): Promise<string> {
  if (named) return await agentId(client, named)
  const { data } = await client.call<Page<{ id: string }>>('GET', '/v1/agents', { query: { limit: 2 } })
  if (data.length === 1) return data[0]!.id
  throw new UsageError(
    data.length === 0 ? 'there is no agent yet: `rouse agent add <name>`' : 'which agent? Name it with --agent',
  )
}

const kindOf = (step: object): string => Object.keys(step)[0] ?? '?'
const stepsOf = ({ steps }: RegisteredTool): string => `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`

function shown(screen: Screen, row: RegisteredTool): void {
  screen.pairs([
    ['name', row.name],
    ['for', row.description],
    ['read-only', row.readOnly ? 'yes: a monitor may watch it' : 'no'],
    ['takes', JSON.stringify(row.parameters)],
    ...row.steps.map((step, i) => [`step ${i}`, JSON.stringify(step)] as const),
    ['output', row.output ?? 'the body of the last step'],
    ['changed', `${row.updatedAt} by ${row.by}`],
  ])
}

/** @throws UsageError when it cannot be read */
async function textOf(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (file === '-') return await readInput(stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** @throws UsageError when it is no JSON */
function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${what === '-' ? 'the standard input' : what}: ${(error as Error).message}`)
  }
}
