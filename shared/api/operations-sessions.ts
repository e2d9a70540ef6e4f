import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { recorded } from '../domain/trace.ts'
import type { Call } from '../engine/call.ts'
import { claimJobOfAgent, claimJobOfSession, type HandedJob } from '../engine/job-claims.ts'
import type { NewSecret } from '../engine/keys.ts'
import { listMessages } from '../engine/message-list.ts'
import { sendMessage } from '../engine/messages.ts'
import {
  archiveSession,
  compactSession,
  createSession,
  deleteSession,
  editSession,
  forkSession,
  listSessions,
  setLeft,
  viewSession,
} from '../engine/sessions.ts'
import {
  type Claimed,
  type ClaimOptions,
  cancelTurn,
  claimAgent,
  claimSession,
  endTurn,
  grantQueue,
  heartbeat,
  queueOfTurn,
} from '../engine/turns.ts'
import { cursorIn, idShape, list, placeShape } from './cursors.ts'
import { newSecret } from './keys.ts'
import { type Answer, created, noContent, ok, operation, type Waiting } from './operation.ts'
import * as present from './present.ts'
import * as schemas from './schemas.ts'

const tag = 'Sessions'
const turns = 'Turns'

export const sessionOperations = [
  operation({
    name: 'createSession',
    method: 'post',
    path: '/v1/sessions',
    summary: 'Open a session of an agent',
    tag,
    body: schemas.sessionCreate,
    statuses: [201],
    creates: true,
    run: async (call, { body }) => created(present.session(await createSession(call, body))),
  }),
  operation({
    name: 'listSessions',
    method: 'get',
    path: '/v1/sessions',
    summary: 'List sessions, newest first',
    tag,
    query: z.strictObject({ ...schemas.page, ...schemas.sessionQuery }),
    run: async (call, { query }) => {
      const page = { limit: query.limit, before: cursorIn(query.cursor, idShape) }
      const { items, next } = await listSessions(call, query.agent ?? null, page)
      return ok(list(items.map(present.session), next))
    },
  }),
  operation({
    name: 'getSession',
    method: 'get',
    path: '/v1/sessions/{id}',
    summary: 'Read a session: its state, what waits, what is scheduled',
    tag,
    run: async (call, { params }) => ok(present.session(await viewSession(call, params.id!))),
  }),
  operation({
    name: 'editSession',
    method: 'patch',
    path: '/v1/sessions/{id}',
    summary: 'Change a session',
    tag,
    body: schemas.sessionPatch,
    run: async (call, { params, body }) => ok(present.session(await editSession(call, params.id!, body))),
  }),
  operation({
    name: 'deleteSession',
    method: 'delete',
    path: '/v1/sessions/{id}',
    summary: 'Delete a session; schedules that fire in it or that it made end',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await deleteSession(call, params.id!)
      return noContent
    },
  }),
  ...(
    [
      ['archive', 'Archive a session; schedules that fire in it or that it made end', archiveSession],
      [
        'leave',
        'The agent leaves the conversation: runs give it no turn until it joins',
        (call: Call, id: string) => setLeft(call, id, true),
      ],
      ['join', 'The agent joins the conversation again', (call: Call, id: string) => setLeft(call, id, false)],
    ] as const
  ).map(([verb, summary, act]) =>
    operation({
      name: `${verb}Session`,
      method: 'post',
      path: `/v1/sessions/{id}/${verb}`,
      summary,
      tag,
      body: schemas.nothing,
      bodyOptional: true,
      run: async (call, { params }) => ok(present.session(await act(call, params.id!))),
    }),
  ),
  ...(
    [
      ['compact', 'Go on in a new session: schedules, waiting messages and a running turn move to it', compactSession],
      ['fork', 'Begin a new conversation like this one; nothing is copied', forkSession],
    ] as const
  ).map(([verb, summary, act]) =>
    operation({
      name: `${verb}Session`,
      method: 'post',
      path: `/v1/sessions/{id}/${verb}`,
      summary,
      tag,
      body: schemas.nothing,
      bodyOptional: true,
      statuses: [201],
      creates: true,
      run: async (call, { params }) => created(present.session(await act(call, params.id!))),
    }),
  ),
  operation({
    name: 'sendMessage',
    method: 'post',
    audited: false,
    path: '/v1/sessions/{id}/messages',
    summary: 'Put a message into the inbox of a session',
    tag,
    body: schemas.messageCreate,
    statuses: [201],
    creates: true,
    run: async (call, { params, body }) => created(present.message(await sendMessage(call, params.id!, body.text))),
  }),
  operation({
    name: 'listMessages',
    method: 'get',
    path: '/v1/sessions/{id}/messages',
    summary: 'Inbox and history, oldest first',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      const after = cursorIn(query.cursor, placeShape)
      const { items, next } = await listMessages(call, params.id!, { limit: query.limit, after })
      return ok(list(items.map(present.message), next))
    },
  }),
  operation({
    name: 'claimSession',
    method: 'post',
    audited: false,
    path: '/v1/sessions/{id}/claim',
    summary: 'Take the next message and start its turn; 204 when none may be taken',
    tag: turns,
    body: schemas.claim,
    bodyOptional: true,
    statuses: [200, 204],
    run: async (_call, { params, body, waiting }) =>
      await claimed(waiting, params.id!, body, {
        job: (call) => claimJobOfSession(call, params.id!, secretsOf(call), body.jobs === 'only'),
        turn: (call) => claimSession(call, params.id!, options(body)),
      }),
  }),
  operation({
    name: 'claimAgent',
    method: 'post',
    audited: false,
    path: '/v1/agents/{id}/claim',
    summary: 'The same over all open sessions of an agent, its fresh ones included',
    tag: turns,
    body: schemas.claim,
    bodyOptional: true,
    statuses: [200, 204],
    run: async (_call, { params, body, waiting }) =>
      await claimed(waiting, params.id!, body, {
        job: (call) => claimJobOfAgent(call, params.id!, secretsOf(call)),
        turn: (call) => claimAgent(call, params.id!, options(body)),
      }),
  }),
  ...(
    [
      ['sessions', 'session', 'a session'],
      ['agents', 'agent', "an agent's fresh sessions"],
    ] as const
  ).map(([place, of, whose]) =>
    operation({
      name: `grantQueueOf${of === 'session' ? 'Session' : 'Agent'}`,
      method: 'post',
      audited: false,
      path: `/v1/${place}/{id}/queue`,
      summary: `Where the bell of ${whose} rings, with credentials for that queue alone; null where there is no queue to listen to`,
      tag: turns,
      body: schemas.nothing,
      bodyOptional: true,
      run: async (call, { params }) => {
        const id = params.id!
        return ok({ queue: present.grant(await grantQueue(call, of === 'session' ? { session: id } : { agent: id })) })
      },
    }),
  ),
  operation({
    name: 'heartbeat',
    method: 'post',
    audited: false,
    path: '/v1/turns/{id}/heartbeat',
    summary: 'Extend the lease; answers at once when the turn is cancelled',
    tag: turns,
    body: schemas.beat,
    bodyOptional: true,
    run: async (call, { params, body, waiting }) => {
      const ears = waiting.listen(await queueOfTurn(call, params.id!))
      try {
        const first = await heartbeat(call, params.id!)
        if (first.cancelled || first.steer.length > 0) return ok(present.beat(first))
        const heard = await held(body.wait, waiting, ears, async () => {
          const beat = await heartbeat(waiting.again(), params.id!)
          return beat.cancelled || beat.steer.length > 0 ? beat : null
        })
        return ok(present.beat(heard ?? first))
      } finally {
        ears.close()
      }
    },
  }),
  operation({
    name: 'endTurn',
    method: 'post',
    audited: false,
    path: '/v1/turns/{id}/end',
    summary: 'End a turn with its outcome; the answer stands under its message',
    tag: turns,
    body: schemas.turnEnd,
    bodyBytesMax: 1024 * 1024,
    run: async (call, { params, body }) => {
      const trace = await endTurn(call, params.id!, {
        outcome: body.outcome,
        answer: clipped(body.answer ?? null, limits.answerCharsMax),
        summary: clipped(body.summary ?? null, limits.summaryCharsMax),
        tokens: body.tokens ?? null,
        usd: body.usd ?? null,
        toolCalls: (body.toolCalls ?? []).map(recorded),
        sleep: body.sleep == null ? null : { seconds: body.sleep.seconds, reason: body.sleep.reason ?? null },
      })
      return ok({ trace })
    },
  }),
  operation({
    name: 'cancelTurn',
    method: 'post',
    path: '/v1/turns/{id}/cancel',
    summary: 'A person stops the turn',
    tag: turns,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [204],
    run: async (call, { params }) => {
      await cancelTurn(call, params.id!)
      return noContent
    },
  }),
]

