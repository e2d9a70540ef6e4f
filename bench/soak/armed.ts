import type { OurNode } from '../ours/node.ts'

/** How many schedules, how often each fires, and when the first is due; the others follow spread over one interval. */
export interface Arming {
  count: number
  everyMs: number
  /** Epoch ms. */
  firstAt: number
}

/** What the API holds a session to. */
const perSession = 20
const sessionsPerAgent = 100
const callsAtOnce = 16

/** Each session has its schedules spread over the interval, so that its wakes come one after the other. */
export async function armed(node: OurNode, arming: Arming) {
  const sessions: { id: string; key: string }[] = []
  const { key } = node
  for (let made = 0; made < arming.count / perSession; made += sessionsPerAgent) {
    const agent = await node.post<{ id: string }>('/v1/agents', { name: `Agent ${made / sessionsPerAgent}` })
    const here = Math.min(sessionsPerAgent, Math.ceil(arming.count / perSession) - made)
    const ids = await each(here, () => node.post<{ id: string }>('/v1/sessions', { agent: agent.id }))
    sessions.push(...ids.map(({ id }) => ({ id, key })))
  }
  const schedules = await each(arming.count, async (nth) => {
    const { id } = await node.post<{ id: string }>('/v1/schedules', {
      name: `Look at queue ${nth}`,
      session: sessions[nth % sessions.length]!.id,
      prompt: `Look at the queue, number ${nth}, and say what waits longer than a day.`,
      at: new Date(arming.firstAt + Math.floor((nth * arming.everyMs) / arming.count)).toISOString(),
      every: `${arming.everyMs / 60_000}m`,
    })
    return id
  })
  return { sessions, schedules }
}

/** In order of their number, some at a time. */
export async function each<T>(count: number, make: (nth: number) => Promise<T>): Promise<T[]> {
  const out: T[] = new Array(count)
  let next = 0
  await Promise.all(
    Array.from({ length: callsAtOnce }, async () => {
      for (let nth = next++; nth < count; nth = next++) out[nth] = await make(nth)
    }),
  )
  return out
}
