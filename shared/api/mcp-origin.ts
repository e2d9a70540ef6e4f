import { Refused } from '../domain/refused.ts'

/**
 * Reads ROUSE_ALLOW_ORIGINS: origins with commas between them, such as `https://rouse.example.com`. Pages of these may call `/mcp`, and
 * a proxy in front may pass their names on as Host.
 *
 * @throws Error that says what was expected
 */
export function originsFromEnv(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const given = (env.ROUSE_ALLOW_ORIGINS ?? '')
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
  for (const origin of given)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error(
        `ROUSE_ALLOW_ORIGINS: expected origins such as https://rouse.example.com, with commas between them, got "${origin}"`,
      )
  return given
}

/**
 * Refuses what a web page would send that has led its own name to this address (DNS rebinding), and pages from elsewhere.
 *
 * Where the connection ends on the loopback interface, only a name of the loopback interface is ours. Elsewhere on Node we do not know our
 * names: without an `Origin` any will do, since a page cannot leave that out; with one, an address, or a name that is allowed. API Gateway
 * hands over nothing that came for another name than its own.
 *
 * @param env  what the server knows of the connection: Node's, or API Gateway's event
 * @throws Refused `host_not_allowed`, `origin_not_allowed`
 */
export function assertOwnOrigin(request: Request, env: unknown, allowed: readonly string[]): void {
  const { host, hostname } = new URL(request.url)
  const isAllowed = (name: string): boolean => allowed.some((origin) => new URL(origin).host === name)
  const local = localAddressIn(env)
  if (local !== null && isLoopback(local) && !isLoopback(hostname) && !isAllowed(host))
    throw new Refused(
      'host_not_allowed',
      `expected Host: localhost or 127.0.0.1, got "${host.slice(0, 100)}"; where that is this server's own name, start it with ROUSE_ALLOW_ORIGINS=https://${host.slice(0, 100)}`,
    )
  const origin = request.headers.get('origin')
  if (origin === null || allowed.includes(origin)) return
  const own = URL.canParse(origin) && new URL(origin).host === host
  if (own && (local === null || isAddress(hostname))) return
  throw new Refused(
    'origin_not_allowed',
    `the page ${origin.slice(0, 100)} may not call this server; start it with ROUSE_ALLOW_ORIGINS=<origin> to let it, or leave "Origin" out where no page calls`,
  )
}

/** The address of ours that the connection came to, on Node. */
function localAddressIn(env: unknown): string | null {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { localAddress?: string } } }
  return incoming?.socket?.localAddress ?? null
}

/** `127.0.0.1`, `::ffff:127.0.0.1`, `::1`, `[::1]`, `localhost`. */
const isLoopback = (name: string): boolean => /^(localhost|\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/.test(name)

/** No name server can lead it elsewhere. */
const isAddress = (hostname: string): boolean => /^(localhost|\[[\da-f:.]+\]|\d{1,3}(\.\d{1,3}){3})$/.test(hostname)
