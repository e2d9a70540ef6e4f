export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What a line names: ids, counts and times of things, and why something failed. Never a prompt's text, never a key or another secret. */
export type LogIds = Readonly<Record<string, string | number | null>>

/**
 * Noun, verb, ids: `turn lease ran out` with `turn` and `session`. The words of one kind of line are always the same, so that lines can
 * be counted by them; what differs stands in the ids.
 */
export interface Log {
  (level: LogLevel, what: string, ids?: LogIds): void
  /** Lines of the level `debug` are kept. What they cost to put together is spent only then. */
  readonly isDebug?: boolean
}

/** The same log, whose lines have these besides. */
export function logBeside(log: Log, beside: (ids: LogIds) => LogIds): Log {
  const told: Log = (level, what, ids = {}) => log(level, what, { ...beside(ids), ...ids })
  return log.isDebug === true ? Object.assign(told, { isDebug: true }) : told
}

const saidCharsMax = 300
/** No more of a message is looked at. */
const heardCharsMax = 2000
/** Where a quotation may begin or end; an apostrophe between letters is neither. */
const quotes = /["`“”‘]|(?<!\p{L})['’]|['’](?!\p{L})/gu
/** Of a field or a function: `Cannot read properties of undefined (reading 'slice')`. */
const name = /^[A-Za-z_$.]{1,40}$/

/**
 * What a fault says of itself, fit for a line of the log: its name and its words, cut, and without what they quote.
 *
 * A parser's fault shows the text that it could not read: of that only the name is told.
 */
export function faultOf(error: unknown): { readonly error: string } {
  if (!(error instanceof Error)) return { error: 'unknown fault' }
  if (error instanceof SyntaxError) return { error: error.name }
  const said = unquoted(error.message).slice(0, saidCharsMax)
  return { error: error.name === 'Error' ? said : `${error.name}: ${said}` }
}

/**
 * What stands in quotes may be somebody's text, and may hold quotes itself: all from the first to the last one is left out, unless it is a
 * name.
 */
function unquoted(message: string): string {
  const heard = message.slice(0, heardCharsMax)
  const found = [...heard.matchAll(quotes)]
  const [first, last] = [found[0]?.index, found.at(-1)?.index]
  if (first === undefined || last === undefined) return heard
  if (name.test(heard.slice(first + 1, last))) return heard
  const isOpen = first === last || heard.length < message.length
  return `${heard.slice(0, first + 1)}…${isOpen ? '' : heard.slice(last)}`
}

/** Where a fault of ours arose: the frames of its stack, without the message above them, of which a line may look like one. */
export function framesOf(error: unknown): { readonly at?: string } {
  const { stack = '', message } = error instanceof Error ? error : { message: '' }
  const above = stack.indexOf(message)
  const below = above < 0 ? stack : stack.slice(above + message.length)
  const frames = below.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.length === 0 ? {} : { at: frames.map((line) => line.trim()).join('; ') }
}
