import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Page, Schedule } from '../../client/shapes.ts'
import { agentId, serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import { calls, given, type Shell } from '../shell.ts'
import { deliveryCommands } from './schedule-deliveries.ts'
import {
  clearOption,
  refuseIdleOptions,
  type ScheduleOptions,
  scheduleBody,
  timeOptions,
  wakeOptions,
} from './schedule-fields.ts'
import { runCommands } from './schedule-runs.ts'
import { showList, showSchedule } from './schedule-show.ts'

export function scheduleCommands(shell: Shell, program: Command): void {
  const schedule = program.command('schedule').description('when Rouse wakes which agent, and with what prompt')
  const one = (name: string, description: string) =>
    schedule.command(name).description(description).argument('<schedule>', 'sch_…')

  const add = schedule
    .command('add')
    .description('wake an agent later: once, in an interval, or by a rule')
    .argument('<name>', 'how it is called; the agent reads it too')
  wakeOptions(timeOptions(add))
    .optionsGroup('Again:')
    .option('--idempotency-key <key>', 'adding again with the same key adds none')
  calls<ScheduleOptions & { idempotencyKey?: string }>(
    shell,
    add,
    {
      example:
        'rouse schedule add "Morning brief" --prompt "Write the brief." --cron "0 8 * * 1-5" --tz Europe/Amsterdam',
    },
    async (caller) => {
      const { client, args, options, screen, show } = caller
      refuseIdleOptions(options)
      const { idempotencyKey } = options
      const body = { name: args[0]!, ...(await scheduleBody(caller)) }
      const answer = await client.call<Schedule | Asked>('POST', '/v1/schedules', { body, idempotencyKey })
      const nowMs = await serverNow(client)
      show(answer, (row) => {
        if ('card' in row) return screen.line(`Not added yet: a person has to allow card ${row.card}, which adds it.`)
        screen.line(`Added ${screen.bold(row.name)}.`)
        showSchedule(screen, row, nowMs)
        screen.line(`Next: \`rouse schedule runs ${row.id}\` shows what became of each time,`)
        screen.line(`      \`rouse schedule run ${row.id}\` runs it now.`)
      })
    },
  )

  const list = pageOptions(schedule.command('list').description('the schedules you can see, newest first'))
    .option('--agent <agent>', 'name or id: those that wake this agent')
    .option('--session <session>', 'ses_…, those that fire in it')
    .option('--created-in <session>', 'ses_…, those that it made')
    .option('--status <status>', 'active, paused, done or ended')
  calls<ListOptions>(shell, list, { example: 'rouse schedule list --status active', looks: true }, async (caller) => {
    const { client, options, screen, show } = caller
    const { session, createdIn, status } = options
    const agent = options.agent === undefined ? undefined : await agentId(client, options.agent)
    const query = { agent, session, createdIn, status, ...pageQuery(options) }
    const [page, nowMs] = await Promise.all([
      client.call<Page<Schedule>>('GET', '/v1/schedules', { query }),
      serverNow(client),
    ])
    show(page, () =>
      showPage(screen, page, {
        none: 'No schedules. `rouse schedule add --help` shows how to add one.',
        rows: () => showList(screen, page.data, nowMs),
      }),
    )
  })

  calls(
    shell,
    one('show', 'one schedule, whole'),
    { example: 'rouse schedule show sch_01J…', looks: true },
    async (caller) => {
      const { client, args, screen, show } = caller
      const [row, nowMs] = await Promise.all([
        client.call<Schedule>('GET', path`/v1/schedules/${args[0]!}`),
        serverNow(client),
      ])
      show(row, () => showSchedule(screen, row, nowMs))
    },
  )

  const edit = one('edit', 'change what is given; the rest stays, the zone and a pause too')
  wakeOptions(timeOptions(edit)).optionsGroup('Other:').option('--name <name>', 'a new name').addOption(clearOption())
  calls<ScheduleOptions>(
    shell,
    edit,
    { example: 'rouse schedule edit sch_01J… --cron "30 8 * * 1-5"' },
    async (caller) => {
      const { client, args, screen, show } = caller
      const body = await scheduleBody(caller)
      if (Object.keys(body).length === 0) throw new UsageError('nothing to change: give at least one option')
      const answer = await client.call<Schedule | Asked>('PATCH', path`/v1/schedules/${args[0]!}`, { body })
      const nowMs = await serverNow(client)
      show(answer, (row) => {
        if ('card' in row) return screen.line(`Not changed yet: a person has to allow card ${row.card}.`)
        showSchedule(screen, row, nowMs)
      })
    },
  )

  const switches = [
    ['pause', 'no runs until it is resumed'],
    ['resume', 'go on, counted from now; paused times are not made up'],
  ] as const
  for (const [name, description] of switches) {
    const command = one(name, description).option('--reason <text>', 'why, for the record')
    calls<{ reason?: string }>(shell, command, { example: `rouse schedule ${name} sch_01J…` }, async (caller) => {
      const { client, args, options, screen, show } = caller
      const body = given({ reason: options.reason })
      const row = await client.call<Schedule>('POST', path`/v1/schedules/${args[0]!}/${name}`, { body })
      const nowMs = await serverNow(client)
      show(row, () => showSchedule(screen, row, nowMs))
    })
  }

  calls(
    shell,
    one('remove', 'delete it; it never runs again'),
    { example: 'rouse schedule remove sch_01J…' },
    async (caller) => {
      const { client, args, screen, show } = caller
      show(await client.call('DELETE', path`/v1/schedules/${args[0]!}`), () => screen.line(`Removed ${args[0]}.`))
    },
  )

  runCommands(shell, schedule)
  deliveryCommands(shell, schedule)
}

/** The answer when a person is asked first (202). */
interface Asked {
  readonly card: string
}

interface ListOptions extends PageOptions {
  readonly agent?: string
  readonly session?: string
  readonly createdIn?: string
  readonly status?: string
}
