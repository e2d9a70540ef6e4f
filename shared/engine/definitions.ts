import { Generations } from '../domain/generations.ts'
import type { Definition } from '../domain/schedule.ts'
import { later } from '../ports/later.ts'
import { type World, worldOf } from '../ports/world.ts'
import { compilePlain, type PlainSpec } from '../time/compile-plain.ts'
import type { Recurrence, Spec } from '../time/index.ts'

const anyRule = later(() => import('../time/compile.ts'))

/** A definition and its rule, ready to answer. */
export interface Known {
  readonly definition: Definition
  readonly recurrence: Recurrence
}

/**
 * Definitions that were read or made lately, by schedule and generation. What stands under that name never changes, so what is
 * remembered stays true; whether the schedule still is, its cursor says, and that is read every time.
 */
export class Definitions {
  static of(world: World): Definitions {
    const known = byWorld.get(worldOf(world))
    if (known !== undefined) return known
    const made = new Definitions()
    byWorld.set(worldOf(world), made)
    return made
  }

  readonly #known = new Generations<Known>(charsMax, ({ definition }) => 1000 + (definition.prompt?.length ?? 0))

  get(id: string, gen: number): Known | undefined {
    return this.#known.get(nameOf(id, gen))
  }

  add(definition: Definition, recurrence: Recurrence): Known {
    const known = { definition, recurrence }
    this.#known.set(nameOf(definition.id, definition.gen), known)
    return known
  }
}

/** What compiles the rules of these definitions; most are plain. @returns a function that throws SpecInvalid for a rule that is none */
export async function compilerOf(
  definitions: readonly (Definition | undefined)[],
): Promise<(spec: Spec) => Recurrence> {
  if (definitions.some((definition) => definition?.spec?.kind === 'rrule')) return (await anyRule()).compile
  return (spec) => compilePlain(spec as PlainSpec)
}

const byWorld = new WeakMap<World, Definitions>()
/** Up to twice that is kept: a herd of 10,000 stays at hand. */
const charsMax = 16_000_000
const nameOf = (id: string, gen: number): string => `${id}.${gen}`
