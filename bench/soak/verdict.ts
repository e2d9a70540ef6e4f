import { median } from '../figures.ts'
import type { Machine } from '../machine.ts'
import type { Counts } from './ledger.ts'
import type { Sample } from './samples.ts'
import { slope } from './slope.ts'

/** One soak, as kept in bench/results/soak. */
export interface SoakRun {
  at: string
  commit: string
  machine: Machine
  minutes: number
  rate: number
  retention: string
  samples: Sample[]
  /** null: it did not come to its end */
  counts: Counts | null
}

export interface Verdict {
  what: string
  met: boolean
  says: string
}

/** Growth an hour that counts as flat, as a share of the middle. */
const flatShare = 0.1
/** A p99 that grows by less than this an hour is flat, whatever its share. */
const flatMs = 20

/** What a soak must show. Growth is looked at from the moment on at which retention has taken hold: until then everything only comes. */
export function verdictOf(run: SoakRun): Verdict[] {
  const settled = run.samples.filter(({ minute }) => minute >= run.minutes * 0.4)
  if (settled.length < 2) return [{ what: 'the run', met: false, says: 'too short to say anything' }]
  const figure = (of: keyof Sample) => {
    const points = settled.map((sample) => [sample.minute, sample[of] as number] as const)
    return {
      middle: median(points.map(([, y]) => y)),
      hourly: slope(points) * 60,
      most: Math.max(...points.map(([, y]) => y)),
    }
  }
  const flat = (what: string, of: keyof Sample, unit: string, leastGrowth = 0): Verdict => {
    const { middle, hourly, most } = figure(of)
    const met = hourly <= Math.max(middle * flatShare, leastGrowth)
    return {
      what,
      met,
      says: `median ${round(middle)} ${unit}, at most ${round(most)}, ${signed(hourly)} ${unit} an hour`,
    }
  }
  const { counts } = run
  const sum = (of: 'wakes' | 'doubled' | 'passedOver' | 'failed') =>
    run.samples.reduce((all, sample) => all + sample[of], 0)
  return [
    flat('memory, RSS', 'rssMb', 'MB'),
    flat('memory, heap in use', 'heapUsedMb', 'MB', 10),
    flat('lateness, p50', 'p50', 'ms', flatMs),
    flat('lateness, p99', 'p99', 'ms', flatMs),
    flat('database', 'databaseMb', 'MB'),
    flat('WAL', 'walMb', 'MB', 16),
    flat('logs', 'logsMb', 'MB', 16),
    {
      what: 'on the way',
      met: sum('doubled') + sum('passedOver') + sum('failed') === 0,
      says: `${sum('wakes')} wakes; ${sum('doubled')} doubled, ${sum('passedOver')} passed over, ${sum('failed')} calls failed`,
    },
    {
      what: 'the ledgers',
      met:
        counts !== null &&
        counts.claimed === counts.expected &&
        counts.rowsMissing + counts.rowsDoubled + counts.rowsOther + counts.rowsOverdue === 0,
      says:
        counts === null
          ? 'not read: the run did not come to its end'
          : `${counts.claimed} of ${counts.expected} nominal times claimed once; of ${counts.rows} rows kept, ${counts.rowsMissing} missing, ${counts.rowsDoubled} doubled, ${counts.rowsOther} not fired and ok, ${counts.rowsOverdue} long past retention`,
    },
  ]
}

export const shownAs = (s: Sample): string =>
  `${s.minute.toFixed(1)} min · ${s.wakes} wakes · late p50 ${s.p50} p99 ${s.p99} max ${s.most} ms · RSS ${s.rssMb} heap ${s.heapUsedMb} MB · db ${s.databaseMb} wal ${s.walMb} logs ${s.logsMb} MB · CPU ${s.cpuPercent} %${s.failed > 0 ? ` · ${s.failed} failed: ${s.lastFault}` : ''}`

const round = (value: number): string => value.toFixed(value >= 100 ? 0 : 1)
const signed = (value: number): string => `${value >= 0 ? '+' : ''}${round(value)}`
