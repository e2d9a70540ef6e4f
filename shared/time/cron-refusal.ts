import { cronCharsMax } from './limits.ts'
import { quoted, SpecInvalid } from './types.ts'

/** Says what is wrong with a cron that could not be read, and what to write instead. Only refusals come here, so it may take its time. */
export function cronInvalid(text: string): SpecInvalid {
  return new SpecInvalid('cron', detailOf(text))
}

function detailOf(text: string): string {
  if (text.length > cronCharsMax)
    return `Expected a cron of at most ${cronCharsMax} characters, got ${text.length}. Write ranges and steps instead of long lists, e.g. "0-59/2".`
  const trimmed = text.trim()
  if (trimmed === '') return `Expected a cron of five fields, got an empty text. ${fiveFields}`
  if (trimmed.startsWith('@')) return shorthand(trimmed)
  const fields = trimmed.split(/[ \t]+/)
  if (fields.length !== 5) return wrongNumber(text, fields)
  for (const [i, field] of fields.entries()) {
    const wrong = wrongIn(field, shapes[i]!)
    if (wrong !== null) return `In the cron ${quoted(text)}, ${shapes[i]!.what} ${quoted(field)}: ${wrong}`
  }
  return `Expected a cron of five fields, got ${quoted(text)}. ${fiveFields}`
}

const fiveFields = 'Write minute, hour, day of month, month, weekday, e.g. "0 8 * * 1-5" for weekdays at 08:00.'

function shorthand(text: string): string {
  const word = text.toLowerCase().split(/\s/)[0]!
  const instead = new Map([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
  ]).get(word)
  if (instead !== undefined) return `Expected five fields, got ${quoted(text)}. Write "${instead}".`
  if (word === '@every')
    return `Expected five fields, got ${quoted(text)}. Use "every" instead of "cron", e.g. every: "30m".`
  return `Expected five fields, got ${quoted(text)}, which names no time. ${fiveFields}`
}

function wrongNumber(text: string, fields: string[]): string {
  const said = `Expected a cron of five fields, got ${fields.length} in ${quoted(text)}.`
  if (fields.length === 6 || fields.length === 7) {
    const without = fields
      .slice(1, 6)
      .map((f) => (f === '?' ? '*' : f))
      .join(' ')
    return `${said} Seconds and years are not taken: write ${quoted(without)} if the first field is seconds.`
  }
  return `${said} ${fiveFields}`
}

interface Shape {
  what: string
  min: number
  max: number
  names: readonly string[]
}

const shapes: readonly Shape[] = [
  { what: 'minute', min: 0, max: 59, names: [] },
  { what: 'hour', min: 0, max: 23, names: [] },
  { what: 'day of month', min: 1, max: 31, names: [] },
  { what: 'month', min: 1, max: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ') },
  { what: 'weekday', min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT'.split(' ') },
]

function wrongIn(field: string, shape: Shape): string | null {
  for (const item of field.split(',')) {
    const wrong = wrongItem(
      item.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
      shape,
    )
    if (wrong !== null) return wrong
  }
  return null
}

function wrongItem(item: string, shape: Shape): string | null {
  if (item === '') return 'there is nothing before or after a comma. Leave the comma out.'
  const foreign = foreignSign(item, shape)
  if (foreign !== null) return foreign
  const [range = '', step, ...more] = item.split('/')
  if (more.length > 0) return 'one step at most. Write e.g. "*/15".'
  if (step !== undefined) {
    if (!/^\d+$/.test(step)) return 'a step is a number. Write e.g. "*/15".'
    if (Number(step) === 0) return 'a step is at least 1. Write "*" for every one.'
    if (step.length > 4) return `a step has at most four digits. Write a number up to ${shape.max}.`
    if (range !== '*' && !range.includes('-'))
      return `a step needs a range. Write ${quoted(`${range}-${shape.max === 7 ? 6 : shape.max}/${step}`)} or ${quoted(`*/${step}`)}.`
  }
  if (range === '*') return null
  const ends = range.split('-')
  if (ends.length > 2) return 'a range has two ends. Write e.g. "1-5".'
  const values = ends.map((end) => readValue(end, shape))
  for (const value of values) if (typeof value === 'string') return value
  const [first, last] = values as number[]
  if (first !== undefined && last !== undefined && first > last) return reversed(first, last, shape)
  return null
}

function readValue(text: string, shape: Shape): number | string {
  if (text === '') return 'a value is missing. Write e.g. "1-5" or "*".'
  if (/^\d+$/.test(text)) {
    const n = Number(text)
    if (text.length <= 4 && n >= shape.min && n <= shape.max) return n
    return `a value is ${shape.min} to ${shape.max}, got ${quoted(text)}.${hintBeyond(n, shape)}`
  }
  const index = shape.names.indexOf(text)
  if (index !== -1) return index + (shape.max === 12 ? 1 : 0)
  const short = shape.names.find((name) => text.startsWith(name))
  if (short !== undefined) return `names have three letters. Write ${short} instead of ${quoted(text)}.`
  const names = shape.names.length === 0 ? '' : `, or ${shape.names[0]} to ${shape.names[shape.names.length - 1]}`
  return `a value is ${shape.min} to ${shape.max}${names}, got ${quoted(text)}. Write a number.`
}

function hintBeyond(n: number, shape: Shape): string {
  if (shape.max === 59 && n === 60) return ' Write 0 for the full hour.'
  if (shape.max === 23 && n === 24) return ' Write 0 for midnight.'
  if (n === 0) return ` Write ${shape.min} for the first.`
  return ` Write at most ${shape.max}.`
}

function reversed(first: number, last: number, shape: Shape): string {
  // Sunday stands at both ends of the week, so FRI-SUN is 5-7.
  if (shape.max === 7 && last === 0) return `a range goes upwards, and SUN is 0 here. Write "${first}-7".`
  const top = shape.max === 7 ? 6 : shape.max
  const upper = first === top ? `${first}` : `${first}-${top}`
  const lower = last === shape.min ? `${last}` : `${shape.min}-${last}`
  return `a range goes upwards. Write "${upper},${lower}".`
}

/** Signs that other crons know. */
function foreignSign(item: string, shape: Shape): string | null {
  if (item === '?') return '"?" belongs to another cron. Write "*".'
  if (item.includes('#')) {
    const [day, nth] = item.split('#')
    return `"#" is not cron. Use rrule instead: "FREQ=MONTHLY;BYDAY=${nth && /^[1-5]$/.test(nth) ? nth : '2'}${dayCode(day!)}".`
  }
  if (shape.max === 31 && item.includes('W'))
    return '"W" is not cron. Use rrule instead, e.g. the last working day: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1".'
  if (shape.max === 31 && item.startsWith('L'))
    return '"L" is not cron. Use rrule instead: "FREQ=MONTHLY;BYMONTHDAY=-1" for the last day of the month.'
  if (shape.max === 7 && /^(?:[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)?L$/.test(item))
    return item === 'L'
      ? '"L" is not cron. Write 6 for Saturday.'
      : `"L" is not cron. Use rrule instead: "FREQ=MONTHLY;BYDAY=-1${dayCode(item.slice(0, -1))}".`
  if (/[HR~]/.test(item) && shape.names.length === 0)
    return 'random and hashed times are not cron. Write a fixed number, and set "jitter" to spread.'
  return null
}

function dayCode(text: string): string {
  const names = shapes[4]!.names
  const index = /^[0-7]$/.test(text) ? Number(text) % 7 : names.indexOf(text)
  return index === -1 ? 'MO' : names[index]!.slice(0, 2)
}
