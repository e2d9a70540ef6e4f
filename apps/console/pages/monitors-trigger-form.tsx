import { useEffect, useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, type Problem, path } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { go, href } from '../router.ts'
import type { Agent } from '../shapes.ts'
import type { Trigger } from './monitors-shapes.ts'
import { blankTrigger, type TriggerDraft, triggerBody, triggerChanges, triggerDraft } from './monitors-trigger-draft.ts'
import { FollowFields, LimitFields, TellFields } from './monitors-trigger-fields.tsx'

const up = { to: '/monitors/triggers', name: 'Triggers' }

/** What a webhook's address is made with: shown once. */
interface Hook {
  readonly id: string
  readonly url: string
  readonly secret: string | null
}

export function NewTriggerPage() {
  const agents = useLiveList<Agent>('/v1/agents', { limit: 100 })
  const [hook, setHook] = useState<Hook | null>(null)
  const toTrigger = (id: string): void => go(`/monitors/triggers/${id}`)
  return (
    <Page title="New trigger" up={up} lead="It wakes an agent each time that something happens.">
      <Shown of={agents}>
        {([first]) =>
          first === undefined ? (
            <Empty icon="agent" title="An agent comes first">
              <p>A trigger wakes an agent, and there is none yet.</p>
              <a class="button primary" href={href('/settings')}>
                Add an agent
              </a>
            </Empty>
          ) : (
            <Form
              start={{ ...blankTrigger, agent: first.id, session: first.mainSession ?? '' }}
              submitText="Create trigger"
              send={async (draft) => {
                const made = await call<Trigger & Partial<Hook>>('POST', '/v1/triggers', triggerBody(draft))
                tell(`${made.name} hears what happens from now on.`)
                if (made.url === undefined) toTrigger(made.id)
                else setHook({ id: made.id, url: made.url, secret: made.secret ?? null })
              }}
            />
          )
        }
      </Shown>
      {hook === null ? null : <HookShown of={hook} onClose={() => toTrigger(hook.id)} />}
    </Page>
  )
}

function HookShown(o: { readonly of: Hook; readonly onClose: () => void }) {
  return (
    <Dialog title="The webhook's address" onClose={o.onClose} wide>
      <p>Whoever calls it with POST fires the trigger. It is shown this once: keep it now.</p>
      <pre class="value">{o.of.url}</pre>
      {o.of.secret === null ? null : (
        <>
          <p>Its calls have to be signed (Standard Webhooks) with:</p>
          <pre class="value">{o.of.secret}</pre>
        </>
      )}
      <footer>
        <button type="button" class="primary" onClick={o.onClose}>
          I have kept it
        </button>
      </footer>
    </Dialog>
  )
}

export function EditTriggerPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const trigger = useLive<Trigger>(path`/v1/triggers/${id}`)
  const back = { to: `/monitors/triggers/${id}`, name: trigger.data?.name ?? 'Trigger' }
  return (
    <Page title={trigger.data === null ? 'Edit' : `Edit ${trigger.data.name}`} up={back}>
      <Shown of={trigger}>
        {(known) => (
          <Form
            start={triggerDraft(known)}
            submitText="Save"
            isEdit
            send={async (draft, start) => {
              const changes = triggerChanges(start, draft)
              if (Object.keys(changes).length > 0) await call('PATCH', path`/v1/triggers/${id}`, changes)
              tell(`${draft.name} is saved.`)
              go(`/monitors/triggers/${id}`)
            }}
          />
        )}
      </Shown>
    </Page>
  )
}

export interface TriggerPart {
  readonly draft: TriggerDraft
  readonly set: (changes: Partial<TriggerDraft>) => void
  readonly faultOf: (field: string) => string | null
  /** What it follows and where it fires stay as they are. */
  readonly isEdit: boolean
}

function Form(o: {
  readonly start: TriggerDraft
  readonly submitText: string
  readonly isEdit?: boolean
  readonly send: (draft: TriggerDraft, start: TriggerDraft) => Promise<void>
}) {
  // What one began with: news that come meanwhile take nothing out of one's hands.
  const [start] = useState(o.start)
  const [draft, setDraft] = useState(o.start)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { act, busy } = useAct()
  const part: TriggerPart = {
    draft,
    set: (changes) => setDraft((before) => ({ ...before, ...changes })),
    faultOf: (field) =>
      problem?.errors.find(({ path }) => path === field || path.startsWith(`${field}.`))?.message ?? null,
    isEdit: o.isEdit ?? false,
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
    <form class="works-form" onSubmit={submit}>
      {problem === null ? null : (
        <div id="refused" class="refused" role="alert" tabIndex={-1}>
          <b>Not saved.</b> {problem.detail}
          {problem.card === null ? null : <a href={href('/feed')}> It is asked in your feed.</a>}
        </div>
      )}
      <fieldset class="card pad">
        <legend class="hidden">What it follows</legend>
        <FollowFields {...part} />
      </fieldset>
      <fieldset class="card pad">
        <legend class="hidden">What happens then</legend>
        <TellFields {...part} />
      </fieldset>
      <details class="card pad">
        <summary>Limits</summary>
        <LimitFields {...part} />
      </details>
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          {o.submitText}
        </button>
        <a class="button" href={href('/monitors/triggers')}>
          Leave it
        </a>
      </div>
    </form>
  )
}
