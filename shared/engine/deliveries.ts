import { deliverRefused, readTargets } from '../domain/deliver.ts'
import { deliveryIdOf, newSending, type Outgoing, outgoingRow, type Sending } from '../domain/delivery.ts'
import { isId } from '../domain/ids.ts'
import type { FieldError } from '../domain/refused.ts'
import { notFound, Refused } from '../domain/refused.ts'
import type { Stored } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { alarmsFor, putOutgoing } from './deliver.ts'
import { reachableSession, scheduleFor } from './reach.ts'
import { commit } from './store.ts'

/** One target of one run, as it is shown. */
export interface DeliveryView {
  readonly id: string
  readonly run: string
  readonly at: number
  readonly sending: Sending
}

/**
 * The targets of a schedule as they are stored. What can be seen to be wrong is refused now, not at the first run.
 *
 * @throws Refused `body_invalid`
 */
export async function deliverOf(call: Call, uris: readonly string[] | null | undefined): Promise<readonly string[]> {
  if (uris == null) return []
  const faults: FieldError[] = []
  for (const [nth, target] of readTargets(uris).entries()) {
    const fault =
      target.kind === 'webhook'
        ? call.world.outbound.refusal(target.url)
        : target.kind === 'session' && (await reachableSession(call, target.session)) === null
          ? 'there is no such session that this key can see'
          : null
    if (fault !== null) faults.push({ path: `deliver.${nth}`, message: fault })
  }
  if (faults.length > 0) throw deliverRefused(faults)
  return [...uris]
}

/** What the schedule's runs sent out, newest first; readable after its end and its deletion. `next`: the last one shown. */
export async function listDeliveries(
  call: Call,
  id: string,
  page: { readonly limit: number; readonly before: string | null },
): Promise<{ readonly items: readonly DeliveryView[]; readonly next: string | null }> {
  await scheduleFor(call, id, true)
  const [row, nth] = page.before === null ? [null, -1] : placeIn(page.before)
  const found = await call.world.table.list(`S#${id.slice(4)}`, {
    ...(row === null ? { prefix: 'V#' } : { from: 'V#', to: row }),
    descending: true,
    limit: page.limit + 2,
  })
  const all = (found.items as readonly Stored<unknown>[] as readonly Stored<Outgoing>[]).flatMap(({ key, item }) =>
    item.targets.flatMap((sending, i) =>
      key[1] === row && i <= nth ? [] : [{ view: viewOf(item, sending), place: `${outgoingRow(item)}#${i}` }],
    ),
  )
  const items = all.slice(0, page.limit)
  const more = all.length > page.limit || found.next !== null
  return { items: items.map(({ view }) => view), next: more && items.length > 0 ? items.at(-1)!.place : null }
}

function placeIn(text: string): [row: string, nth: number] {
  const at = text.lastIndexOf('#')
  return [text.slice(0, at), Number(text.slice(at + 1))]
}

const viewOf = (out: Outgoing, sending: Sending): DeliveryView => ({
  id: deliveryIdOf(out, sending.to),
  run: out.run,
  at: out.at,
  sending,
})

/** Sends once more what was given up, or at once what waits; under the same id. @throws Refused `not_found`, `delivery_sent` */
export async function retryDelivery(call: Call, id: string, delivery: string): Promise<DeliveryView> {
  const { world, now } = call
  await scheduleFor(call, id, true)
  const out = await retrying(async () => {
    const found = isId('dlv', delivery) ? await rowOf(call, id, delivery) : null
    const old = found?.item.targets.find(({ to }) => deliveryIdOf(found.item, to) === delivery)
    if (found == null || old === undefined) throw notFound('delivery', delivery)
    if (old.status === 'sent')
      throw new Refused('delivery_sent', `delivery ${delivery} has arrived: only what has not is sent again`)
    // What was given up begins anew. A try that may be under way keeps its number, so that its record is not taken for the next one's.
    const sending = old.status === 'dead' ? newSending(old.to, now) : { ...old, nextAt: now }
    const out: Outgoing = {
      ...found.item,
      targets: found.item.targets.map((target) => (target === old ? sending : target)),
    }
    await commit(world, [putOutgoing(world, out, found.version, now)])
    return out
  })
  await alarmsFor(world, [out], now)
  return viewOf(out, out.targets.find(({ to }) => deliveryIdOf(out, to) === delivery)!)
}

/** A delivery's id begins with the instant of its run's end, as the run's own place does. */
async function rowOf(call: Call, id: string, delivery: string): Promise<Stored<Outgoing> | null> {
  const { items } = await call.world.table.list(`S#${id.slice(4)}`, { prefix: `V#${delivery.slice(4, 14)}` })
  const rows = items as readonly Stored<unknown>[] as readonly Stored<Outgoing>[]
  return rows.find(({ item }) => item.targets.some(({ to }) => deliveryIdOf(item, to) === delivery)) ?? null
}
