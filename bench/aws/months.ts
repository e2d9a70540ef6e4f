import { readFileSync } from 'node:fs'
import { monthly, prices, usdOf } from './prices.ts'
import type { Daily } from './steps.ts'

const daysAMonth = 30.4
const minutesAMonth = daysAMonth * 24 * 60
/** Lambda polls each queue that feeds a function with five long polls of 20 s at once, also while nothing comes. */
const pollsAMinute = 5 * 3
const queues = 2

/** The daily wakes that the README tells the month of. */
export const dailyWakes = [100, 10_000, 1_000_000] as const

/** USD a month. */
export interface Month {
  /** Each with its turn: each by itself, none shares an invocation. */
  readonly wakes: number
  readonly turns: number
  /** What they leave until it expires, with point-in-time recovery. */
  readonly stored: number
  /** What runs though nothing is due: the sweep, the mappings that poll the queues. */
  readonly standing: number
  /** CloudWatch: alarms, metrics, the dashboard. */
  readonly sight: number
  readonly total: number
}

export function monthOf(daily: Daily, wakesADay: number): Month {
  const times = wakesADay * daysAMonth
  const polls = queues * pollsAMinute * minutesAMonth * prices.sqsRequests
  const parts = {
    wakes: times * usdOf(daily.wake.bill),
    turns: times * usdOf(daily.turn.bill),
    stored: times * daily.storedGbMonths * (monthly.storedGb + monthly.recoveryGb),
    standing: minutesAMonth * usdOf(daily.sweep.bill) + polls,
    sight: sightOf(daily.metrics.length),
  }
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) }
}

/** What a prod stack has, as its template says. */
function sightOf(metrics: number): number {
  const file = new URL('../../test/infra/golden/Rouse-prod.json', import.meta.url)
  const { Resources } = JSON.parse(readFileSync(file, 'utf8')) as { Resources: Record<string, { Type: string }> }
  const count = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type).length
  return (
    count('AWS::CloudWatch::Alarm') * monthly.alarm +
    count('AWS::CloudWatch::Dashboard') * monthly.dashboard +
    metrics * monthly.metric
  )
}

export const usd = (amount: number): string =>
  amount < 100 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en-US')

/** The README's table. */
export function monthsTable(daily: Daily): string {
  const lines = dailyWakes.map((wakesADay) => {
    const { wakes, turns, stored, standing, sight, total } = monthOf(daily, wakesADay)
    const cells = [wakes, turns, stored, standing, sight].map(usd)
    return `| ${wakesADay.toLocaleString('en-US')} | ${cells.join(' | ')} | **${usd(total)}** |`
  })
  return `| wakes a day | the wakes | their turns | what they leave | standing | CloudWatch | USD a month |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${lines.join('\n')}`
}
