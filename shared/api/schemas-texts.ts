import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { nameFault, textFault } from '../domain/names.ts'

/** Names and texts of callers. Patterns and lengths are for openapi.json: they say what the checks beside them do. */

/** What `textFault` forbids, as a class of characters: control and bidi characters, and halves of characters. */
const forbidden =
  '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff'
export const printable = `^[^${forbidden}]*$`
/** More than blanks. */
export const printableWords = `^[^${forbidden}]*[^${forbidden}\\s][^${forbidden}]*$`

export const checked = (schema: z.ZodString, fault: (text: string) => string | null) =>
  schema.superRefine((text, ctx) => {
    const message = fault(text)
    if (message !== null) ctx.addIssue({ code: 'custom', message })
  })

export const name = checked(z.string().max(1000), nameFault).meta({
  description: '1 to 120 printable characters',
  minLength: 1,
  maxLength: limits.nameCharsMax,
  pattern: printableWords,
})
export const text = (max: number) => checked(z.string().max(max), textFault).meta({ pattern: printable })
