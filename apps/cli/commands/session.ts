import { type Command, Option } from 'commander'
import { path } from '../../client/client.ts'
import type { Page, Session } from '../../client/shapes.ts'
import { agentId, agentNames, serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import { type Caller, calls, given, onOrOff, type Shell } from '../shell.ts'
import { relative } from '../times.ts'

interface SessionOptions {
  readonly agent?: string
  readonly title?: string
  readonly main?: boolean
  readonly parent?: string
  readonly project?: string
  readonly mode?: string
  readonly permission?: string
  readonly paused?: boolean
  readonly goal?: string
  readonly clear?: string
}

export function sessionCommands(shell: Shell, program: Command): void {
  const session = program.command('session').description('conversations of the agents')
  const one = (name: string, description: string) =>
    session.command(name).description(description).argument('<session>', 'ses_…')

  const add = modes(session.command('add').description('begin a conversation with an agent'))
    .requiredOption('--agent <agent>', 'name or id')
    .option('--no-main', "not one of the agent's main conversations")
    .option('--parent <session>', 'ses_…, makes it a child of that one')
    .option('--project <label>', 'a label for its work')
  calls<SessionOptions>(
    shell,
    add,
    { example: 'rouse session add --agent assistant --title "Daily work"' },
    async ({ client, options, screen, show }) => {
      const { title, parent, project, mode, permission } = options
      const agent = await agentId(client, options.agent!)
      // Commander says `main: true` for an option that was not given; the server's default depends on the parent.
      const body = given({
        agent,
        title,
        parent,
        project,
        mode,
        permission,
        main: options.main === false ? false : undefined,
      })
      show(await client.call<Session>('POST', '/v1/sessions', { body }), ({ id }) => {
        screen.line(`Began session ${screen.bold(id)}.`)
        screen.line(`Next: \`rouse attach ${id} -- <command>\` serves it,`)
        screen.line(`      \`rouse send ${id} <text>\` writes to it.`)
      })
    },
  )

  const list = pageOptions(session.command('list').description('the conversations you can see'))
  calls<PageOptions>(
    shell,
    list,
    { example: 'rouse session list', looks: true },
    async ({ client, options, screen, show }) => {
      const [page, names, nowMs] = await Promise.all([
        client.call<Page<Session>>('GET', '/v1/sessions', { query: pageQuery(options) }),
        agentNames(client),
        serverNow(client),
      ])
      const columns = [
        { head: 'SESSION' },
        { head: 'TITLE', narrowest: 8 },
        { head: 'AGENT', narrowest: 8 },
        { head: 'STATE' },
        { head: 'WAITING' },
        { head: 'SCHEDULED', narrowest: 8 },
      ]
      const rows = page.data.map((row) => [
        row.id,
        row.title ?? (row.main ? 'main' : ''),
        names.get(row.agent) ?? row.agent,
        row.state,
        String(row.waiting),
        scheduledIn(row, nowMs),
      ])
      show(page, () =>
        showPage(screen, page, {
          none: 'No sessions yet. `rouse session add --agent <agent>` begins one.',
          rows: () => screen.table(columns, rows),
        }),
      )
    },
  )

  calls(
    shell,
    one('show', 'one conversation'),
    { example: 'rouse session show ses_01J…', looks: true },
    async (caller) => {
      const [answer, nowMs] = await Promise.all([
        caller.client.call<Session>('GET', path`/v1/sessions/${caller.args[0]!}`),
        serverNow(caller.client),
      ])
      showSession(caller, answer, nowMs)
    },
  )

  const edit = modes(one('edit', 'change what is given; the rest stays'))
    .option('--paused <on|off>', 'hold its ticks', onOrOff)
    .option('--goal <text>', 'what it works towards')
    .addOption(new Option('--clear <field>', 'set it back to none').choices(['title', 'goal']))
  calls<SessionOptions>(shell, edit, { example: 'rouse session edit ses_01J… --mode plan' }, async (caller) => {
    const { title, mode, permission, paused, goal, clear } = caller.options
    const cleared = clear === undefined ? {} : { [clear]: null }
    const changed = given({ title, mode, permission, paused, goal })
    if (clear !== undefined && clear in changed)
      throw new UsageError(`--clear ${clear} and --${clear} exclude each other`)
    const body = { ...changed, ...cleared }
    if (Object.keys(body).length === 0) throw new UsageError('nothing to change: give at least one option')
    const answer = await caller.client.call<Session>('PATCH', path`/v1/sessions/${caller.args[0]!}`, { body })
    showSession(caller, answer, await serverNow(caller.client))
  })

  const acting = [
    ['archive', 'end what fires in it and what it created, and keep it readable', 'Archived'],
    ['leave', 'the agent leaves the conversation: scheduled runs post nothing there', 'The agent has left'],
    ['join', 'the agent is back in the conversation', 'The agent has joined'],
  ] as const
  for (const [name, description, done] of acting)
    calls(
      shell,
      one(name, description),
      { example: `rouse session ${name} ses_01J…` },
      async ({ client, args, screen, show }) => {
        show(await client.call('POST', path`/v1/sessions/${args[0]!}/${name}`, { body: {} }), () =>
          screen.line(`${done} ${args[0]}.`),
        )
      },
    )

  const copying = [
    ['compact', 'go on in a new session; schedules and waiting messages move there', 'Goes on in'],
    ['fork', 'begin a new session from this one; schedules stay here', 'Forked into'],
  ] as const
  for (const [name, description, done] of copying)
    calls(
      shell,
      one(name, description),
      { example: `rouse session ${name} ses_01J…` },
      async ({ client, args, screen, show }) => {
        const made = await client.call<Session>('POST', path`/v1/sessions/${args[0]!}/${name}`, { body: {} })
        show(made, ({ id }) => screen.line(`${done} ${screen.bold(id)}.`))
      },
    )

  const remove = one('remove', 'delete it; what fires in it and what it created ends')
  calls(shell, remove, { example: 'rouse session remove ses_01J…' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/sessions/${args[0]!}`), () => screen.line(`Removed ${args[0]}.`))
  })
}

const modes = (command: Command): Command =>
  command
    .option('--title <title>', 'how it is called')
    .option('--mode <mode>', 'agent, ask, plan or autopilot')
    .option('--permission <permission>', 'auto, manual or yolo')

function scheduledIn({ scheduled }: Session, nowMs: number): string {
  if (!scheduled || scheduled.count === 0) return ''
  return scheduled.nextAt === null
    ? `${scheduled.count}`
    : `${scheduled.count}, next ${relative(scheduled.nextAt, nowMs)}`
}

function showSession({ screen, show }: Caller<object>, answer: Session, nowMs: number): void {
  show(answer, (row) =>
    screen.pairs([
      ['session', row.id],
      ['title', row.title ?? ''],
      ['agent', row.agent],
      ['state', row.state],
      ['mode', row.mode],
      ['main', row.main ? 'yes' : 'no'],
      ['waiting', String(row.waiting)],
      ['scheduled', scheduledIn(row, nowMs)],
      ['compacted into', row.compactedInto ?? ''],
    ]),
  )
}
