/**
 * A call that is not done, with what to mend. Nothing was stored.
 *
 * `code` is a stable word of the API; `detail` says expected, got, which id, and the next step.
 */
export class Refused extends Error {
  readonly code: string
  readonly detail: string
  readonly errors: readonly FieldError[]
  /** Further members of the problem, such as the card that asks a person. */
  readonly more: Readonly<Record<string, string>>
  constructor(
    code: string,
    detail: string,
    errors: readonly FieldError[] = [],
    more: Readonly<Record<string, string>> = {},
  ) {
    super(`${code}: ${detail}`)
    this.name = 'Refused'
    this.code = code
    this.detail = detail
    this.errors = errors
    this.more = more
  }
}

export interface FieldError {
  readonly path: string
  readonly message: string
}

/** What the caller may not see answers the same as what does not exist. */
export const notFound = (what: string, id: string): Refused =>
  new Refused('not_found', `there is no ${what} ${printable(id)} that this key can see`)

/** Other people's text inside a message of ours: control and bidi characters out, cut short. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '·').slice(0, 80)
