import { type Command, Option } from 'commander'
import { path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { type ImportOptions, importFiles, importFormats } from '../import/files.ts'
import { agentId } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import type { Screen } from '../screen.ts'
import { calls, type Shell } from '../shell.ts'

interface Call {
  readonly tool: string
  readonly args: unknown
  readonly status: string
  readonly result: unknown
  readonly argsClipped: boolean
  readonly resultClipped: boolean
}

interface Trace {
  readonly id: string
  readonly agent: string
  readonly session: string | null
  readonly project: string | null
  readonly source: string
  readonly turn: string | null
  readonly origin: { readonly kind: string; readonly schedule: string | null } | null
  readonly outcome: string
  readonly tokens: number | null
  readonly startedAt: string | null
  readonly at: string
  readonly calls: readonly Call[]
}

interface ListOptions extends PageOptions {
  readonly agent?: string
  readonly project?: string
  readonly session?: string
  readonly outcome?: string
}

export function traceCommands(shell: Shell, program: Command): void {
  const traces = program.command('traces').alias('trace').description('what agents did: one trace for each turn')

  const list = pageOptions(
    traces.command('list', { isDefault: true }).description('traces, the newest first (also without "list")'),
  )
    .option('--project <label>', 'of sessions with this label')
    .option('--agent <agent>', 'of this agent, by name or id')
    .option('--session <sessionId>', 'of this session')
    .addOption(
      new Option('--outcome <outcome>', 'that ended so').choices([
        'ok',
        'nothing_to_do',
        'blocked',
        'failed',
        'unknown',
      ]),
    )
  calls<ListOptions>(
    shell,
    list,
    { example: 'rouse traces --project acme\nrouse traces --agent assistant --outcome ok', looks: true },
    async ({ client, options, screen, show }) => {
      const query = {
        ...pageQuery(options),
        agent: options.agent === undefined ? undefined : await agentId(client, options.agent),
        project: options.project,
        session: options.session,
        outcome: options.outcome,
      }
      const page = await client.call<Page<Trace>>('GET', '/v1/traces', { query })
      show(page, () =>
        showPage(screen, page, {
          none: 'No traces. A turn that calls tools leaves one; `rouse traces import` takes them from other logs.',
          rows: () => showTraces(screen, page.data),
        }),
      )
    },
  )

  const one = traces.command('show').description('what one turn did, call by call').argument('<traceId>', 'trc_…')
  calls(shell, one, { example: 'rouse traces show trc_01J…', looks: true }, async ({ client, args, screen, show }) => {
    const trace = await client.call<Trace>('GET', path`/v1/traces/${args[0]!}`)
    show(trace, () => showTrace(screen, trace))
  })

  const take = traces
    .command('import')
    .description('take in what an agent did elsewhere; the same file twice changes nothing')
    .argument('<file...>', 'logs')
    .addOption(new Option('--format <format>', 'whose log it is').choices(importFormats).makeOptionMandatory())
    .requiredOption('--agent <agent>', 'whose work it is here, by name or id')
    .option('--project <label>', 'the label that the traces get')
    .option('--skip-bad', 'take in what can be read of a file that has lines which cannot')
  calls<ImportOptions>(
    shell,
    take,
    { example: 'rouse traces import --format claude --agent assistant ~/.claude/projects/-home-me-acme/*.jsonl' },
    importFiles,
  )
}

function showTraces(screen: Screen, traces: readonly Trace[]): void {
  screen.table(
    [
      { head: 'TRACE' },
      { head: 'ENDED' },
      { head: 'OUTCOME' },
      { head: 'CALLS' },
      { head: 'TOKENS' },
      { head: 'FROM' },
      { head: 'PROJECT', narrowest: 8 },
    ],
    traces.map((trace) => [
      trace.id,
      minute(trace.at),
      trace.outcome,
      `${trace.calls.length}`,
      trace.tokens === null ? '' : `${trace.tokens}`,
      trace.origin?.kind ?? trace.source,
      trace.project ?? '',
    ]),
  )
}

function showTrace(screen: Screen, trace: Trace): void {
  screen.pairs([
    ['trace', trace.id],
    ['agent', trace.agent],
    ['session', trace.session ?? ''],
    ['project', trace.project ?? ''],
    ['from', [trace.source, trace.origin?.kind, trace.origin?.schedule].filter(Boolean).join(' · ')],
    ['outcome', trace.outcome],
    ['tokens', trace.tokens === null ? '' : `${trace.tokens}`],
    ['began', trace.startedAt === null ? '' : minute(trace.startedAt)],
    ['ended', minute(trace.at)],
  ])
  if (trace.calls.length === 0) return
  screen.line()
  screen.table(
    [
      { head: 'STEP' },
      { head: 'STATUS' },
      { head: 'TOOL', narrowest: 12 },
      { head: 'ARGUMENTS', narrowest: 20 },
      { head: 'RESULT', narrowest: 16 },
    ],
    trace.calls.map((call, i) => [
      `${i + 1}`,
      call.status,
      call.tool,
      call.argsClipped ? cut(String(call.args), ' (clipped)') : cut(JSON.stringify(call.args)),
      call.resultClipped ? cut(String(call.result ?? ''), ' (clipped)') : cut(JSON.stringify(call.result)),
    ]),
  )
}

/** A table is for looking over; `--json` has all of it. */
const cut = (text: string, mark = ''): string =>
  text.length <= 400 ? text + mark : `${text.slice(0, 400).toWellFormed()}…${mark}`

/** `2026-11-02 09:00Z` */
const minute = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`
