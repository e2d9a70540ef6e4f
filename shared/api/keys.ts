import { createHash } from 'node:crypto'
import type { Ids } from '../ports/world.ts'

/** A key is a prefix that tools can recognise and 256 random bits; only its SHA-256 is stored, so there is nothing to compare in time. */
export function newSecret(ids: Ids): { readonly key: string; readonly sha256: string } {
  const key = `rouse_${ids.secret()}`
  return { key, sha256: sha256(key) }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The bearer key of an Authorization header, or null. */
export const bearerOf = (header: string | undefined): string | null =>
  /^bearer ([\x21-\x7e]{1,200})$/i.exec(header ?? '')?.[1] ?? null
