import { type Command, Option } from 'commander'
import { path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { agentId, serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { calls, given, type Shell } from '../shell.ts'
import { relative } from '../times.ts'

interface Monitor {
  readonly id: string
  readonly status: string
  readonly reason: string | null
  readonly session: string | null
  readonly agent: string
  readonly note: string
  readonly watch: {
    readonly document?: { readonly path: string }
    readonly time?: { readonly at: string }
    readonly tool?: { readonly name: string; readonly args: object; readonly every: number }
  }
  readonly when: string | null
  readonly armedAt: string
  readonly expiresAt: string
  readonly nextLookAt: string | null
  readonly failures: number
  readonly error: string | null
  readonly endedAt: string | null
  readonly message: string | null
}

interface AddOptions {
  readonly note: string
  readonly document?: string
  readonly at?: string
  readonly in?: string
  readonly tool?: string
  readonly args?: string
  readonly every?: string
  readonly when?: string
  readonly expiresIn?: string
  readonly session?: string
  readonly idempotencyKey?: string
}

interface ListOptions extends PageOptions {
  readonly session?: string
  readonly agent?: string
  readonly status?: string
}

const statuses = ['armed', 'fired', 'expired', 'cancelled', 'ended']

export function monitorCommands(shell: Shell, program: Command): void {
  const monitor = program
    .command('monitor')
    .description('wait for a document, a time or a tool: one message with your note when it comes')
  addAdd(shell, monitor)
  addList(shell, monitor)

  const show = monitor.command('show').description('what it waits for, and what became of it').argument('<id>', 'mon_…')
  calls(
    shell,
    show,
    { example: 'rouse monitor show mon_01J…', looks: true },
    async ({ client, args, screen, show }) => {
      const [found, nowMs] = await Promise.all([
        client.call<Monitor>('GET', path`/v1/monitors/${args[0]!}`),
        serverNow(client),
      ])
      show(found, () => showMonitor(screen, found, nowMs))
    },
  )

  const cancel = monitor
    .command('cancel')
    .description('it is over at once, never fires and frees its place')
    .argument('<id>', 'mon_…')
  calls(shell, cancel, { example: 'rouse monitor cancel mon_01J…' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/monitors/${args[0]!}`), () => screen.line(`Cancelled ${args[0]}.`))
  })
}

function addAdd(shell: Shell, monitor: Command): void {
  const add = monitor
    .command('add')
    .description('arm a monitor, then end the turn: do not poll')
    .requiredOption('--note <text>', 'what to do when it comes, 1 to 2,000 characters')
    .optionsGroup('What to wait for, one of:')
    .option('--document <path>', 'a change of that document, which need not exist yet')
    .option('--at <instant>', 'a point in time, e.g. 2026-11-02T09:00:00+01:00')
    .option('--in <duration>', 'the same, from now on: 2h, 30m')
    .option('--tool <name>', "a read-only tool of the session's agent, with --every")
    .optionsGroup('How:')
    .option('--args <json>', "the tool's arguments")
    .option('--every <duration>', 'how often to run the tool, 5m or more')
    .option('--when <cel>', 'fire only when this is true, over doc or output, before and now')
    .option('--expires-in <duration>', 'give up after that (default 24h, at most 7d)')
    .option('--session <id>', 'the session to wake (else ROUSE_SESSION)')
    .option('--idempotency-key <key>', 'adding again with the same key has no second effect')
  calls<AddOptions>(
    shell,
    add,
    {
      example:
        'rouse monitor add --document builds/42.json --when "doc.state == \'done\'" --note "Say how the build went."\nrouse monitor add --in 2h --note "Remind them of the call."',
    },
    async ({ client, options, screen, show }) => {
      const { note, when, expiresIn, session, idempotencyKey } = options
      const body = given({ session, note, watch: watchOf(options), when, expiresIn })
      const [armed, nowMs] = await Promise.all([
        client.call<Monitor>('POST', '/v1/monitors', { body, idempotencyKey }),
        serverNow(client),
      ])
      show(armed, () => {
        if (armed.status === 'fired') screen.line(`${screen.bold(armed.id)} was true already and has fired.`)
        else if (armed.status === 'armed')
          screen.line(`Armed ${screen.bold(armed.id)}: ${watched(armed)}. Expires ${relative(armed.expiresAt, nowMs)}.`)
        else screen.line(`${screen.bold(armed.id)} is ${stateOf(armed)}.`)
      })
    },
  )
}

/** @throws UsageError when it is none of the three, or several */
function watchOf({ document, at, in: span, tool, args, every }: AddOptions): object {
  const count = [document, at ?? span, tool].filter((one) => one !== undefined).length
  if (count !== 1 || (at !== undefined && span !== undefined))
    throw new UsageError('expected exactly one of --document, --at, --in and --tool')
  if (tool === undefined && (args ?? every) !== undefined) throw new UsageError('--args and --every go with --tool')
  if (document !== undefined) return { document: { path: document } }
  if (tool === undefined) return { time: given({ at, in: span }) }
  if (every === undefined) throw new UsageError('--tool needs --every, 5m or more')
  return { tool: given({ name: tool, args: args === undefined ? undefined : jsonOf(args), every }) }
}

function jsonOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Told below.
  }
  throw new UsageError(`--args: expected a JSON object such as '{"city": "Oslo"}'`)
}

function addList(shell: Shell, monitor: Command): void {
  const list = pageOptions(monitor.command('list').description('monitors, newest first'))
    .option('--session <id>', 'that wake this session')
    .option('--agent <name>', 'of this agent')
    .addOption(new Option('--status <status>', statuses.join(', ')).choices(statuses))
  calls<ListOptions>(
    shell,
    list,
    { example: 'rouse monitor list --status armed', looks: true },
    async ({ client, options, screen, show }) => {
      const agent = options.agent === undefined ? undefined : await agentId(client, options.agent)
      const query = { ...pageQuery(options), session: options.session, agent, status: options.status }
      const [page, nowMs] = await Promise.all([
        client.call<Page<Monitor>>('GET', '/v1/monitors', { query }),
        serverNow(client),
      ])
      show(page, () =>
        showPage(screen, page, {
          none: 'No monitors. `rouse monitor add` arms one.',
          rows: () =>
            screen.table(
              [{ head: 'ID' }, { head: 'STATE' }, { head: 'WATCHES', narrowest: 16 }, { head: 'WHEN', narrowest: 10 }],
              page.data.map((m) => [
                m.id,
                stateOf(m),
                watched(m),
                m.status === 'armed' ? `expires ${relative(m.expiresAt, nowMs)}` : relative(m.endedAt ?? '', nowMs),
              ]),
            ),
        }),
      )
    },
  )
}

function showMonitor(screen: Screen, m: Monitor, nowMs: number): void {
  const at = (instant: string | null): string => (instant === null ? '' : `${instant} (${relative(instant, nowMs)})`)
  screen.line(`${screen.bold(m.id)} · ${stateOf(m)}`)
  screen.pairs([
    ['watches', watched(m)],
    ['when', m.when ?? (m.watch.time === undefined ? 'any change' : '')],
    ['note', m.note],
    ['wakes', m.session ?? 'a conversation that is gone'],
    ['armed', at(m.armedAt)],
    ['next look', m.watch.document === undefined ? at(m.nextLookAt) : ''],
    ['expires', m.status === 'armed' ? at(m.expiresAt) : ''],
    ['over since', at(m.endedAt)],
    ['message', m.message ?? ''],
    ['failures', m.failures === 0 ? '' : `${m.failures} in a row: ${m.error ?? ''}`],
  ])
}

const stateOf = ({ status, reason }: Monitor): string =>
  reason === null ? status : `${status}, ${reason.replaceAll('_', ' ')}`

function watched({ watch: { document, time, tool } }: Monitor): string {
  if (document !== undefined) return `document ${document.path}`
  return tool === undefined ? `time ${time?.at ?? ''}` : `tool ${tool.name} every ${tool.every} min`
}
