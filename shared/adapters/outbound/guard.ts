import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { notPublic } from './address.ts'

/** Hosts that may be reached although their addresses are not public. Written by whoever runs Rouse, never by a caller. */
export interface Allowed {
  readonly host: string
  /** Null: every port. */
  readonly port: number | null
}

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a name. @throws when there are none, or nobody can tell */
export type Resolve = (host: string) => Promise<readonly Address[]>

/** Where a request may go: to these addresses and to no other, whatever the name means a moment later. */
export interface Vetted {
  readonly url: URL
  readonly addresses: readonly Address[]
}

/** `final`: what was seen will be seen again; otherwise the name could not be resolved now. */
export interface Turned {
  readonly refused: string
  readonly final: boolean
}

export const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/**
 * Reads `ROUSE_ALLOW_HOSTS`: `127.0.0.1:9000,hooks.internal,[::1]:9000`.
 *
 * @throws Error that names the entry which cannot be read
 */
export function allowList(text: string | undefined): readonly Allowed[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const bare = isIP(entry) === 6
      const [, host, port] = bare
        ? [entry, `[${entry}]`]
        : (/^(\[[^\]]+\]|[^:/@*?#\s]+)(?::(\d{1,5}))?$/.exec(entry) ?? [])
      if (host === undefined || !URL.canParse(`http://${host}/`) || Number(port ?? 0) > 65_535)
        throw new Error(`ROUSE_ALLOW_HOSTS: expected host or host:port, comma-separated, got "${entry.slice(0, 80)}"`)
      return { host: hostOf(new URL(`http://${host}/`)), port: port === undefined ? null : Number(port) }
    })
}

/**
 * What can be said of an address without asking anybody. An URL is read as WHATWG says, which turns `http://2130706433`,
 * `http://0x7f.1` and `http://127.1.` into 127.0.0.1 before they are judged.
 */
export function look(text: string, allow: readonly Allowed[]): URL | Turned {
  const refuse = (refused: string): Turned => ({ refused, final: true })
  if (!URL.canParse(text)) return refuse('it is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('expected an http or https address')
  if (url.username !== '' || url.password !== '')
    return refuse('it holds a user name or a password, which do not belong in an address')
  const host = hostOf(url)
  if (host === '') return refuse('it names no host')
  if (isAllowed(host, url, allow)) return url
  if (isIP(host) !== 0) {
    const what = notPublic(host)
    return what === null ? url : refuse(notReached(host, what))
  }
  if (host === 'localhost' || host.endsWith('.localhost')) return refuse(notReached(host, 'this machine'))
  return url
}

/** Looks, resolves the name, and refuses when any of its addresses is not public: a name with a good one and a bad one is a trap. */
export async function vet(text: string, o: { allow: readonly Allowed[]; resolve: Resolve }): Promise<Vetted | Turned> {
  const url = look(text, o.allow)
  if (!(url instanceof URL)) return url
  const host = hostOf(url)
  const family = isIP(host)
  if (family !== 0) return { url, addresses: [{ address: host, family }] }
  let found: readonly Address[]
  try {
    found = await o.resolve(host)
  } catch {
    found = []
  }
  if (found.length === 0) return { refused: `${host} could not be resolved`, final: false }
  // Whoever allowed an address allowed it under every name.
  const bad = isAllowed(host, url, o.allow)
    ? undefined
    : found.find(({ address }) => notPublic(address) !== null && !isAllowed(address, url, o.allow))
  if (bad === undefined) return { url, addresses: found }
  return { refused: notReached(host, notPublic(bad.address)!), final: true }
}

const notReached = (host: string, what: string): string =>
  `${host} is ${what}, which is not reached from here unless ROUSE_ALLOW_HOSTS names it`

function isAllowed(host: string, url: URL, allow: readonly Allowed[]): boolean {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return allow.some((one) => one.host === host && (one.port === null || one.port === port))
}

/** Without brackets and without the dot that ends an absolute name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
