import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compile, inWords, parseInstant, parseSpec, type SpecInput } from '../../shared/time/index.ts'

/**
 * What the words say is all of the rule: a reader who knows nothing but the words makes a rule of them that names the same times. The reader
 * is written by the words alone, and fails at a word that it does not know.
 */
const now = parseInstant('2026-01-05T08:30:00Z')!
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = 'January February March April May June July August September October November December'.split(' ')
const codes = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const units: Record<string, string> = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY', hour: 'HOURLY' }

function times(input: SpecInput): number[] {
  const recurrence = compile(parseSpec(input, now))
  const out: number[] = []
  for (let at: number | undefined = now; out.length < 12; ) {
    at = recurrence.next(at)?.at
    if (at === undefined) break
    out.push(at)
  }
  return out
}

const listed = (text: string): string[] => text.split(/, and |, | and /)

/** "Monday through Friday", "only on Monday and Wednesday" */
function daysIn(text: string): string {
  return listed(text.replace(/^only on /, ''))
    .map((part) =>
      part
        .split(' through ')
        .map((name) => place(weekdays, name))
        .join('-'),
    )
    .join()
}
const monthsIn = (text: string): string =>
  listed(text.replace(/^only in /, ''))
    .map((part) =>
      part
        .split(' through ')
        .map((name) => place(months, name) + 1)
        .join('-'),
    )
    .join()

function place(names: readonly string[], name: string): number {
  const at = names.indexOf(name)
  if (at < 0) throw new Error(`no word that is known: "${name}"`)
  return at
}

/** A cron made of what cronstrue says of one. */
function cronOf(words: string): string {
  const [, hour, minute, rest = ''] = /^At (\d\d):(\d\d)(?:, (.*))?$/.exec(words) ?? []
  if (hour === undefined) throw new Error(`no words that are known: "${words}"`)
  let [dom, month, dow] = ['*', '*', '*']
  let left = rest
  const day = /^on day ((?:\d+|, and |, | and | through )+) of the month(?:, )?/.exec(left)
  if (day !== null) {
    // "1 and 24 through 26": a stretch among others.
    dom = listed(day[1]!)
      .map((part) => part.replace(' through ', '-'))
      .join()
    left = left.slice(day[0].length)
  }
  const span = /^between day (\d+) and (\d+) of the month(?:, )?/.exec(left)
  if (span !== null) {
    dom = `${span[1]}-${span[2]}`
    left = left.slice(span[0].length)
  }
  const ofMonths = left.search(new RegExp(`(only in )?(${months.join('|')})`))
  const named = (ofMonths < 0 ? left : left.slice(0, ofMonths)).replace(/, $/, '')
  if (named !== '') dow = daysIn(named)
  if (ofMonths >= 0) month = monthsIn(left.slice(ofMonths))
  return `${Number(minute)} ${Number(hour)} ${dom} ${month} ${dow}`
}

const some = (min: number, max: number) =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 })
    .map((all) => all.sort((a, b) => a - b).join())
const range = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .filter(([a, b]) => a < b)
    .map(([a, b]) => `${a}-${b}`)

test('a cron is all in what cronstrue says of it', () => {
  const cron = fc
    .record({
      minute: fc.integer({ min: 0, max: 59 }),
      hour: fc.integer({ min: 0, max: 23 }),
      days: fc.oneof(
        fc.constant('* *'),
        fc.oneof(some(1, 28), range(1, 28)).map((dom) => `${dom} *`),
        fc.oneof(some(0, 6), range(0, 6)).map((dow) => `* ${dow}`),
      ),
      month: fc.oneof(fc.constant('*'), some(1, 12), range(1, 12)),
    })
    .map(({ minute, hour, days, month }) => `${minute} ${hour} ${days.split(' ')[0]} ${month} ${days.split(' ')[1]}`)
  fc.assert(
    fc.property(cron, (rule) => {
      const words = inWords(parseSpec({ cron: rule }, now))
      expect(times({ cron: cronOf(words) }), words).toEqual(times({ cron: rule }))
    }),
    { numRuns: 500 },
  )
})

