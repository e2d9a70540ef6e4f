import { createHash } from 'node:crypto'
import type { Secret } from '../engine/keys.ts'
import type { Ids } from '../ports/world.ts'

/**
 * `rsp_` for a person's key, `rsa_` for an agent's, so that one sees at a glance whose it is and tools that look for leaked secrets know
 * it; then 256 random bits. Only its SHA-256 is stored: with that many bits there is nothing to try, so a slow hash would gain nothing. Keys
 * made before began with `rouse_`, and hold as they are.
 */
export function newSecret(ids: Ids, of: 'person' | 'agent' = 'person'): Secret {
  const key = `${of === 'person' ? 'rsp' : 'rsa'}_${ids.secret()}`
  return { key, sha256: sha256(key), prefix: key.slice(0, 8) }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The bearer key or token of an Authorization header, or null. */
export const bearerOf = (header: string | undefined): string | null =>
  /^bearer ([\x21-\x7e]{1,8000})$/i.exec(header ?? '')?.[1] ?? null
