import { Refused } from '../domain/refused.ts'

/** A list's position, opaque to callers. */
export const cursorOut = (position: string | null): string | null =>
  position === null ? null : Buffer.from(position, 'utf8').toString('base64url')

/** @throws Refused `cursor_invalid` when it is not one that this list gave out */
export function cursorIn(text: string | undefined, shape: RegExp): string | null {
  if (text === undefined) return null
  const position = Buffer.from(text, 'base64url').toString('utf8')
  if (shape.test(position)) return position
  throw new Refused(
    'cursor_invalid',
    'expected the "nextCursor" of an earlier page of the same list; leave it out to begin at the start',
  )
}

export const idShape = /^[a-z]{3}_[0-9A-Z]{26}$/
export const rowShape = /^R#[0-9A-Z]{10}(#[a-z0-9A-Z]{1,20})?$/
export const placeShape = /^[0-9A-Z]{10}#[ab]#msg_[0-9A-Z]{26}$/

export const list = <T>(
  items: readonly T[],
  next: string | null,
): { data: readonly T[]; nextCursor: string | null } => ({
  data: items,
  nextCursor: cursorOut(next),
})
