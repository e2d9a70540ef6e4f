import { useEffect, useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, type Problem, path } from '../api.ts'
import { useLive } from '../live.ts'
import { Field } from '../parts/field.tsx'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { sentence } from '../parts/words.tsx'
import { go, href, query } from '../router.ts'
import type { Schedule } from '../shapes.ts'
import { CheckFields } from './schedule-check.tsx'
import { blank, bodyOf, changesOf, type Draft, draftOf } from './schedule-draft.ts'
import { MoreFields, WhatFields, WhereFields } from './schedule-fields.tsx'
import { PreviewPane } from './schedule-preview.tsx'
import { TimeFields } from './schedule-time.tsx'

const up = { to: '/schedules', name: 'Schedules' }

/** S2-2: the form that makes a schedule. `?session=`, `?agent=` and `?flow=` say where and what from the start. */
export function NewSchedulePage() {
  const { agents, conversations } = useNames()
  const asked = query.value.get('session')
  const flow = query.value.get('flow')
  const session = conversations.find(({ id }) => id === asked)
  const first = session?.agent ?? query.value.get('agent') ?? agents.at(-1)?.id
  if (first === undefined)
    return (
      <Page title="New schedule" up={up}>
        <Empty icon="agent" title="An agent comes first">
          <p>A schedule writes to an agent, and there is none yet.</p>
          <a class="button primary" href={href('/settings')}>
            Add an agent
          </a>
        </Empty>
      </Page>
    )
  const main = agents.find(({ id }) => id === first)?.mainSession ?? ''
  return (
    <Page title="New schedule" up={up}>
      <Form
        start={{
          ...blank,
          agent: first,
          session: session?.id ?? (flow === null ? main : ''),
          ...(flow === null ? {} : { does: 'flow', flow, name: flow }),
        }}
        submitText="Create schedule"
        send={async (draft) => {
          const made = await call<Schedule | { card: string }>('POST', '/v1/schedules', bodyOf(draft))
          if (!('id' in made)) return go('/feed')
          tell(`${made.name} is scheduled.`)
          go(`/schedules/${made.id}`)
        }}
      />
    </Page>
  )
}

/** S2-48: the same form over what there is. */
export function EditSchedulePage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const schedule = useLive<Schedule>(path`/v1/schedules/${id}`)
  const { data } = schedule
  const back = { to: `/schedules/${id}`, name: data?.name ?? 'Schedule' }
  return (
    <Page title={data === null ? 'Edit' : `Edit ${data.name}`} up={back}>
      <Shown of={schedule}>
        {(known) => (
          <Form
            start={draftOf(known)}
            submitText="Save"
            send={async (draft, start) => {
              const changes = changesOf(start, draft)
              if (Object.keys(changes).length > 0) await call('PATCH', path`/v1/schedules/${id}`, changes)
              tell(`${draft.name} is saved.`)
              go(`/schedules/${id}`)
            }}
          />
        )}
      </Shown>
    </Page>
  )
}

/** What every part of the form gets: what stands in it, how to change that, and what the server said of a field. */
export interface FormPart {
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly faultOf: (field: string) => string | null
}

function Form(o: {
  readonly start: Draft
  readonly submitText: string
  readonly send: (draft: Draft, start: Draft) => Promise<void>
}) {
  // What one began with: news that come meanwhile take nothing out of one's hands.
  const [start] = useState(o.start)
  const [draft, setDraft] = useState(o.start)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { act, busy } = useAct()
  const part: FormPart = {
    draft,
    set: (changes) => setDraft((before) => ({ ...before, ...changes })),
    faultOf: (field) =>
      problem?.errors.find(({ path }) => path === field || path.startsWith(`${field}.`))?.message ?? null,
  }
  useEffect(() => {
    if (problem !== null) document.getElementById('refused')?.focus()
  }, [problem])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setProblem(null)
    await act(() => o.send(draft, start), undefined, { onProblem: setProblem })
  }
  return (
    <form class="with-aside schedule-form" onSubmit={submit}>
      <div class="fields">
        {problem === null ? null : (
          <div id="refused" class="refused" role="alert" tabIndex={-1}>
            <b>Not saved.</b> {sentence(problem.detail)}
            {problem.card === null ? null : <a href={href('/feed')}> It is asked in your feed.</a>}
          </div>
        )}
        <fieldset class="card pad">
          <legend class="hidden">What</legend>
          <Field label="Name" fault={part.faultOf('name')}>
            {(control) => (
              <input
                {...control}
                required
                maxLength={120}
                value={draft.name}
                placeholder="Morning brief"
                onInput={(event) => part.set({ name: event.currentTarget.value })}
              />
            )}
          </Field>
          <WhereFields {...part} />
          <WhatFields {...part} />
        </fieldset>
        <TimeFields {...part} />
        <CheckFields {...part} />
        <MoreFields {...part} />
      </div>
      <aside aria-label="What it would do">
        <PreviewPane draft={draft} />
        <button type="submit" class="primary wide" aria-disabled={busy}>
          {o.submitText}
        </button>
      </aside>
    </form>
  )
}
