import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type Client, path } from '../../client/client.ts'
import type { Page, Schedule } from '../../client/shapes.ts'
import { agentId, serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError, WentWrong } from '../report.ts'
import { type Caller, calls, collect, given, type Shell, wholeNumber } from '../shell.ts'
import { relative, timeIn } from '../times.ts'
import { refuseIdleOptions, type TimeOptions, timeFields, timeOptions } from './schedule-fields.ts'
import { showSchedule } from './schedule-show.ts'

interface FlowRun {
  readonly id: string
  readonly flow: string
  readonly status: string
  /** From 1; null: it has not begun. */
  readonly step: number | null
  readonly steps: number | null
  readonly reason: string | null
  readonly detail: string | null
  readonly trace: string | null
  readonly createdAt: string
}

interface ScheduleOptions extends TimeOptions {
  readonly schedule?: string
  readonly name?: string
  readonly deliver?: readonly string[]
  readonly channel?: string
  readonly note?: string
  readonly overlap?: string
  readonly pauseAfterFailures?: number
}

/** Running flows: now, and on schedules. */
export function flowRunCommands(shell: Shell, flow: Command): void {
  const at = (command: string, description: string) =>
    flow
      .command(command)
      .description(description)
      .argument('<agent>', 'by name or id')
      .argument('<name>', 'of the flow')

  const run = at('run', 'run a flow now')
    .option('--wait', 'until it has ended; fails if it does')
    .option('--idempotency-key <key>', 'again with the same key runs none')
  calls<{ wait?: boolean; idempotencyKey?: string }>(
    shell,
    run,
    { example: 'rouse flow run assistant weekly-digest' },
    async ({ client, args, options, screen, show, progress }) => {
      const where = path`/v1/agents/${await agentId(client, args[0]!)}/flows/${args[1]!}/run`
      const { idempotencyKey } = options
      const begun = await client.call<{ flowRun: FlowRun }>('POST', where, { body: {}, idempotencyKey })
      const answer = options.wait ? { flowRun: await ended(client, begun.flowRun, progress) } : begun
      show(answer, ({ flowRun: of }) => {
        if (of.status === 'running')
          screen.line(
            `Running ${screen.bold(of.flow)}: ${of.id}. \`rouse flow runs ${args[0]}\` shows what became of it.`,
          )
        else screen.line(`${of.flow}: ${inWords(of)}.${of.trace === null ? '' : ` Its trace: ${of.trace}`}`)
      })
      const { status } = answer.flowRun
      if (status !== 'running' && status !== 'ok') throw new WentWrong(`the run of ${args[1]} ended ${status}`)
    },
  )

  const runs = pageOptions(flow.command('runs').description("the runs of an agent's flows, newest first"))
    .argument('[agent]', 'by name or id')
    .option('--agent <agent>', 'the same')
  calls<PageOptions & { agent?: string }>(
    shell,
    runs,
    { example: 'rouse flow runs assistant', looks: true },
    async ({ client, args, options, screen, show }) => {
      const asked = options.agent ?? args[0]!
      if (asked === '') throw new UsageError('expected an agent, by name or id: --agent <agent>')
      const agent = await agentId(client, asked)
      const [page, nowMs] = await Promise.all([
        client.call<Page<FlowRun>>('GET', path`/v1/agents/${agent}/flow-runs`, { query: pageQuery(options) }),
        serverNow(client),
      ])
      show(page, () =>
        showPage(screen, page, {
          none: 'No runs yet.',
          rows: () =>
            screen.table(
              [
                { head: 'RUN' },
                { head: 'FLOW', narrowest: 12 },
                { head: 'BEGUN (UTC)' },
                { head: 'ENDED', narrowest: 16 },
              ],
              page.data.map((of) => [
                of.id,
                of.flow,
                `${timeIn(of.createdAt, 'UTC')}\n${relative(of.createdAt, nowMs)}`,
                inWords(of),
              ]),
            ),
        }),
      )
    },
  )

  const schedule = at('schedule', 'run a flow at its times, without a prompt and without a model')
    .optionsGroup('What:')
    .option('--name <name>', "how the schedule is called (default: the flow's name)")
    .option('--deliver <uri>', 'tell how each run ended, as for any schedule; repeatable', collect)
    .option('--channel <session>', 'ses_…, which gets a note of each run')
    .option('--note <text>', 'a remark for people')
    .option('--overlap <policy>', 'the last run is not over: skip (default), buffer, allow or cancel')
    .option('--pause-after-failures <n>', 'pause after so many failures in a row', wholeNumber)
  timeOptions(schedule).option('--schedule <rule>', 'the same as --cron')
  calls<ScheduleOptions>(
    shell,
    schedule,
    {
      example: 'rouse flow schedule assistant weekly-digest --schedule "0 8 * * 1" --deliver telegram:123456789',
    },
    async (caller) => {
      const { client, screen, show } = caller
      const row = await client.call<Schedule>('POST', '/v1/schedules', { body: await bodyOf(caller) })
      const nowMs = await serverNow(client)
      show(row, () => {
        screen.line(`Added ${screen.bold(row.name)}.`)
        showSchedule(screen, row, nowMs)
        screen.line(`Next: \`rouse schedule runs ${row.id}\` shows what became of each time.`)
      })
    },
  )
}

async function bodyOf({ client, args, options }: Caller<ScheduleOptions>): Promise<Record<string, unknown>> {
  const { schedule, name, deliver, channel, note, overlap, pauseAfterFailures } = options
  if (schedule !== undefined && options.cron !== undefined)
    throw new UsageError('--schedule and --cron mean the same: give one of them')
  refuseIdleOptions(options)
  const times = timeFields(schedule === undefined ? options : { ...options, cron: schedule })
  return {
    name: name ?? args[1]!,
    flow: args[1]!,
    agent: await agentId(client, args[0]!),
    ...times,
    ...given({ deliver, channel, note, overlap, pauseAfterFailures }),
  }
}

const lookMs = 300

async function ended(client: Client, begun: FlowRun, on: (text: string) => void): Promise<FlowRun> {
  let run = begun
  while (run.status === 'running') {
    on(`${run.flow}: ${inWords(run)}`)
    await sleep(lookMs)
    run = await client.call<FlowRun>('GET', path`/v1/flow-runs/${begun.id}`)
  }
  return run
}

function inWords({ status, step, steps, reason, detail }: FlowRun): string {
  if (status === 'ok') return `ok, ${steps} ${steps === 1 ? 'step' : 'steps'}`
  if (status === 'running') return step === null ? 'waits' : `running, step ${step} of ${steps}`
  return `${status}, ${reason ?? ''}${detail === null ? '' : `: ${detail}`}`
}
