import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import type { Ids } from '../ports/world.ts'

export function openIds(): Ids {
  let last = 0
  let monotonic = monotonicFactory(fraction)
  const process = randomBytes(12).toString('base64url')
  let attempts = 0
  return {
    ulid(at) {
      // The factory would go on from its latest time where `at` goes back; the id's time has to be `at`.
      if (at < last) monotonic = monotonicFactory(fraction)
      last = at
      return monotonic(at)
    },
    token: () => `${process}.${++attempts}`,
    secret,
  }
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 43 characters of 62 hold 256 bits. Bytes from 248 on are thrown away, since 256 is no multiple of 62. */
function secret(): string {
  let text = ''
  while (text.length < 43) {
    for (const byte of randomBytes(48)) {
      if (byte < 248 && text.length < 43) text += letters[byte % 62]
    }
  }
  return text
}

let pool = Buffer.alloc(0)
let used = 0

/** ulid asks for one fraction per character and takes 5 bits of it; its own source calls crypto for every one. */
function fraction(): number {
  if (used === pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  return pool[used++]! / 256
}
