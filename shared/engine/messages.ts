import { bare, timeOf } from '../domain/ids.ts'
import type { Message, MessageKind } from '../domain/message.ts'
import { reachOf } from '../domain/provenance.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Head, isGone } from '../domain/session.ts'
import { heardPlan } from '../domain/tick.ts'
import type { Op, Stored } from '../ports/table.ts'
import { Charges, limitedBy, purse, readOwnLimits } from './budgets.ts'
import { type Call, retrying } from './call.ts'
import { hint, ringCancelled } from './fire.ts'
import { droppedTick } from './inbox.ts'
import { closeApproval, nameOfConversation, promptOp } from './prompts.ts'
import {
  actingIn,
  actingInMain,
  assertAgentSessions,
  assertOpen,
  type FoundSession,
  principal,
  reachableSession,
  sessionFor,
} from './reach.ts'
import { releaseHeld } from './release.ts'
import { type Agent, commit, headUnchanged, keys, putHead, putWaiting, readAll } from './store.ts'

/** Puts a message: a person's own word, or a prompt from one agent to another, which says that it is one. */
export async function sendMessage(call: Call, id: string, text: string): Promise<Message> {
  const { world, caller } = call
  const acting = await actingIn(call)
  const found = await addressee(call, id, acting?.head ?? null)
  await assertAgentSessions(call)
  const toOther = acting === null ? caller.kind === 'agent' : acting.head.conv !== found.head.item.conv
  const reach =
    caller.kind === 'person' ? { hops: 0, depth: 0 } : reachOf(acting?.reach ?? { hops: 0, depth: 0 }, toOther)
  const kind: MessageKind = caller.kind === 'person' ? 'user' : 'agent'
  const messageId = call.newId('msg')
  const message: Message = {
    id: messageId,
    kind,
    text,
    origin: {
      kind,
      principal: principal(call),
      agent: caller.kind === 'agent' ? caller.agent : null,
      session: acting?.head.session ?? null,
      schedule: null,
      run: null,
      ...reach,
    },
    automated: caller.kind === 'agent',
    status: 'waiting',
    replyTo: null,
    // Of the id: a call repeated under its Idempotency-Key makes the very same message.
    at: timeOf(bare(messageId)),
  }
  const { conv } = found.head.item
  let resets = false
  let stopped: Head | null = null
  await retrying(async () => {
    const [head, waiting, taken] = await readAll<unknown>(world, [
      keys.head(conv),
      keys.waiting(conv, message),
      keys.history(conv, message),
    ])
    if (call.repeatable && (waiting !== null || taken !== null)) return
    const open = head as Stored<Head> | null
    if (open === null || isGone(open.item)) throw new Refused('session_archived', `session ${id} is archived`)
    // The person's word: what this conversation may send to others is counted anew (S0-28).
    resets = kind === 'user' && ((open.item.sends ?? 0) > 0 || (open.item.grants ?? 0) > 0)
    const quiet = kind === 'user' ? overruled(open.item, call.now) : null
    const told: Head = { ...(quiet?.head ?? open.item), ...(resets ? { sends: 0, grants: 0 } : {}) }
    stopped = quiet?.cancelled === true ? told : null
    const heard = resets || quiet !== null ? putHead(world, told, open.version, call.now) : headUnchanged(open)
    const sender = kind === 'agent' && toOther ? ((await actingIn(call)) ?? (await actingInMain(call))) : null
    // Without a session the agent stands in its main one; into that very one it sends nothing to others.
    const from = sender === null || sender.head.conv === conv ? null : sender
    const counted =
      from === null
        ? []
        : [
            await promptOp(call, from, {
              title: `A prompt from ${nameOfConversation(from.head)} to ${nameOfConversation(open.item)}`,
              body: text,
            }),
          ]
    const charges = kind === 'agent' ? await chargesOf(call, found.agent, message.origin.principal) : []
    await commit(world, [putWaiting(conv, message), heard, ...(quiet?.ops ?? []), ...counted, ...charges])
  })
  const { session, agent } = found.head.item
  await hint(world, () =>
    world.bell.ring(session, { kind: 'message', session, agent, id: message.id, message: () => message }),
  )
  if (stopped !== null) await ringCancelled(world, stopped)
  // The person's word: what waited for it goes out, and a card that asked for it is moot.
  if (kind === 'user') {
    if (resets) await closeApproval(world, found.head.item, call.now)
    await releaseHeld(world, conv, call.now)
  }
  return message
}

/** S3-41, S3-42: the person always wins over a tick, whether it runs or waits. @returns null when none does */
function overruled(
  head: Head,
  now: number,
): { readonly head: Head; readonly ops: readonly Op[]; readonly cancelled: boolean } | null {
  const { turn, tick } = head
  const runs = turn?.kind === 'tick' && turn.cancelled === null
  const noted = tick == null ? null : heardPlan(tick)
  if (!runs && tick?.waiting == null && noted === null) return null
  return {
    head: {
      ...head,
      ...(runs ? { turn: { ...turn, cancelled: 'input' } } : {}),
      ...(tick == null ? {} : { tick: { ...(noted ?? tick), waiting: null } }),
    },
    ops: droppedTick(head, now),
    cancelled: runs,
  }
}

/** An agent's prompt is a wake like any other: it draws on the budgets of whom it wakes and of whom it is for. @throws Refused */
async function chargesOf(call: Call, agent: Agent, principal: string): Promise<Op[]> {
  const own = await readOwnLimits(call.world, principal)
  const drawn = await purse(call.world, limitedBy(agent, principal, own?.item ?? null), call.now)
  if (drawn.short !== null)
    throw new Refused(
      'budget_spent',
      `the budget ${drawn.short} is used up for today; GET /v1/budgets shows what is left and when the day ends`,
    )
  return new Charges().draw(drawn, { wakes: 1 }).ops(call.now)
}

async function addressee(call: Call, id: string, acting: Head | null): Promise<FoundSession> {
  const { caller } = call
  const alone = caller.kind === 'agent' && acting === null
  const found = alone ? await sessionFor(call, id) : await reachableSession(call, id)
  if (found === null) throw notFound('session', id)
  assertOpen(found)
  return found
}
