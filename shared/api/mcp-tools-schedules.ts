import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { answerOf, ask, jsonBody, keyed } from './mcp-carrier.ts'
import { id, idempotencyKey, part, type Told, tool, without } from './mcp-tools.ts'
import type * as present from './present.ts'
import * as schemas from './schemas.ts'

type Schedule = ReturnType<typeof present.schedule>
type Preview = ReturnType<typeof present.preview>

const fields = {
  name: 'what it is called in lists, 1 to 120 characters',
  prompt: `what the agent reads when it is woken, up to ${limits.promptCharsMax} characters`,
  note: 'for people: why there is this schedule',
  misfire:
    'what was missed while Rouse was off: "once" (default) makes it up with one run, "skip" drops it, {"within": "2h"} makes it up when no later than that',
  overlap:
    'when its last turn still runs: "buffer" (default in a session), "skip" (default otherwise), "allow", "cancel" (stops the old one)',
  onUnknown: 'when a turn was lost and nobody knows how it ended: "leave" (default) or "retry", once',
  jitter: 'each run is moved by up to so much, always the same for one schedule',
  until: 'no run after this instant, with its offset',
  maxRuns: 'it is done after so many runs',
  pauseAfterFailures: 'it pauses after so many failed runs in a row',
}

const when =
  'When: exactly one of `at` (once), `every` (an interval from now on), `at` with `every` (from then on), `cron`, `rrule`. Times are in `tz`, an IANA zone; the default is UTC, so name the zone of the person you work for.'

