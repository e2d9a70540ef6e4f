import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { isShallow } from '../domain/json.ts'
import { Refused } from '../domain/refused.ts'
import { onHook } from '../engine/hooks.ts'
import type { NewHook } from '../engine/triggers.ts'
import type { Ids, World } from '../ports/world.ts'
import { limitedText } from './body.ts'
import { addressIn } from './caller.ts'
import { sha256 } from './keys.ts'
import type { RateLimits } from './rate.ts'

/** A token of 256 random bits and a secret as Standard Webhooks writes them. */
export const newHook = (ids: Ids): ReturnType<NewHook> => {
  const token = `rwh_${ids.secret()}`
  const secret = `whsec_${Buffer.from(sha256(ids.secret()), 'hex').toString('base64')}`
  return { token, sha256: sha256(token), secret }
}

const bodyBytesMax = 64 * 1024

/**
 * The door of webhooks. Whoever knows the address may call: the token in it is the key, and nothing but the trigger's prompt follows from a call, with the
 * body as data.
 */
export function hookRoute(
  app: Hono,
  o: {
    readonly world: (c: Context) => World
    readonly limits: RateLimits | null
    readonly settled: () => Promise<void>
    readonly refusedAs: (error: unknown, c: Context) => Response
  },
): void {
  app.post('/v1/hooks/:token', async (c: Context) => {
    try {
      const world = o.world(c)
      const token = c.req.param('token') ?? ''
      const hash = sha256(token)
      o.limits?.takeAddress(hash, performance.now())
      const text = await limitedText(c.req.raw, bodyBytesMax)
      const call = {
        sha256: hash,
        text,
        doc: documentIn(text, c.req.header('content-type')),
        id: idIn(c.req.header('webhook-id')),
        verify: (secret: string) => verify(secret, { text, headers: headersOf(c), nowMs: world.clock.now() }),
      }
      await onHook(world, call, world.clock.now())
      await o.settled()
      return c.json({}, 202)
    } catch (error) {
      return o.refusedAs(isWrongAddress(error) ? counted(o.limits, c, error) : error, c)
    }
  })
}

/** An address or a signature that does not hold is a wrong key: whoever tries many is held back. */
const isWrongAddress = (error: unknown): error is Refused =>
  error instanceof Refused && (error.code === 'not_found' || error.code === 'signature_invalid')

function counted(limits: RateLimits | null, c: Context, error: Refused): unknown {
  try {
    limits?.takeWrongKey(addressIn(c.env), performance.now())
    return error
  } catch (limited) {
    return limited
  }
}

function idIn(header: string | undefined): string | null {
  if (header === undefined) return null
  if (/^[\x21-\x7e]{1,200}$/.test(header)) return header
  throw new Refused('header_invalid', 'expected webhook-id of 1 to 200 printable characters without blanks')
}

/** How far a call's time may lie from ours, as the specification has it. */
const toleranceMs = 5 * 60_000

/**
 * Standard Webhooks 1.0: an HMAC-SHA256 of id, time and body. By hand, since the package's own check takes a JSON body only and the machine's clock, and
 * Rouse's may stand still.
 *
 * @throws Error when it does not hold
 */
function verify(secret: string, o: { text: string; headers: Record<string, string>; nowMs: number }): void {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = o.headers
  if (!id || !/^\d{1,12}$/.test(time ?? '')) throw new Error('no id or time')
  const offMs = Math.min(...[o.nowMs, Date.now()].map((now) => Math.abs(now - Number(time) * 1000)))
  if (offMs > toleranceMs) throw new Error('too old, or of times to come')
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const wanted = createHmac('sha256', key).update(`${id}.${time}.${o.text}`).digest()
  const given = (signatures ?? '').split(' ').filter((one) => one.startsWith('v1,'))
  const holds = given.some((one) => {
    const got = Buffer.from(one.slice(3), 'base64')
    return got.length === wanted.length && timingSafeEqual(got, wanted)
  })
  if (!holds) throw new Error('another signature')
}

const headersOf = (c: Context): Record<string, string> => ({
  'webhook-id': c.req.header('webhook-id') ?? '',
  'webhook-timestamp': c.req.header('webhook-timestamp') ?? '',
  'webhook-signature': c.req.header('webhook-signature') ?? '',
})

/** JSON where it says so or reads so, else text. */
function documentIn(text: string, type = ''): unknown {
  if (!/[/+]json\b/i.test(type) && !/^\s*[[{]/.test(text)) return text
  try {
    const doc = JSON.parse(text) as unknown
    // What is nested without end can be neither shown nor looked into otherwise.
    return isShallow(doc) ? doc : text
  } catch {
    return text
  }
}
