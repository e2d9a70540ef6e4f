import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import PgBoss from 'pg-boss'
import { sayToParent, scriptOptions } from '../inside.ts'

/**
 * pg-boss behind hono: one POST, one durable row, 201. No key is asked for and nothing is checked, which ours does. A pool of 32 was tried
 * against 10 and 64, and best here.
 */
const QUEUE = 'wakes'

const { url, port } = scriptOptions<{ url: string; port: number }>()
const boss = new PgBoss({ connectionString: url, max: 32 })
boss.on('error', (error) => console.error(error.message))
await boss.start()
await boss.createQueue(QUEUE)

const app = new Hono()
app.post('/v1/schedules', async (c) => {
  const { name, session, prompt, at } = await c.req.json<Record<string, string>>()
  const id = await boss.send(QUEUE, { name, session, prompt }, { startAfter: at! })
  return c.json({ id, name, session, prompt, nextAt: at }, 201)
})
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => sayToParent({ port }))
