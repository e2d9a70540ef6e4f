import * as z from 'zod'
import { labels } from '../domain/card.ts'
import { isDay } from '../domain/feed.ts'
import { limits } from '../domain/limits.ts'
import { textFault } from '../domain/names.ts'
import { page } from './schemas.ts'
import { checked, name, printableWords, text } from './schemas-texts.ts'

/** A title is a name with room for a sentence. Its length counts characters, as a name's does. */
const title = checked(z.string().max(1000), textFault).superRefine((given, ctx) => {
  const chars = [...given].length
  const bounds = `expected 1 to ${limits.cardTitleCharsMax} printable characters`
  if (given.trim() === '') ctx.addIssue({ code: 'custom', message: `${bounds}, got none` })
  else if (chars > limits.cardTitleCharsMax) ctx.addIssue({ code: 'custom', message: `${bounds}, got ${chars}` })
})

export const cardCreate = z.strictObject({
  title: title.meta({
    description: '1 to 200 printable characters',
    minLength: 1,
    maxLength: limits.cardTitleCharsMax,
    pattern: printableWords,
  }),
  body: text(limits.cardBodyCharsMax).nullish(),
  group: name.nullish().meta({ description: 'cards of one group stand together, e.g. "Morning brief 2 Mar"' }),
  label: z.enum(labels).nullish(),
  loop: name
    .nullish()
    .meta({ description: 'a stable key: posting again under it moves the same card and counts how often it was seen' }),
  autoSendOn: z
    .string()
    .max(10)
    .refine(isDay, 'expected a day of the calendar as YYYY-MM-DD')
    .nullish()
    .meta({ description: "YYYY-MM-DD in the person's zone: counts down to that day, with a Stop" }),
})

export const cardQuery = z.strictObject({
  ...page,
  group: name.optional(),
  label: z.enum(labels).optional(),
  status: z
    .enum(['open', 'allowed', 'denied', 'closed', 'dismissed', 'all'])
    .optional()
    .meta({ description: 'default: all but the dismissed ones' }),
})
