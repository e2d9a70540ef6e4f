import { newSending, nextTryOf, type Outgoing, outgoingRow } from '../domain/delivery.ts'
import { bare, timeOf } from '../domain/ids.ts'
import type { Key, Op, Version } from '../ports/table.ts'
import type { AlarmKey, World } from '../ports/world.ts'
import { hint } from './fire.ts'
import { runIdOf } from './load.ts'
import type { Said, Worked } from './run-ends.ts'
import { asItem, keys, shardOf, ttlAfter } from './store.ts'

/**
 * What the ends of runs send out. Written in the commit of the end, so that no crash loses it; sent afterwards, apart from the drain of
 * schedules, so that a slow receiver holds up no wake.
 *
 * At least once: a try is begun by one commit and recorded by another, and whoever dies between them leaves it to be made again, under the
 * same id.
 */

/** @returns what the commit of the end has to write, and what to call once it is through */
export function outgoing(
  world: World,
  worked: readonly Worked[],
  end: Said & { readonly conv: string | null; readonly session: string | null },
  now: number,
): { readonly ops: Op[]; readonly leave: () => Promise<void> } {
  const { answer, conv, session, result, reason, summary } = end
  const all = worked.flatMap(({ loaded, rows }): Outgoing[] => {
    const { definition, cursor } = loaded
    const uris = definition.deliver ?? []
    // S2-19: nothing to do, nothing sent. A deleted schedule is gone for everything but its ledger.
    if (uris.length === 0 || cursor.item.deleted || result === 'nothing_to_do') return []
    return rows.map((row) => ({
      schedule: definition.id,
      run: runIdOf(definition.id, row),
      name: definition.name,
      nominalAt: timeOf(row.slice(2, 12)),
      result,
      reason,
      summary,
      answer: answer === null || conv === null ? null : keys.history(conv, answer)[1],
      conv,
      session,
      agent: definition.agent,
      principal: definition.createdBy,
      at: now,
      targets: uris.map((to) => newSending(to, now)),
    }))
  })
  return {
    ops: all.map((out) => putOutgoing(world, out, 'absent', now)),
    leave: () => alarmsFor(world, all, now),
  }
}

/** After the commit that made it due. */
export async function alarmsFor(world: World, all: readonly Outgoing[], at: number): Promise<void> {
  for (const out of all) await hint(world, () => world.alarms.set(alarmOf(keyOf(out)), at))
}

const keyOf = (out: Outgoing): Key => [`S#${bare(out.schedule)}`, outgoingRow(out)]
/** `<schedule>.<place>`, both bare ULIDs: as short as the names of alarms have to be. */
const alarmOf = ([pk, sk]: Key): AlarmKey => ({ kind: 'delivery', id: `${pk.slice(2)}.${sk.slice(2)}` })

/** @returns where it points; null for a name that no alarm of ours has */
export function deliveryKey(alarm: string): Key | null {
  const [, schedule, place] = /^(\w{26})\.(\w{26})$/.exec(alarm) ?? []
  return schedule === undefined ? null : [`S#${schedule}`, `V#${place}`]
}

export function putOutgoing(world: World, out: Outgoing, expect: Version | 'absent', now: number): Op {
  const next = nextTryOf(out)
  return {
    put: keyOf(out),
    item: asItem(out),
    expect,
    index: next === null ? {} : { deliveries: [shardOf(world, out.schedule), next] },
    ttl: ttlAfter(now),
  }
}
