import { notFound, Refused } from '../domain/refused.ts'
import { later } from '../ports/later.ts'
import { Conflict, type Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended } from './call.ts'
import { loadSchedules } from './load.ts'
import { read } from './store.ts'
import { hookKey, hookSecret } from './triggers.ts'

const triggers = later(() => import('./trigger-fire.ts'))

/** A call of a webhook, as it came in. */
export interface HookCall {
  /** SHA-256 of the token in its URL. */
  readonly sha256: string
  readonly text: string
  /** The body as JSON, or as it is. */
  readonly doc: unknown
  /** What the caller names it: the same call sent again is taken once. */
  readonly id: string | null
  /** Checks the signature with the trigger's secret. @throws Error when it does not hold */
  readonly verify: (secret: string) => void
}

/** A call that was taken is remembered so long. */
const repeatMs = 86_400_000

/** @throws Refused `not_found`, `signature_invalid` */
export async function onHook(world: World, call: HookCall, now: number): Promise<void> {
  const pointer = await read<{ readonly schedule: string }>(world, hookKey(call.sha256))
  const id = pointer?.item.schedule ?? null
  const loaded = id === null ? null : ((await loadSchedules(world, [id]))[0] ?? null)
  const source = loaded?.definition.on?.source
  if (loaded === null || id === null || source === undefined || !('webhook' in source))
    throw notFound('webhook', 'of this address')
  const { status, deleted } = loaded.cursor.item
  if (deleted || status === 'ended' || status === 'done') throw notFound('webhook', 'of this address')
  if (source.webhook.signed) await verified(world, id, call)
  // Paused: what happens meanwhile is not made up.
  if (status !== 'active') return
  const taken = call.id === null ? null : takenKey(call)
  if (taken !== null && (await read(world, taken)) !== null) return
  const more: Op[] =
    taken === null ? [] : [{ put: taken, item: { at: now }, expect: 'absent', ttl: Math.ceil((now + repeatMs) / 1000) }]
  const name = call.id ?? world.ids.ulid(now)
  const { calledBack } = await triggers()
  try {
    await calledBack(world, id, { name, doc: call.doc, text: call.text, more }, now)
  } catch (error) {
    // Sent twice at once: the other was taken.
    if (
      !(error instanceof Contended || error instanceof Conflict) ||
      taken === null ||
      (await read(world, taken)) === null
    )
      throw error
  }
}

const takenKey = ({ sha256, id }: HookCall) => [hookKey(sha256)[0], `I#${id}`] as const

async function verified(world: World, id: string, call: HookCall): Promise<void> {
  const secret = await world.secrets.get(id, hookSecret)
  try {
    if (secret === null) throw new Error('no secret')
    call.verify(secret)
  } catch {
    throw new Refused(
      'signature_invalid',
      'the signature does not hold: expected the headers webhook-id, webhook-timestamp (now, within five minutes) and webhook-signature as Standard Webhooks has them, made with the secret that was shown when the trigger was made',
    )
  }
}
