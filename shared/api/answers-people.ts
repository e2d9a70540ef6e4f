import * as z from 'zod'
import { id, instant, refusal, time, wholeList, zone } from './answers-shapes.ts'

/** Agents, people, keys, budgets, the audit trail, the agenda and calendars, as they are answered. */

export const agent = z
  .object({
    id: id('agt'),
    name: z.string(),
    owner: id('per'),
    team: z.boolean(),
    sharedWith: z.array(z.string()),
    project: z.string().nullable(),
    proactive: z.object({
      enabled: z.boolean(),
      tickSeconds: z.int(),
      minSleepSeconds: z.int(),
      maxSleepSeconds: z.int(),
      idleTickLimit: z.int(),
      maxTicksPerDay: z.int(),
      maxTokensPerDay: z.int(),
      maxWindowMinutes: z.int(),
      allowYolo: z.boolean(),
    }),
    autoApprove: z.array(z.string()),
    budget: z
      .record(z.string(), z.number().nullable())
      .meta({ description: 'wakesPerDay, tokensPerDay, usdPerDay, as far as they are set' }),
    mainSession: id('ses').nullable(),
    workerConnected: z.boolean().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'Agent' })

export const newPerson = z
  .object({
    id: id('per'),
    name: z.string(),
    tz: zone,
    admin: z.boolean(),
    key: z.string().meta({ description: 'shown this once' }),
  })
  .meta({ id: 'NewPerson' })

export const settings = z
  .object({ agentSessions: z.boolean().meta({ description: 'agents may send to, schedule in and open sessions' }) })
  .meta({ id: 'Settings' })

export const newKey = z
  .object({ id: id('key'), key: z.string().meta({ description: 'shown this once' }) })
  .meta({ id: 'NewKey' })
export const key = z
  .object({
    id: id('key'),
    prefix: z.string().nullable().meta({ description: 'what it begins with, to be told from others by' }),
    createdAt: instant,
    lastUsedAt: instant.nullable(),
    expiresAt: instant.nullable(),
  })
  .meta({ id: 'Key' })
export const secretName = z.object({ name: z.string() })

const used = z.object({
  limit: z.number().nullable().meta({ description: 'null: none is set' }),
  used: z.number(),
  left: z.number().nullable(),
})
const limited = z
  .object({
    scope: z.enum(['agent', 'person']),
    id: z.string(),
    day: z.string().meta({ description: "YYYY-MM-DD in the owner's zone" }),
    wakes: used,
    tokens: used,
    usd: used,
  })
  .meta({ id: 'Budget' })
const counters = z
  .object({
    scope: z.literal('session'),
    id: id('ses'),
    day: z.string(),
    prompts: used,
    monitors: used,
    ticks: used,
    tickTokens: used,
  })
  .meta({ id: 'SessionCounters' })
export const budgets = wholeList(z.union([counters, limited]))
export const ownBudgets = wholeList(limited)

export const auditRow = z
  .object({
    id: z.string().meta({ description: 'a ULID: the time of the call' }),
    at: instant,
    by: z.object({
      kind: z.enum(['person', 'agent']),
      id: z.string(),
      key: z.string(),
      session: z.string().nullable(),
    }),
    principal: id('per'),
    operation: z.string().meta({ description: 'an operationId of this document' }),
    targets: z.array(z.string()),
    status: z.int(),
  })
  .meta({ id: 'AuditRow' })

const left = z.number().nullable()
const agendaEntry = z
  .object({
    ...time.shape,
    kind: z.enum(['prompt', 'flow', 'trigger', 'held', 'monitor', 'look', 'tick']),
    id: z.string().meta({ description: 'of the schedule, trigger or monitor; of a tick, its session' }),
    name: z.string(),
    session: id('ses').nullable(),
    agent: id('agt'),
    who: z.object({ person: id('per'), agent: id('agt').nullable() }),
    checked: z.boolean(),
    budget: z
      .object({ wakes: left, tokens: left, usd: left })
      .nullable()
      .meta({ description: 'what is left of today; null: no limit is set' }),
    hold: refusal.nullable().meta({ description: 'why it would not go out as things stand' }),
  })
  .meta({ id: 'AgendaEntry' })
export const agenda = z
  .object({ from: instant, to: instant, tz: zone, data: z.array(agendaEntry), truncated: z.boolean() })
  .meta({ id: 'Agenda' })

export const newCalendar = z
  .object({ id: id('cal'), url: z.string().meta({ description: 'secret; shown this once' }), detail: z.boolean() })
  .meta({ id: 'NewCalendar' })
export const calendars = wholeList(
  z.object({ id: id('cal'), detail: z.boolean(), createdAt: instant, lastUsedAt: instant.nullable() }),
)

export const clock = z.object({ now: instant }).meta({ id: 'Clock' })
