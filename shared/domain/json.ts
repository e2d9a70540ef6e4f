import type { Json } from '../cel/index.ts'
import { nestsDeeper } from './canonical.ts'

/** Of what comes from outside; with the results around it, it is still no deeper than CEL goes. */
const levelsMax = 60

/** False when it is nested so deep that nobody should walk it. */
export const isShallow = (value: unknown): boolean => !nestsDeeper(value, levelsMax)

/** The value with each of its texts changed, names of members included. `value`: shallow. */
export function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner: Json) => withTexts(inner, change))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), withTexts(inner as Json, change)]),
  )
}

/** What a text says in JSON; null when it is none, or nested too deep. */
export function parsedJson(text: string): { readonly json: Json } | null {
  try {
    const json = JSON.parse(text) as Json
    return isShallow(json) ? { json } : null
  } catch {
    return null
  }
}