export const scheduleTools = [
  tool({
    name: 'schedule',
    title: 'Schedule a prompt',
    description: `Creates a schedule: at its times Rouse starts a turn of the agent with your prompt, whether or not anybody is there, through restarts and outages.

Use it for work that recurs or is due later: a brief every weekday at eight, a reminder in two hours, a check every half hour. Do not use it to wait for something to happen (a document that changes, a build that ends): create_monitor does that without a model call until it happens.

${when} Where: \`session\` is the conversation it fires in, \`agent\` gives each run a fresh one; with neither it fires in your own session. Write the prompt so that it stands alone: say what to do, where things are and whom to tell, since a fresh session knows nothing of this one. Ask preview_schedule when you are not sure of a rule.

Limits: cron and rrule at most every 30 minutes, \`every\` 5 minutes to 7 days, ${limits.schedulesPerTarget} schedules per session or agent. Agents may schedule only after a person turned that on (agent_sessions_off). In the modes ask and plan, and past ${limits.promptsToOthersMax} prompts to other sessions, a person is asked first: the answer then names a card, and nothing is scheduled yet.

Example: {"name": "Morning brief", "prompt": "Read briefs/today.md and write the brief of the day.", "cron": "0 8 * * 1-5", "tz": "Europe/Amsterdam"}`,
    input: schemas.scheduleCreate.extend({ idempotencyKey }),
    fields,
    hints: { readOnly: false },
    run: async (carrier, args) => {
      const got = await ask(carrier, {
        method: 'POST',
        path: '/v1/schedules',
        body: jsonBody(without(args, 'idempotencyKey')),
        headers: keyed(args.idempotencyKey),
      })
      if (got.status === 202) {
        const { card } = answerOf<{ card: string }>(got)
        const text = `Not scheduled yet: a person is asked first, with card ${card}. It is created when they allow it; you need not call again. Tell the user, and go on.`
        return { text, structured: { card } }
      }
      const made = answerOf<Schedule>(got)
      const waits = made.waitingFor === null ? '' : ` It is ${onOneLine(made.waitingFor)}.`
      return {
        text: `Scheduled "${onOneLine(made.name)}" (${made.id}): ${made.inWords}. Next: ${timesOf(made.next)}.${waits}`,
        structured: { ...made },
      }
    },
  }),
  tool({
    name: 'unschedule',
    title: 'Delete a schedule',
    description: `Deletes a schedule for good: it never runs again. What it did stays readable for 90 days.

Use it when the person no longer wants the work, or when what it was for is done. A turn that runs already goes on. list_schedules tells the ids.

Example: {"id": "sch_01J9ZQ4TMQ6RHETS2R3ZNDJDGG"}`,
    input: z.strictObject({ id: id('the schedule, sch_…') }),
    hints: { readOnly: false, destructive: true, idempotent: true },
    run: async (carrier, args): Promise<Told> => {
      await ask(carrier, { method: 'DELETE', path: `/v1/schedules/${part(args.id, 'schedule')}` })
      return { text: `Deleted ${args.id}: it never runs again.`, structured: { id: args.id, deleted: true } }
    },
  }),
  tool({
    name: 'list_schedules',
    title: 'List schedules',
    description: `Lists the schedules that you may see, newest first, each with its next times, its state and its rule in words.

Use it before you create one, so that there are no two of a kind, and to find the id for unschedule. Narrow it with \`session\` (fires there), \`agent\`, \`createdIn\` (made in that conversation) or \`status\`. There are at most 100 on a page; \`nextCursor\` of one page is \`cursor\` of the next.

Example: {"status": "active", "limit": 50}`,
    input: z.strictObject({ ...schemas.scheduleQuery, ...schemas.page }),
    fields: { session: 'fires in this session', agent: 'of this agent', createdIn: 'made in this session' },
    hints: { readOnly: true },
    run: async (carrier, args): Promise<Told> => {
      const got = await ask(carrier, { method: 'GET', path: '/v1/schedules', query: args })
      const { data, nextCursor } = answerOf<{ data: Schedule[]; nextCursor: string | null }>(got)
      const lines = data.map((s) => {
        const next = s.nextAt === null ? '' : `, next ${timesOf(s.next.slice(0, 1))}`
        return `${s.id} "${onOneLine(s.name)}" ${s.status}: ${s.inWords}${next}${s.session === null ? '' : `, in ${s.session}`}`
      })
      return { text: listed(lines, 'No schedules.', nextCursor), structured: { data, nextCursor } }
    },
  }),
  tool({
    name: 'preview_schedule',
    title: 'Preview a schedule',
    description: `Shows what a rule would do: its next times with the zone's daylight saving, the rule in words, what would be refused and what would hold the runs. Nothing is stored.

Use it before schedule when the rule is not obvious, or to tell the person the exact times. ${when} \`count\` (1 to 100, default 3) says how many times, \`from\` after which instant.

Example: {"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0", "tz": "America/New_York", "count": 6}`,
    input: schemas.schedulePreview,
    fields: {
      ...fields,
      name: 'not looked at',
      flow: 'the name of a flow: flows may run every minute',
      count: 'how many times to show',
      from: 'show times after this instant; default: now',
    },
    hints: { readOnly: true },
    run: async (carrier, args): Promise<Told> => {
      const got = await ask(carrier, { method: 'POST', path: '/v1/schedules/preview', body: jsonBody(args) })
      const shown = answerOf<Preview>(got)
      const lines = [
        `${shown.inWords}. ${shown.next.length === 0 ? 'It never comes.' : `Next: ${timesOf(shown.next)}.`}`,
        ...shown.notes.map((note) => `Note: ${onOneLine(note)}`),
        ...(shown.refusal === null ? [] : [`It would be refused (${shown.refusal.code}): ${shown.refusal.detail}`]),
      ]
      return { text: lines.join('\n'), structured: { ...shown } }
    },
  }),
]

const timesOf = (next: readonly { readonly local: string }[]): string =>
  next.length === 0 ? 'none' : next.map(({ local }) => local).join(', ')

/** A list as text: one line for each thing. */
export const listed = (lines: readonly string[], none: string, cursor: string | null): string =>
  [
    ...(lines.length === 0 ? [none] : lines),
    ...(cursor === null ? [] : [`There are more: call again with "cursor": "${cursor}".`]),
  ].join('\n')
