import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { agentId } from '../lookup.ts'
import { UsageError } from '../report.ts'
import { type Caller, collect, given, readInput, wholeNumber } from '../shell.ts'

/** When it runs. The server judges rules and their combinations, so that its words are the same for every caller. */
export interface TimeOptions {
  readonly at?: string
  readonly every?: string | number
  readonly cron?: string
  readonly rrule?: string
  readonly dtstart?: string
  readonly tz?: string
  readonly until?: string
  readonly jitter?: string
  readonly maxRuns?: number
  readonly misfire?: 'once' | 'skip' | { readonly within: string }
}

export interface ScheduleOptions extends TimeOptions {
  readonly name?: string
  readonly prompt?: string
  readonly promptFile?: string
  readonly flow?: string
  readonly session?: string
  readonly agent?: string
  readonly channel?: string
  readonly note?: string
  readonly deliver?: readonly string[]
  readonly check?: string
  readonly checkTool?: string
  readonly checkArgs?: string
  readonly overlap?: string
  readonly onUnknown?: string
  readonly pauseAfterFailures?: number
  readonly clear?: readonly string[]
}

export const timeOptions = (command: Command): Command =>
  command
    .optionsGroup('When (exactly one of --cron, --rrule, --at, --every; --at with --every is the first time):')
    .option('--cron <rule>', 'five fields: minute hour day month weekday, "0 8 * * 1-5"')
    .option('--rrule <rule>', 'calendar rule: "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0"')
    .option('--at <time>', 'once: 2026-11-02T09:00 in --tz, or with an offset of its own')
    .option('--every <duration>', '30m, 12h, 2d, PT30M, or minutes; from 5 minutes to 7 days', minutesOrDuration)
    .option('--tz <zone>', 'IANA name such as Europe/Amsterdam (default UTC)')
    .option('--dtstart <time>', 'where the count of --rrule starts')
    .option('--until <instant>', 'no run after this')
    .option('--max-runs <n>', 'done after so many runs', wholeNumber)
    .option('--jitter <duration>', 'delay each run by a fixed share of this')
    .option(
      '--misfire <policy>',
      'a missed time: once (default), skip, or a duration within which it is made up',
      misfire,
    )

export const wakeOptions = (command: Command): Command =>
  command
    .optionsGroup('What and where:')
    .option('--prompt <text>', 'what the agent is told; - reads it from the standard input')
    .option('--prompt-file <file>', 'read the prompt from a file')
    .option('--flow <name>', "instead of a prompt: one of the agent's flows, without a model")
    .option('--session <session>', 'ses_…, wake this conversation')
    .option('--agent <agent>', 'name or id: a fresh session of this agent for each run')
    .option('--channel <session>', "ses_…, where title, answers and notes go (default the agent's main session)")
    .option('--note <text>', 'a remark for people')
    .option(
      '--deliver <uri>',
      'tell how each run ended: webhook:https://…, telegram:<chat id>, sns:<arn>, session:<ses_…> or feed:<group>; repeatable',
      collect,
    )
    .optionsGroup('Check first (the agent is woken only if it says something):')
    .option('--check <script>', "a script in the agent's folder: no output, no wake")
    .option('--check-tool <tool>', 'a read-only tool of the agent, run by Rouse: empty, null or false, no wake')
    .option('--check-args <json>', 'the arguments of --check-tool')
    .optionsGroup('If things go wrong:')
    .option('--overlap <policy>', 'the last run is not over: skip, buffer, allow or cancel')
    .option('--on-unknown <policy>', 'the worker vanished in a run: leave (default) or retry')
    .option('--pause-after-failures <n>', 'pause after so many failures in a row', wholeNumber)

const clearable = [
  'note',
  'deliver',
  'check',
  'until',
  'channel',
  'jitter',
  'max-runs',
  'pause-after-failures',
  'dtstart',
] as const

export const clearOption = (): Option =>
  new Option('--clear <field>', 'set a field back to none; repeatable')
    .choices(clearable)
    .argParser((value, before) => {
      if (!(clearable as readonly string[]).includes(value))
        throw new InvalidArgumentError(`Allowed choices are ${clearable.join(', ')}.`)
      return collect(value, before as readonly string[] | undefined)
    })

export const timeFields = ({ at, every, cron, rrule, dtstart, tz, until, jitter, maxRuns, misfire }: TimeOptions) =>
  given({ at, every, cron, rrule, dtstart, tz, until, jitter, maxRuns, misfire })

/** The body of a create or an edit. */
export async function scheduleBody({ client, options, io }: Caller<ScheduleOptions>): Promise<Record<string, unknown>> {
  const { name, flow, session, channel, note, deliver, overlap, onUnknown, pauseAfterFailures } = options
  const prompt = await promptOf(options, io.stdin)
  const agent = options.agent === undefined ? undefined : await agentId(client, options.agent)
  const fields: Record<string, unknown> = {
    ...given({ name, prompt, flow, session, agent }),
    ...timeFields(options),
    ...given({ channel, note, deliver, check: checkOf(options), overlap, onUnknown, pauseAfterFailures }),
  }
  for (const option of options.clear ?? []) {
    const field = option.replace(/-./g, (dash) => dash.charAt(1).toUpperCase())
    if (field in fields) throw new UsageError(`--clear ${option} and --${option} exclude each other`)
    fields[field] = null
  }
  return fields
}

function checkOf({ check, checkTool, checkArgs }: ScheduleOptions): Record<string, unknown> | undefined {
  if (check !== undefined && checkTool !== undefined)
    throw new UsageError('expected one of --check and --check-tool, got both')
  if (checkArgs !== undefined && checkTool === undefined)
    throw new UsageError('--check-args has an effect only with --check-tool')
  if (check !== undefined) return { script: check }
  if (checkTool === undefined) return undefined
  return {
    tool: checkTool,
    ...given({ args: checkArgs === undefined ? undefined : jsonOf(checkArgs, '--check-args') }),
  }
}

function jsonOf(text: string, option: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${(error as Error).message}`)
  }
}

async function promptOf(options: ScheduleOptions, stdin: NodeJS.ReadableStream): Promise<string | undefined> {
  const { prompt, promptFile } = options
  if (promptFile === undefined) return prompt === '-' ? readInput(stdin) : prompt
  if (prompt !== undefined) throw new UsageError('expected one of --prompt and --prompt-file, got both')
  try {
    return readFileSync(promptFile, 'utf8').trimEnd()
  } catch (error) {
    throw new UsageError(`--prompt-file cannot be read: ${(error as Error).message}`)
  }
}

/** `--dtstart` without a calendar rule would be dropped or misread: an option without effect is an error, never ignored. */
export function refuseIdleOptions({ dtstart, rrule }: TimeOptions): void {
  if (dtstart !== undefined && rrule === undefined) throw new UsageError('--dtstart has an effect only with --rrule')
}

/** A bare number is minutes, as in the API. */
const minutesOrDuration = (value: string): string | number => (/^\d{1,9}$/.test(value) ? Number(value) : value)

const misfire = (value: string): TimeOptions['misfire'] =>
  value === 'once' || value === 'skip' ? value : { within: value }
