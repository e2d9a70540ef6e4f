import { type Bag, bag, listIn, number, restOf, text } from './json.ts'
import { type Entry, type Imported, keysFrom, type Left, nameFrom, slug } from './plan.ts'

/** Reads `~/.hermes/cron/jobs.json` of Hermes Agent. */
export function readHermes(content: string, o: { readonly tz: string }): Imported {
  const entries: Entry[] = []
  const left: Left[] = []
  const keyFor = keysFrom()
  for (const [i, value] of listIn(content, ['jobs'], 'a jobs.json of Hermes').entries()) {
    const job = bag(value)
    const id = text(job.id)
    const called = text(job.name)
    const where = `job ${called ?? id ?? i + 1}`
    const prompt = text(job.prompt)
    if (prompt === null || job.no_agent === true) {
      left.push({ where, what: 'it runs a script without an agent', whole: true })
      continue
    }
    const time = timeOf(bag(job.schedule), o.tz)
    if (time === null) {
      left.push({ where, what: `its schedule cannot be read: ${JSON.stringify(job.schedule)}`, whole: true })
      continue
    }
    const repeat = bag(job.repeat)
    const times = number(repeat.times)
    const more = times === null ? null : times - (number(repeat.completed) ?? 0)
    if (more !== null && more <= 0) {
      left.push({ where, what: `it has run all of its ${times} times`, whole: true })
      continue
    }
    const name = nameFrom(called ?? prompt)
    const deliver = deliverOf(text(job.deliver), (what) => left.push({ where, what, whole: false }))
    entries.push({
      key: keyFor(slug(id ?? name)),
      kind: 'schedule',
      where,
      id: null,
      fields: {
        name,
        prompt,
        ...time,
        // A single time ends by itself.
        ...(more === null || time.at !== undefined ? {} : { maxRuns: more }),
        ...(deliver === null ? {} : { deliver: [deliver] }),
      },
      paused: job.enabled === false || job.state === 'paused' ? true : null,
      wants: 'fresh',
    })
    left.push(...restOf(job, known, where))
  }
  return { entries, left }
}

/** Read, or what the program noted of its own runs. `skill` is the first of `skills` once more. */
const known = [
  ...['id', 'name', 'prompt', 'schedule', 'schedule_display', 'repeat', 'enabled', 'deliver', 'state', 'skill'],
  ...['paused_at', 'paused_reason', 'created_at', 'next_run_at', 'last_run_at', 'last_status', 'last_error', 'origin'],
  ...['last_delivery_error', 'run_claim', 'fire_claim'],
]

function timeOf(schedule: Bag, tz: string): Bag | null {
  const zoned = { tz }
  switch (schedule.kind) {
    case 'cron':
      return text(schedule.expr) === null ? null : { cron: schedule.expr, ...zoned }
    case 'interval': {
      const minutes = number(schedule.minutes) ?? (number(schedule.interval_seconds) ?? Number.NaN) / 60
      return Number.isFinite(minutes) ? { every: minutes, ...zoned } : null
    }
    case 'once':
      return text(schedule.run_at) === null ? null : { at: schedule.run_at, ...zoned }
    default:
      return null
  }
}

/** `local` keeps the answer with the agent, which is what happens here anyway. */
function deliverOf(deliver: string | null, note: (what: string) => void): string | null {
  if (deliver === null || deliver === 'local') return null
  if (/^telegram:-?\d+$/.test(deliver)) return deliver
  note(`its answer went to ${deliver}, which Rouse cannot send to without an address`)
  return null
}
