import { serve } from '@hono/node-server'
import { Queue } from 'bullmq'
import { Hono } from 'hono'
import { sayToParent, scriptOptions } from '../inside.ts'

/** BullMQ behind hono: one POST, one delayed entry, 201. How durable it is says the Redis behind it. */
const { redisPort, port } = scriptOptions<{ redisPort: number; port: number }>()
const queue = new Queue('wakes', { connection: { host: '127.0.0.1', port: redisPort } })
await queue.waitUntilReady()

const app = new Hono()
app.post('/v1/schedules', async (c) => {
  const { name, session, prompt, at } = await c.req.json<Record<string, string>>()
  const entry = await queue.add('wake', { name, session, prompt }, { delay: Date.parse(at!) - Date.now() })
  return c.json({ id: entry.id, name, session, prompt, nextAt: at }, 201)
})
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => sayToParent({ port }))
