import { type Key, type Op, type Table, Unavailable } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'
import type { Room } from './room.ts'

/** A table in front of the room's, with something to happen around its n-th commit. */
const around = (inner: Table, commit: (nth: number, through: () => Promise<void>) => Promise<void>): Table => {
  let nth = 0
  return {
    get: (keys: readonly Key[]) => inner.get(keys),
    list: (pk, range) => inner.list(pk, range),
    find: (index, pk, range) => inner.find(index, pk, range),
    commit: (ops: readonly Op[], token: string) => commit(++nth, () => inner.commit(ops, token)),
  }
}

/** A world in which `meanwhile` happens between the reads and the n-th commit of whatever runs in it. */
export const interrupted = (room: Room, nth: number, meanwhile: () => Promise<unknown>): World =>
  room.through((inner) =>
    around(inner, async (n, through) => {
      if (n === nth) await meanwhile()
      return await through()
    }),
  )

/** A world that dies around its n-th commit: before it is applied, or after it and before anybody hears of it. */
export function crashing(
  room: Room,
  nth: number,
  when: 'before' | 'after',
): { readonly world: World; readonly crashed: () => boolean } {
  let crashed = false
  const world = room.through((inner) =>
    around(inner, async (n, through) => {
      if (n < nth) return await through()
      // What crashed does nothing any more.
      if (n === nth && when === 'after') await through()
      crashed = true
      throw new Unavailable('the process died')
    }),
  )
  return { world, crashed: () => crashed }
}
