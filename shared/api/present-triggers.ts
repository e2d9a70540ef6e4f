import type { TriggerOn } from '../domain/schedule.ts'
import { triggerInWords } from '../domain/trigger.ts'
import type { Loaded } from '../engine/load.ts'
import { formatInstant } from '../time/index.ts'

/** How a trigger goes out: as a schedule, with what it follows in place of its times. */
export function trigger({ definition: d, cursor, head, maker }: Loaded) {
  const c = cursor.item
  const on = d.on!
  return {
    id: d.id,
    kind: d.kind,
    name: d.name,
    status: c.status,
    endedReason: c.status === 'ended' ? c.reason : null,
    pausedReason: c.status === 'paused' ? c.reason : null,
    agent: d.agent,
    session: head?.item.session ?? null,
    prompt: d.prompt,
    flow: d.flow ?? null,
    on: sourceOf(on),
    when: on.when,
    settle: on.settle,
    maxPerDay: on.maxPerDay,
    until: d.until === null ? null : formatInstant(d.until),
    inWords: triggerInWords(on),
    settlesAt: c.event == null ? null : formatInstant(c.event.lookAt),
    createdBy: d.createdBy,
    createdIn: maker?.session ?? null,
    createdAt: formatInstant(d.createdAt),
    editedAt: formatInstant(d.editedAt),
    counts: c.counts,
  }
}

/** The address of a webhook is shown once, and stored as a hash. */
const sourceOf = ({ source }: TriggerOn) =>
  'webhook' in source ? { webhook: { signed: source.webhook.signed } } : { document: source.document }
