import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { agentId } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { calls, collect, given, type Shell, wholeNumber } from '../shell.ts'
import { flowRunCommands } from './flow-runs.ts'

interface Step {
  readonly tool: string
  readonly args: unknown
}

interface Flow {
  readonly name: string
  readonly agent: string
  readonly steps: readonly Step[]
  readonly needsApproval: readonly string[]
  readonly from: readonly string[]
  readonly createdAt: string
  /** It is none yet. */
  readonly shadow?: { readonly agreed: number; readonly wanted: number } | null
}

interface Suggestion {
  readonly count: number
  readonly tokens: number
  readonly usd: number
  readonly traces: readonly string[]
  readonly steps: readonly Step[]
}

interface PromoteOptions {
  readonly agent?: string
  readonly from: readonly string[]
  readonly overwrite?: boolean
  readonly approve?: boolean
  readonly shadow?: number
}

export function flowCommands(shell: Shell, program: Command): void {
  const flow = program.command('flow').description('proven work, repeated call for call without a model')

  const promote = flow
    .command('promote')
    .description('make a flow of traces that did the same')
    .argument('<name>', 'what it is called')
    .requiredOption('--from <traces>', 'two traces or more, with commas between them; may be given again', collect)
    .option('--agent <agent>', 'whose flow, by name or id (default: the agent of the first trace)')
    .option('--overwrite', 'replace a flow of that name')
    .option('--approve', 'let the agent call the tools of the flow unasked from now on')
    .option(
      '--shadow <n>',
      'compare it with the next n runs first, and offer it on a card when all did the same',
      wholeNumber,
    )
  calls<PromoteOptions>(
    shell,
    promote,
    { example: 'rouse flow promote weekly-digest --agent assistant --from trc_01J…,trc_01K…' },
    async ({ client, args, options, screen, show }) => {
      const from = options.from.flatMap((ids) => ids.split(',')).filter((id) => id.trim() !== '')
      const first = from[0]?.trim()
      if (first === undefined) throw new UsageError('--from: expected ids of traces, with commas between them')
      const agent =
        options.agent === undefined
          ? (await client.call<{ agent: string }>('GET', path`/v1/traces/${first}`)).agent
          : await agentId(client, options.agent)
      const body = {
        name: args[0]!,
        from: from.map((id) => id.trim()),
        ...(options.overwrite ? { overwrite: true } : {}),
        ...(options.approve ? { approve: true } : {}),
        ...given({ shadow: options.shadow }),
      }
      const made = await client.call<Flow>('POST', path`/v1/agents/${agent}/flows`, { body })
      show(made, () => {
        if (made.shadow != null) return screen.line(inShadow(screen, made, made.shadow.wanted))
        screen.line(`Promoted ${screen.bold(made.name)}: ${counted(made.steps.length, 'step')}, no model call.`)
        tellMissing(screen, made)
      })
    },
  )

  const list = pageOptions(flow.command('list').description('the flows of an agent'))
    .argument('[agent]', 'by name or id')
    .option('--agent <agent>', 'the same')
  calls<PageOptions & { agent?: string }>(
    shell,
    list,
    { example: 'rouse flow list --agent assistant', looks: true },
    async ({ client, args, options, screen, show }) => {
      const agent = await agentId(client, agentIn(options.agent ?? args[0]!))
      const page = await client.call<Page<Flow>>('GET', path`/v1/agents/${agent}/flows`, { query: pageQuery(options) })
      show(page, () =>
        showPage(screen, page, {
          none: 'No flows yet. `rouse flow suggest` shows what could become one, `rouse flow promote` makes it.',
          rows: () =>
            screen.table(
              [
                { head: 'FLOW', narrowest: 16 },
                { head: 'STEPS' },
                { head: 'PROMOTED' },
                { head: 'NOT APPROVED', narrowest: 16 },
              ],
              page.data.map((of) => [of.name, `${of.steps.length}`, minute(of.createdAt), of.needsApproval.join(', ')]),
            ),
        }),
      )
    },
  )

  const shadows = flow
    .command('shadows')
    .description('flows that are none yet: what --shadow compares')
    .argument('[agent]', 'by name or id')
    .option('--agent <agent>', 'the same')
  calls<{ agent?: string }>(
    shell,
    shadows,
    { example: 'rouse flow shadows assistant', looks: true },
    async ({ client, args, options, screen, show }) => {
      const agent = await agentId(client, agentIn(options.agent ?? args[0]!))
      const found = await client.call<{ data: Flow[] }>('GET', path`/v1/agents/${agent}/flow-shadows`)
      show(found, ({ data }) => {
        if (data.length === 0) return screen.line('None. `rouse flow promote --shadow 3` keeps one.')
        screen.table(
          [{ head: 'FLOW', narrowest: 16 }, { head: 'STEPS' }, { head: 'AGREED' }],
          data.map((of) => [of.name, `${of.steps.length}`, `${of.shadow?.agreed ?? 0} of ${of.shadow?.wanted ?? 0}`]),
        )
      })
    },
  )

  const at = (command: string, description: string) =>
    flow
      .command(command)
      .description(description)
      .argument('<agent>', 'by name or id')
      .argument('<name>', 'of the flow')

  const one = at('show', 'the exact steps that a flow repeats')
  calls(
    shell,
    one,
    { example: 'rouse flow show assistant weekly-digest', looks: true },
    async ({ client, args, screen, show }) => {
      const found = await client.call<Flow>(
        'GET',
        path`/v1/agents/${await agentId(client, args[0]!)}/flows/${args[1]!}`,
      )
      show(found, () => {
        screen.pairs([
          ['flow', found.name],
          ['agent', found.agent],
          ['promoted', minute(found.createdAt)],
          ['from', found.from.join(', ')],
        ])
        screen.line()
        showSteps(screen, found.steps)
        tellMissing(screen, found)
      })
    },
  )

  const remove = at('remove', 'remove a flow').alias('rm')
  calls(
    shell,
    remove,
    { example: 'rouse flow remove assistant weekly-digest' },
    async ({ client, args, screen, show }) => {
      const agent = await agentId(client, args[0]!)
      const answer = await client.call('DELETE', path`/v1/agents/${agent}/flows/${args[1]!}`)
      show(answer, () => screen.line(`Removed ${args[1]}.`))
    },
  )

  flowRunCommands(shell, flow)

  const suggest = flow
    .command('suggest')
    .description('what an agent does again and again, call for call, and no flow stands for yet')
    .argument('[agent]', 'by name or id')
    .option('--agent <agent>', 'the same')
  calls<{ agent?: string }>(
    shell,
    suggest,
    { example: 'rouse flow suggest assistant', looks: true },
    async ({ client, args, options, screen, show }) => {
      const agent = await agentId(client, agentIn(options.agent ?? args[0]!))
      const found = await client.call<{ data: Suggestion[] }>('GET', path`/v1/agents/${agent}/flow-suggestions`)
      show(found, ({ data }) => {
        if (data.length === 0) screen.line('Nothing yet that was done twice in the very same way.')
        for (const of of data) {
          screen.line(`${screen.bold(counted(of.count, 'trace'))} did the same, for ${costOf(of)}:`)
          showSteps(screen, of.steps)
          screen.line(
            screen.dim(`rouse flow promote <name> --agent ${agent} --from ${of.traces.slice(0, 2).join(',')}`),
          )
          screen.line()
        }
      })
    },
  )
}

