import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agentWithSession, claim, end, moveTo, read, runs, schedule } from './actors.ts'
import { type Json, onClock, type RouseNode, withOwnNodes } from './node.ts'

const cases: Json[] = JSON.parse(readFileSync(new URL('./behaviour.json', import.meta.url), 'utf8'))
const timed = cases
  .filter(({ input, expected }) => input.created !== undefined && expected.runs !== undefined)
  .sort((a, b) => a.input.created.localeCompare(b.input.created))

/** Each of these is about the end of the process, so the node really ends; elsewhere the clock jumps as if it had. */
const withRealRestarts = ['catchup-already-ran', 'catchup-outage-at-slot', 'catchup-rapid-restarts']
const beatMs = 3_600_000

const iso = (ms: number) => new Date(ms).toISOString()

/** What to create for a case, and how its times are stretched: cron may run every 30 minutes, an interval every 5. */
function plan({ id, input }: Json): { rule: Json; stretch: (text: string) => number } {
  const exact = (text: string) => Date.parse(text)
  if (input.every_seconds !== undefined) return { rule: { every: input.every_seconds / 60 }, stretch: exact }
  // `*/5` as an interval anchored on its first slot.
  if (input.cron === '*/5 * * * *') return { rule: { at: '2022-04-14T10:05:00Z', every: 5 }, stretch: exact }
  // Every minute becomes every 5 minutes, with all times five times as far from 20:00.
  if (input.cron === '* * * * *') {
    const from = Date.parse('2017-03-06T20:00:00Z')
    const stretch = (text: string) => from + (Date.parse(text) - from) * 5
    return { rule: { at: iso(from + 300_000), every: 5 }, stretch }
  }
  return {
    rule: { cron: input.cron, tz: input.tz, ...(id.startsWith('overlap') ? { overlap: 'skip' } : {}) },
    stretch: exact,
  }
}

// They share a node, whose clock only goes forward: the oldest case comes first.
onClock('schedules over hours and days, with outages', '2017-01-01T00:00:00Z', (rouse) => {
  for (const one of timed.filter(({ id }) => !withRealRestarts.includes(id)))
    test(`${one.symptom} (${one.id})`, async () => {
      await moveTo(rouse, iso(plan(one).stretch(one.input.created)))
      await holds(rouse, one)
    })
})

withOwnNodes('schedules over restarts', (make) => {
  for (const one of timed.filter(({ id }) => withRealRestarts.includes(id)))
    test(`${one.symptom} (${one.id})`, async () => {
      const rouse = make()
      await rouse.start({ clock: one.input.created })
      await holds(rouse, one)
    })
})

/** The case, lived through on a node whose clock stands at its beginning, comes out as expected. */
async function holds(rouse: RouseNode, one: Json): Promise<void> {
  const { rule, stretch } = plan(one)
  const { session } = await agentWithSession(rouse)
  const made = await schedule(rouse, { session: session.id, ...rule })
  await live(rouse, { one, stretch, sessionId: session.id })

  const found = await runs(rouse, made.id)
  const fired = found.filter(({ outcome }) => outcome === 'fired')
  const seen = fired.map(({ nominalAt, at, trigger }) => ({
    slot: nominalAt,
    at,
    why: trigger === 'slot' ? 'on_time' : trigger,
  }))
  const expected = one.expected.runs.map(({ slot, at, why }: Json) => ({
    slot: iso(stretch(slot)),
    at: iso(stretch(at)),
    why,
  }))
  expect(seen).toEqual(expected)
  const skipped = found.filter(({ outcome }) => outcome === 'skipped')
  expect(skipped.map(({ nominalAt }) => nominalAt)).toEqual(one.expected.skipped.map((at: string) => iso(stretch(at))))
  for (const { reason } of skipped) expect(reason).toMatch(/^previous_/)
  expect(found).toHaveLength(fired.length + skipped.length)
  expect((await read(rouse, made.id)).nextAt).toBe(iso(stretch(one.expected.next)))
}

interface Life {
  readonly one: Json
  readonly stretch: (text: string) => number
  readonly sessionId: string
}

/** Moves through the case: takes each prompt when it comes, works on it as long as the case says, and is off when it says. */
async function live(rouse: RouseNode, { one, stretch, sessionId }: Life): Promise<void> {
  const { input, expected, id } = one
  const workMs = (input.run_seconds ?? 0) * 1000
  const down: [number, number][] = (input.down ?? []).map(([from, to]: [string, string]) => [
    stretch(from),
    stretch(to),
  ])
  const until = stretch(input.until)
  const stops = [...expected.runs.map(({ at }: Json) => stretch(at)), ...expected.skipped.map(stretch), until]
  let turn: { id: string; endsAt: number } | null = null
  let now = stretch(input.created)
  while (now < until) {
    const outage = down.find(([from]) => from >= now)
    const wanted = [...stops, ...(outage ? [outage[0]] : []), ...(turn ? [turn.endsAt, now + beatMs] : [])]
    now = Math.min(...wanted.filter((at) => at > now))
    await moveTo(rouse, iso(now))
    if (outage && now === outage[0]) {
      now = outage[1]
      if (withRealRestarts.includes(id)) {
        await rouse.stop('SIGKILL')
        await rouse.start({ clock: iso(now) })
        await moveTo(rouse, iso(now))
      } else await moveTo(rouse, iso(now), { down: true })
    }
    if (turn !== null && now >= turn.endsAt) {
      await end(rouse, turn.id)
      turn = null
    } else if (turn !== null) await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})
    if (turn === null) turn = await begin(rouse, sessionId, now + workMs)
    if (turn !== null && workMs === 0) {
      await end(rouse, turn.id)
      turn = null
    }
  }
}

async function begin(
  rouse: RouseNode,
  sessionId: string,
  endsAt: number,
): Promise<{ id: string; endsAt: number } | null> {
  const taken = await claim(rouse, sessionId)
  return taken === null ? null : { id: taken.turn.id, endsAt }
}
