import { type Bag, bag, lengthOf, listIn, number, restOf, text } from './json.ts'
import { type Entry, type Imported, keysFrom, type Left, nameFrom, slug } from './plan.ts'

/** Reads `~/.openclaw/cron/jobs.json`. */
export function readOpenclaw(content: string, o: { readonly tz: string }): Imported {
  const entries: Entry[] = []
  const left: Left[] = []
  const keyFor = keysFrom()
  for (const [i, value] of listIn(content, ['jobs'], 'a jobs.json of OpenClaw').entries()) {
    const job = bag(value)
    const id = text(job.id) ?? text(job.jobId)
    const called = text(job.name)
    const where = `job ${called ?? id ?? i + 1}`
    const note = (what: string): number => left.push({ where, what, whole: false })
    const payload = bag(job.payload)
    const prompt = text(payload.message) ?? text(payload.text)
    if (prompt === null) {
      left.push({
        where,
        what: `its payload (${String(payload.kind ?? 'none')}) is no prompt for an agent`,
        whole: true,
      })
      continue
    }
    const time = timeOf(bag(job.schedule), o.tz, note)
    if (time === null) {
      left.push({ where, what: `its schedule cannot be read: ${JSON.stringify(job.schedule)}`, whole: true })
      continue
    }
    const name = nameFrom(called ?? prompt)
    const deliver = deliverOf(bag(job.delivery), payload, note)
    entries.push({
      key: keyFor(id === null ? slug(name) : slug(id)),
      kind: 'schedule',
      where,
      id: null,
      fields: {
        name,
        prompt,
        ...time,
        ...(text(job.description) === null ? {} : { note: text(job.description) }),
        ...(deliver === null ? {} : { deliver: [deliver] }),
      },
      paused: job.enabled === false ? true : null,
      wants: job.sessionTarget === 'main' ? 'main' : 'fresh',
    })
    if (job.wakeMode === 'next-heartbeat' && job.sessionTarget === 'main')
      note('it waited for the next heartbeat; here it wakes at its time')
    if (!['main', 'isolated', undefined].includes(job.sessionTarget as string | undefined))
      note(`it ran in ${String(job.sessionTarget)}; here each run gets a session of its own`)
    left.push(...restOf(job, knownOfJob, where), ...restOf(payload, knownOfPayload, where))
  }
  return { entries, left }
}

/** Read, or what the program noted of its own runs. A one-shot job is done when it has run, here as there. */
const knownOfJob = [
  ...['id', 'jobId', 'name', 'description', 'enabled', 'schedule', 'payload', 'delivery', 'wakeMode', 'deleteAfterRun'],
  ...['createdAtMs', 'updatedAtMs', 'state', 'sessionTarget'],
]
const knownOfPayload = ['kind', 'message', 'text', 'deliver', 'channel', 'to', 'bestEffortDeliver']

function timeOf(schedule: Bag, tz: string, note: (what: string) => void): Bag | null {
  switch (schedule.kind) {
    case 'at': {
      const at = text(schedule.at)
      const atMs = number(schedule.atMs)
      if (atMs !== null) return { at: new Date(atMs).toISOString(), tz }
      if (at === null) return null
      // Without a zone it is UTC there.
      return { at: /(Z|[+-]\d\d:?\d\d)$/i.test(at) ? at : `${at.replace(' ', 'T')}Z`, tz }
    }
    case 'every': {
      const ms = number(schedule.everyMs)
      if (ms === null) return null
      if (number(schedule.anchorMs) !== null)
        note('its interval began at a time of its own; here it begins when it is made')
      return { every: lengthOf(ms), tz }
    }
    case 'cron': {
      const cron = text(schedule.expr)
      const stagger = number(schedule.staggerMs) ?? 0
      if (cron === null) return null
      return { cron, tz: text(schedule.tz) ?? tz, ...(stagger > 0 ? { jitter: lengthOf(stagger) } : {}) }
    }
    default:
      return null
  }
}

/** Where an answer goes that Rouse can send one to as well. */
function deliverOf(delivery: Bag, payload: Bag, note: (what: string) => void): string | null {
  const isOld = payload.deliver === true && delivery.mode === undefined
  const { mode, channel, to } = isOld ? { mode: 'announce', channel: payload.channel, to: payload.to } : delivery
  if (mode === undefined || mode === 'none') return null
  const target = text(to)
  if (mode === 'webhook' && target !== null) return `webhook:${target}`
  if (channel === 'telegram' && target !== null && /^(telegram:)?-?\d+$/.test(target))
    return `telegram:${target.replace('telegram:', '')}`
  note(
    `its answer went to ${[channel, to].filter(Boolean).join(' ') || 'the last channel'}, which Rouse cannot send to`,
  )
  return null
}