/** What becomes of a flow that is none yet. */
const inShadow = (screen: Screen, { name, steps }: Flow, wanted: number): string =>
  `Kept ${screen.bold(name)} (${counted(steps.length, 'step')}), which runs nothing yet: the next ${counted(wanted, 'run')} that ${wanted === 1 ? 'begins' : 'begin'} with ${steps[0]?.tool} ${wanted === 1 ? 'is' : 'are'} compared with it, and a card offers it when all did the same.`

/** @throws UsageError */
function agentIn(given: string): string {
  if (given === '') throw new UsageError('expected an agent, by name or id: --agent <agent>')
  return given
}

function showSteps(screen: Screen, steps: readonly Step[]): void {
  screen.table(
    [{ head: 'STEP' }, { head: 'TOOL', narrowest: 12 }, { head: 'ARGUMENTS', narrowest: 30 }],
    steps.map(({ tool, args }, i) => [`${i + 1}`, tool, JSON.stringify(args)]),
  )
}

function tellMissing(screen: Screen, { needsApproval }: Flow): void {
  if (needsApproval.length === 0) return
  screen.line(
    `It stops at the first tool that the agent may not call unasked: ${needsApproval.join(', ')}. \`--approve\` allows them as you promote.`,
  )
}

const costOf = ({ tokens, usd }: Suggestion): string =>
  `${tokens.toLocaleString('en')} tokens${usd === 0 ? '' : ` and ${usd.toFixed(2)} USD`}`

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

/** `2026-11-02 09:00Z` */
const minute = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`
