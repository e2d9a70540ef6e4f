import * as z from 'zod'
import { isShallow } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import { modes, permissions } from '../domain/session.ts'
import { name, printableWords, text } from './schemas-texts.ts'
import { toolCall } from './schemas-traces.ts'

/** The shapes that callers send. Unknown fields are refused: a misspelt one must not be ignored. */

export { name, text }
/** An id is looked up, not parsed: a wrong one names nothing. */
export const id = z.string().min(1).max(64)
const rule = z.string().max(4000)
export const duration = z
  .union([z.string().max(64), z.number()])
  .meta({ description: 'a duration: "30m", "PT30M", or a number of minutes' })
export const instant = z.string().max(64).meta({ description: 'an instant with its offset, e.g. 2026-11-02T09:00:00Z' })

const timeFields = {
  at: z
    .string()
    .max(64)
    .nullish()
    .meta({ description: 'local time in tz, e.g. 2026-11-02T09:00, or an instant with its offset' }),
  every: duration.nullish(),
  cron: rule.nullish().meta({ description: 'five fields: minute, hour, day of month, month, weekday' }),
  rrule: rule.nullish().meta({ description: 'RFC 5545 RRULE, e.g. FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0' }),
  dtstart: z.string().max(64).nullish().meta({ description: 'local start of an RRULE; default: now, to the minute' }),
  tz: z.string().max(64).nullish().meta({ description: 'IANA zone; default UTC' }),
}

/** As it was parsed: zod's own JSON type rebuilds objects, and says itself in JSON Schema as a recursion. */
const json = z.unknown().refine(isShallow, 'is nested too deep').meta({ description: 'any JSON' })
const check = z.union([
  z.strictObject({ script: z.string().max(4000) }),
  z.strictObject({ tool: z.string().min(1).max(200), args: z.record(z.string(), json).nullish() }),
])
const scheduleFields = {
  session: id.nullish().meta({ description: 'the conversation it fires in' }),
  agent: id.nullish().meta({ description: 'a fresh session of this agent for each run' }),
  prompt: text(limits.promptCharsMax).nullish(),
  flow: z.string().max(1000).nullish().meta({
    description: "in place of a prompt: one of the agent's flows, replayed without a model; a person's key only",
  }),
  ...timeFields,
  channel: id
    .nullish()
    .meta({ description: 'session where answers and notes go; default: the main session of the agent' }),
  note: text(limits.noteCharsMax).nullish(),
  deliver: z.array(z.string().max(limits.deliverCharsMax)).max(limits.deliverTargetsMax).nullish().meta({
    description:
      'where the ends of its runs are told: webhook:https://…, telegram:<chat>, sns:<arn>, session:<ses_…>, feed:<group>',
  }),
  check: check.nullish().meta({
    description:
      'looked at before each run, and the agent is woken only if it says something: a script in its folder, or a read-only tool',
  }),
  misfire: z.union([z.enum(['once', 'skip']), z.strictObject({ within: duration })]).nullish(),
  overlap: z.enum(['skip', 'buffer', 'allow', 'cancel']).nullish(),
  onUnknown: z.enum(['leave', 'retry']).nullish(),
  jitter: duration.nullish(),
  until: instant.nullish(),
  maxRuns: z.int().min(1).max(limits.maxRunsMax).nullish(),
  pauseAfterFailures: z.int().min(1).max(limits.pauseAfterFailuresMax).nullish(),
}

export const scheduleCreate = z.strictObject({ name, ...scheduleFields })
export const schedulePatch = z.strictObject({ name: name.optional(), ...scheduleFields })
/** What a form holds while one types: the time fields suffice, whatever else it has is welcome. */
export const schedulePreview = z.strictObject({
  name: z.string().max(1000).nullish(),
  ...scheduleFields,
  from: instant.nullish(),
  count: z.int().min(1).max(100).nullish(),
})
export const pause = z.strictObject({ reason: text(500).nullish() })
export const backfillRange = z.strictObject({ from: instant, to: instant })
export const scheduleQuery = {
  agent: id.optional(),
  session: id.optional(),
  createdIn: id.optional(),
  status: z.enum(['active', 'paused', 'done', 'ended']).optional(),
}

