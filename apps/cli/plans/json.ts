import { UsageError } from '../report.ts'
import type { Left } from './plan.ts'

export type Bag = Readonly<Record<string, unknown>>

/** @throws UsageError when it is no JSON, or has no list of that name */
export function listIn(text: string, names: readonly string[], what: string): unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UsageError(`this is not ${what}: ${(error as Error).message}`)
  }
  if (Array.isArray(value)) return value
  const list = names.map((name) => bag(value)[name]).find((one) => Array.isArray(one))
  if (list === undefined) throw new UsageError(`this is not ${what}: expected a list "${names[0]}"`)
  return list as unknown[]
}

export const bag = (value: unknown): Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Bag) : {}

/** A text that says something, or null. */
export const text = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)

export const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** Names what an entry has and nobody has asked for, but for `read` and what a running program wrote down for itself. */
export function restOf(from: Bag, read: readonly string[], where: string): Left[] {
  return Object.entries(from)
    .filter(([name, value]) => !read.includes(name) && !isEmpty(value))
    .map(([name, value]) => ({ where, what: `${name}: ${shown(value)}`, whole: false }))
}

function shown(value: unknown): string {
  const said = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return said.length <= 80 ? said : `${said.slice(0, 80).toWellFormed()}…`
}

/** Whole minutes as Rouse writes them, else seconds. */
export const lengthOf = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000}m` : `PT${Math.round(ms / 1000)}S`)
