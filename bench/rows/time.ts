import { fileURLToPath } from 'node:url'
import { Cron } from 'croner'
import { DateTime } from 'luxon'
import rrule from 'rrule'
import { CronRecurrence } from '../../shared/time/compile-plain.ts'
import { readCron } from '../../shared/time/cron.ts'
import { compile, parseSpec, type Recurrence, wallToInstant } from '../../shared/time/index.ts'
import { zoneOf } from '../../shared/time/zone.ts'
import { median, shown } from '../figures.ts'
import type { Cell, Row } from '../row.ts'

const start = Date.parse('2026-11-30T00:00:00Z')
const zones = ['Europe/Amsterdam', 'America/New_York']
const crons = ['0 8 * * 1-5', '*/30 * * * *', '0 0 29 2 *']

const cronNext: Row = {
  id: 'cron-next',
  what: 'Next occurrence of a cron, object kept',
  peer: 'croner 11',
  gate: 'median ≥ 300×, no cell under 200×',
  aim: null,

  async measure() {
    const cells: Cell[] = []
    for (const tz of zones) {
      for (const cron of crons) {
        const ours = compile(parseSpec({ cron, tz }, start))
        const peer = new Cron(cron, { timezone: tz })
        const walked = { ours: walk(ours), peer: walkPeer(peer) }
        cells.push(cell(`${cron} ${tz}, from one to the next`, walked, { ours: 20_000, peer: 100, atLeast: 200 }))
        const anywhere = { ours: random((at) => ours.next(at)), peer: random((at) => peer.nextRun(new Date(at))) }
        cells.push(
          cell(`${cron} ${tz}, asked anywhere in 13 years`, anywhere, { ours: 20_000, peer: 100, atLeast: 200 }),
        )
      }
    }
    const middle = median(cells.map(({ ratio }) => ratio!))
    return {
      cells,
      met: middle >= 300 && cells.every(({ met }) => met),
      aimMet: null,
      summary: `median ${shown(middle)}×, least ${shown(Math.min(...cells.map(({ ratio }) => ratio!)))}×`,
      notes: ['No question is asked twice: each is the answer before it, or a random instant.'],
    }
  },
}

const cronParseNext: Row = {
  id: 'cron-parse-next',
  what: 'Parse a cron and give its next occurrence, zone warm',
  peer: 'croner 11',
  gate: '≥ 100×',
  aim: null,

  async measure() {
    const cells: Cell[] = []
    for (const tz of zones) {
      const zone = zoneOf(tz)
      const spec = { kind: 'cron', cron: '', tz } as const
      const peer = (cron: string) => new Cron(cron, { timezone: tz }).nextRun(new Date(start))
      const alone = {
        ours: texts((cron) => new CronRecurrence(spec, readCron(cron)!, zone).next(start)),
        peer: texts(peer),
      }
      cells.push(cell(`${tz}, nothing kept`, alone, { ours: 20_000, peer: 100, atLeast: 100 }))
      const made = { ours: texts((cron) => compile(parseSpec({ cron, tz }, start)).next(start)), peer: texts(peer) }
      cells.push(
        cell(`${tz}, as a schedule is made: checked, normalised, kept`, made, {
          ours: 20_000,
          peer: 100,
          atLeast: null,
        }),
      )
    }
    const gated = cells.filter(({ met }) => met !== null)
    return {
      cells,
      met: gated.every(({ met }) => met),
      aimMet: null,
      summary: `${gated.map(({ ratio }) => `${shown(ratio!)}×`).join(', ')}; as a schedule is made ${cells
        .filter((c) => c.met === null)
        .map(({ ratio }) => `${shown(ratio!)}×`)
        .join(', ')}`,
      notes: ['10,080 texts in turn, more than are kept, so that none is found compiled.'],
    }
  },
}

const rruleNext: Row = {
  id: 'rrule-next',
  what: 'Next occurrence of a weekly RRULE with a ten-year-old start',
  peer: 'rrule 2.8',
  gate: '≥ 50,000×, and no slower for an older start',
  aim: null,

  async measure() {
    const tz = 'Europe/Amsterdam'
    const peer = new rrule.RRule(
      { freq: rrule.RRule.WEEKLY, dtstart: new Date('2016-11-28T09:00:00Z'), tzid: tz },
      true,
    )
    const weekly = (dtstart: string) => walk(compile(parseSpec({ rrule: 'FREQ=WEEKLY', dtstart, tz }, start)))
    const ours = weekly('2016-11-28T09:00')
    const sides = { ours, peer: random((at) => peer.after(new Date(at)), 86_400_000) }
    const ten = cell('start ten years ago', sides, { ours: 20_000, peer: 1, atLeast: 50_000 })
    // Ours beside ours: noise alone moves this by a tenth or two, a walk from the start would by half.
    const older = cell(
      'start in 1971, beside ten years ago',
      { ours: weekly('1971-01-04T09:00'), peer: ours },
      { ours: 20_000, peer: 20_000, atLeast: 0.8 },
    )
    return {
      cells: [ten, older],
      met: ten.met === true && older.met === true,
      aimMet: null,
      summary: `${shown(ten.ratio!)}×; a start in 1971 takes ${shown(1 / older.ratio!)}× the time`,
      notes: [
        "The peer's questions lie within one day, so that its walk is as long each time. Its cache is off: no question is asked twice.",
      ],
    }
  },
}

