import * as z from 'zod'
import { count, duration, id, instant, listOf, refusal, time, zone } from './answers-shapes.ts'

/** Schedules, triggers, their runs and what these send out, as they are answered. */

const counts = z.object({ fired: count, skipped: count, missed: count, ok: count, failed: count })
const status = z.enum(['active', 'paused', 'done', 'ended'])
const check = z.union([
  z.object({ script: z.string() }),
  z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) }),
])

const shared = {
  id: id('sch'),
  kind: z.enum(['prompt', 'flow']),
  name: z.string(),
  status,
  endedReason: z.string().nullable(),
  pausedReason: z.string().nullable(),
  agent: id('agt'),
  session: id('ses')
    .nullable()
    .meta({ description: 'the conversation it fires in; null: a fresh session for each run' }),
  prompt: z.string().nullable(),
  flow: z.string().nullable(),
  until: instant.nullable(),
  inWords: z.string().meta({ description: 'the rule in English' }),
  createdBy: id('per'),
  createdIn: id('ses').nullable(),
  createdAt: instant,
  editedAt: instant,
  counts,
}

export const schedule = z
  .object({
    ...shared,
    at: z.string().nullable(),
    every: duration.nullable(),
    cron: z.string().nullable(),
    rrule: z.string().nullable(),
    dtstart: z.string().nullable(),
    tz: zone,
    channel: id('ses').nullable(),
    note: z.string().nullable(),
    deliver: z.array(z.string()),
    check: check.nullable(),
    misfire: z.union([z.enum(['once', 'skip']), z.object({ within: duration })]),
    overlap: z.enum(['skip', 'buffer', 'allow', 'cancel']),
    onUnknown: z.enum(['leave', 'retry']),
    jitter: duration.nullable(),
    maxRuns: z.int().nullable(),
    pauseAfterFailures: z.int().nullable(),
    nextAt: instant.nullable().meta({ description: 'null when paused, done or ended' }),
    next: z.array(time).meta({ description: 'the next three times' }),
    cronEquivalent: z.string().nullable(),
    waitingFor: z.string().nullable().meta({ description: 'what a held run waits for, in words' }),
  })
  .meta({ id: 'Schedule' })

export const trigger = z
  .object({
    ...shared,
    on: z.union([
      z.object({ webhook: z.object({ signed: z.boolean() }) }),
      z.object({ document: z.union([z.object({ path: z.string() }), z.object({ prefix: z.string() })]) }),
    ]),
    when: z.string().nullable(),
    settle: duration.nullable(),
    maxPerDay: z.int().nullable(),
    settlesAt: instant.nullable().meta({ description: 'something has happened and settles until then' }),
  })
  .meta({ id: 'Trigger' })

/** As it is answered to whoever made it. */
export const newTrigger = z
  .object({
    ...trigger.shape,
    url: z.string().exactOptional().meta({ description: 'of a webhook: its secret address, shown this once' }),
    secret: z
      .string()
      .nullable()
      .exactOptional()
      .meta({ description: 'what calls are signed with, shown this once; null: they are not' }),
  })
  .meta({ id: 'NewTrigger' })

export const run = z
  .object({
    id: id('run'),
    schedule: id('sch'),
    trigger: z.enum(['slot', 'catch_up', 'manual', 'backfill', 'retry', 'event']),
    nominalAt: instant,
    missedFrom: instant.nullable(),
    missed: count.meta({ description: 'how many times this row stands for, its own included; 0 on time' }),
    at: instant.meta({ description: 'when it was decided' }),
    outcome: z
      .enum(['fired', 'coalesced', 'skipped', 'held', 'missed', 'blocked', 'nothing', 'failed', 'unknown'])
      .meta({ description: 'the fate of the slot' }),
    reason: z.string().nullable(),
    result: z
      .enum(['ok', 'nothing_to_do', 'blocked', 'failed', 'unknown'])
      .nullable()
      .meta({ description: 'how its turn or flow ended; null before' }),
    message: id('msg').nullable(),
    turn: id('trn').nullable(),
    session: id('ses').nullable(),
    trace: id('trc').nullable(),
    flowRun: id('flr').nullable(),
    endedAt: instant.nullable(),
  })
  .meta({ id: 'Run', description: 'One line of the ledger' })

export const preview = z
  .object({
    next: z.array(time),
    inWords: z.string(),
    cronEquivalent: z.string().nullable(),
    notes: z.array(z.string()).meta({ description: 'gaps, folds, pauses, and what would hold it' }),
    refusal: refusal.nullable().meta({ description: 'why a valid rule would not be stored' }),
    tz: zone,
  })
  .meta({ id: 'Preview' })

export const why = z
  .object({
    schedule: id('sch'),
    status,
    reason: z.string().nullable(),
    last: z.array(run),
    next: z.array(time),
    holds: z.array(refusal),
  })
  .meta({ id: 'Why' })

export const delivery = z
  .object({
    id: id('dlv'),
    run: id('run'),
    to: z.string(),
    status: z.enum(['waiting', 'sent', 'dead']),
    tries: count,
    nextTryAt: instant.nullable(),
    lastError: z.string().nullable(),
    at: instant,
  })
  .meta({ id: 'Delivery' })

export const cardAsked = z
  .object({ card: id('crd') })
  .meta({ description: 'A person is asked first, by this card of their feed' })
export const runMade = z.object({ run: id('run') })
export const runsMade = z.object({ runs: count })
export const runs = listOf(run)
