import type { Context, Hono } from 'hono'
import { notFound } from '../domain/refused.ts'
import { type NewCalendarSecret, readCalendar } from '../engine/calendar.ts'
import { later } from '../ports/later.ts'
import type { Ids, World } from '../ports/world.ts'
import { addressIn } from './caller.ts'
import { sha256 } from './keys.ts'
import type { RateLimits } from './rate.ts'

const texts = later(() => import('./calendar-text.ts'))

/** A token of 256 random bits; only its SHA-256 is stored. */
export const newCalendarSecret = (ids: Ids): ReturnType<NewCalendarSecret> => {
  const token = `rca_${ids.secret()}`
  return { token, sha256: sha256(token) }
}

/**
 * The door of calendar programs, which can send no header: the token in the address is the key. It reads one person's agenda, and nothing
 * that comes in here is logged.
 */
export function calendarRoute(
  app: Hono,
  o: {
    readonly world: (c: Context) => World
    readonly limits: RateLimits | null
    readonly settled: () => Promise<void>
    readonly refusedAs: (error: unknown, c: Context) => Response
  },
): void {
  app.get('/v1/calendar.ics', async (c: Context) => {
    try {
      const world = o.world(c)
      const now = world.clock.now()
      const hash = sha256(c.req.query('token') ?? '')
      o.limits?.takeAddress(hash, performance.now())
      const view = await readCalendar(world, hash, now)
      if (view === null) {
        o.limits?.takeWrongKey(addressIn(c.env), performance.now())
        throw notFound('calendar', 'of this address')
      }
      await o.settled()
      return new Response((await texts()).calendarText(view, now), { headers })
    } catch (error) {
      return o.refusedAs(error, c)
    }
  })
}

const headers = {
  'content-type': 'text/calendar; charset=utf-8',
  'content-disposition': 'inline; filename="rouse.ics"',
  // Its reader may keep it for a while, whoever stands between may not.
  'cache-control': 'private, max-age=300',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
