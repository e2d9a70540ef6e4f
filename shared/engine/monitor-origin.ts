import { limits } from '../domain/limits.ts'
import { type Reach, reachOf } from '../domain/provenance.ts'
import { Refused } from '../domain/refused.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { Call } from './call.ts'
import { nameOfConversation, promptOp } from './prompts.ts'
import { type Acting, actingIn, actingInMain } from './reach.ts'
import { putHead } from './store.ts'

/** Where a monitor is armed from. */
export interface ArmedFrom {
  /** The session that the caller acts in; null: none. */
  readonly session: string | null
  /** Of the wake that the event is. */
  readonly reach: Reach
  /**
   * The writes to heads that count what was armed: a monitor of a turn that may arm one, and a prompt to another session.
   *
   * @throws Refused `approval_needed`
   */
  readonly counted: (note: string) => Promise<readonly Op[]>
}

const byPerson: ArmedFrom = { session: null, reach: { hops: 0, depth: 1 }, counted: async () => [] }

/**
 * S4-33, S4-34, decision 27. What counts is the turn that runs where the agent is, whatever it says of itself: of the session that it acts in,
 * and of the one that it arms in when that is further from a person's word.
 *
 * @throws Refused `turn_not_running`, `monitor_depth`, `hop_limit`
 */
export async function originOf(call: Call, target: Stored<Head>): Promise<ArmedFrom> {
  if (call.caller.kind === 'person') return byPerson
  const acting = await actingIn(call)
  const here = acting?.stored ?? target
  const source = depthOf(target) > depthOf(here) ? target : here
  const depth = depthOf(source)
  assertDepth(source.item, depth)
  const from = acting ?? (await actingInMain(call))
  const toOther = from === null || from.head.conv !== target.item.conv
  const hops = reachOf(acting?.reach ?? reachIn(target), toOther).hops
  return {
    session: acting?.head.session ?? null,
    reach: { hops, depth: depth + 1 },
    counted: async (note) => await headOps(call, { source, depth, target, from: toOther ? from : null, note }),
  }
}

const reachIn = ({ item }: Stored<Head>): Reach => item.turn?.origin ?? { hops: 0, depth: 0 }
const depthOf = (head: Stored<Head>): number => reachIn(head).depth

function assertDepth({ turn }: Head, depth: number): void {
  if (depth >= limits.monitorDepthMax)
    throw new Refused(
      'monitor_depth',
      'this turn was woken by a monitor that another monitor had led to: it may arm none. Tell the person what there is to tell, and let them ask again',
    )
  if (depth === limits.monitorDepthMax - 1 && (turn?.armed ?? 0) > 0)
    throw new Refused(
      'monitor_depth',
      'a turn that was woken by a monitor may arm one follow-up monitor, and this one has',
    )
}

interface Counting {
  readonly source: Stored<Head>
  readonly depth: number
  readonly target: Stored<Head>
  /** Where the prompt is counted; null: it goes to nobody else. */
  readonly from: Acting | null
  readonly note: string
}

/** One write a head: what is counted on the same one goes together. */
async function headOps(call: Call, { source, depth, target, from, note }: Counting): Promise<Op[]> {
  const prompt =
    from === null
      ? null
      : await promptOp(call, from, {
          title: `A monitor that wakes ${nameOfConversation(target.item)}, armed by ${nameOfConversation(from.head)}`,
          body: note,
        })
  if (depth === 0) return prompt === null ? [] : [prompt]
  const isSame = from !== null && from.stored.key[0] === source.key[0]
  const head = isSame && prompt !== null ? applied(source.item, prompt) : source.item
  const turn = { ...head.turn!, armed: (head.turn!.armed ?? 0) + 1 }
  const marked = putHead(call.world, { ...head, turn }, source.version, call.now)
  return prompt === null || isSame ? [marked] : [marked, prompt]
}

/** A head as a patch would make it, for a write that says more: the version it was read at stands in for the guards. */
function applied(head: Head, op: Op): Head {
  if (!('patch' in op)) return head
  const fields = head as unknown as Readonly<Record<string, unknown>>
  const added = Object.entries(op.add ?? {}).map(([name, by]) => [name, Number(fields[name] ?? 0) + by])
  return { ...head, ...op.set, ...Object.fromEntries(added) }
}
