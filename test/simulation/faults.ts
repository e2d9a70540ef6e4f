import { type Dice, dice } from './chance.ts'

/**
 * What can happen at a call of a port. `lost`: it was not done, and the caller is told; `silent`: it was not done, and nobody is told;
 * `after`: it was done, and the caller is told that it was not; `slow`, `late`: it is done later, or its answer comes later; `crash`,
 * `crash-after`: the process dies before or after it is done.
 */
export type Fault = 'lost' | 'silent' | 'after' | 'conflict' | 'slow' | 'late' | 'twice' | 'crash' | 'crash-after'

export interface FaultAt {
  /** The call, and the how many-th of its name: it follows from what is called, not from when. */
  readonly call: string
  readonly fault: Fault
}

/** Decides which calls go wrong: as the seed has it, or as a list says. */
export class Faults {
  readonly happened: FaultAt[] = []
  readonly #dice: Dice
  readonly #rate: number
  readonly #only: ReadonlyMap<string, Fault> | null
  readonly #counts = new Map<string, number>()
  isOn = false

  /** @param only  nothing goes wrong but this; null: one call in so many does (`rate`) */
  constructor(seed: number, rate: number, only: readonly FaultAt[] | null) {
    this.#dice = dice(seed)
    this.#rate = rate
    this.#only = only === null ? null : new Map(only.map(({ call, fault }) => [call, fault]))
  }

  at(name: string, kinds: readonly Fault[]): Fault | null {
    if (!this.isOn) return null
    const nth = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, nth)
    const call = `${name} ${nth}`
    const fault = this.#only === null ? this.#drawn(call, kinds) : (this.#only.get(call) ?? null)
    if (fault === null || !kinds.includes(fault)) return null
    this.happened.push({ call, fault })
    return fault
  }

  #drawn(call: string, kinds: readonly Fault[]): Fault | null {
    const roll = this.#dice(call)
    return roll < this.#rate ? kinds[Math.floor((roll / this.#rate) * kinds.length)]! : null
  }
}
