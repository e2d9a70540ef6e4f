/** A JSON value in its one form: the same text for the same value, whatever the order of its keys and the blanks in between. */
export interface Canonical {
  readonly text: string
  /** False when it holds a whole number beyond 2^53, whose digits were lost before anybody here saw them: the text may not be what was meant. */
  readonly exact: boolean
}

/**
 * RFC 8785: keys in the order of their UTF-16 units, numbers as ECMAScript writes them, no blanks.
 *
 * @param value  what JSON.parse gave, no deeper than `nestsDeeper` allows: it is walked by recursion
 */
export function canonicalJson(value: unknown): Canonical {
  let exact = true
  const written = (at: unknown): string => {
    if (typeof at === 'number' && Math.abs(at) > Number.MAX_SAFE_INTEGER) exact = false
    if (typeof at !== 'object' || at === null) return JSON.stringify(at)
    if (Array.isArray(at)) return `[${at.map(written).join(',')}]`
    const fields = at as Readonly<Record<string, unknown>>
    const names = Object.keys(fields).sort(byUnits)
    return `{${names.map((name) => `${JSON.stringify(name)}:${written(fields[name])}`).join(',')}}`
  }
  const text = written(value)
  return { text, exact }
}

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** True when arrays and objects stand in each other more than `max` deep. Never runs out of stack itself. */
export function nestsDeeper(value: unknown, max: number): boolean {
  let level = [value].filter(isNested)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= max) return true
    level = level.flatMap((at) => Object.values(at)).filter(isNested)
  }
  return false
}

const isNested = (at: unknown): at is object => typeof at === 'object' && at !== null
