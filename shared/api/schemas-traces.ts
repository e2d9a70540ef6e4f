import * as z from 'zod'
import { nestsDeeper } from '../domain/canonical.ts'
import { limits } from '../domain/limits.ts'
import { textFault } from '../domain/names.ts'
import { callStatuses } from '../domain/trace.ts'
import { checked, name, printableWords } from './schemas-texts.ts'

/** What callers say of tool calls, traces and flows. */

const id = z.string().min(1).max(64)
const instant = z.string().max(64).meta({ description: 'an instant with its offset, e.g. 2026-11-02T09:00:00Z' })
/** As it was parsed: zod's own JSON type rebuilds objects, drops a key named __proto__ and runs out of stack where somebody wants it to. */
const json = z
  .unknown()
  .refine(
    (value) => !nestsDeeper(value, limits.jsonDepthMax),
    `expected JSON whose arrays and objects nest at most ${limits.jsonDepthMax} deep`,
  )
  .meta({ description: 'any JSON' })

const toolNameFault = (text: string): string | null =>
  text.trim() === '' ? 'expected the name of a tool' : textFault(text)
const tool = checked(z.string().max(200), toolNameFault).meta({ minLength: 1, pattern: printableWords })
const status = z.enum(callStatuses)

/** As a turn reports it. */
export const toolCall = z.strictObject({ tool, args: json.nonoptional(), status, result: json.optional() })

const clippedBefore = z
  .boolean()
  .optional()
  .meta({ description: 'it was cut where it comes from: what is sent is the beginning of its JSON text' })

export const traceImport = z.strictObject({
  agent: id,
  session: id.nullish(),
  project: name.nullish(),
  ref: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .meta({ description: 'what names it where it comes from: the same one is taken in once' }),
  outcome: z.enum(['ok', 'nothing_to_do', 'blocked', 'failed', 'unknown']).default('ok'),
  tokens: z.number().min(0).max(1e12).nullish(),
  usd: z.number().min(0).max(1e9).nullish(),
  startedAt: instant.nullish(),
  at: instant.nullish().meta({ description: 'when it ended; default: now' }),
  calls: z
    .array(
      z.strictObject({
        tool,
        args: json.nonoptional(),
        status,
        result: json.optional(),
        argsClipped: clippedBefore,
        resultClipped: clippedBefore,
      }),
    )
    .max(limits.toolCallsPerTurnMax),
})

export const traceQuery = {
  agent: id.optional(),
  project: z.string().min(1).max(1000).optional(),
  session: id.optional(),
  outcome: z.enum(['ok', 'nothing_to_do', 'blocked', 'failed', 'unknown']).optional(),
}

export const flowPromote = z.strictObject({
  name: z.string().max(1000),
  from: z.array(id).max(limits.promoteFromMax).meta({ description: 'ids of two traces or more that did the same' }),
  overwrite: z.boolean().optional(),
  shadow: z.int().min(1).max(limits.shadowRunsMax).nullish().meta({
    description: "first so many of the agent's next runs have to do the same; then a card offers it",
  }),
  approve: z
    .boolean()
    .optional()
    .meta({ description: "adds the tools of the flow to the agent's autoApprove; its owner's call" }),
})
