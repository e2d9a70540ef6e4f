/** An expression that cannot be used at all: it does not parse, names what does not exist, or is too large. */
export class CelInvalid extends Error {
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.name = 'CelInvalid'
    this.detail = detail
  }
}

/**
 * - `missing`: a key, an index or a variable's value that is not there; a condition may take it for false
 * - `type`: a value of another kind than the expression needs
 * - `budget`: more work than an evaluation may do
 * - `size`: data or a result that is too large or too deep
 * - `other`: division by zero, overflow, a text that is no timestamp …
 */
export type FaultReason = 'missing' | 'type' | 'budget' | 'size' | 'other'

/** An expression that gave no value for these data. */
export class CelFault extends Error {
  readonly reason: FaultReason
  readonly detail: string
  constructor(reason: FaultReason, detail: string) {
    super(detail)
    this.name = 'CelFault'
    this.reason = reason
    this.detail = detail
  }
}

/** `||`, `&&`, `exists` and `all` absorb what went wrong on one side, but never that an evaluation ran into its bounds. */
export function absorbable(error: unknown): error is CelFault {
  return error instanceof CelFault && error.reason !== 'budget' && error.reason !== 'size'
}

/** A text from outside inside a message: on one line, and short. */
export function quoted(text: string, charsMax = 60): string {
  return JSON.stringify(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text)
}
