import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FaultAt } from './faults.ts'
import type { History } from './steps.ts'

/** A history that once found a fault of the product, as short as it could be made. */
export interface Kept {
  readonly name: string
  /** What it found, and why. */
  readonly what: string
  readonly history: History
  readonly faults: readonly FaultAt[]
}

const folder = join(import.meta.dirname, 'kept')

export const kept: readonly Kept[] = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name) => ({ name, ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Omit<Kept, 'name'>) }))
