import { type FieldError, Refused } from '../domain/refused.ts'
import { Unavailable } from '../ports/table.ts'

/** RFC 9457. Served as `application/problem+json`; `code` is the stable word to switch on. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly errors?: readonly FieldError[]
}

interface Kind {
  readonly status: number
  readonly title: string
}

/** Every code the API answers with. One that is missing here is a fault of ours and answers 500. */
const kinds = {
  json_invalid: { status: 400, title: 'The body is not JSON' },
  cursor_invalid: { status: 400, title: 'The cursor is not one of this list' },
  header_invalid: { status: 400, title: 'A header is not valid' },
  unauthorized: { status: 401, title: 'No valid key' },
  person_only: { status: 403, title: 'Only a person may do this' },
  admin_only: { status: 403, title: 'Only an admin may do this' },
  approval_needed: { status: 403, title: 'A person is asked first' },
  budget_spent: { status: 403, title: 'A budget is used up for today' },
  agent_sessions_off: { status: 403, title: 'Agents may not start or use sessions' },
  check_key: { status: 403, title: 'A check only reads' },
  owner_only: { status: 403, title: 'Only the owner may do this' },
  hop_limit: { status: 403, title: 'The chain of agents is too long' },
  host_not_allowed: { status: 403, title: 'Not a name of this server' },
  monitor_depth: { status: 403, title: 'This turn may arm no more monitors' },
  origin_not_allowed: { status: 403, title: 'Not a page of this server' },
  schedule_agent_not_allowed: { status: 403, title: 'Not an agent that this key can talk to' },
  signature_invalid: { status: 401, title: 'The signature does not hold' },
  not_found: { status: 404, title: 'Not found' },
  trace_not_found: { status: 404, title: 'No such trace' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  calendar_limit: { status: 409, title: 'Too many calendars' },
  card_settled: { status: 409, title: 'The card does not take this action' },
  delivery_sent: { status: 409, title: 'The delivery has arrived' },
  flow_exists: { status: 409, title: 'There is a flow of that name' },
  idempotency_in_flight: { status: 409, title: 'The first call with this key is still under way' },
  job_not_running: { status: 409, title: 'The job is not running' },
  monitor_limit: { status: 409, title: 'Too many armed monitors' },
  name_taken: { status: 409, title: 'The name is taken' },
  schedule_ended: { status: 409, title: 'The schedule has ended' },
  schedule_limit: { status: 409, title: 'Too many schedules' },
  secret_shown_once: { status: 409, title: 'The secret was shown once' },
  session_archived: { status: 409, title: 'The session is archived' },
  tool_limit: { status: 409, title: 'Too many tools' },
  ticks_off: { status: 409, title: 'Ticks are off' },
  turn_not_running: { status: 409, title: 'The turn is not running' },
  precondition_failed: { status: 412, title: 'It has changed since you read it' },
  body_too_large: { status: 413, title: 'The body is too large' },
  media_type: { status: 415, title: 'Not a content type that is taken here' },
  args_invalid: { status: 422, title: 'The arguments do not fit the tool' },
  body_invalid: { status: 422, title: 'The body does not fit' },
  query_invalid: { status: 422, title: 'The query does not fit' },
  clock_backward: { status: 422, title: 'The clock moves forward only' },
  flow_needs_two_traces: { status: 422, title: 'One trace is no proof' },
  flow_no_tool_calls: { status: 422, title: 'The traces made no tool calls' },
  flow_other_agent: { status: 422, title: 'A trace is of another agent' },
  flow_trace_not_clean: { status: 422, title: 'Something went wrong in a trace' },
  flow_traces_differ: { status: 422, title: 'The traces did not do the same' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key was used with another body' },
  monitor_invalid: { status: 422, title: 'The monitor is not valid' },
  monitor_tool_not_readonly: { status: 422, title: 'Only a read-only tool may be watched' },
  schedule_interval_invalid: { status: 422, title: 'The interval is out of bounds' },
  schedule_invalid: { status: 422, title: 'The schedule is not valid' },
  schedule_too_frequent: { status: 422, title: 'The schedule is too frequent' },
  tool_failed: { status: 422, title: 'A step of the tool failed' },
  rate_limited: { status: 429, title: 'Too many calls' },
  unavailable: { status: 503, title: 'The store cannot be reached' },
  internal: { status: 500, title: 'A fault of ours' },
} as const satisfies Readonly<Record<string, Kind>>

export type ProblemCode = keyof typeof kinds

export function problemOf(error: unknown): Problem {
  if (error instanceof Refused) return { ...problem(error.code, error.detail, error.errors), ...error.more }
  if (error instanceof Unavailable)
    return problem('unavailable', 'the store cannot be reached now; nothing is lost, try again in a moment')
  return problem('internal', 'something went wrong on our side; the log of the node says what')
}

function problem(code: string, detail: string, errors: readonly FieldError[] = []): Problem {
  const kind: Kind = Object.hasOwn(kinds, code) ? kinds[code as ProblemCode] : kinds.internal
  return {
    type: `urn:rouse:problem:${code}`,
    title: kind.title,
    status: kind.status,
    detail,
    code,
    ...(errors.length === 0 ? {} : { errors }),
  }
}

/** The status that a code goes out with, and what it means in a few words. */
export const problemKind = (code: ProblemCode): Kind => kinds[code]
