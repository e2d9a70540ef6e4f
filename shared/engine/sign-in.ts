import type { Caller } from '../domain/access.ts'
import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import type { Key } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { callerOf } from './keys.ts'
import { asItem, commit, keys, type Person, read } from './store.ts'

/**
 * A browser that a person has signed in with a key. It stands on that key and ends with it. Written at sign-in; read by every call of that browser;
 * deleted at sign-out, else by TTL.
 */
interface SignIn {
  /** SHA-256 of the person's key: what the key is stored under. */
  readonly of: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** Beside keys, but not under the name that `callerOf` reads: what a browser holds is no bearer key. */
const signInKey = (sha256: string): Key => [`K#${sha256}`, 'B']

/**
 * Whose key was shown, where a browser may be signed in with it.
 *
 * @param of  SHA-256 of the key
 * @returns   null when it is no valid key
 * @throws    Refused `person_only` for an agent's key
 */
export async function keyHolder(world: World, of: string): Promise<Caller | null> {
  const caller = await callerOf(world, of)
  if (caller === null) return null
  if (caller.kind === 'agent')
    throw new Refused(
      'person_only',
      'this is the key of an agent, and the console is for people: sign in with a key of your own',
    )
  return caller
}

/**
 * @param of      SHA-256 of the key that was shown
 * @param sha256  of the secret that the browser will hold
 */
export async function signIn(world: World, of: string, sha256: string): Promise<void> {
  const now = world.clock.now()
  const row: SignIn = { of, createdAt: now, expiresAt: now + limits.signInMs }
  await commit(world, [
    { put: signInKey(sha256), item: asItem(row), expect: 'absent', ttl: Math.ceil(row.expiresAt / 1000) },
  ])
}

/** Whose browser it is; null once it was signed out, its time is over, or its key does not hold any more. */
export async function signedIn(world: World, sha256: string): Promise<Caller | null> {
  const stored = await read<SignIn>(world, signInKey(sha256))
  if (stored === null || stored.item.expiresAt <= world.clock.now()) return null
  return await callerOf(world, stored.item.of)
}

/** Forgets it: a copy of what the browser held opens nothing. @returns false when it was no sign-in: nothing is written then */
export async function signOut(world: World, sha256: string): Promise<boolean> {
  if ((await read<SignIn>(world, signInKey(sha256))) === null) return false
  await commit(world, [{ delete: signInKey(sha256), expect: 'any' }])
  return true
}

/** The person behind a caller. */
export async function personOf(world: World, caller: Caller): Promise<Person | null> {
  return caller.kind === 'agent' ? null : ((await read<Person>(world, keys.person(caller.person)))?.item ?? null)
}
