import * as z from 'zod'

/** What the shapes of answers are made of. They say what goes out; nothing is checked against them at run time, the compiler does (`answers.ts`). */

/** `<prefix>_<ULID>` */
export const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`))
export const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({ format: 'date-time', description: 'ISO 8601 in UTC, with milliseconds' })
export const zone = z.string().meta({ description: 'IANA zone' })
export const count = z.int().min(0)
/** As the caller wrote it. */
export const duration = z
  .union([z.string(), z.number()])
  .meta({ description: 'as it was given: "30m", "PT30M", minutes' })

export const listOf = <S extends z.ZodType>(one: S) =>
  z.object({
    data: z.array(one),
    nextCursor: z.string().nullable().meta({ description: 'for the next page; null: this was the last' }),
  })
/** Of what is never so long that it has pages. */
export const wholeList = <S extends z.ZodType>(one: S) =>
  z.object({ data: z.array(one), nextCursor: z.null().meta({ description: 'the list is never longer than this' }) })

export const time = z
  .object({
    at: instant,
    local: z
      .string()
      .meta({ description: 'the same with offset and zone: 2026-03-29T03:00:00+02:00[Europe/Amsterdam]' }),
    adjusted: z
      .enum(['gap', 'fold'])
      .nullable()
      .meta({ description: 'the wall clock skipped this time (gap) or had it twice (fold)' }),
  })
  .meta({ id: 'Time', description: 'An instant and what a clock on the wall shows then' })

export const refusal = z
  .object({ code: z.string(), detail: z.string() })
  .meta({ id: 'Reason', description: 'Why something would not go out, or would not be stored' })

export const origin = z
  .object({
    kind: z.enum(['user', 'agent', 'schedule', 'monitor', 'tick', 'rouse']),
    principal: id('per').meta({ description: 'whose access, secrets and budget the turn uses' }),
    agent: id('agt').nullable(),
    session: id('ses').nullable(),
    schedule: id('sch').nullable(),
    run: id('run').nullable(),
    hops: count.meta({ description: "sessions crossed since a person's word" }),
    depth: count.meta({ description: 'monitors upstream of this wake' }),
  })
  .meta({ id: 'Origin', description: 'Where a message comes from' })

/** What a caller hands on as it came: any JSON. */
export const anyJson = z.unknown().meta({ description: 'any JSON' })
