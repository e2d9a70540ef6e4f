import { CelInvalid, type Json } from '../cel/index.ts'
import { formatInstant, parseDuration, parseInstant } from '../time/index.ts'
import { compileCondition } from './condition.ts'
import { limits } from './limits.ts'
import { monitorFault, type Watch } from './monitor.ts'
import { textFault } from './names.ts'

/** What a caller sends to arm a monitor. */
export interface MonitorInput {
  /** The session that it wakes; left out: the one that the call acts in. */
  readonly session?: string | undefined
  /** 1..2,000 characters: what the agent told itself to do then. */
  readonly note: string
  /** Exactly one of the three. */
  readonly watch: {
    readonly document?: { readonly path: string } | undefined
    readonly time?: { readonly at?: string | undefined; readonly in?: string | number | undefined } | undefined
    readonly tool?:
      | {
          readonly name: string
          readonly args?: { readonly [name: string]: Json } | undefined
          readonly every: string | number
        }
      | undefined
  }
  /** CEL: see `conditionNames`. */
  readonly when?: string | undefined
  /** A duration, or a number of minutes. */
  readonly expiresIn?: string | number | undefined
}

/** What is asked for, read and within its bounds. A tool's hash is the engine's to add. */
export interface Asked {
  readonly watch: Watch
  readonly when: string | null
  readonly expiresAt: number
}

/** @throws Refused `monitor_invalid` naming the field, with nothing looked up yet */
export function readMonitor(input: MonitorInput, now: number): Asked {
  const fault = input.note.trim() === '' ? 'expected a text, got none' : textFault(input.note)
  if (fault !== null) throw monitorFault('note', fault)
  if ([...input.note].length > limits.noteCharsMax)
    throw monitorFault('note', `expected at most ${limits.noteCharsMax} characters, got ${[...input.note].length}`)
  const given = Object.entries(input.watch).filter(([, value]) => value !== undefined)
  if (given.length !== 1)
    throw monitorFault('watch', `expected exactly one of document, time and tool, got ${given.length}`)
  const expiresAt = now + expiryMs(input.expiresIn)
  const watch = readWatch(input, expiresAt, now)
  return { watch, when: conditionOf(watch, input.when), expiresAt }
}

function expiryMs(expiresIn: string | number | undefined): number {
  if (expiresIn === undefined) return limits.monitorExpiryMsDefault
  const ms = lengthMs(expiresIn, 'expiresIn')
  if (ms > limits.monitorExpiryMsMax)
    throw monitorFault(
      'expiresIn',
      `expected at most 7 days, got ${lengthText(ms)}. Arm a new one when it is over and still needed`,
    )
  return ms
}

function readWatch({ watch: { document, time, tool } }: MonitorInput, expiresAt: number, now: number): Watch {
  if (document !== undefined) return { kind: 'document', path: document.path }
  if (time !== undefined) return { kind: 'time', at: readTime(time, expiresAt, now) }
  const { name, args = {}, every } = tool!
  const everyMs = lengthMs(every, 'watch.tool.every')
  if (everyMs < limits.toolWatchMsMin)
    throw monitorFault(
      'watch.tool.every',
      `expected ${lengthText(limits.toolWatchMsMin)} or more, got ${lengthText(everyMs)}`,
    )
  if (now + everyMs >= expiresAt)
    throw monitorFault(
      'expiresIn',
      `the tool would first be run after ${lengthText(everyMs)}, when the monitor has expired (${formatInstant(expiresAt)}): let it live longer, or look more often`,
    )
  return { kind: 'tool', name, args, everyMs, hash: '' }
}

function readTime(time: { at?: string | undefined; in?: string | number | undefined }, expiresAt: number, now: number) {
  if ((time.at === undefined) === (time.in === undefined))
    throw monitorFault('watch.time', 'expected either "at" (an instant) or "in" (a duration)')
  const at = time.in === undefined ? parseInstant(time.at!) : now + lengthMs(time.in, 'watch.time.in')
  if (at === null)
    throw monitorFault(
      'watch.time.at',
      `expected an instant such as 2026-11-02T09:00:00Z, or a local time with its offset, got "${time.at!.slice(0, 40)}"`,
    )
  if (at <= now)
    throw monitorFault(
      'watch.time.at',
      `expected a time to come, got ${formatInstant(at)}; now is ${formatInstant(now)}`,
    )
  if (at > expiresAt)
    throw monitorFault(
      'expiresIn',
      `the time ${formatInstant(at)} lies beyond the expiry ${formatInstant(expiresAt)}: raise expiresIn (at most 7 days), or make a schedule`,
    )
  return at
}

function conditionOf(watch: Watch, when: string | undefined): string | null {
  if (when === undefined) return null
  if (watch.kind === 'time')
    throw monitorFault('when', 'a time takes no condition: leave it out, or watch a document or a tool')
  try {
    compileCondition(when, watch.kind)
    return when
  } catch (error) {
    if (error instanceof CelInvalid) throw monitorFault('when', error.detail)
    throw error
  }
}

function lengthMs(length: string | number, path: string): number {
  const ms = parseDuration(length)
  if (ms === null || ms === 0)
    throw monitorFault(path, 'expected a duration such as "30m", "PT30M" or a number of minutes, more than 0')
  return ms
}

const lengthText = (ms: number): string => {
  if (ms % 86_400_000 === 0) return `${ms / 86_400_000} days`
  return ms < 60_000 ? `${ms / 1000} seconds` : `${Math.round(ms / 600) / 100} minutes`
}
