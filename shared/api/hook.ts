import type { Context, Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { Refused } from '../domain/refused.ts'
import { onHook } from '../engine/hooks.ts'
import type { NewHook } from '../engine/triggers.ts'
import type { Ids, World } from '../ports/world.ts'
import { limitedText } from './body.ts'
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
    readonly world: World
    readonly limits: RateLimits | null
    readonly settled: () => Promise<void>
    readonly refusedAs: (error: unknown) => Response
  },
): void {
  app.post('/v1/hooks/:token', async (c: Context) => {
    try {
      const { world } = o
      const token = c.req.param('token') ?? ''
      const hash = sha256(token)
      o.limits?.take(`hook ${hash}`, performance.now())
      const text = await limitedText(c.req.raw, bodyBytesMax)
      const call = {
        sha256: hash,
        text,
        doc: documentIn(text, c.req.header('content-type')),
        id: idIn(c.req.header('webhook-id')),
        verify: (secret: string) => void new Webhook(secret).verify(text, headersOf(c)),
      }
      await onHook(world, call, world.clock.now())
      await o.settled()
      return c.json({}, 202)
    } catch (error) {
      return o.refusedAs(error)
    }
  })
}

function idIn(header: string | undefined): string | null {
  if (header === undefined) return null
  if (/^[\x21-\x7e]{1,200}$/.test(header)) return header
  throw new Refused('header_invalid', 'expected webhook-id of 1 to 200 printable characters without blanks')
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
    return JSON.parse(text)
  } catch {
    return text
  }
}
