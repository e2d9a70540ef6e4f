import { derivedUlid } from './ids.ts'
import type { Message } from './message.ts'
import type { Head } from './session.ts'
import { tickText } from './tick.ts'

/** A session's tick as its inbox shows it; null: none waits. */
export function tickMessage(head: Head): Message | null {
  const at = head.tick?.waiting ?? null
  if (at === null) return null
  return {
    id: `msg_${derivedUlid(at, `tick|${head.conv}`)}`,
    kind: 'tick',
    text: tickText,
    origin: {
      kind: 'tick',
      principal: head.owner,
      agent: head.agent,
      session: head.session,
      schedule: null,
      run: null,
      ...head.tick!.reach,
    },
    automated: true,
    status: 'waiting',
    replyTo: null,
    at,
  }
}
