import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Page, Run } from '../../client/shapes.ts'
import { agentId, serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { calls, given, readInput, type Shell, wholeNumber } from '../shell.ts'
import { showRuns, showWhy, type Why } from './schedule-show.ts'

export function triggerCommands(shell: Shell, program: Command): void {
  const trigger = program.command('trigger').description('wake an agent whenever something happens')
  const one = (name: string, description: string) =>
    trigger.command(name).description(description).argument('<trigger>', 'sch_…')

  const add = trigger
    .command('add')
    .description('a document, everything below a prefix, or a webhook with an address of its own')
    .argument('<name>', 'how it is called; the agent reads it too')
    .optionsGroup('On what (exactly one):')
    .option('--document <path>', 'a document changes')
    .option('--prefix <prefix>', 'any document whose path begins with this changes')
    .option('--webhook', 'its webhook is called; the address is shown once')
    .option('--signed', 'calls of the webhook must carry a Standard Webhooks signature')
  conditions(add)
    .optionsGroup('What and where:')
    .option('--prompt <text>', 'what the agent is told; - reads it from the standard input')
    .option('--flow <name>', 'in place of a prompt: replay this flow of the agent, without a model')
    .option('--session <session>', 'ses_…, wake this conversation')
    .option('--agent <agent>', 'name or id: a fresh session of this agent for each run')
  const example = 'rouse trigger add "Picks changed" --prefix picks/ --session ses_01J… --prompt "Read what changed."'
  calls<AddOptions>(shell, add, { example }, async (caller) => {
    const { client, args, options, screen, show } = caller
    const { session } = options
    const agent = options.agent === undefined ? undefined : await agentId(client, options.agent)
    const prompt = await promptOf(options, caller.io.stdin)
    if ((prompt === undefined) === (options.flow === undefined))
      throw new UsageError(
        `expected --prompt (what the agent is told) or --flow, got ${prompt === undefined ? 'neither' : 'both'}`,
      )
    const body = {
      name: args[0]!,
      on: sourceOf(options),
      ...given({ prompt, flow: options.flow, session, agent }),
      ...conditionsOf(options),
    }
    const made = await client.call<Trigger>('POST', '/v1/triggers', { body })
    show(made, (row) => {
      screen.line(`Added ${screen.bold(row.name)}.`)
      showTrigger(screen, row)
      if (row.url === undefined) return
      screen.line(`The address is shown this once: whoever knows it can call it.`)
      screen.line(`  curl -X POST -d '{"hello":"world"}' ${row.url}`)
    })
  })

  const list = pageOptions(trigger.command('list').description('the triggers you can see, newest first'))
    .option('--agent <agent>', 'name or id: those that wake this agent')
    .option('--session <session>', 'ses_…, those that fire in it')
    .option('--status <status>', 'active, paused, done or ended')
  calls<ListOptions>(
    shell,
    list,
    { example: 'rouse trigger list', looks: true },
    async ({ client, options, screen, show }) => {
      const agent = options.agent === undefined ? undefined : await agentId(client, options.agent)
      const query = { agent, session: options.session, status: options.status, ...pageQuery(options) }
      const page = await client.call<Page<Trigger>>('GET', '/v1/triggers', { query })
      show(page, () =>
        showPage(screen, page, {
          none: 'No triggers. `rouse trigger add --help` shows how to add one.',
          rows: () =>
            screen.table(
              [
                { head: 'TRIGGER' },
                { head: 'NAME', narrowest: 8 },
                { head: 'WHEN', narrowest: 12 },
                { head: 'STATUS' },
              ],
              page.data.map((row) => [row.id, row.name, row.inWords, statusOf(row)]),
            ),
        }),
      )
    },
  )

  calls(
    shell,
    one('show', 'one trigger, whole'),
    { example: 'rouse trigger show sch_01J…', looks: true },
    async (caller) => {
      const { client, args, screen, show } = caller
      const row = await client.call<Trigger>('GET', path`/v1/triggers/${args[0]!}`)
      show(row, () => showTrigger(screen, row))
    },
  )

  const edit = conditions(one('edit', 'change what is given; what it follows and where it fires stay'))
    .optionsGroup('Other:')
    .option('--name <name>', 'a new name')
    .option('--prompt <text>', 'what the agent is told; - reads it from the standard input')
  calls<EditOptions>(shell, edit, { example: 'rouse trigger edit sch_01J… --settle 5m' }, async (caller) => {
    const { client, args, options, screen, show } = caller
    const prompt = await promptOf(options, caller.io.stdin)
    const body = { ...given({ name: options.name, prompt }), ...conditionsOf(options) }
    if (Object.keys(body).length === 0) throw new UsageError('nothing to change: give at least one option')
    const row = await client.call<Trigger>('PATCH', path`/v1/triggers/${args[0]!}`, { body })
    show(row, () => showTrigger(screen, row))
  })

  for (const [name, description] of [
    ['pause', 'what happens until it is resumed is not made up'],
    ['resume', 'go on with what happens from now on'],
  ] as const) {
    const command = one(name, description).option('--reason <text>', 'why, for the record')
    calls<{ reason?: string }>(shell, command, { example: `rouse trigger ${name} sch_01J…` }, async (caller) => {
      const { client, args, options, screen, show } = caller
      const body = given({ reason: options.reason })
      const row = await client.call<Trigger>('POST', path`/v1/triggers/${args[0]!}/${name}`, { body })
      show(row, () => showTrigger(screen, row))
    })
  }

  const run = one('run', 'run it once, though nothing has happened')
  calls(shell, run, { example: 'rouse trigger run sch_01J…' }, async ({ client, args, screen, show }) => {
    const answer = await client.call<{ run: string }>('POST', path`/v1/triggers/${args[0]!}/run`, { body: {} })
    show(answer, ({ run: id }) =>
      screen.line(`Running: ${id}. \`rouse trigger runs ${args[0]}\` shows what became of it.`),
    )
  })

  const runs = pageOptions(one('runs', 'everything that happened and what became of it, newest first'))
  calls<PageOptions>(shell, runs, { example: 'rouse trigger runs sch_01J…', looks: true }, async (caller) => {
    const { client, args, options, screen, show } = caller
    const where = path`/v1/triggers/${args[0]!}/runs`
    const page = await client.call<Page<Run>>('GET', where, { query: pageQuery(options) })
    const nowMs = await serverNow(client)
    show(page, () =>
      showPage(screen, page, {
        none: 'Nothing has happened yet.',
        rows: () => showRuns(screen, page.data, { tz: 'UTC', nowMs }),
      }),
    )
  })

  calls(
    shell,
    one('why', 'what became of the last events, and what would hold the next'),
    { example: 'rouse trigger why sch_01J…', looks: true },
    async (caller) => {
      const { client, args, screen, show } = caller
      const answer = await client.call<Why>('GET', path`/v1/triggers/${args[0]!}/why`)
      const nowMs = await serverNow(client)
      show(answer, () => showWhy(screen, answer, { tz: 'UTC', nowMs }))
    },
  )

  calls(
    shell,
    one('remove', 'delete it; it never fires again'),
    { example: 'rouse trigger remove sch_01J…' },
    async (caller) => {
      const { client, args, screen, show } = caller
      show(await client.call('DELETE', path`/v1/triggers/${args[0]!}`), () => screen.line(`Removed ${args[0]}.`))
    },
  )
}

interface Conditions {
  readonly when?: string
  readonly settle?: string
  readonly maxPerDay?: number
  readonly until?: string
}
interface EditOptions extends Conditions {
  readonly name?: string
  readonly prompt?: string
}
interface AddOptions extends Conditions {
  readonly document?: string
  readonly prefix?: string
  readonly webhook?: boolean
  readonly signed?: boolean
  readonly prompt?: string
  readonly flow?: string
  readonly session?: string
  readonly agent?: string
}
interface ListOptions extends PageOptions {
  readonly agent?: string
  readonly session?: string
  readonly status?: string
}

const conditions = (command: Command): Command =>
  command
    .optionsGroup('Only if:')
    .option('--when <expression>', 'CEL over doc (document or body), before (at the last look) and now: "doc.n > 3"')
    .option('--settle <duration>', 'once nothing has happened for so long: 30s, 5m')
    .option('--max-per-day <n>', 'so many runs a day at most', wholeNumber)
    .option('--until <instant>', 'not after this')

const conditionsOf = ({ when, settle, maxPerDay, until }: Conditions) => given({ when, settle, maxPerDay, until })

function sourceOf({ document, prefix, webhook, signed }: AddOptions): unknown {
  const named = [document, prefix, webhook].filter((one) => one !== undefined)
  if (named.length !== 1)
    throw new UsageError(
      `expected one of --document, --prefix and --webhook, got ${named.length === 0 ? 'none' : 'several'}`,
    )
  if (signed === true && webhook === undefined) throw new UsageError('--signed has an effect only with --webhook')
  if (webhook !== undefined) return { webhook: signed === true ? { signed } : true }
  return { document: document === undefined ? { prefix } : { path: document } }
}

const promptOf = async (
  { prompt }: { readonly prompt?: string },
  stdin: NodeJS.ReadableStream,
): Promise<string | undefined> => (prompt === '-' ? await readInput(stdin) : prompt)

interface Trigger {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly endedReason: string | null
  readonly pausedReason: string | null
  readonly agent: string
  readonly session: string | null
  readonly prompt: string | null
  readonly flow?: string | null
  readonly inWords: string
  readonly settlesAt: string | null
  readonly maxPerDay: number | null
  readonly until: string | null
  readonly url?: string
  readonly secret?: string | null
}

const statusOf = ({ status, endedReason, pausedReason }: Trigger): string => {
  const reason = endedReason ?? pausedReason
  return reason === null ? status : `${status}: ${reason}`
}

const showTrigger = (screen: Screen, row: Trigger): void =>
  screen.pairs([
    ['trigger', row.id],
    ['name', row.name],
    ['when', row.inWords],
    ['status', statusOf(row)],
    ['settles', row.settlesAt ?? ''],
    ['at most', row.maxPerDay === null ? '' : `${row.maxPerDay} a day`],
    ['until', row.until ?? ''],
    ['session', row.session ?? ''],
    ['agent', row.agent],
    ['address', row.url ?? ''],
    ['secret', row.secret ?? ''],
    ['flow', row.flow ?? ''],
    ['prompt', row.prompt ?? ''],
  ])