const secretsOf =
  (call: Call): NewSecret =>
  (of) =>
    newSecret(call.world.ids, of)

const options = (body: z.output<typeof schemas.claim>): ClaimOptions => ({
  leaseSeconds: body.leaseSeconds,
  steer: body.steer,
})

/** Cut where it must be stored in one item, and it says so. An empty text is none. */
function clipped(given: string | null, max: number): string | null {
  if (given === null || given === '') return null
  const text = given.length <= max ? given : `${given.slice(0, max)}\n[cut here: ${given.length} characters in all]`
  // A terminal's control characters say nothing to a reader, and six bytes each would burst the item they are stored in.
  return text.toWellFormed().replace(/[^\P{Cc}\t\n\r]/gu, '\uFFFD')
}

async function claimed(
  waiting: Waiting,
  name: string,
  body: z.output<typeof schemas.claim>,
  claim: {
    readonly job: (call: Call) => Promise<HandedJob | null>
    readonly turn: (call: Call) => Promise<Claimed | null>
  },
): Promise<Answer<204, null> | Answer<200, ReturnType<typeof present.job> | ReturnType<typeof present.claimed>>> {
  // A job is short and its time is bounded: it goes before any message.
  const look = async (): Promise<HandedJob | Claimed | null> => {
    const call = waiting.again()
    return (await claim.job(call)) ?? (body.jobs === 'only' ? null : await claim.turn(call))
  }
  const ears = waiting.listen(name)
  try {
    const found = (await look()) ?? (await held(body.wait, waiting, ears, look))
    if (found === null) return noContent
    return ok('job' in found ? present.job(found) : present.claimed(found))
  } finally {
    ears.close()
  }
}

/** Holds a call open until `look` finds something, the wait is over or the caller has gone. One that has gone is handed nothing. */
async function held<T>(
  seconds: number | undefined,
  waiting: Waiting,
  ears: ReturnType<Waiting['listen']>,
  look: () => Promise<T | null>,
): Promise<T | null> {
  const until = performance.now() + (seconds ?? 0) * 1000
  for (;;) {
    const left = until - performance.now()
    const rung = left > 0 && (await ears.rung(left, waiting.gone))
    if (waiting.gone.aborted || (left <= 0 && seconds === undefined)) return null
    // Not everything that frees a message rings: the last look is at the end of the wait.
    const found = await look()
    if (found !== null || !rung) return found
  }
}
