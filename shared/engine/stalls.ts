import type { Head } from '../domain/session.ts'
import { stallIn } from '../domain/stall.ts'
import type { ToolCall } from '../domain/trace.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { noticeOp } from './notices.ts'
import { nameOfConversation } from './prompts.ts'

/** S4-2: a turn that asked the same thing again and again is told to its person: it burns money, and a monitor would not. */
export async function stallOps(world: World, head: Head, calls: readonly ToolCall[], now: number): Promise<Op[]> {
  const stall = stallIn(calls)
  if (stall === null) return []
  const name = nameOfConversation(head)
  const card = await noticeOp(
    world,
    {
      what: `stall|${head.conv}`,
      person: head.owner,
      title: `The agent was stuck in "${name}"`,
      body: `It called ${stall.tool} ${stall.times} times in a row with the same arguments, and got the same result. A monitor waits for a change without a model: rouse monitor add --help`,
      reason: 'stalled',
      session: head.session,
      agent: head.agent,
    },
    now,
  )
  return [card]
}
