import * as z from 'zod'
import type { Json } from '../cel/index.ts'
import { labels } from '../domain/card.ts'
import { monitorStatuses } from '../domain/monitor.ts'
import type { Step } from '../domain/tool.ts'
import { callStatuses } from '../domain/trace.ts'
import { anyJson, count, id, instant, listOf } from './answers-shapes.ts'

/** Monitors, documents, tools, traces, flows and the feed, as they are answered. */

const json = anyJson as unknown as z.ZodType<Json>
const jsonObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<{ readonly [name: string]: Json }>
const by = z.string().meta({ description: 'the person or the agent' })

export const monitor = z
  .object({
    id: id('mon'),
    status: z.enum(monitorStatuses),
    reason: z.string().nullable(),
    session: id('ses').nullable().meta({ description: 'null: its conversation is gone' }),
    agent: id('agt'),
    note: z.string(),
    watch: z.union([
      z.object({ document: z.object({ path: z.string() }) }),
      z.object({ time: z.object({ at: instant }) }),
      z.object({
        tool: z.object({ name: z.string(), args: jsonObject, every: z.number().meta({ description: 'minutes' }) }),
      }),
    ]),
    when: z.string().nullable(),
    depth: count,
    createdBy: id('per'),
    createdIn: id('ses').nullable(),
    armedAt: instant,
    expiresAt: instant,
    nextLookAt: instant.nullable(),
    failures: count,
    found: z.object({ value: json }).nullable().meta({
      description:
        'what the last look found, where the next one is compared with it; only for the person in whose name it looks',
    }),
    error: z.string().nullable(),
    firedAt: instant.nullable(),
    endedAt: instant.nullable(),
    message: id('msg').nullable(),
  })
  .meta({ id: 'Monitor' })

const head = {
  path: z.string(),
  version: z.int(),
  updatedAt: instant,
}
export const documentPut = z.object(head).meta({ id: 'DocumentVersion' })
export const documentHead = z
  .object({ ...head, type: z.enum(['json', 'text']), bytes: count })
  .meta({ id: 'DocumentHead' })

export const tool = z
  .object({
    name: z.string(),
    agent: id('agt'),
    description: z.string(),
    parameters: jsonObject,
    readOnly: z.boolean(),
    steps: z.array(z.record(z.string(), z.unknown()) as unknown as z.ZodType<Step>),
    output: z.string().nullable(),
    hash: z.string(),
    updatedAt: instant,
    by,
  })
  .meta({ id: 'Tool' })
export const toolAnswer = z
  .object({ output: json, steps: z.array(json) })
  .meta({ id: 'ToolAnswer', description: 'What a tool came to, and what each step did' })

export const trace = z
  .object({
    id: id('trc'),
    agent: id('agt'),
    session: id('ses').nullable(),
    project: z.string().nullable(),
    source: z.enum(['turn', 'flow', 'import']),
    turn: id('trn').nullable(),
    origin: z
      .object({
        kind: z.enum(['user', 'agent', 'schedule', 'monitor', 'tick', 'rouse']),
        agent: id('agt').nullable(),
        session: id('ses').nullable(),
        schedule: id('sch').nullable(),
        run: z
          .union([id('run'), id('flr')])
          .nullable()
          .meta({ description: 'of the schedule, or of the flow' }),
      })
      .nullable(),
    outcome: z.enum(['ok', 'nothing_to_do', 'blocked', 'failed', 'unknown']),
    tokens: z.number().nullable(),
    usd: z.number().nullable(),
    startedAt: instant.nullable(),
    at: instant,
    calls: z.array(
      z.object({
        tool: z.string(),
        args: anyJson,
        status: z.enum(callStatuses),
        result: anyJson,
        clipped: z.boolean(),
        argsClipped: z.boolean(),
        resultClipped: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Trace', description: 'What an agent did in one turn or one replay, call by call' })

export const flow = z
  .object({
    name: z.string(),
    agent: id('agt'),
    steps: z.array(z.object({ tool: z.string(), args: anyJson, hash: z.string().nullable() })),
    needsApproval: z.array(z.string()),
    from: z.array(id('trc')),
    createdAt: instant,
    by,
    shadow: z.object({ agreed: count, wanted: count }).nullable().meta({ description: 'not null: it is no flow yet' }),
  })
  .meta({ id: 'Flow' })
export const suggestion = z
  .object({
    fingerprint: z.string(),
    count,
    tokens: z.number(),
    usd: z.number(),
    traces: z.array(id('trc')),
    steps: z.array(z.object({ tool: z.string(), args: anyJson })),
    lastAt: instant,
  })
  .meta({ id: 'FlowSuggestion' })
export const flowRun = z
  .object({
    id: id('flr'),
    agent: id('agt'),
    flow: z.string(),
    status: z.enum(['running', 'ok', 'failed', 'blocked', 'unknown']),
    step: z.int().nullable().meta({ description: 'from 1: the next one, the one under way, or where it ended' }),
    steps: z.int().nullable(),
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    trace: id('trc').nullable(),
    schedule: id('sch').nullable(),
    run: id('run').nullable(),
    by: id('per'),
    createdAt: instant,
    startedAt: instant.nullable(),
    endedAt: instant.nullable(),
  })
  .meta({ id: 'FlowRun' })
export const flowRunMade = z.object({ flowRun })

const labelCounts = z
  .object({
    money: count.exactOptional(),
    promise: count.exactOptional(),
    decide: count.exactOptional(),
    nudge: count.exactOptional(),
    risk: count.exactOptional(),
    fyi: count.exactOptional(),
  })
  .meta({ id: 'LabelCounts' })
const shown = {
  id: id('crd'),
  kind: z.enum(['approval', 'incident', 'notice', 'post']),
  title: z.string(),
  label: z.enum(labels).nullable(),
  loop: z.string().nullable(),
  seen: count.meta({ description: 'how often it was brought up: 1 at first' }),
  autoSendOn: z.string().nullable(),
  daysLeft: z.int().nullable(),
  agent: id('agt').nullable(),
  at: instant,
}
export const card = z
  .object({
    ...shown,
    body: z.string().nullable(),
    group: z.string().nullable(),
    actions: z.array(z.enum(['allow', 'deny', 'run-now', 'stop', 'dismiss'])),
    status: z.enum(['open', 'allowed', 'denied', 'closed', 'dismissed']),
    reason: z.string().nullable(),
    schedule: id('sch').nullable(),
    session: id('ses').nullable(),
    run: id('run').nullable(),
    createdAt: instant,
    settledAt: instant.nullable(),
  })
  .meta({ id: 'Card' })
export const feed = z
  .object({ ...listOf(card).shape, labels: labelCounts })
  .meta({ description: '`labels`: how many cards of the list bear each label, whatever label is asked for' })
export const groupSummary = z
  .object({
    group: z.string(),
    at: instant.nullable(),
    open: count,
    settled: count,
    labels: labelCounts,
    cards: z.array(z.object(shown)),
    more: count,
  })
  .meta({ id: 'GroupSummary' })
