import { limits } from './limits.ts'
import { Refused } from './refused.ts'

/**
 * Where a message comes from. Decision 17, three voices: the author of an automated message is always Rouse, the principal
 * is who pays and whose access counts, and approval power is none.
 */
export interface Origin {
  readonly kind: 'user' | 'agent' | 'schedule' | 'monitor' | 'tick' | 'rouse'
  /** Person whose access, secrets and budget the turn uses. */
  readonly principal: string
  /** Agent that wrote or created it; null when a person did. */
  readonly agent: string | null
  /** Session it was written or created in; null when none. */
  readonly session: string | null
  readonly schedule: string | null
  readonly run: string | null
  /** Sessions crossed on the way, counted from a person's word. */
  readonly hops: number
  /** Decision 27: monitors upstream of this wake. */
  readonly depth: number
}

/** What a caller brings along: the origin of the turn it runs in, as the server knows it. */
export interface Reach {
  readonly hops: number
  readonly depth: number
}

/**
 * S0-45: a schedule or a send reaches no further than a direct prompt could.
 *
 * @param toOther  whether the prompt goes into another session than the one it is made in
 * @throws Refused `hop_limit`
 */
export function reachOf(from: Reach, toOther: boolean): Reach {
  const hops = from.hops + (toOther ? 1 : 0)
  if (hops > limits.hopsMax)
    throw new Refused(
      'hop_limit',
      `a prompt may cross ${limits.hopsMax} sessions from the last word of a person; this one would be number ${hops}. Tell the person instead, or do it in this session`,
    )
  return { hops, depth: from.depth }
}
