import type { Caller } from '../domain/access.ts'
import { Refused } from '../domain/refused.ts'
import { signedIn } from '../engine/sign-in.ts'
import type { World } from '../ports/world.ts'
import { sha256 } from './keys.ts'

/** The header by which the console's own scripts are known: a page from elsewhere cannot set it without being asked first, and is refused then. */
const markHeader = 'x-rouse-console'

/** Without a path, a domain or a plain connection that could set it from beside us (RFC 6265bis, 4.1.3.2). */
const secureName = '__Host-rouse'
/** Browsers keep no cookies apart by port: two nodes on one machine must not sign each other out. */
const plainName = (url: URL): string => `rouse-${url.port === '' ? '80' : url.port}`

const shape = /^rsc_[\w-]{40,100}$/

/** What a browser holds after signing in, as it stands in a request; null without it. */
export function cookieOf(request: Request): string | null {
  const url = new URL(request.url)
  const held = new Map<string, string>()
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0) held.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim())
  }
  // Where the connection is known to be safe, a cookie that somebody beside us could have set stands for nobody.
  const value = held.get(secureName) ?? (url.protocol === 'https:' ? null : held.get(plainName(url)))
  return value != null && shape.test(value) ? value : null
}

/** @param value  null takes the cookie away */
export function setCookie(request: Request, value: string | null, maxAgeSeconds: number): string {
  // The page's own origin: behind a proxy that ends TLS the connection that comes here is a plain one.
  const isSecure = (request.headers.get('origin') ?? request.url).startsWith('https:')
  const name = isSecure ? secureName : plainName(new URL(request.url))
  const rest = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${value === null ? 0 : maxAgeSeconds}`
  return `${name}=${value ?? ''}; ${rest}${isSecure ? '; Secure' : ''}`
}

export const isConsoleCall = (request: Request): boolean => request.headers.get(markHeader) === '1'

/**
 * Lets through what the console's own page sends, and nothing that another page can make a browser send: that cannot set the header, has another
 * `Origin`, and says so in `Sec-Fetch-Site`. A browser leaves `Origin` out only where it reads from its own page.
 *
 * @throws Refused `origin_not_allowed`
 */
export function assertOwnPage(request: Request, allowed: readonly string[]): void {
  if (!isConsoleCall(request))
    throw elsewhere(`expected the header ${markHeader}: 1, which only the console's page sends`)
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin')
    throw elsewhere(`a page from elsewhere (${site.slice(0, 40)}) may not act for whoever is signed in`)
  const origin = request.headers.get('origin')
  if (origin === null) {
    if (request.method === 'GET' || request.method === 'HEAD') return
    throw elsewhere('expected the header Origin, which browsers send with every change')
  }
  const own = URL.canParse(origin) && new URL(origin).host === new URL(request.url).host
  if (!own && !allowed.includes(origin))
    throw elsewhere(
      `the page ${origin.slice(0, 100)} may not act for whoever is signed in; where that is this server's own name, start it with ROUSE_ALLOW_ORIGINS=${origin.slice(0, 100)}`,
    )
}

const elsewhere = (detail: string): Refused => new Refused('origin_not_allowed', detail)

/**
 * Who a browser is signed in as.
 *
 * @returns the caller; in words what is wrong with the sign-in; null when this is no call of the console's page
 * @throws  Refused `origin_not_allowed`
 */
export async function callerOfCookie(
  world: World,
  request: Request,
  allowed: readonly string[],
): Promise<Caller | string | null> {
  // Without the header a cookie counts for nothing: the call is judged as one without a key.
  if (!isConsoleCall(request)) return null
  assertOwnPage(request, allowed)
  const held = cookieOf(request)
  if (held === null) return 'you are not signed in: sign in at /console with your key'
  return (await signedIn(world, sha256(held))) ?? 'you are signed out: sign in at /console with your key'
}
