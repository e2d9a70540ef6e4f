import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { duration, id, instant, name, text } from './schemas.ts'

const document = z.union([
  z.strictObject({ path: z.string().max(2000) }),
  z.strictObject({ prefix: z.string().max(2000) }),
])
const webhook = z.union([z.literal(true), z.strictObject({ signed: z.boolean() })])

const conditions = {
  when: z
    .string()
    .min(1)
    .max(4000)
    .nullish()
    .meta({ description: 'CEL over doc (the document or the body), before (at the last look) and now' }),
  settle: duration.nullish().meta({ description: 'it fires once nothing has happened for so long: "30s", "PT5M"' }),
  maxPerDay: z.int().min(1).max(limits.maxRunsMax).nullish(),
  until: instant.nullish(),
}
const prompt = text(limits.promptCharsMax)

export const triggerCreate = z.strictObject({
  name,
  session: id.nullish().meta({ description: 'the conversation it fires in' }),
  agent: id.nullish().meta({ description: 'a fresh session of this agent for each run' }),
  prompt: prompt.nullish(),
  flow: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .meta({ description: 'in place of a prompt: one of the flows of the agent' }),
  on: z
    .union([z.strictObject({ document }), z.strictObject({ webhook })])
    .meta({ description: 'a document, everything below a prefix, or a webhook with an address of its own' }),
  ...conditions,
})
export const triggerPatch = z.strictObject({
  name: name.optional(),
  prompt: prompt.optional(),
  flow: z.string().min(1).max(200).optional(),
  ...conditions,
})
export const triggerQuery = {
  agent: id.optional(),
  session: id.optional(),
  status: z.enum(['active', 'paused', 'done', 'ended']).optional(),
}
