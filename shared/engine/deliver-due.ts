import { readTarget } from '../domain/deliver.ts'
import {
  afterTry,
  begun,
  deliveryIdOf,
  isDue,
  nextTryOf,
  type Outgoing,
  type Sending,
  type Tried,
} from '../domain/delivery.ts'
import { limits } from '../domain/limits.ts'
import type { Message } from '../domain/message.ts'
import { faultOf } from '../ports/log.ts'
import { Conflict, type Key, type Op, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended, retrying } from './call.ts'
import { alarmsFor, deliveryKey, putOutgoing } from './deliver.ts'
import { isOutside, type Parcel, placeInside, sendOutside } from './deliver-send.ts'
import { Errands } from './errands.ts'
import { hint } from './fire.ts'
import { commit, everyShard, read } from './store.ts'

/**
 * Makes the tries that are due, so many at once, and answers when they are through. Never throws: what could not be tried stays due.
 *
 * @param beginMsMax  real time within which tries are begun; what is left is for the next look
 * @returns           how many runs had something due
 */
export async function deliverDue(world: World, now: number, beginMsMax = Number.POSITIVE_INFINITY): Promise<number> {
  const sender = senderOf(world)
  const until = performance.now() + beginMsMax
  let looked = 0
  try {
    for (const shard of everyShard(world)) {
      let after: string | null = null
      do {
        const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find('deliveries', shard, {
          to: now,
          limit: 100,
          ...(after === null ? {} : { after }),
        })
        for (const { key } of page.items) {
          await sender.room()
          if (performance.now() > until) break
          if (send(world, key)) looked += 1
        }
        after = performance.now() > until ? null : page.next
      } while (after !== null)
    }
  } catch (error) {
    world.log('error', 'deliveries could not be looked at', faultOf(error))
  }
  await sender.idle()
  return looked
}

/** The same for what alarms name. */
export async function deliverNamed(world: World, alarms: readonly string[]): Promise<void> {
  const sender = senderOf(world)
  for (const alarm of alarms) {
    const key = deliveryKey(alarm)
    if (key === null) continue
    await sender.room()
    send(world, key)
  }
  await sender.idle()
}

/** Begins no more tries, and answers when those under way are recorded. */
export async function stopDeliveries(world: World): Promise<void> {
  const sender = senderOf(world)
  sender.stop()
  await sender.idle()
}

/** What this process is sending: each run once, and so many at a time. */
const senderOf = (world: World): Errands => Errands.of(world, 'deliveries', limits.deliverAtOnce)

/** @returns false when it is under way already, or nothing is begun any more */
const send = (world: World, key: Key): boolean => senderOf(world).send(key.join(' '), () => deliver(world, key))

/** Never throws. */
async function deliver(world: World, key: Key): Promise<void> {
  const ids = { schedule: `sch_${key[0].slice(2)}`, row: key[1] }
  try {
    const claimed = await claim(world, key)
    if (claimed === null) return
    const { out, due } = claimed
    const answer = out.answer === null ? null : await read<Message>(world, [`C#${out.conv}`, out.answer])
    const parcels = due.map((sending): Parcel => ({ out, to: sending.to, answer: answer?.item.text ?? null }))
    const tried = await Promise.all(parcels.map((parcel) => tryOutside(world, parcel)))
    await record(
      world,
      key,
      parcels.map((parcel, i) => ({ parcel, tries: due[i]!.tries, tried: tried[i]! })),
    )
  } catch (error) {
    if (error instanceof Unavailable) {
      const said = error instanceof Contended ? 'is written by many at once' : 'could not be recorded'
      return world.log('warn', `delivery ${said}; it is tried again in a minute`, { ...ids, ...faultOf(error) })
    }
    world.log('error', 'delivery set aside', { ...ids, ...faultOf(error) })
    world.meter.count('set_aside', 1)
    // Whoever is met again and again and never changes must not stop the clock.
    await hint(world, () => commit(world, [{ patch: key, guards: [{ attr: 'run', is: 'present' }], index: {} }]))
  }
}

