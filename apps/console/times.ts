import { timeIn } from '../cli/times.ts'

export { adjustedNote, relative } from '../cli/times.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A time as people read it: `Mon 2 Mar`, `08:00`, `+01:00`. The year stands with the day where it is another than now. */
export interface Shown {
  readonly day: string
  readonly time: string
  readonly offset: string
}

/** An instant of the API in a zone. */
export const shownIn = (at: string, tz: string, nowMs: number): Shown => shownOf(timeIn(at, tz), tz, nowMs)

function shownOf(text: string, tz: string, nowMs: number): Shown {
  const parts = /^(\w{3}) (\d{4})-(\d\d)-(\d\d) (\S+) (\S+)$/.exec(text)
  if (parts === null) return { day: text, time: '', offset: '' }
  const [, weekday, year, month, day, time, offset] = parts
  const thisYear = timeIn(new Date(nowMs).toISOString(), tz).slice(4, 8)
  const named = `${weekday} ${Number(day)} ${months[Number(month) - 1]}`
  return {
    day: year === thisYear ? named : `${named} ${year}`,
    // A slot's time has no milliseconds; what happened then is told to the second.
    time: time!.replace(/\.\d+$/, ''),
    offset: offset!,
  }
}

/** The zone of this browser, for what has none of its own. */
export const ownZone: string = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

export const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]
