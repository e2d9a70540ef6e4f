import type { Page } from '../../client/shapes.ts'
import type { Screen } from '../screen.ts'
import { relative } from '../times.ts'

/** The parts of a card that people read. */
export interface Card extends Brief {
  readonly body: string | null
  readonly group: string | null
  readonly actions: readonly string[]
  readonly status: string
  readonly reason: string | null
  readonly schedule: string | null
  readonly run: string | null
}

/** A card in the summary of its group. */
interface Brief {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly label: string | null
  readonly loop: string | null
  readonly seen: number
  readonly autoSendOn: string | null
  readonly daysLeft: number | null
  readonly at: string
}

type Labels = Readonly<Record<string, number>>

export interface Feed extends Page<Card> {
  readonly labels: Labels
}

export interface GroupSummary {
  readonly group: string
  readonly at: string | null
  readonly open: number
  readonly settled: number
  readonly labels: Labels
  readonly cards: readonly Brief[]
  readonly more: number
}

const bodyLinesMax = 3

/** A heading per group, the label chips that there are above all. */
export function showFeed(screen: Screen, feed: Feed, nowMs: number): void {
  const chips = chipsOf(feed.labels)
  if (chips !== '') screen.line(`${screen.dim('labels')}  ${chips}`)
  let group: string | null | undefined
  for (const card of feed.data) {
    if (card.group !== group) {
      if (group !== undefined || chips !== '') screen.line()
      screen.line(card.group === null ? screen.dim('in no group') : screen.bold(oneLine(card.group)))
    }
    group = card.group
    showCard(screen, card, { nowMs, bodyLinesMax })
  }
}

/** The title with what matters of it, some of the text, and what can be done, below each other. */
export function showCard(screen: Screen, card: Card, o: { nowMs: number; bodyLinesMax: number }): void {
  const settled = card.status === 'open' ? '' : ` · ${card.status}`
  screen.line(`  ${titleOf(screen, card)}${settled}`)
  const lines = card.body === null ? [] : card.body.split('\n')
  for (const text of lines.slice(0, o.bodyLinesMax)) screen.line(text === '' ? '' : `    ${text}`)
  if (lines.length > o.bodyLinesMax)
    screen.line(screen.dim(`    … ${lines.length - o.bodyLinesMax} more lines: rouse feed show ${card.id}`))
  if (card.reason !== null) screen.line(`    why: ${card.reason.replaceAll('_', ' ')}`)
  const can = card.actions.length === 0 ? '' : ` · ${card.actions.join(', ')}`
  screen.line(screen.dim(`    ${card.id} · ${relative(card.at, o.nowMs)}${can}`))
}

/** What is open in a group, one line a card. */
export function showSummary(screen: Screen, summary: GroupSummary, nowMs: number): void {
  const settled = summary.settled === 0 ? '' : `, ${summary.settled} settled`
  const last = summary.at === null ? '' : `, last ${relative(summary.at, nowMs)}`
  screen.line(`${screen.bold(oneLine(summary.group))}: ${summary.open} open${settled}${last}`)
  const chips = chipsOf(summary.labels)
  if (chips !== '') screen.line(`${screen.dim('labels')}  ${chips}`)
  for (const card of summary.cards) {
    const loop = card.loop === null ? '' : screen.dim(` · loop ${oneLine(card.loop)}`)
    screen.line(`  ${titleOf(screen, card)}${loop} ${screen.dim(card.id)}`)
  }
  if (summary.more > 0) screen.line(screen.dim(`  … and ${summary.more} more`))
}

export const nextRun = (card: Card): string =>
  `Asked for ${card.run}; \`rouse schedule runs ${card.schedule}\` shows what became of it.`

function titleOf(screen: Screen, card: Brief): string {
  const label = card.label === null ? '' : `[${card.label}] `
  const seen = card.seen > 1 ? ` · seen ${card.seen} times` : ''
  return `${label}${screen.bold(oneLine(card.title))}${seen}${countdown(card)}`
}

function countdown({ autoSendOn, daysLeft }: Brief): string {
  if (autoSendOn === null || daysLeft === null) return ''
  if (daysLeft === 0) return ' · sends today'
  if (daysLeft < 0) return ` · was to be sent on ${autoSendOn}`
  return ` · sends in ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'} (${autoSendOn})`
}

const chipsOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, count]) => `${label} ${count}`)
    .join(' · ')

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
