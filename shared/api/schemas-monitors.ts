import * as z from 'zod'
import type { Json } from '../cel/index.ts'
import { isShallow } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import { monitorStatuses } from '../domain/monitor.ts'
import * as schemas from './schemas.ts'

const text = z.string().max(2_000)
/** Any JSON object: only its depth is looked at. */
const object = z.record(z.string(), z.unknown()).refine(isShallow, 'is nested too deep') as unknown as z.ZodType<{
  readonly [name: string]: Json
}>

export const monitorCreate = z.strictObject({
  session: text
    .optional()
    .meta({ description: 'the session that the event wakes; left out: the one in X-Rouse-Session' }),
  note: z.string().meta({ description: `what to do then, 1 to ${limits.noteCharsMax} characters` }),
  watch: z
    .strictObject({
      document: z.strictObject({ path: text }).optional().meta({ description: 'a document, which need not exist yet' }),
      time: z
        .strictObject({ at: text.optional(), in: schemas.duration.optional() })
        .optional()
        .meta({ description: 'an instant, or a duration from now' }),
      tool: z
        .strictObject({ name: text, args: object.optional(), every: schemas.duration })
        .optional()
        .meta({ description: "a read-only tool of the session's agent, run every 5 minutes or less often" }),
    })
    .meta({ description: 'exactly one of the three' }),
  when: z.string().optional().meta({ description: 'CEL over doc or output, before and now; left out: any change' }),
  expiresIn: schemas.duration.optional().meta({ description: 'default 24 h, 7 days at most' }),
})

export const monitorFilter = z.strictObject({
  ...schemas.page,
  session: text.optional(),
  agent: text.optional(),
  status: z.enum(monitorStatuses).optional(),
})
