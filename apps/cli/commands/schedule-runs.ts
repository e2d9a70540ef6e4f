import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Occurrence, Page, Run, Schedule } from '../../client/shapes.ts'
import { serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { calls, given, type Shell, wholeNumber } from '../shell.ts'
import { refuseIdleOptions, type TimeOptions, timeFields, timeOptions } from './schedule-fields.ts'
import { occurrences, showRuns, showWhy, type Why, whenOf } from './schedule-show.ts'

/** What ran, what would run, and why. */
export function runCommands(shell: Shell, schedule: Command): void {
  const one = (name: string, description: string) =>
    schedule.command(name).description(description).argument('<schedule>', 'sch_…')

  const runs = pageOptions(one('runs', 'every run with time and result, newest first'))
  calls<PageOptions>(
    shell,
    runs,
    { example: 'rouse schedule runs sch_01J…', looks: true },
    async ({ client, args, options, screen, show }) => {
      const id = args[0]!
      const [page, row, nowMs] = await Promise.all([
        client.call<Page<Run>>('GET', path`/v1/schedules/${id}/runs`, { query: pageQuery(options) }),
        // Runs outlive their schedule; without it there is no zone to show them in.
        client.call<Schedule>('GET', path`/v1/schedules/${id}`).catch(() => null),
        serverNow(client),
      ])
      const tz = row?.tz ?? 'UTC'
      show(page, () =>
        showPage(screen, page, {
          none: 'No runs yet.',
          rows: () => showRuns(screen, page.data, { tz, nowMs }),
        }),
      )
    },
  )

  const run = one('run', 'run it once, at once; its next time stays').option(
    '--idempotency-key <key>',
    'again with the same key runs none',
  )
  calls<{ idempotencyKey?: string }>(shell, run, { example: 'rouse schedule run sch_01J…' }, async (caller) => {
    const { client, args, options, screen, show } = caller
    const { idempotencyKey } = options
    const where = path`/v1/schedules/${args[0]!}/run`
    const answer = await client.call<{ run: string }>('POST', where, { body: {}, idempotencyKey })
    show(answer, ({ run: id }) =>
      screen.line(`Running: ${id}. \`rouse schedule runs ${args[0]}\` shows what became of it.`),
    )
  })

  const preview = schedule.command('preview').description('when it would run; nothing is stored')
  timeOptions(
    preview
      .option('--from <instant>', 'times after this (default now)')
      .option('--count <n>', 'how many (default 3)', wholeNumber),
  )
  calls<TimeOptions & { from?: string; count?: number }>(
    shell,
    preview,
    { example: 'rouse schedule preview --cron "30 2 * * *" --tz Europe/Amsterdam --from 2026-03-27T00:00Z' },
    async ({ client, options, screen, show }) => {
      refuseIdleOptions(options)
      const { from, count } = options
      const body = { ...timeFields(options), ...given({ from, count }) }
      const answer = await client.call<Preview>('POST', '/v1/schedules/preview', { body })
      const nowMs = await serverNow(client)
      show(answer, ({ inWords, tz, cronEquivalent, next, notes, refusal }) => {
        screen.pairs([
          ['when', whenOf({ inWords, tz: tz ?? options.tz ?? 'UTC' })],
          ['cron', options.cron === undefined ? (cronEquivalent ?? '') : ''],
          ['next', next.length === 0 ? 'never' : occurrences(next, nowMs)],
          ['notes', notes.join('\n')],
          ['refused', refusal === null ? '' : `adding it would be: ${refusal.detail} (${refusal.code})`],
        ])
      })
    },
  )

  const backfill = one('backfill', 'run the times of a stretch that did not run, oldest first, at most 100')
    .requiredOption('--from <instant>', 'the first time')
    .requiredOption('--to <instant>', 'the last time')
  calls<{ from: string; to: string }>(
    shell,
    backfill,
    { example: 'rouse schedule backfill sch_01J… --from 2026-11-01T00:00Z --to 2026-11-07T00:00Z' },
    async ({ client, args, options, screen, show }) => {
      const { from, to } = options
      const answer = await client.call<{ runs: number }>('POST', path`/v1/schedules/${args[0]!}/backfill`, {
        body: { from, to },
      })
      show(answer, ({ runs: n }) =>
        screen.line(n === 0 ? 'Nothing to run in that stretch.' : `Running ${n}, one after another.`),
      )
    },
  )

  const why = one('why', 'why it ran or did not, and what it waits for')
  calls(shell, why, { example: 'rouse schedule why sch_01J…', looks: true }, async ({ client, args, screen, show }) => {
    const id = args[0]!
    const [answer, row, nowMs] = await Promise.all([
      client.call<Why>('GET', path`/v1/schedules/${id}/why`),
      client.call<Schedule>('GET', path`/v1/schedules/${id}`),
      serverNow(client),
    ])
    show(answer, () => showWhy(screen, answer, { tz: row.tz, nowMs }))
  })
}

interface Preview {
  readonly next: readonly Occurrence[]
  readonly inWords: string
  readonly tz?: string
  readonly cronEquivalent: string | null
  readonly notes: readonly string[]
  readonly refusal: { readonly code: string; readonly detail: string } | null
}
