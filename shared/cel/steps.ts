import type { RE2JS } from 're2js'
import { bounds } from './bounds.ts'
import { CelFault } from './errors.ts'

/** The work that an evaluation has done. Work is paid for before it is done, so `taken` never passes the budget. */
export class Steps {
  taken = 0
  /** The regular expressions that it has paid for. */
  readonly patterns = new Map<string, RE2JS>()
  readonly max: number
  constructor(max: number = bounds.stepsMax) {
    this.max = max
  }

  /** @throws CelFault `budget` */
  spend(steps: number): void {
    if (this.taken + steps > this.max)
      throw new CelFault('budget', `more than ${this.max} steps of work: compare fewer elements or shorter texts`)
    this.taken += steps
  }

  /** For work that reads or writes this many characters once. */
  spendChars(chars: number): void {
    this.spend(Math.ceil(chars / bounds.charsPerStep))
  }
}
