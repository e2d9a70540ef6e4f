import { Generations } from '../domain/generations.ts'
import type { Definition } from '../domain/schedule.ts'
import type { World } from '../ports/world.ts'
import { compile, type Recurrence } from '../time/index.ts'

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
    const known = byWorld.get(world)
    if (known !== undefined) return known
    const made = new Definitions()
    byWorld.set(world, made)
    return made
  }

  readonly #known = new Generations<Known>(charsMax, ({ definition }) => 1000 + (definition.prompt?.length ?? 0))

  get(id: string, gen: number): Known | undefined {
    return this.#known.get(nameOf(id, gen))
  }

  /** @throws SpecInvalid when its rule is none */
  add(definition: Definition): Known {
    const known = { definition, recurrence: compile(definition.spec) }
    this.#known.set(nameOf(definition.id, definition.gen), known)
    return known
  }
}

const byWorld = new WeakMap<World, Definitions>()
/** Up to twice that is kept: a herd of 10,000 stays at hand. */
const charsMax = 16_000_000
const nameOf = (id: string, gen: number): string => `${id}.${gen}`
