import type { Client } from '../../apps/client/client.ts'
import { openListener } from '../../apps/worker/queue.ts'
import type { Cloud } from './cloud.ts'
import { place } from './lives-people.ts'

/** A worker outside, which listens to its queue with what the API gave it: the product's own. */
export async function worker(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  await cloud.ask('POST', `/v1/agents/${agent}/queue`)
  const client = { call: (method: string, path: string) => cloud.ask(method, path) } as unknown as Client
  const listener = await openListener({ client, session, signal: AbortSignal.timeout(60_000) })
  if (listener === null) throw new Error('there is no queue to listen to')
  await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
  const heard = await listener.rung(1, AbortSignal.timeout(60_000))
  if (heard !== 'rung') throw new Error(`the bell was not heard: ${heard}`)
  listener.settle()
  await listener.close()
  await cloud.ask('POST', `/v1/sessions/${session}/archive`)
}
