import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import { commit } from '../engine/store.ts'
import { Conflict, type Key, type Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { sha256 } from './keys.ts'
import type { Answer } from './operation.ts'

/** What a key stands for. Written before and after the call it guards; deleted by TTL after 24 hours, or when the call was refused. */
interface Row {
  /** Of method, path and body. */
  readonly request: string
  /** Epoch ms of the first call: the ids of what it makes carry this time. */
  readonly at: number
  /** Epoch ms of the call that is or was under way last: a call repeated after a crash is under way anew. Absent: `at`. */
  readonly begun?: number
  /** Null while under way. */
  readonly answer: { readonly status: number; readonly body: string | null } | null
}

/** Ids that follow from the key, so that a call repeated after a crash names the same things. */
export type DerivedIds = { readonly at: number; readonly seed: string }

/**
 * Runs a creating call once per key: the same key and body gives the same answer and no second effect.
 *
 * @throws Refused `idempotency_mismatch` for another body, `idempotency_in_flight` while the first call runs
 */
export async function once(
  world: World,
  o: {
    readonly caller: string
    readonly key: string
    readonly request: string
    readonly now: number
    readonly secret: boolean
  },
  run: (ids: DerivedIds) => Promise<Answer>,
): Promise<Answer> {
  if (!/^[\x20-\x7e]{1,255}$/.test(o.key))
    throw new Refused('header_invalid', 'Idempotency-Key: expected 1 to 255 printable ASCII characters')
  const key: Key = [`I#${o.caller.slice(4)}`, sha256(o.key)]
  const request = sha256(o.request)
  const stored = (await world.table.get([key]))[0] as unknown as Stored<Row> | null
  const row = stored !== null && stored.item.at + limits.idempotencyMs > o.now ? stored.item : null
  if (row !== null) {
    if (row.request !== request)
      throw new Refused(
        'idempotency_mismatch',
        `the key "${o.key}" was used for another call; choose a new key for a new call`,
      )
    if (row.answer !== null) return repeated(row.answer, o.secret)
    if (o.now - (row.begun ?? row.at) < limits.idempotencyInFlightMs) throw inFlight(o.key)
  }
  const at = row?.at ?? o.now
  const version = await begin(world, key, { request, at, begun: o.now, answer: null }, stored, o)
  try {
    const answer = await run({ at, seed: `${o.caller}|${o.key}` })
    const kept = { status: answer.status, body: o.secret ? null : JSON.stringify(answer.body) }
    await commit(world, [put(key, { request, at, answer: kept }, version, o.now)]).catch(unlessTakenOver)
    return answer
  } catch (error) {
    // Refused stores nothing, the key included: mended, the call may come again under it.
    if (error instanceof Refused) await commit(world, [{ delete: key, expect: 'any' }])
    throw error
  }
}

/** A call that took longer than one may be under way was repeated meanwhile: what both made is the same, and the other keeps the answer. */
function unlessTakenOver(error: unknown): void {
  if (!(error instanceof Conflict)) throw error
}

async function begin(
  world: World,
  key: Key,
  row: Row,
  stored: Stored<unknown> | null,
  o: { readonly key: string; readonly now: number },
): Promise<number> {
  try {
    await commit(world, [put(key, row, stored?.version ?? 'absent', o.now)])
    return stored === null ? 1 : stored.version + 1
  } catch (error) {
    if (error instanceof Conflict) throw inFlight(o.key)
    throw error
  }
}

const put = (key: Key, row: Row, expect: number | 'absent', now: number) => ({
  put: key,
  item: { ...row },
  expect,
  ttl: Math.ceil((now + limits.idempotencyMs) / 1000),
})

const inFlight = (key: string): Refused =>
  new Refused('idempotency_in_flight', `the first call with the key "${key}" is still under way; try again in a moment`)

function repeated(answer: NonNullable<Row['answer']>, secret: boolean): Answer {
  if (!secret) return { status: answer.status, body: answer.body === null ? null : JSON.parse(answer.body) }
  throw new Refused(
    'secret_shown_once',
    'the first call with this key succeeded, and its secret was shown once; revoke that key and make a new one',
  )
}