const wallToInstantRow: Row = {
  id: 'wall-to-instant',
  what: 'Wall clock to instant',
  peer: 'luxon 3',
  gate: '≥ 300×; first use of a zone ≤ 0.5 ms',
  aim: null,

  async measure() {
    const cells = zones.map((tz) => {
      const ours = walls((wall) => wallToInstant(wall, tz).at)
      const peer = walls((wall) => DateTime.fromObject(wall, { zone: tz }).toMillis())
      return cell(`${tz}, all over a year`, { ours, peer }, { ours: 20_000, peer: 300, atLeast: 300 })
    })
    const first = firstUses()
    cells.push({
      name: 'first use of a zone, median of 52',
      ours: first,
      peer: null,
      unit: 'ms',
      ratio: null,
      met: first <= 0.5,
    })
    const ratios = cells.flatMap(({ ratio }) => ratio ?? [])
    return {
      cells,
      met: cells.every(({ met }) => met),
      aimMet: null,
      summary: `${ratios.map((ratio) => `${shown(ratio)}×`).join(', ')}; first use of a zone ${shown(first)} ms`,
      notes: ['The first formatter of a process costs 13 ms and more, whoever asks for it; it is not in these.'],
    }
  },
}

export const rows: Row[] = [cronNext, cronParseNext, rruleNext, wallToInstantRow]

/** A side asks `n` questions and answers something of all of them, so that none can be left out. */
type Side = (n: number) => number

const rounds = 15

/** Ours and the peer in turn, round by round; the ratio is the median of the rounds' ratios, so that a busy moment spoils one. */
function cell(
  name: string,
  sides: { ours: Side; peer: Side },
  n: { ours: number; peer: number; atLeast: number | null },
): Cell {
  for (let i = 0; i < 3; i++) sides.ours(n.ours)
  sides.peer(n.peer)
  const taken = Array.from({ length: rounds }, () => {
    const ours = microseconds(sides.ours, n.ours)
    const peer = microseconds(sides.peer, n.peer)
    return { ours, peer, ratio: peer / ours }
  })
  const ratio = median(taken.map((t) => t.ratio))
  return {
    name,
    ours: median(taken.map((t) => t.ours)),
    peer: median(taken.map((t) => t.peer)),
    unit: 'µs',
    ratio,
    met: n.atLeast === null ? null : ratio >= n.atLeast,
  }
}

let kept = 0

function microseconds(side: Side, n: number): number {
  const before = performance.now()
  kept += side(n)
  return ((performance.now() - before) * 1000) / n
}

function walk(recurrence: Recurrence): Side {
  let at = start
  return (n) => {
    for (let i = 0; i < n; i++) {
      at = recurrence.next(at)!.at
      if (at > 4e12) at = start
    }
    return at
  }
}

function walkPeer(cron: Cron): Side {
  let at = new Date(start)
  return (n) => {
    for (let i = 0; i < n; i++) {
      at = cron.nextRun(at)!
      if (at.getTime() > 4e12) at = new Date(start)
    }
    return at.getTime()
  }
}

/** Asks at random instants; the same ones on every run. */
function random(ask: (at: number) => unknown, span = 13 * 365 * 86_400_000): Side {
  let seed = 1
  return (n) => {
    let answered = 0
    for (let i = 0; i < n; i++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      if (ask(start + Math.floor((seed / 0x1_0000_0000) * span)) !== null) answered++
    }
    return answered
  }
}

const manyCrons = Array.from(
  { length: 10_080 },
  (_, i) => `${i % 60} ${Math.floor(i / 60) % 24} * * ${Math.floor(i / 1440)}-6`,
)

function texts(ask: (cron: string) => unknown): Side {
  let next = 0
  return (n) => {
    let answered = 0
    for (let i = 0; i < n; i++) {
      next = (next + 1) % manyCrons.length
      if (ask(manyCrons[next]!) !== null) answered++
    }
    return answered
  }
}

function walls(
  ask: (wall: { year: number; month: number; day: number; hour: number; minute: number }) => number,
): Side {
  let next = 0
  return (n) => {
    let sum = 0
    for (let i = 0; i < n; i++) {
      next++
      sum += ask({ year: 2026, month: 1 + (next % 12), day: 1 + (next % 28), hour: next % 24, minute: next % 60 })
    }
    return sum
  }
}

/** ms that the first question in a zone takes, formatter and all. */
function firstUses(): number {
  const unused = Intl.supportedValuesOf('timeZone').filter((name, i) => i % 8 === 3 && !zones.includes(name))
  const taken = unused.map((tz) => {
    const before = performance.now()
    kept += wallToInstant({ year: 2026, month: 11, day: 30, hour: 9, minute: 0 }, tz).at
    return performance.now() - before
  })
  return median(taken)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const row of rows) {
    const { cells, met, summary } = await row.measure()
    console.log(`${row.id}: ${summary}; ${row.gate}: ${met ? 'met' : 'NOT MET'}`)
    for (const c of cells)
      console.log(
        `  ${c.name}: ${shown(c.ours)} ${c.unit}${c.peer === null ? '' : `, peer ${shown(c.peer)}, ${shown(c.ratio!)}×`}${c.met === false ? ' NOT MET' : ''}`,
      )
  }
  if (Number.isNaN(kept)) throw new Error('expected answers, got none')
}
