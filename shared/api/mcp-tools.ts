import * as z from 'zod'
import { Refused } from '../domain/refused.ts'
import type { Carrier } from './mcp-carrier.ts'

/** A tool as a model meets it, and the calls of the API that it stands for. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** For a model: what it does, when to use it, what bounds it, one example. */
  readonly description: string
  /** The schema that checks the operation's body or query, with what HTTP carries elsewhere. */
  readonly input: z.ZodObject
  /** Of fields whose schema says nothing. */
  readonly fields?: Readonly<Record<string, string>>
  readonly hints: { readonly readOnly: boolean; readonly destructive?: boolean; readonly idempotent?: boolean }
  /** @throws Said, Refused */
  readonly run: (carrier: Carrier, args: never) => Promise<Told>
}

/** `text` holds what a model needs to go on, since not every client shows it the rest. */
export interface Told {
  readonly text: string
  readonly structured: Readonly<Record<string, unknown>>
}

/** Keeps the type of the arguments for `run`. */
export const tool = <I extends z.ZodObject>(
  given: Omit<Tool, 'input' | 'run'> & {
    readonly input: I
    readonly run: (carrier: Carrier, args: z.output<I>) => Promise<Told>
  },
): Tool => given as Tool

/** A header of HTTP: neither blanks nor line breaks. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 printable ASCII characters without blanks')
  .optional()
  .meta({
    description:
      'any text of your own, new for each new call: repeated within 24 hours with the same arguments it gives the same answer and makes nothing twice. Send it when you may have to try again',
  })

export const id = (what: string) => z.string().min(1).max(64).meta({ description: what })

/** As part of a path. An id is looked up, not parsed; what would leave its place in the path names nothing. */
export function part(value: string, what: string): string {
  if (value !== '.' && value !== '..') return encodeURIComponent(value)
  throw new Refused('not_found', `there is no ${what} "${value}"`)
}

/** Arguments without those that go elsewhere than into the body. */
export function without<T extends object, K extends keyof T>(args: T, ...names: K[]): Omit<T, K> {
  const rest = { ...args }
  for (const name of names) delete rest[name]
  return rest
}