const proactive = z.strictObject({
  enabled: z.boolean().optional(),
  tickSeconds: z.int().min(1).max(604_800).optional(),
  minSleepSeconds: z.int().min(1).max(604_800).optional(),
  maxSleepSeconds: z.int().min(1).max(604_800).optional(),
  idleTickLimit: z.int().min(1).max(1000).optional(),
  maxTicksPerDay: z.int().min(0).max(100_000).optional(),
  maxTokensPerDay: z.int().min(0).max(1_000_000_000).optional(),
  maxWindowMinutes: z.int().min(1).max(525_600).optional(),
  allowYolo: z.boolean().optional(),
})
const budget = z.strictObject({
  wakesPerDay: z.int().min(0).max(1_000_000).nullish(),
  tokensPerDay: z.int().min(0).max(1_000_000_000_000).nullish(),
  usdPerDay: z.number().min(0).max(1_000_000).nullish(),
})
export const budgetPatch = budget
const agentFields = {
  team: z.boolean().optional(),
  sharedWith: z.array(id).max(limits.sharedWithMax).optional(),
  project: name.nullish(),
  proactive: proactive.nullish(),
  autoApprove: z.array(name).max(limits.autoApproveMax).optional(),
  budget: budget.nullish(),
}
export const agentCreate = z.strictObject({ name, ...agentFields })
export const agentPatch = z.strictObject({ name: name.optional(), ...agentFields })
export const personCreate = z.strictObject({ name, tz: z.string().max(64).optional(), admin: z.boolean().optional() })
export const nothing = z.strictObject({})

export const sessionCreate = z.strictObject({
  agent: id,
  title: name.nullish(),
  main: z.boolean().optional(),
  parent: id.nullish(),
  project: name.nullish(),
  mode: z.enum(modes).optional(),
  permission: z.enum(permissions).optional(),
})
export const sessionPatch = z.strictObject({
  title: name.nullish(),
  mode: z.enum(modes).optional(),
  permission: z.enum(permissions).optional(),
  paused: z.boolean().optional(),
  compacting: z.boolean().optional(),
  goal: text(2000).nullish(),
  pendingRequests: z.int().min(0).max(1_000_000).optional(),
  workerConnected: z.boolean().nullish(),
  checks: z.boolean().optional(),
})
export const messageCreate = z.strictObject({
  text: text(limits.promptCharsMax)
    .refine((t) => t.trim() !== '', 'expected a text, got nothing but blanks')
    .meta({ minLength: 1, pattern: printableWords }),
})

const leaseSeconds = z.int().min(limits.leaseSecondsMin).max(limits.leaseSecondsMax).optional()
const wait = z.number().min(0).max(limits.waitSecondsMax).optional().meta({ description: 'seconds of real time' })
export const claim = z.strictObject({
  wait,
  leaseSeconds,
  steer: z.boolean().optional(),
  jobs: z.literal('only').optional().meta({ description: 'take checks and host steps, and start no turn' }),
})
export const jobEnd = z.strictObject({
  exit: z
    .int()
    .min(0)
    .max(255)
    .meta({ description: 'as a shell has it: 124 timed out, 126 not executable, 127 not found' }),
  output: z.string().max(1_000_000).default(''),
})
export const beat = z.strictObject({ wait })
export const turnEnd = z.strictObject({
  outcome: z.enum(['ok', 'nothing_to_do', 'blocked', 'failed']),
  answer: z.string().max(1_000_000).nullish(),
  summary: z.string().max(100_000).nullish(),
  tokens: z.number().min(0).max(1e12).nullish(),
  usd: z.number().min(0).max(1e9).nullish(),
  toolCalls: z.array(toolCall).max(limits.toolCallsPerTurnMax).nullish(),
  sleep: z.strictObject({ seconds: z.number().min(0).max(604_800), reason: text(500).nullish() }).nullish(),
})

export const settingsPatch = z.strictObject({ agentSessions: z.boolean().optional() })
export const clockMove = z.strictObject({
  to: instant.optional(),
  by: duration.optional(),
  down: z.boolean().optional(),
})

export const page = {
  limit: z.coerce.number().int().min(1).max(100).default(25),
  // A document's place is its path.
  cursor: z.string().min(1).max(2000).optional(),
}
export const sessionQuery = { agent: id.optional() }
