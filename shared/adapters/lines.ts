import type { Log, LogIds, LogLevel } from '../ports/log.ts'

const ranks = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>

export interface LinesOptions {
  readonly write: (line: string) => void
  /** Lines below this level are left out. */
  readonly level: LogLevel
  /** What every line has besides; null: nothing. */
  readonly beside?: (() => LogIds) | null
}

/**
 * One line of JSON per entry: `timestamp`, `level`, `what`, then ids. Lambda takes time and level from these names, and hands the rest
 * to CloudWatch as it is; other collectors of logs know them too. No id replaces them.
 */
export function jsonLog({ write, level, beside = null }: LinesOptions): Log {
  return leveled(level, (at, what, ids) => {
    const head = { timestamp: new Date().toISOString(), level: at.toUpperCase(), what }
    write(`${JSON.stringify({ ...head, ...beside?.(), ...ids, ...head })}\n`)
  })
}

/** For people: time, level, what, then `name=value`; what holds blanks stands in quotes. */
export function textLog({ write, level }: LinesOptions): Log {
  return leveled(level, (at, what, ids) => {
    const named = Object.entries(ids).map(([name, value]) => ` ${name}=${plain(String(value))}`)
    write(`${new Date().toISOString()} ${at} ${what}${named.join('')}\n`)
  })
}

const plain = (value: string): string => (/^[^\s"=]+$/.test(value) ? value : JSON.stringify(value))

function leveled(least: LogLevel, put: (level: LogLevel, what: string, ids: LogIds) => void): Log {
  const log: Log = (level, what, ids = {}) => {
    if (ranks[level] >= ranks[least]) put(level, what, ids)
  }
  return least === 'debug' ? Object.assign(log, { isDebug: true }) : log
}

/** @returns null when it is none */
export const levelOf = (text: string): LogLevel | null => (Object.hasOwn(ranks, text) ? (text as LogLevel) : null)

/**
 * The log of a node, as ROUSE_LOG (`text`, `json`) and ROUSE_LOG_LEVEL (`debug`, `info`, `warn`, `error`) ask for.
 *
 * @throws Error that says what was expected
 */
export function logFromEnv(env: Readonly<Record<string, string | undefined>>, write: (line: string) => void): Log {
  const form = env.ROUSE_LOG || 'text'
  if (form !== 'text' && form !== 'json') throw new Error(`ROUSE_LOG: expected "text" or "json", got "${form}"`)
  const level = levelOf(env.ROUSE_LOG_LEVEL || 'info')
  if (level === null)
    throw new Error(`ROUSE_LOG_LEVEL: expected debug, info, warn or error, got "${env.ROUSE_LOG_LEVEL}"`)
  return (form === 'json' ? jsonLog : textLog)({ write, level })
}