/** Takes what is due of a run, for so long as a try may last. @returns null when nothing is, or somebody else was first */
async function claim(world: World, key: Key): Promise<{ out: Outgoing; due: readonly Sending[] } | null> {
  const stored = await read<Outgoing>(world, key)
  if (stored === null) return null
  const now = world.clock.now()
  const taken = stored.item.targets.map((sending) => (isDue(sending, now) ? begun(sending, now) : sending))
  const out: Outgoing = { ...stored.item, targets: taken }
  const due = taken.filter((sending, i) => sending !== stored.item.targets[i] && sending.status === 'waiting')
  if (taken.every((sending, i) => sending === stored.item.targets[i])) {
    // Early: the hint is set anew. What is under way comes again this way, should its sender be gone.
    const next = nextTryOf(out)
    if (next !== null) await alarmsFor(world, [out], next)
    return null
  }
  try {
    await commit(world, [putOutgoing(world, out, stored.version, now)])
  } catch (error) {
    if (error instanceof Conflict) return null
    throw error
  }
  return { out, due }
}

/** @returns null for a target inside, which is written with the record */
async function tryOutside(world: World, parcel: Parcel): Promise<Tried | null> {
  const read = readTarget(parcel.to)
  if ('fault' in read) return { kind: 'failed', error: read.fault, retry: false, retryAfterMs: null }
  return isOutside(read.target) ? await sendOutside(world, read.target, parcel) : null
}

interface Tries {
  readonly parcel: Parcel
  readonly tries: number
  readonly tried: Tried | null
}

/** What a try came to, as it is counted. */
const resultWords = { sent: 'sent', waiting: 'retried', dead: 'given_up' } as const

/** Writes what became of the tries, and with it what goes to sessions and feeds: those arrive once. */
async function record(world: World, key: Key, all: readonly Tries[]): Promise<void> {
  const { next, lost, tried } = await retrying(async () => {
    const stored = await read<Outgoing>(world, key)
    if (stored === null) return { next: null, lost: [], tried: [] }
    const now = world.clock.now()
    const ops: Op[] = []
    const lost: string[] = []
    const tried: string[] = []
    const held = new Set<string>()
    const targets: Sending[] = []
    for (const sending of stored.item.targets) {
      const mine = all.find(({ parcel, tries }) => parcel.to === sending.to && tries === sending.tries)
      if (mine === undefined || sending.status !== 'waiting') {
        targets.push(sending)
        continue
      }
      const placed = mine.tried === null ? await inside(world, mine.parcel, { now, held }) : null
      ops.push(...(placed?.ops ?? []))
      const id = deliveryIdOf(stored.item, sending.to)
      const after = afterTry(sending, placed?.tried ?? mine.tried!, { id, now })
      if (after.status === 'dead') lost.push(id)
      tried.push(resultWords[after.status])
      targets.push(after)
    }
    const out: Outgoing = { ...stored.item, targets }
    const next = nextTryOf(out)
    await commit(world, [putOutgoing(world, out, stored.version, now), ...ops])
    if (next !== null) await alarmsFor(world, [out], next)
    return { next, lost, tried }
  })
  for (const result of tried) world.meter.count('deliveries', 1, result)
  for (const delivery of lost)
    world.log('warn', 'delivery given up', { delivery, schedule: `sch_${key[0].slice(2)}`, next })
}

async function inside(
  world: World,
  parcel: Parcel,
  o: { readonly now: number; readonly held: Set<string> },
): Promise<{ readonly ops: Op[]; readonly tried: Tried }> {
  const read = readTarget(parcel.to)
  if ('fault' in read || isOutside(read.target)) throw new Error('only what stays inside is placed')
  return await placeInside(world, read.target, parcel, o)
}
