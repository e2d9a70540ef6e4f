import * as z from 'zod'
import { modes, permissions } from '../domain/session.ts'
import { anyJson, count, id, instant, origin } from './answers-shapes.ts'

/** Sessions, their messages, turns, ticks and what a worker is handed, as they are answered. */

const turn = z.object({
  id: id('trn'),
  message: id('msg'),
  kind: z.enum(['user', 'agent', 'schedule', 'monitor', 'tick', 'answer', 'note']),
  startedAt: instant,
  leaseUntil: instant,
  cancelled: z.boolean(),
})

export const session = z
  .object({
    id: id('ses'),
    agent: id('agt'),
    title: z.string().nullable(),
    main: z.boolean(),
    parent: id('ses').nullable(),
    forkedFrom: id('ses').nullable(),
    project: z.string().nullable(),
    mode: z.enum(modes),
    permission: z.enum(permissions),
    state: z.enum(['idle', 'running', 'paused', 'compacting', 'archived']),
    paused: z.boolean(),
    compacting: z.boolean(),
    compactedInto: id('ses').nullable(),
    waiting: count.meta({
      description: 'messages that wait to be claimed; beyond a thousand not all of them are counted',
    }),
    goal: z.string().nullable(),
    pendingRequests: count,
    scheduled: z.object({ count, nextAt: instant.nullable() }),
    badges: z.array(z.enum(['scheduled'])),
    workerConnected: z.boolean().nullable().meta({ description: 'null: no worker ever said anything' }),
    checks: z.boolean().meta({ description: 'its worker runs checks and host steps' }),
    left: z.boolean().meta({ description: 'the agent left the conversation' }),
    turn: turn.nullable(),
    createdAt: instant,
    archivedAt: instant.nullable(),
  })
  .meta({ id: 'Session' })

export const message = z
  .object({
    id: id('msg'),
    kind: z.enum(['user', 'agent', 'schedule', 'monitor', 'tick', 'answer', 'note']),
    text: z.string(),
    origin,
    automated: z.boolean().meta({ description: 'no person wrote it: it approves nothing' }),
    status: z.enum(['waiting', 'taken', 'dropped']),
    replyTo: id('msg').nullable(),
    at: instant,
  })
  .meta({ id: 'Message' })

export const claimed = z
  .object({
    turn: z
      .object({ id: id('trn'), session: id('ses'), leaseUntil: instant, mode: z.enum(modes) })
      .nullable()
      .meta({ description: 'null: the message steers the turn that runs' }),
    message,
    notes: z.array(message),
  })
  .meta({ id: 'Claimed', description: 'A message, and the turn that works on it' })

export const handedJob = z
  .object({
    job: z.object({
      id: id('job'),
      kind: z.enum(['check', 'host_step', 'tool_check']),
      agent: id('agt'),
      session: id('ses').nullable(),
      schedule: id('sch').nullable(),
      script: z.string().exactOptional().meta({ description: 'of a check: what is run' }),
      tool: z.string().nullable().exactOptional().meta({ description: 'of a host step: what is called' }),
      args: anyJson,
      idempotencyKey: z.string().exactOptional().meta({ description: 'of a step of a flow: the same for a repeat' }),
      timeoutSeconds: z.number(),
      leaseUntil: instant,
      key: z.string().exactOptional().meta({ description: 'a key that reads, for the process of a check' }),
    }),
  })
  .meta({ id: 'HandedJob', description: "Work for the agent's machine: a check's script or a step of a tool" })

export const claim = z.union([claimed, handedJob])
export const beat = z
  .object({ leaseUntil: instant, cancelled: z.boolean(), steer: z.array(message) })
  .meta({ id: 'Beat' })
export const turnEnded = z.object({ trace: id('trc').nullable().meta({ description: 'null without tool calls' }) })

export const grant = z.object({
  queue: z
    .object({
      url: z.string(),
      region: z.string(),
      endpoint: z.string().nullable(),
      credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string(), sessionToken: z.string() }),
      expiresAt: instant,
    })
    .nullable()
    .meta({ description: 'null: there is no queue to listen to here' }),
})

export const ticks = z
  .object({
    state: z.enum(['off', 'armed', 'waiting', 'running', 'parked']),
    reason: z.string().nullable(),
    nextAt: instant.nullable(),
    today: z.object({ ticks: count, tokens: z.number() }),
    windowUntil: instant.nullable(),
  })
  .meta({ id: 'Ticks' })
