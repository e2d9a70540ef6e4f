import { type Log, type LogIds, logBeside } from './log.ts'
import type { Meter } from './meter.ts'
import type { Table } from './table.ts'

export type { Log } from './log.ts'

/** Everything outside that the engine talks to. Two sets of adapters make two worlds; the engine cannot tell which it is in. */
export interface World {
  readonly table: Table
  readonly bell: Bell
  readonly ears: Ears
  readonly alarms: AlarmClock
  readonly secrets: Secrets
  readonly outbound: Outbound
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly meter: Meter
  /** How many partitions the due indexes are spread over: 1 where one process serves them, more where a partition has a speed limit. */
  readonly shards: number
  /** Whether idle sessions may wake themselves: the deployment's switch. */
  readonly proactive: boolean
  /** Changes of documents are brought by a stream of the store; else whoever made one brings it. */
  readonly streamed: boolean
  /** Runs of flows have a function of their own, which their alarms wake; else whoever finds them due goes on with them. */
  readonly flowsApart: boolean
  /** The world that this one is a view of: see `viewOf`. */
  readonly of?: World
}

/** The same world, seen by one call or one batch: its lines of the log have these ids besides. */
export const viewOf = (world: World, beside: (ids: LogIds) => LogIds): World => ({
  ...world,
  log: logBeside(world.log, beside),
  of: worldOf(world),
})

/** Whose what is remembered of a world is: all views of one world share it. */
export const worldOf = (world: World): World => world.of ?? world

export interface Clock {
  /** Epoch ms. */
  now(): number
}

export interface Ids {
  /** 26 characters of a ULID whose time is `at`; later calls sort later within one process. */
  ulid(at: number): string
  /** Names one attempt at a commit: never the same twice, in no process. */
  token(): string
  /** A secret of 256 random bits, base62 or base64url. */
  secret(): string
}

/**
 * Tells whoever serves a session that a message waits, and carries it.
 *
 * At least once, no order promised, and only after the commit that put the message. Receiving belongs to the worker, not to the engine.
 */
export interface Bell {
  /** @param queue  the id of a session, or of the agent that serves a fresh one */
  ring(queue: string, envelope: Envelope): Promise<void>
  /** Nobody rings this queue again: what it stands on may go. Closing one that never was does nothing. */
  close(queue: string): Promise<void>
  /**
   * Lets somebody outside listen to one queue by himself, and to nothing else, for about an hour.
   *
   * @returns null in a world whose bells only `Ears` hear
   */
  grant(queue: string): Promise<QueueGrant | null>
}

/** An SQS queue and credentials that may receive and delete its messages. They are secrets: shown once, never logged. */
export interface QueueGrant {
  readonly url: string
  readonly region: string
  /** Another address of the service than AWS's own, or null. */
  readonly endpoint: string | null
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
  /** Epoch ms. */
  readonly expiresAt: number
}

export interface Envelope {
  /** `job`: for those who hold a claim open; it is carried nowhere. */
  readonly kind: 'message' | 'cancelled' | 'job'
  readonly session: string
  readonly agent: string
  /** The message's id, or the cancelled turn's. */
  readonly id: string
  /**
   * The message whole, as `claim` would hand it out; null for a cancelled turn. Asked for only where a bell carries it: in one process
   * it need not be written out.
   */
  readonly message: () => unknown
}

/**
 * The waiting side of `claim` and `heartbeat`: hears a bell while a call is held open.
 *
 * A hint like every bell: whoever hears it looks again, and a ring may be missed where no process spans both ends.
 */
export interface Ears {
  /** Listens from now on, so that a ring between a look and the wait is not lost. A queue's, session's or agent's id. */
  listen(name: string): Listening
}

export interface Listening {
  /** True when rung since the last call, within `ms` of real time; false when that passed or `signal` aborted. */
  rung(ms: number, signal?: AbortSignal): Promise<boolean>
  close(): void
}

