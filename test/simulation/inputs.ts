import type { MonitorInput } from '../../shared/engine/monitors.ts'
import type { SchedulePatch } from '../../shared/engine/schedule-edit.ts'
import type { ScheduleInput } from '../../shared/engine/schedules.ts'
import type { TriggerInput } from '../../shared/engine/triggers.ts'

/** What schedules, triggers and monitors of a simulated world may be, picked by numbers. */
export type Pick = (upTo: number) => number

const zones = [
  'Europe/Amsterdam',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kathmandu',
  'UTC',
]
const of = <T>(pick: Pick, all: readonly T[]): T => all[pick(all.length)]!
const iso = (at: number): string => new Date(at).toISOString()
const minute = 60_000
const hour = 60 * minute

export function timeOf(pick: Pick, now: number): Partial<ScheduleInput> {
  const tz = of(pick, zones)
  switch (pick(9)) {
    case 0:
      return { at: iso(now + (pick(600) + 1) * minute) }
    case 1:
      return { every: of(pick, ['5m', '7m', '17m', '45m', '1h', '3h']) }
    case 2:
      return { every: of(pick, ['20m', '1h', '5h', '1d']) }
    case 3:
      return { at: iso(now + (pick(90) + 1) * minute), every: of(pick, ['15m', '50m', '6h']) }
    case 4:
      return { cron: of(pick, ['*/30 * * * *', '0 * * * *', '30 1-3 * * *', '0 2 * * *', '15 0,12 * * *']), tz }
    case 5:
      return { cron: of(pick, ['0 9 * * 1-5', '30 2 * * 0,6', '0 0 1 * *', '45 */2 * * *']), tz }
    case 6:
      return {
        rrule: of(pick, ['FREQ=HOURLY;INTERVAL=2', 'FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30', 'FREQ=HOURLY;COUNT=9']),
        tz,
      }
    case 7:
      return {
        rrule: of(pick, ['FREQ=MINUTELY;INTERVAL=40', 'FREQ=DAILY;BYHOUR=0,1,2,3', 'FREQ=WEEKLY;BYDAY=SU,SA']),
        tz,
      }
    default:
      return { at: `${iso(now + 26 * hour).slice(0, 11)}02:30`, tz }
  }
}

export function policyOf(pick: Pick, now: number): Partial<ScheduleInput> {
  const policy: Record<string, unknown> = {}
  if (pick(3) === 0) policy.overlap = of(pick, ['skip', 'buffer', 'allow', 'cancel'])
  if (pick(3) === 0) policy.misfire = of(pick, ['once', 'skip', { within: '20m' }])
  if (pick(3) === 0) policy.onUnknown = 'retry'
  if (pick(4) === 0) policy.jitter = of(pick, ['2m', '10m', '29m', '3h'])
  if (pick(5) === 0) policy.maxRuns = pick(5) + 1
  if (pick(5) === 0) policy.pauseAfterFailures = pick(3) + 1
  if (pick(6) === 0) policy.until = iso(now + (pick(20) + 1) * hour)
  if (pick(5) === 0)
    policy.deliver = of(pick, [['webhook:https://hooks.test/a'], ['webhook:https://hooks.test/b', 'feed:runs']])
  return policy
}

export function checkOf(pick: Pick): Partial<ScheduleInput> {
  switch (pick(8)) {
    case 0:
      return { check: { script: 'checks/new.sh' } }
    case 1:
      return { check: { tool: 'rate', args: {} } }
    default:
      return {}
  }
}

export function patchOf(pick: Pick, now: number): SchedulePatch {
  switch (pick(7)) {
    case 0:
      return timeOf(pick, now)
    case 1:
      return { ...timeOf(pick, now), ...policyOf(pick, now) }
    case 2:
      return { prompt: 'Look again.' }
    case 3:
      return of<SchedulePatch>(pick, [
        { jitter: null },
        { maxRuns: null },
        { until: null },
        { pauseAfterFailures: null },
        { jitter: '20m' },
      ])
    case 4:
      return of<SchedulePatch>(pick, [{ until: iso(now + 2 * hour) }, { maxRuns: pick(4) + 1 }, { name: 'Renamed' }])
    default:
      return policyOf(pick, now)
  }
}

export const paths = ['state/a', 'state/b', 'notes/x', 'notes/y'] as const

export function monitorOf(pick: Pick, now: number): Omit<MonitorInput, 'session'> {
  const expiresIn = of(pick, ['1h', '3h', '24h', '7d'])
  const note = 'Tell them.'
  switch (pick(5)) {
    case 0:
      return { note, watch: { time: { at: iso(now + (pick(50) + 1) * minute) } }, expiresIn }
    case 1:
      return {
        note,
        watch: { tool: { name: 'rate', every: of(pick, ['5m', '20m']) } },
        expiresIn,
        ...(pick(2) === 0 ? { when: 'output.value == 2' } : {}),
      }
    case 2:
      return { note, watch: { document: { path: of(pick, paths) } }, when: 'doc.value > 5', expiresIn }
    case 3:
      return {
        note,
        watch: { document: { path: of(pick, paths) } },
        when: 'before != null && doc.value != before.value',
        expiresIn,
      }
    default:
      return { note, watch: { document: { path: of(pick, paths) } }, expiresIn }
  }
}

export function triggerOf(pick: Pick, now: number): Omit<TriggerInput, 'session' | 'agent'> {
  return {
    name: 'On change',
    prompt: 'See what changed.',
    on: { document: pick(2) === 0 ? { path: of(pick, paths) } : { prefix: of(pick, ['state/', 'notes/']) } },
    ...(pick(3) === 0 ? { when: 'doc.value > 4' } : {}),
    ...(pick(3) === 0 ? { settle: '5m' } : {}),
    ...(pick(4) === 0 ? { maxPerDay: 3 } : {}),
    ...(pick(5) === 0 ? { until: iso(now + 5 * hour) } : {}),
  }
}
