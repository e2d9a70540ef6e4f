import * as z from 'zod'
import type { Json } from '../cel/index.ts'
import * as people from './answers-people.ts'
import * as schedules from './answers-schedules.ts'
import * as sessions from './answers-sessions.ts'
import { anyJson, listOf } from './answers-shapes.ts'
import * as works from './answers-works.ts'
import type { Table } from './app.ts'
import type { Answer } from './operation.ts'

/**
 * What every operation answers, by its statuses that are no problem; null: no content. Loaded when openapi.json is asked for, and never
 * used to check an answer: that what an operation answers is what is written here, and nothing besides, the compiler sees to below.
 */
export const answers = {
  createSchedule: { 201: schedules.schedule, 202: schedules.cardAsked },
  listSchedules: { 200: listOf(schedules.schedule) },
  previewSchedule: { 200: schedules.preview },
  getSchedule: { 200: schedules.schedule },
  editSchedule: { 200: schedules.schedule },
  removeSchedule: { 204: null },
  pauseSchedule: { 200: schedules.schedule },
  resumeSchedule: { 200: schedules.schedule },
  runSchedule: { 202: schedules.runMade },
  listRuns: { 200: schedules.runs },
  whySchedule: { 200: schedules.why },
  backfillSchedule: { 202: schedules.runsMade },
  listDeliveries: { 200: listOf(schedules.delivery) },
  retryDelivery: { 202: schedules.delivery },

  createTrigger: { 201: schedules.newTrigger },
  listTriggers: { 200: listOf(schedules.trigger) },
  getTrigger: { 200: schedules.trigger },
  editTrigger: { 200: schedules.trigger },
  removeTrigger: { 204: null },
  pauseTrigger: { 200: schedules.trigger },
  resumeTrigger: { 200: schedules.trigger },
  runTrigger: { 202: schedules.runMade },
  listTriggerRuns: { 200: schedules.runs },
  whyTrigger: { 200: schedules.why },

  getTicks: { 200: sessions.ticks },
  parkTicks: { 200: sessions.ticks },

  createMonitor: { 201: works.monitor },
  listMonitors: { 200: listOf(works.monitor) },
  getMonitor: { 200: works.monitor },
  cancelMonitor: { 204: null },

  createSession: { 201: sessions.session },
  listSessions: { 200: listOf(sessions.session) },
  getSession: { 200: sessions.session },
  editSession: { 200: sessions.session },
  deleteSession: { 204: null },
  archiveSession: { 200: sessions.session },
  leaveSession: { 200: sessions.session },
  joinSession: { 200: sessions.session },
  compactSession: { 201: sessions.session },
  forkSession: { 201: sessions.session },
  sendMessage: { 201: sessions.message },
  listMessages: { 200: listOf(sessions.message) },
  claimSession: { 200: sessions.claim, 204: null },
  claimAgent: { 200: sessions.claim, 204: null },
  grantQueueOfSession: { 200: sessions.grant },
  grantQueueOfAgent: { 200: sessions.grant },
  heartbeat: { 200: sessions.beat },
  endTurn: { 200: sessions.turnEnded },
  cancelTurn: { 204: null },
  endJob: { 200: z.object({}) },

  createAgent: { 201: people.agent },
  listAgents: { 200: listOf(people.agent) },
  getAgent: { 200: people.agent },
  editAgent: { 200: people.agent },
  deleteAgent: { 204: null },
  createPerson: { 201: people.newPerson },
  getSettings: { 200: people.settings },
  editSettings: { 200: people.settings },

  listCards: { 200: works.feed },
  postCard: { 201: works.card },
  getCard: { 200: works.card },
  allowCard: { 200: works.card },
  denyCard: { 200: works.card },
  runCardNow: { 200: works.card },
  stopCard: { 200: works.card },
  dismissCard: { 200: works.card },
  summariseGroup: { 200: works.groupSummary },

  putDocument: { 200: works.documentPut },
  getDocument: { 200: anyJson.meta({ description: 'the document as it was put; with `meta=true` a DocumentHead' }) },
  removeDocument: { 204: null },
  listDocuments: { 200: listOf(works.documentHead) },

  listBudgets: { 200: people.budgets },
  setBudget: { 200: people.ownBudgets },

  createKey: { 201: people.newKey },
  listAgentKeys: { 200: listOf(people.key) },
  listKeys: { 200: listOf(people.key) },
  rotateKey: { 201: people.newKey },
  revokeKey: { 204: null },

  putSecret: { 204: null },
  listSecrets: { 200: listOf(people.secretName) },
  removeSecret: { 204: null },

  listAudit: { 200: listOf(people.auditRow) },

  putTool: { 200: works.tool, 201: works.tool },
  getTool: { 200: works.tool },
  listTools: { 200: listOf(works.tool) },
  removeTool: { 204: null },
  callTool: { 200: works.toolAnswer },

  listTraces: { 200: listOf(works.trace) },
  getTrace: { 200: works.trace },
  importTrace: { 201: works.trace, 200: works.trace },

  promoteFlow: { 201: works.flow },
  listFlows: { 200: listOf(works.flow) },
  getFlow: { 200: works.flow },
  removeFlow: { 204: null },
  listShadows: { 200: listOf(works.flow) },
  suggestFlows: { 200: listOf(works.suggestion) },
  declineSuggestion: { 204: null },
  runFlow: { 202: works.flowRunMade },
  getFlowRun: { 200: works.flowRun },
  listFlowRuns: { 200: listOf(works.flowRun) },

  getAgenda: { 200: people.agenda },
  createCalendarToken: { 201: people.newCalendar },
  listCalendarTokens: { 200: people.calendars },
  revokeCalendarToken: { 204: null },
} satisfies Described

/** Operations of the embedded node alone. */
export const nodeAnswers = {
  getClock: { 200: people.clock },
  moveClock: { 200: people.clock },
  readMetrics: { 200: z.string() },
}

export type OperationName = Table['name']

type Named<N extends OperationName> = Table extends infer O
  ? O extends { readonly name: infer M; readonly run: (...given: never) => Promise<infer A> }
    ? N extends M
      ? A
      : never
    : never
  : never
type BodyOf<N extends OperationName, S> =
  Named<N> extends infer A ? (A extends Answer<infer T, infer B> ? (S extends T ? B : never) : never) : never

/** Each operation, each of its statuses, and a schema of nothing that the operation does not answer. */
type Described = {
  readonly [N in OperationName]: {
    readonly [S in Named<N>['status']]: BodyOf<N, S> extends null ? null : z.ZodType<BodyOf<N, S>>
  }
}

/** Lists are answered as readonly; what a schema makes of them is not. */
type Frozen<T> = [Json] extends [T] ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T
type Said<S> = S extends z.ZodType ? Frozen<z.output<S>> : null

/** The other direction: what an operation answers that no schema says. */
type Unsaid = {
  [N in OperationName]: {
    [S in keyof (typeof answers)[N]]: BodyOf<N, S> extends Said<(typeof answers)[N][S]> ? never : [N, S]
  }[keyof (typeof answers)[N]]
}[OperationName]
const unsaid: Unsaid[] = []
unsaid satisfies never[]
