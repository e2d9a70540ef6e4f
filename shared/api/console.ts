import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import { keyHolder, personOf, signIn, signOut } from '../engine/sign-in.ts'
import type { Files, ServedFile } from '../ports/files.ts'
import { formatInstant } from '../time/index.ts'
import { limitedText, parsed } from './body.ts'
import { addressIn, type Doorway } from './caller.ts'
import { assertOwnPage, callerOfCookie, cookieOf, setCookie } from './console-cookie.ts'
import { sha256 } from './keys.ts'

/** What the console needs of the world that serves it. */
export interface ConsoleOptions {
  readonly files: Files
  /** How often a page looks whether something changed, while somebody looks at it. */
  readonly refreshMs: number
  /** The clock stands still, and moves when it is told to: pages must not count on by themselves. */
  readonly standing: boolean
}

interface Route {
  readonly door: Doorway
  readonly console: ConsoleOptions
  readonly allowOrigins: readonly string[]
  readonly settled: () => Promise<void>
  readonly refusedAs: (error: unknown, c: Context) => Response
}

/** Nothing from elsewhere, nothing inline: what an agent has written is text, and stays text. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const keyBytesMax = 4096
const signInBody = z.strictObject({ key: z.string().trim().min(1, 'expected a key, got nothing').max(200) })

/** The console: its files, and the door by which a browser is signed in. Pages call the API as every program does. */
export function consoleRoute(app: Hono, o: Route): void {
  const answered = (act: (c: Context) => Promise<Response>) => async (c: Context) => {
    try {
      return await act(c)
    } catch (error) {
      return o.refusedAs(error, c)
    }
  }
  app.get('/', (c) => c.redirect('/console', 302))
  app.post(
    '/console/sign-in',
    answered((c) => begin(o, c)),
  )
  app.post(
    '/console/sign-out',
    answered((c) => end(o, c)),
  )
  app.get(
    '/console/session',
    answered((c) => who(o, c)),
  )
  for (const path of ['/console', '/console/*'])
    app.get(
      path,
      answered(async (c) => page(o.console.files, c.req.raw)),
    )
}

async function begin({ door, allowOrigins, settled }: Route, c: Context): Promise<Response> {
  const request = c.req.raw
  assertOwnPage(request, allowOrigins)
  const { key } = parsed(signInBody, await json(request), 'body_invalid') as z.output<typeof signInBody>
  const caller = await keyHolder(door.world, sha256(key))
  if (caller === null) {
    door.limits?.takeWrongKey(addressIn(c.env), performance.now())
    throw new Refused('unauthorized', wrong)
  }
  door.limits?.take(caller.key, performance.now())
  const secret = `rsc_${door.world.ids.secret()}`
  await signIn(door.world, sha256(key), sha256(secret))
  await settled()
  return empty(setCookie(request, secret, limits.signInMs / 1000))
}

const wrong =
  'this key is not valid: it was never made, was revoked or has run out. An embedded node keeps its key in credentials.json in its data folder'

async function end({ door, allowOrigins, settled }: Route, c: Context): Promise<Response> {
  assertOwnPage(c.req.raw, allowOrigins)
  const held = cookieOf(c.req.raw)
  if (held !== null && !(await signOut(door.world, sha256(held))))
    door.limits?.takeWrongKey(addressIn(c.env), performance.now())
  await settled()
  return empty(setCookie(c.req.raw, null, 0))
}

const empty = (cookie: string): Response =>
  new Response(null, { status: 204, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } })

/** Who is signed in, and what time it is here. A page asks this first: not being signed in is no error then. */
async function who({ door, console: options, allowOrigins }: Route, c: Context): Promise<Response> {
  assertOwnPage(c.req.raw, allowOrigins)
  const { world } = door
  const held = cookieOf(c.req.raw)
  const found = held === null ? null : await callerOfCookie(world, c.req.raw, allowOrigins)
  if (found !== null && typeof found !== 'string') door.limits?.take(found.key, performance.now())
  else if (held !== null) door.limits?.takeWrongKey(addressIn(c.env), performance.now())
  const person = found === null || typeof found === 'string' ? null : await personOf(world, found)
  const body = {
    person: person === null ? null : { id: person.id, name: person.name, tz: person.tz, admin: person.admin },
    now: formatInstant(world.clock.now()),
    standing: options.standing,
    refreshMs: options.refreshMs,
  }
  return Response.json(body, { headers: { 'cache-control': 'no-store' } })
}

async function json(request: Request): Promise<unknown> {
  const media = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  // A form of another page can send text, and nothing that is called JSON.
  if (media !== 'application/json') throw new Refused('media_type', 'expected content-type application/json')
  const text = await limitedText(request, keyBytesMax)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused('json_invalid', 'the body is not JSON')
  }
}

const assets = 'assets/'

function page(files: Files, request: Request): Response {
  const path = new URL(request.url).pathname.slice('/console'.length).replace(/^\//, '')
  const found = path === '' ? null : files(path)
  if (found !== null) return sent(found, request, path.startsWith(assets))
  // A page of yesterday may ask for a script that is gone; what it must not get is a page in its place.
  if (path.startsWith(assets))
    throw new Refused('not_found', `there is no ${path.slice(0, 200)} (any more); load the page again`)
  const index = files('index.html')
  if (index === null)
    throw new Refused('not_found', 'the console is not built here: `npm run build` makes it, and `npm start` serves it')
  return sent(index, request, false)
}

/** A file as an answer, under the policy of all our pages. */
export function sent(file: ServedFile, request: Request, isHashed: boolean): Response {
  const headers = {
    ...pageHeaders,
    'content-type': file.type,
    // The name of a hashed file changes with what is in it.
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  }
  if (request.headers.get('if-none-match')?.includes(file.etag)) return new Response(null, { status: 304, headers })
  const packed = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '') ? file.gzip : null
  return new Response(packed ?? file.bytes, {
    headers: packed === null ? headers : { ...headers, 'content-encoding': 'gzip' },
  })
}
