import type { Schedule } from '../shapes.ts'
import { ownZone } from '../times.ts'

/** What stands in the form while one types. Everything is text: what it means, the server says. */
export interface Draft {
  readonly name: string
  readonly agent: string
  /** Empty: a new conversation for each run. */
  readonly session: string
  readonly does: 'prompt' | 'flow'
  readonly prompt: string
  readonly flow: string
  readonly time: 'cron' | 'rrule' | 'once' | 'every'
  readonly cron: string
  readonly rrule: string
  readonly dtstart: string
  readonly once: string
  readonly every: string
  /** First time of an interval; empty: from now on. */
  readonly from: string
  readonly tz: string
  readonly channel: string
  readonly checks: 'nothing' | 'script' | 'tool'
  readonly script: string
  readonly tool: string
  readonly args: string
  readonly note: string
  /** One address a line. */
  readonly deliver: string
  /** `once`, `skip`, or a duration. */
  readonly misfire: string
  readonly overlap: string
  readonly onUnknown: string
  readonly jitter: string
  readonly until: string
  readonly maxRuns: string
  readonly pauseAfterFailures: string
}

export const blank: Draft = {
  name: '',
  agent: '',
  session: '',
  does: 'prompt',
  prompt: '',
  flow: '',
  time: 'cron',
  cron: '0 8 * * 1-5',
  rrule: '',
  dtstart: '',
  once: '',
  every: '1h',
  from: '',
  tz: ownZone,
  channel: '',
  checks: 'nothing',
  script: '',
  tool: '',
  args: '',
  note: '',
  deliver: '',
  misfire: '',
  overlap: '',
  onUnknown: '',
  jitter: '',
  until: '',
  maxRuns: '',
  pauseAfterFailures: '',
}

const text = (value: string | number | null): string => (value === null ? '' : String(value))

/** A schedule as the form shows it. */
export function draftOf(s: Schedule): Draft {
  const time = s.cron !== null ? 'cron' : s.rrule !== null ? 'rrule' : s.every !== null ? 'every' : 'once'
  return {
    ...blank,
    name: s.name,
    agent: s.agent,
    session: text(s.session),
    does: s.kind,
    prompt: text(s.prompt),
    flow: text(s.flow),
    time,
    cron: text(s.cron),
    rrule: text(s.rrule),
    dtstart: text(s.dtstart),
    once: time === 'once' ? text(s.at) : '',
    every: text(s.every),
    from: time === 'every' ? text(s.at) : '',
    tz: s.tz,
    channel: text(s.channel),
    checks: s.check === null ? 'nothing' : 'script' in s.check ? 'script' : 'tool',
    script: s.check !== null && 'script' in s.check ? s.check.script : '',
    tool: s.check !== null && 'tool' in s.check ? s.check.tool : '',
    args: s.check !== null && 'tool' in s.check && s.check.args != null ? JSON.stringify(s.check.args) : '',
    note: text(s.note),
    deliver: s.deliver.join('\n'),
    misfire: typeof s.misfire === 'string' ? s.misfire : s.misfire.within,
    overlap: s.overlap,
    onUnknown: s.onUnknown,
    jitter: text(s.jitter),
    until: text(s.until),
    maxRuns: text(s.maxRuns),
    pauseAfterFailures: text(s.pauseAfterFailures),
  }
}

type Body = Readonly<Record<string, unknown>>

const orNull = (value: string): string | null => (value.trim() === '' ? null : value.trim())
/** What is no number goes out as it is: the server says what it expected. */
const numberOrNull = (value: string): number | string | null =>
  orNull(value) === null ? null : Number.isNaN(Number(value)) ? value : Number(value)

/** When it runs: what a preview is asked with too. Null where there is nothing yet to ask. */
export function timeOf(d: Draft): Body | null {
  const tz = orNull(d.tz)
  switch (d.time) {
    case 'cron':
      return orNull(d.cron) === null ? null : { cron: d.cron.trim(), tz }
    case 'rrule':
      return orNull(d.rrule) === null ? null : { rrule: d.rrule.trim(), dtstart: orNull(d.dtstart), tz }
    case 'once':
      return orNull(d.once) === null ? null : { at: d.once.trim(), tz }
    case 'every':
      return orNull(d.every) === null ? null : { every: d.every.trim(), at: orNull(d.from), tz }
  }
}

/** The whole body of a create. */
export function bodyOf(d: Draft): Body {
  const misfire = orNull(d.misfire)
  return {
    name: d.name,
    ...(d.session === '' ? { agent: orNull(d.agent), session: null } : { session: d.session, agent: null }),
    ...(d.does === 'flow' ? { flow: orNull(d.flow), prompt: null } : { prompt: orNull(d.prompt), flow: null }),
    ...timeOf(d),
    channel: orNull(d.channel),
    check: checkOf(d),
    note: orNull(d.note),
    deliver: d.deliver.split('\n').flatMap((line) => orNull(line) ?? []),
    misfire: misfire === null || misfire === 'once' || misfire === 'skip' ? misfire : { within: misfire },
    overlap: orNull(d.overlap),
    onUnknown: orNull(d.onUnknown),
    jitter: orNull(d.jitter),
    until: orNull(d.until),
    maxRuns: numberOrNull(d.maxRuns),
    pauseAfterFailures: numberOrNull(d.pauseAfterFailures),
  }
}

function checkOf(d: Draft): unknown {
  if (d.checks === 'script') return { script: d.script }
  if (d.checks === 'tool') return { tool: d.tool, ...(orNull(d.args) === null ? {} : { args: parsed(d.args) }) }
  return null
}

/** Text that is no JSON goes out as text: the server says that it expected an object. */
function parsed(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

/** What an edit has changed: the rest is left out, and stays. */
export function changesOf(before: Draft, after: Draft): Body {
  const [was, is] = [bodyOf(before), bodyOf(after)]
  const differs = (name: string): boolean => JSON.stringify(was[name]) !== JSON.stringify(is[name])
  const changed = Object.keys(is).filter(differs)
  // Another kind of time replaces the old one by itself; one that stays what it was must not lose what belongs to it.
  return Object.fromEntries(changed.map((name) => [name, is[name]]))
}
