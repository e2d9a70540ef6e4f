import { limits } from '../domain/limits.ts'
import { promptsSent } from '../domain/session.ts'
import type { Call } from './call.ts'
import { asksFirst, nameOfConversation } from './prompts.ts'
import { actingIn } from './reach.ts'

/**
 * What a preview says of holds: what would become of a schedule that this caller makes from where it is. A person's is never held, and
 * neither is one for the conversation itself (S0-31, S0-32).
 */
export async function holdNotes(
  call: Call,
  to: { readonly session: string | null; readonly agent: string | null },
): Promise<string[]> {
  const acting = await actingIn(call)
  if (acting === null || (to.session === null && to.agent === null) || to.session === acting.head.session) return []
  const { head } = acting
  if (asksFirst(head))
    return [
      `this session is in mode "${head.mode}": a person allows a schedule for another session on a card, and then it is made`,
    ]
  const sent = promptsSent(head)
  if (sent < limits.promptsToOthersMax)
    return [
      `it counts toward the ${limits.promptsToOthersMax} prompts to other sessions since the last word of a person here, once now and at each fire: ${sent} are sent`,
    ]
  return [
    `${sent} prompts to other sessions were sent since the last word of a person here: it would not be made without a person's Allow, and its fires would be held, waiting until you write in ${nameOfConversation(head)}`,
  ]
}
