import type { OperationName } from './answers.ts'
import { isSecret, type Operation } from './operation.ts'
import type { ProblemCode } from './problem.ts'

/**
 * The codes that an operation can be refused with: what follows from its row in the table, and what is its own. Loaded with openapi.json; the
 * journeys hold every problem that they meet against it.
 */
export function problemsOf(op: Operation): ProblemCode[] {
  const codes = new Set<ProblemCode>(['unauthorized', 'origin_not_allowed', 'rate_limited', 'internal', 'unavailable'])
  const add = (more: readonly ProblemCode[]): void => {
    for (const code of more) codes.add(code)
  }
  if (op.method !== 'get' || op.secret !== false || op.tag === 'Secrets') add(['check_key'])
  if (op.path.includes('{')) add(['not_found'])
  if (op.query !== null) add(['query_invalid'])
  if (op.query !== null && hasCursor(op)) add(['cursor_invalid'])
  if (op.body !== null) add(['json_invalid', 'body_invalid', 'body_too_large', 'media_type'])
  if (op.creates) add(['header_invalid', 'idempotency_mismatch', 'idempotency_in_flight'])
  if (op.creates && (op.secret !== false || isSecret(op, { on: {} }))) add(['secret_shown_once'])
  add((own as Partial<Record<string, readonly ProblemCode[]>>)[op.name] ?? nodeOwn[op.name] ?? [])
  return [...codes].toSorted()
}

const hasCursor = (op: Operation): boolean => 'cursor' in ((op.query as { shape?: object } | null)?.shape ?? {})

/** An agent's call in a session of its own. */
const acting = ['not_found', 'session_archived', 'turn_not_running'] as const
const person = ['person_only'] as const
const owner = ['person_only', 'owner_only'] as const
const rule = ['schedule_invalid', 'schedule_too_frequent', 'schedule_interval_invalid'] as const
/** What holds an agent's prompt to another session back. */
const toOthers = ['agent_sessions_off', 'hop_limit', 'approval_needed'] as const
const aimed = ['schedule_agent_not_allowed', 'owner_only', 'person_only', ...toOthers, ...acting] as const
const started = [...acting, 'agent_sessions_off', 'person_only', 'schedule_ended'] as const

/** What is refused beyond what the row in the table says. */
const own: { readonly [N in OperationName]?: readonly ProblemCode[] } = {
  createSchedule: [...rule, ...aimed, 'schedule_limit'],
  listSchedules: ['not_found'],
  previewSchedule: [...rule, ...acting],
  editSchedule: [...rule, ...aimed, 'schedule_ended', 'precondition_failed', 'schedule_limit'],
  removeSchedule: [...person, ...acting],
  pauseSchedule: started,
  resumeSchedule: [...started, 'schedule_invalid', 'hop_limit', 'schedule_limit'],
  runSchedule: [...started, 'hop_limit', 'approval_needed'],
  backfillSchedule: [...started, 'schedule_invalid', 'hop_limit'],
  retryDelivery: ['delivery_sent'],

  createTrigger: ['schedule_invalid', ...aimed, 'schedule_limit', 'monitor_invalid'],
  listTriggers: ['not_found'],
  editTrigger: ['schedule_invalid', ...aimed, 'schedule_ended', 'precondition_failed', 'monitor_invalid'],
  removeTrigger: [...person, ...acting],
  pauseTrigger: started,
  resumeTrigger: [...started, 'schedule_invalid', 'hop_limit', 'schedule_limit'],
  runTrigger: [...started, 'hop_limit', 'approval_needed'],

  parkTicks: ['ticks_off', 'session_archived'],

  createMonitor: [
    ...toOthers,
    ...acting,
    'monitor_invalid',
    'monitor_tool_not_readonly',
    'monitor_limit',
    'monitor_depth',
    'args_invalid',
  ],
  listMonitors: ['not_found'],

  createSession: ['not_found', 'agent_sessions_off', 'session_archived'],
  listSessions: ['not_found'],
  editSession: [...person, 'session_archived'],
  archiveSession: [],
  leaveSession: ['session_archived'],
  joinSession: ['session_archived'],
  compactSession: ['session_archived'],
  forkSession: ['agent_sessions_off', 'session_archived'],
  sendMessage: [...toOthers, ...acting, 'budget_spent'],
  claimSession: ['session_archived'],
  grantQueueOfSession: ['session_archived'],
  heartbeat: ['turn_not_running'],
  endTurn: ['turn_not_running', 'ticks_off'],
  cancelTurn: [...person, 'turn_not_running'],
  endJob: ['job_not_running'],

  createAgent: [...person, 'name_taken'],
  editAgent: [...owner, 'name_taken'],
  deleteAgent: owner,
  createPerson: [...person, 'admin_only'],
  editSettings: person,

  postCard: acting,
  allowCard: [...person, 'card_settled', ...rule, 'schedule_limit', 'schedule_ended', 'flow_exists'],
  denyCard: [...person, 'card_settled'],
  runCardNow: [...person, 'card_settled', 'schedule_ended'],
  stopCard: [...person, 'card_settled'],
  dismissCard: [...person, 'card_settled'],

  putDocument: [...acting, 'precondition_failed'],
  removeDocument: [...acting, 'precondition_failed'],

  listBudgets: ['not_found'],
  setBudget: person,

  createKey: owner,
  listAgentKeys: owner,
  listKeys: person,
  rotateKey: person,
  revokeKey: person,

  putSecret: person,
  listSecrets: person,
  removeSecret: person,

  listAudit: person,

  putTool: ['owner_only', ...acting, 'tool_limit'],
  removeTool: ['owner_only', ...acting],
  callTool: [...acting, 'args_invalid', 'tool_failed'],

  listTraces: ['not_found'],
  importTrace: acting,

  promoteFlow: [
    ...owner,
    'trace_not_found',
    'flow_exists',
    'flow_needs_two_traces',
    'flow_no_tool_calls',
    'flow_other_agent',
    'flow_trace_not_clean',
    'flow_traces_differ',
  ],
  removeFlow: person,
  runFlow: person,
  declineSuggestion: person,

  createCalendarToken: [...person, 'calendar_limit'],
  listCalendarTokens: person,
  revokeCalendarToken: person,
}
/** Of the embedded node alone. */
const nodeOwn: Readonly<Record<string, readonly ProblemCode[]>> = {
  moveClock: ['person_only', 'clock_backward'],
  readMetrics: ['person_only', 'admin_only'],
}
