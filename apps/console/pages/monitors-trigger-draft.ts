import type { Trigger } from './monitors-shapes.ts'

/** The form of a trigger, as it is typed. */
export interface TriggerDraft {
  readonly name: string
  readonly agent: string
  /** Empty: a fresh one each time. */
  readonly session: string
  readonly on: 'path' | 'prefix' | 'webhook'
  readonly path: string
  readonly isSigned: boolean
  readonly does: 'prompt' | 'flow'
  readonly prompt: string
  readonly flow: string
  readonly when: string
  readonly settle: string
  readonly maxPerDay: string
  readonly until: string
}

export const blankTrigger: TriggerDraft = {
  name: '',
  agent: '',
  session: '',
  on: 'path',
  path: '',
  isSigned: true,
  does: 'prompt',
  prompt: '',
  flow: '',
  when: '',
  settle: '',
  maxPerDay: '',
  until: '',
}

export function triggerDraft(t: Trigger): TriggerDraft {
  const draft: TriggerDraft = {
    ...blankTrigger,
    name: t.name,
    agent: t.agent,
    session: t.session ?? '',
    does: t.kind,
    prompt: t.prompt ?? '',
    flow: t.flow ?? '',
    when: t.when ?? '',
    settle: t.settle ?? '',
    maxPerDay: t.maxPerDay === null ? '' : String(t.maxPerDay),
    until: t.until ?? '',
  }
  if ('webhook' in t.on) return { ...draft, on: 'webhook', isSigned: t.on.webhook.signed }
  return 'path' in t.on.document
    ? { ...draft, path: t.on.document.path }
    : { ...draft, on: 'prefix', path: t.on.document.prefix }
}

export function triggerBody(draft: TriggerDraft): object {
  const { agent, session, on, path, isSigned } = draft
  const document = on === 'path' ? { path: path.trim() } : { prefix: path.trim() }
  return {
    ...filled(changeable(draft)),
    ...(session === '' ? { agent } : { session }),
    on: on === 'webhook' ? { webhook: { signed: isSigned } } : { document },
  }
}

/** Only what differs, so that an edit says what it changes. */
export function triggerChanges(start: TriggerDraft, draft: TriggerDraft): object {
  const [before, now] = [changeable(start), changeable(draft)]
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => value !== before[name] && value !== undefined),
  )
}

function changeable({
  name,
  does,
  prompt,
  flow,
  when,
  settle,
  maxPerDay,
  until,
}: TriggerDraft): Record<string, unknown> {
  return {
    name: name.trim(),
    prompt: does === 'prompt' ? prompt : undefined,
    flow: does === 'flow' ? flow : undefined,
    when: when.trim() || null,
    settle: settle.trim() || null,
    maxPerDay: maxPerDay.trim() === '' ? null : Number(maxPerDay),
    until: until.trim() || null,
  }
}

const filled = (fields: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