/** An RRULE made of what we say of one. */
function rruleOf(words: string): SpecInput {
  const [, said = '', from = '', times, until] =
    /^(.*), from (\d{4}-\d\d-\d\d \d\d:\d\d)(?:, (once|\d+ times))?(?:, until (.*))?$/.exec(words) ?? []
  const head = /^every (?:(\d+) )?(day|week|month|year|hour)s?/.exec(said)
  if (head === null) throw new Error(`no words that are known: "${words}"`)
  const parts = [`FREQ=${units[head[2]!]}`, `INTERVAL=${head[1] ?? 1}`]
  let left = said.slice(head[0].length)
  const take = (pattern: RegExp, then: (found: string) => void): void => {
    const found = pattern.exec(left)
    if (found === null) return
    then(found[1]!)
    left = left.replace(found[0], '')
  }
  take(/ on ((?:the )?[^.]*?) of the month/, (days) => parts.push(`BYMONTHDAY=${listed(days).map(nth).join()}`))
  take(/ on ((?:(?:the [\w ]+? )?\w+day(?:, | and )?)+)/, (days) =>
    parts.push(`BYDAY=${listed(days).map(dayOf).join()}`),
  )
  take(
    / in ((?:(?:January|February|March|April|May|June|July|August|September|October|November|December)(?:, | and )?)+)/,
    (all) =>
      parts.push(
        `BYMONTH=${listed(all.trim())
          .map((name) => place(months, name) + 1)
          .join()}`,
      ),
  )
  take(/ at (\d\d:\d\d(?:(?:, | and )\d\d:\d\d)*)/, (all) => {
    const clocks = listed(all).map((clock) => clock.split(':').map(Number) as [number, number])
    parts.push(
      `BYHOUR=${[...new Set(clocks.map(([h]) => h))].join()}`,
      `BYMINUTE=${[...new Set(clocks.map(([, m]) => m))].join()}`,
    )
  })
  take(/ at minutes? ([\d, and]+)/, (all) => parts.push(`BYMINUTE=${listed(all.trim()).join()}`))
  take(/ \(only the (.*) of each \w+\)/, (all) =>
    parts.push(
      `BYSETPOS=${listed(all)
        .map((one) => nth(`the ${one} day`))
        .join()}`,
    ),
  )
  if (left !== '') throw new Error(`words that are not known: "${left}" of "${words}"`)
  if (times !== undefined) parts.push(`COUNT=${times === 'once' ? 1 : Number.parseInt(times, 10)}`)
  if (until !== undefined) parts.push(`UNTIL=${until.replaceAll(/[-:]/g, '').replace(' ', 'T')}00Z`)
  return { rrule: parts.join(';'), dtstart: from.replace(' ', 'T') }
}

/** "the 2nd to last day" → -2 */
function nth(text: string): number {
  const [, n, back, last] = /^the (?:(\d+)(?:st|nd|rd|th)( to last)?|(last))\b/.exec(text) ?? []
  if (last !== undefined) return -1
  if (n === undefined) throw new Error(`no position: "${text}"`)
  return back === undefined ? Number(n) : -Number(n)
}

function dayOf(text: string): string {
  const name = text.split(' ').at(-1)!
  return `${text.startsWith('the ') ? nth(text) : ''}${codes[place(weekdays, name)]}`
}

test('an RRULE is all in what we say of it', () => {
  const day = fc.constantFrom(...codes)
  const nthDay = fc.tuple(fc.constantFrom(1, 2, 3, -1, -2), day).map(([n, code]) => `${n}${code}`)
  const unique = (one: fc.Arbitrary<string>) =>
    fc.uniqueArray(one, { minLength: 1, maxLength: 3 }).map((all) => all.join())
  const clock = fc.record({ hours: some(0, 23), minute: fc.integer({ min: 0, max: 59 }) })
  const time = clock
    .filter(({ hours }) => hours.split(',').length <= 3)
    .map(({ hours, minute }) => `;BYHOUR=${hours};BYMINUTE=${minute}`)
  const end = fc.oneof(
    fc.constant(''),
    fc.integer({ min: 1, max: 30 }).map((n) => `;COUNT=${n}`),
    fc.constant(';UNTIL=20280101T120000Z'),
  )
  const rule = fc
    .tuple(
      fc.oneof(
        fc.tuple(
          fc.constant('WEEKLY'),
          fc.oneof(
            fc.constant(''),
            unique(day).map((d) => `;BYDAY=${d}`),
          ),
        ),
        fc.tuple(
          fc.constant('MONTHLY'),
          fc.oneof(
            unique(nthDay).map((d) => `;BYDAY=${d}`),
            some(1, 28).map((d) => `;BYMONTHDAY=${d}`),
            fc.constant(';BYMONTHDAY=-1'),
            fc.constant(';BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'),
          ),
        ),
        fc.tuple(
          fc.constant('DAILY'),
          fc.oneof(
            fc.constant(''),
            some(1, 12).map((m) => `;BYMONTH=${m}`),
          ),
        ),
      ),
      fc.integer({ min: 1, max: 4 }),
      time,
      end,
    )
    .map(([[freq, days], interval, at, ends]) => `FREQ=${freq};INTERVAL=${interval}${days}${at}${ends}`)
  fc.assert(
    fc.property(rule, (rrule) => {
      const input = { rrule, dtstart: '2026-01-05T08:30' }
      const words = inWords(parseSpec(input, now))
      // What a cron says as well is said as that cron is.
      if (words.startsWith('At ')) {
        if (/^At \d\d:\d\d(,(?! \d)|$)/.test(words)) expect(times({ cron: cronOf(words) }), words).toEqual(times(input))
        return
      }
      expect(times(rruleOf(words)), `${rrule}: ${words}`).toEqual(times(input))
    }),
    { numRuns: 500 },
  )
})
