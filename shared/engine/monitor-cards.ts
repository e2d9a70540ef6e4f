import { limits } from '../domain/limits.ts'
import type { Monitor } from '../domain/monitor.ts'
import { onOneLine } from '../domain/names.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { noticeOp } from './notices.ts'
import { nameOfConversation } from './prompts.ts'

/** One card for a conversation, a reason and a day, brought back and never multiplied. */
export async function endedCard(
  world: World,
  monitor: Monitor,
  { head, day }: { readonly head: Stored<Head> | null; readonly day: string },
  o: { readonly reason: string; readonly toolChanged: boolean },
  now: number,
): Promise<Op> {
  const { reason } = o
  const name = head === null ? 'a conversation' : nameOfConversation(head.item)
  const why =
    reason === 'daily_limit'
      ? `its conversation has been woken ${limits.monitorFiresPerDay} times by monitors today`
      : reason === 'agent_left'
        ? 'its agent has left the conversation'
        : `the budget ${reason} is used up for today`
  return await bringUp(world, monitor, head, now, {
    what: `monitor|${monitor.conv}|${reason}|${day}`,
    title: `A monitor in "${name}" has ended and woke nobody`,
    body: `${o.toolChanged ? 'Its tool does something else now' : 'What it waited for is there'}, but ${why}. Its note:\n\n${monitor.note}`,
    reason,
  })
}

/** Decision 30: told once, when it has failed so often in a row. */
export const failingCard = (world: World, monitor: Monitor, now: number): Promise<Op> =>
  bringUp(world, monitor, null, now, {
    what: `monitor|${monitor.id}`,
    title: 'A monitor cannot look at what it watches',
    body: `It has failed ${monitor.failures} times in a row and stays armed. The last time: ${onOneLine(monitor.error ?? 'unknown')}. Its note:\n\n${monitor.note}`,
    reason: 'monitor_failing',
  })

const bringUp = (
  world: World,
  monitor: Monitor,
  head: Stored<Head> | null,
  now: number,
  o: { readonly what: string; readonly title: string; readonly body: string; readonly reason: string },
): Promise<Op> =>
  noticeOp(world, { ...o, person: monitor.principal, session: head?.item.session ?? null, agent: monitor.agent }, now)