/**
 * Calls the engine at or after `at`, at least once, maybe late.
 *
 * Nothing is ever cleared or replaced: an alarm is a hint, and whoever it wakes looks at the state. `key` names what to look at.
 */
export interface AlarmClock {
  set(key: AlarmKey, at: number): Promise<void>
}

/** The id of a schedule, a monitor, a job or a flow's run, the bare id of a conversation whose turn may have lapsed, or the place of what a run's end sends out. */
export type AlarmKey = {
  readonly kind: 'schedule' | 'turn' | 'delivery' | 'monitor' | 'job' | 'flow'
  readonly id: string
}

/**
 * Values that only a step may see, each person's own. Never in the table, never in a log.
 *
 * `owner`: a person's id. `name`: letters, digits, `_`, `-` and `.`, 1..100 characters. `value`: 1..4,096 bytes.
 */
export interface Secrets {
  put(owner: string, name: string, value: string): Promise<void>
  get(owner: string, name: string): Promise<string | null>
  /** @returns false when there was none */
  remove(owner: string, name: string): Promise<boolean>
  /** In byte order. */
  names(owner: string): Promise<readonly string[]>
}

/**
 * The way out: to addresses that people and agents name.
 *
 * Only to those that anybody could reach, whatever a name resolves to and wherever a redirect leads, unless the configuration allows
 * more. No error holds a path, a query, a header or a body: all of these may be secrets.
 */
export interface Outbound {
  /** One exchange, within its bounds. @throws never */
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** To an SNS topic, as the process may. @returns null when it is published. @throws never */
  publish(message: TopicMessage): Promise<OutboundFailure | null>
  /** Calls a Lambda function that the configuration allows, and waits for its answer. @throws never */
  invoke(invocation: Invocation): Promise<OutboundText | OutboundFailure>
  /** Calls a tool of an MCP server (Streamable HTTP). @throws never */
  mcpCall(call: McpCall): Promise<OutboundText | OutboundFailure>
  /** Asks an MCP server what it says of one of its tools. @throws never */
  mcpTool(asked: McpTool): Promise<{ readonly ok: true; readonly readOnly: boolean } | OutboundFailure>
  /** Why a URL, or the ARN of a function, would be refused, as far as can be seen without asking anybody; null: it does not show. */
  refusal(address: string): string | null
  /** Where Telegram's bot API is, without a slash at the end. */
  readonly telegramApi: string
}

export interface OutboundRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  /** Those that frame the request (Host, Content-Length, …) are not the caller's to set. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** For all of it: names, redirects, the body. */
  readonly timeoutMs: number
  /** Of the answer's body. */
  readonly bytesMax: number
  /** A body that is larger, slower or broken off: a failure, or cut where only the status counts. */
  readonly rest: 'fail' | 'cut'
}

export interface OutboundAnswered {
  readonly ok: true
  /** Any: 404 and 302 are answers. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface OutboundFailure {
  readonly ok: false
  /** `refused`: an address that is not reached from here. `invalid`: a request that none can make. `failed`: it was reached, and says so. */
  readonly reason: 'refused' | 'invalid' | 'unreachable' | 'timeout' | 'too_large' | 'failed'
  /** Fit to be shown to whoever asked. */
  readonly error: string
  /** The same request may do better later. */
  readonly retry: boolean
}

export type OutboundAnswer = OutboundAnswered | OutboundFailure

/** What a function or an MCP tool answered: text that may be JSON. */
export interface OutboundText {
  readonly ok: true
  readonly text: string
}

export interface Invocation {
  readonly arn: string
  /** JSON. */
  readonly payload: string
  readonly timeoutMs: number
  readonly bytesMax: number
}

export interface McpTool {
  readonly url: string
  readonly tool: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export interface McpCall extends McpTool {
  readonly args: Readonly<Record<string, unknown>>
  readonly bytesMax: number
}

export interface TopicMessage {
  readonly topic: string
  /** The same for a repeat: what a FIFO topic drops it by. */
  readonly id: string
  /** What a FIFO topic keeps in order. */
  readonly group: string
  readonly body: string
}
