import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where to call and with which key, and whom an agent's command speaks for. */
export interface Access {
  readonly url: string
  readonly key: string
  readonly session: string | undefined
  readonly turn: string | undefined
}

/** What is missing or does not fit, before any call. */
export class AccessError extends Error {
  /** `nowhere`: no Rouse is named at all; `unusable`: what is named cannot be used. */
  readonly kind: 'nowhere' | 'unusable'
  constructor(kind: 'nowhere' | 'unusable', message: string) {
    super(message)
    this.name = 'AccessError'
    this.kind = kind
  }
}

/**
 * URL and key, each from the first place that has it: flag, environment, `DIR/credentials.json`.
 *
 * @throws AccessError
 */
export function findAccess(o: {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly dir?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}): Access {
  const { env } = o
  const file = join(o.dir ?? (env.ROUSE_DATA || '.rouse'), 'credentials.json')
  const namedUrl = o.url ?? (env.ROUSE_URL || undefined)
  const namedKey = o.key ?? (env.ROUSE_KEY || undefined)
  const stored = namedUrl === undefined || namedKey === undefined ? credentialsIn(file) : null

  const url = namedUrl ?? stored?.url
  if (url === undefined)
    throw new AccessError(
      'nowhere',
      `no Rouse to talk to: neither --url nor ROUSE_URL is given, and there is no ${file}`,
    )
  if (!/^https?:$/.test(protocolOf(url)))
    throw new AccessError('unusable', `expected a URL such as http://127.0.0.1:4750, got "${url}"`)
  const key = namedKey ?? keyFor(url, stored, file)
  for (const [name, value] of Object.entries({ key, ROUSE_SESSION: env.ROUSE_SESSION, ROUSE_TURN: env.ROUSE_TURN }))
    if (value && !/^[\x21-\x7e]+$/.test(value))
      throw new AccessError('unusable', `the ${name} holds a blank or another character that it cannot have`)
  return { url, key, session: env.ROUSE_SESSION || undefined, turn: env.ROUSE_TURN || undefined }
}

interface Credentials {
  readonly url: string
  readonly key: string
}

function credentialsIn(file: string): Credentials | null {
  if (!existsSync(file)) return null
  try {
    const { url, key } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Credentials>
    if (typeof url === 'string' && typeof key === 'string') return { url, key }
  } catch (error) {
    throw new AccessError('unusable', `${file} cannot be read: ${(error as Error).message}`)
  }
  throw new AccessError('unusable', `${file} does not hold {"url", "key"}`)
}

/** A stored key goes to the Rouse that wrote it, or to one on this machine (another port), and to nobody else. */
function keyFor(url: string, stored: Credentials | null, file: string): string {
  if (stored === null) throw new AccessError('unusable', `no key for ${url}: give --key or ROUSE_KEY`)
  if (new URL(url).origin !== originOf(stored.url) && !(isLocal(url) && isLocal(stored.url)))
    throw new AccessError(
      'unusable',
      `the key in ${file} is for ${stored.url}, not for ${url}: give --key or ROUSE_KEY`,
    )
  return stored.key
}

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')

export const isLocal = (url: string): boolean =>
  URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
