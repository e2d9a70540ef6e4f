/** Rouse answered and said no: a problem+json (RFC 9457). Mend the request, or read again and decide again. */
export class ApiError extends Error {
  readonly status: number
  /** Stable snake_case word; `http_502` and the like when the answer was not Rouse's own. */
  readonly code: string
  readonly detail: string
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  /** The approval card, for `approval_needed`. */
  readonly card: string | null
  readonly retryAfterSeconds: number | null
  /** The answer as it came. */
  readonly problem: unknown

  constructor(o: { status: number; problem: Problem; retryAfter: string | null }) {
    const code = typeof o.problem.code === 'string' ? o.problem.code : `http_${o.status}`
    const detail = o.problem.detail ?? o.problem.title ?? `the server answered ${o.status}`
    super(`${code}: ${detail}`)
    this.name = 'ApiError'
    this.status = o.status
    this.code = code
    this.detail = detail
    this.errors = Array.isArray(o.problem.errors) ? o.problem.errors : []
    this.card = typeof o.problem.card === 'string' ? o.problem.card : null
    const seconds = Number(o.retryAfter ?? 'none')
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : null
    this.problem = o.problem
  }
}

/** No answer came, or none that Rouse would give. Try later, or look whether it runs. */
export class Unreachable extends Error {
  readonly url: string
  readonly why: string
  constructor(url: string, cause: unknown) {
    const why = reasonOf(cause)
    super(`no answer from ${url}: ${why}`, { cause })
    this.name = 'Unreachable'
    this.url = url
    this.why = why
  }
}

interface Problem {
  readonly code?: unknown
  readonly title?: string
  readonly detail?: string
  readonly errors?: unknown
  readonly card?: unknown
}

export function problemOf(
  answer: { status: number; headers: { get(name: string): string | null } },
  text: string,
): ApiError {
  return new ApiError({ status: answer.status, problem: parsed(text), retryAfter: answer.headers.get('retry-after') })
}

/** Something in between (a proxy, another program on the port) may answer HTML or nothing. */
function parsed(text: string): Problem {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** `fetch` says "fetch failed" and hides what happened one or two causes below. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not JSON'
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof AggregateError && cause.errors[0] !== undefined) return reasonOf(cause.errors[0])
  if (cause instanceof Error) return reasonOf(cause)
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'nothing listens there' : error.message
}
