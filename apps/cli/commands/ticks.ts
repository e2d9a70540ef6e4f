import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import { serverNow } from '../lookup.ts'
import { UsageError } from '../report.ts'
import type { Screen } from '../screen.ts'
import { calls, given, type Shell, wholeNumber } from '../shell.ts'
import { relative } from '../times.ts'

export function tickCommands(shell: Shell, program: Command): void {
  const ticks = program.command('ticks').description('whether and when an idle session wakes itself')
  const showing = ticks
    .command('show', { isDefault: true })
    .description('its state, and why')
    .argument('<session>', 'ses_…')
  calls(shell, showing, { example: 'rouse ticks ses_01J…', looks: true }, async ({ client, args, screen, show }) => {
    const view = await client.call<Ticks>('GET', path`/v1/sessions/${args[0]!}/ticks`)
    const nowMs = await serverNow(client)
    show(view, () => showTicks(screen, view, nowMs))
  })
  const park = ticks
    .command('park')
    .description('none until a person writes in the session')
    .argument('<session>', 'ses_…')
  calls(shell, park, { example: 'rouse ticks park ses_01J…' }, async ({ client, args, screen, show }) => {
    const view = await client.call<Ticks>('POST', path`/v1/sessions/${args[0]!}/ticks/park`, { body: {} })
    const nowMs = await serverNow(client)
    show(view, () => showTicks(screen, view, nowMs))
  })

  const sleep = program
    .command('sleep')
    .description('inside a turn: when it has ended, wake this session again after so many seconds')
    .argument('<seconds>', 'from now; held within the bounds of the agent', wholeNumber)
    .option('--reason <text>', 'what you wait for')
  calls<{ reason?: string }>(shell, sleep, { example: 'rouse sleep 600 --reason "the build runs"' }, async (caller) => {
    const { client, args, options, io, screen, show } = caller
    const { ROUSE_SLEEP: file, ROUSE_SESSION: session } = io.env
    if (!file || !session)
      throw new UsageError(
        'rouse sleep works inside a turn of `rouse attach` only, which ends it when the command does',
      )
    const view = await client.call<Ticks>('GET', path`/v1/sessions/${session}/ticks`)
    if (view.state === 'off')
      throw new UsageError(`ticks are off here (ticks_off: ${view.reason}): nothing would wake this session again`)
    const asked = { seconds: Number(args[0]), ...given({ reason: options.reason }) }
    writeFileSync(file, JSON.stringify(asked), { mode: 0o600 })
    show(asked, () => screen.line(`Asked for ${asked.seconds} s of sleep; it begins when this turn ends. End it now.`))
  })
}

interface Ticks {
  readonly state: string
  readonly reason: string | null
  readonly nextAt: string | null
  readonly today: { readonly ticks: number; readonly tokens: number }
  readonly windowUntil: string | null
}

const showTicks = (screen: Screen, view: Ticks, nowMs: number): void =>
  screen.pairs([
    ['ticks', view.reason === null ? view.state : `${view.state}: ${wordsFor(view.reason)}`],
    ['next', view.nextAt === null ? '' : `${view.nextAt}  ${relative(view.nextAt, nowMs)}`],
    ['today', `${view.today.ticks} ticks, ${view.today.tokens} tokens`],
    ['window', view.windowUntil === null ? '' : `until ${view.windowUntil}`],
  ])

/** Every reason in words; one that is not known here is shown as it is. */
const words: Readonly<Record<string, string>> = {
  switch_off: 'switched off for this deployment',
  disabled: 'off for this agent (proactive.enabled)',
  session_archived: 'the session is archived, or was compacted into another',
  child_session: 'child sessions have none',
  not_main: 'only main sessions have them',
  no_input: 'nobody has written here yet',
  fork: 'split off from another session; write here to start them',
  cancelled: 'a tick was cancelled; write here to start them again',
  parked: 'parked by hand; write here to start them again',
  idle_tick_limit: 'too many in a row found nothing to do; write here to start them again',
  max_window: 'armed for as long as the agent may be; write here to start them again',
  not_claimed: 'one is put and waits for a worker',
  next_turn: 'planned again when the next turn ends',
  turn_running: 'a turn runs',
  paused: 'the session is paused',
  agent_left: 'the agent has left the conversation',
  queue: 'messages wait',
  pending_requests: 'requests are open',
  compacting: 'the session is being compacted',
  goal: 'a goal is active, which drives the session itself',
  schedule_soon: 'a schedule comes first',
  permission_manual: 'permission is manual: nobody would answer',
  permission_yolo: 'permission is yolo, and allowYolo is off',
  max_ticks_per_day: 'all ticks of the day are used',
  max_tokens_per_day: 'all tokens of the day are used',
}

const wordsFor = (reason: string): string => words[reason] ?? reason.replaceAll('_', ' ')
