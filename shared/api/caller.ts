import type { Caller } from '../domain/access.ts'
import { Refused } from '../domain/refused.ts'
import { callerOf } from '../engine/keys.ts'
import type { World } from '../ports/world.ts'
import { type Identity, isToken } from './identity.ts'
import { bearerOf, sha256 } from './keys.ts'
import type { Operation } from './operation.ts'
import type { RateLimits, Standing } from './rate.ts'

/** How the callers of one process are told apart and held back. */
export interface Doorway {
  readonly world: World
  readonly identity: Identity | null
  readonly limits: RateLimits | null
  /** Calls that one call makes of the same app (a tool of MCP), and whose they are: the key was shown, and counted, with the first. */
  readonly vouched: WeakMap<Request, Caller>
  /** What the key of a call has left: its answer says so. */
  readonly standing: WeakMap<Request, Standing>
  /** Who a browser is signed in as, or what is wrong with that; null: it is no call of the console's page. */
  readonly browser: (request: Request) => Promise<Caller | string | null>
}

/**
 * Who calls; counts the call. A held call counts once, when it comes.
 *
 * @param address  where it comes from, asked for only when nobody is found; null: not known
 * @param by       `key`: a cookie counts for nothing
 * @throws Refused `unauthorized`, `origin_not_allowed`, RateLimited
 */
export async function callerIn(
  door: Doorway,
  request: Request,
  address: () => string | null,
  by: 'key' | 'key or cookie' = 'key',
): Promise<Caller> {
  const vouched = door.vouched.get(request)
  if (vouched !== undefined) return vouched
  const bearer = bearerOf(request.headers.get('authorization') ?? undefined)
  const browser = bearer === null && by === 'key or cookie' ? await door.browser(request) : null
  const found = browser ?? (bearer === null ? missing : await callerBehind(door, bearer))
  // Real time: buckets fill also where Rouse's clock stands still.
  if (typeof found !== 'string') {
    counted(door, request, found)
    return found
  }
  door.limits?.takeWrongKey(address(), performance.now())
  throw new Refused('unauthorized', found)
}

/** One call of this key, and what it has left. @throws RateLimited */
export function counted(door: Doorway, request: Request, { key }: Pick<Caller, 'key'>): void {
  const left = door.limits?.take(key, performance.now())
  if (left !== undefined) door.standing.set(request, left)
}

/** S2-26: what a check's process was given reads, and is refused secrets and everything that wakes or changes. @throws Refused `check_key` */
export function assertMayCall(caller: Caller, op: Pick<Operation, 'method' | 'name' | 'secret' | 'tag'>): void {
  if (caller.kind === 'person' || caller.reads !== true) return
  if (op.method === 'get' && op.secret === false && op.tag !== 'Secrets') return
  throw new Refused(
    'check_key',
    `this key was given to a check: it reads, and may not ${op.name}. What the check prints wakes the agent, which then acts with its own key`,
  )
}

const missing =
  'expected "Authorization: Bearer <key>"; an embedded node writes its first key to credentials.json in its data folder'
const wrong = 'this key is not valid: it was never made, was revoked or has run out, or its agent was deleted'

/** @returns the caller, or what is wrong */
async function callerBehind({ world, identity }: Doorway, bearer: string): Promise<Caller | string> {
  if (identity === null || !isToken(bearer)) return (await callerOf(world, sha256(bearer))) ?? wrong
  const found = await identity(bearer)
  return typeof found === 'string' ? `this token is not valid: ${found}` : found
}

/** The other end of the connection, as Node's server or API Gateway knows it. What a caller says of himself in headers is no address. */
export function addressIn(env: unknown): string | null {
  const { incoming, requestContext } = (env ?? {}) as {
    incoming?: { socket?: { remoteAddress?: string } }
    requestContext?: { http?: { sourceIp?: string } }
  }
  return incoming?.socket?.remoteAddress ?? requestContext?.http?.sourceIp ?? null
}
