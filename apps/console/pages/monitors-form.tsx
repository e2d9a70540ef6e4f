import { useEffect, useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, type Problem, path } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { Field } from '../parts/field.tsx'
import { titleOf, useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { tell } from '../parts/toasts.tsx'
import { go, href, query } from '../router.ts'
import type { Conversation } from '../shapes.ts'
import { blankMonitor, draftLike, type MonitorDraft, monitorBody } from './monitors-draft.ts'
import type { Monitor } from './monitors-shapes.ts'
import { WatchFields } from './monitors-watch.tsx'
import { watchTitle } from './monitors-words.ts'

const up = { to: '/monitors', name: 'Monitors' }

/** The form that arms a monitor. `?session=` says for whom, `?like=` after which. */
export function NewMonitorPage() {
  const like = query.value.get('like')
  const monitor = useLive<Monitor>(like === null ? null : path`/v1/monitors/${like}`)
  const conversations = useLiveList<Conversation>('/v1/sessions', { limit: 100 })
  const asked = query.value.get('session')
  if (like !== null)
    return (
      <Page title="New monitor" up={up}>
        <Shown of={monitor}>{(data) => <Form start={draftLike(data)} />}</Shown>
      </Page>
    )
  return (
    <Page title="New monitor" up={up} lead="It tells once what you wait for, and until then no model is called.">
      <Shown of={conversations}>
        {(all) => {
          const open = all.filter(({ state }) => state !== 'archived')
          const first = open.find(({ id }) => id === asked) ?? open.find(({ main }) => main) ?? open[0]
          return first === undefined ? (
            <Empty icon="conversations" title="A conversation comes first">
              <p>A monitor wakes a conversation, and none is open.</p>
              <a class="button primary" href={href('/conversations')}>
                Conversations
              </a>
            </Empty>
          ) : (
            <Form start={{ ...blankMonitor, agent: first.agent, session: first.id }} />
          )
        }}
      </Shown>
    </Page>
  )
}

/** What every part of the form gets: what stands in it, how to change that, and what the server said of a field. */
export interface MonitorPart {
  readonly draft: MonitorDraft
  readonly set: (changes: Partial<MonitorDraft>) => void
  readonly faultOf: (...fields: string[]) => string | null
}

function Form(o: { readonly start: MonitorDraft }) {
  const [draft, setDraft] = useState(o.start)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { act, busy } = useAct()
  const part: MonitorPart = {
    draft,
    set: (changes) => setDraft((before) => ({ ...before, ...changes })),
    faultOf: (...fields) =>
      problem?.errors.find(({ path }) => fields.some((field) => path === field || path.startsWith(`${field}.`)))
        ?.message ?? null,
  }
  useEffect(() => {
    if (problem !== null) document.getElementById('refused')?.focus()
  }, [problem])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setProblem(null)
    const arm = async (): Promise<void> => {
      const made = await call<Monitor>('POST', '/v1/monitors', monitorBody(draft))
      tell(
        made.status === 'fired'
          ? 'What it waits for is there already: the agent has been told.'
          : `The monitor of ${watchTitle(made.watch)} is armed.`,
      )
      go(`/monitors/${made.id}`)
    }
    await act(arm, undefined, { onProblem: setProblem })
  }
  return (
    <form class="works-form" onSubmit={submit}>
      {problem === null ? null : (
        <div id="refused" class="refused" role="alert" tabIndex={-1}>
          <b>Not armed.</b> {problem.detail}
          {problem.card === null ? null : <a href={href('/feed')}> It is asked in your feed.</a>}
        </div>
      )}
      <fieldset class="card pad">
        <legend class="hidden">What it watches</legend>
        <ConversationField {...part} />
        <WatchFields {...part} />
      </fieldset>
      <fieldset class="card pad">
        <legend class="hidden">What happens then</legend>
        <Field
          label="Note"
          fault={part.faultOf('note')}
          hint="What the agent is to do when it comes. It is told this once, in that conversation."
        >
          {(control) => (
            <textarea
              {...control}
              required
              rows={3}
              maxLength={2000}
              value={draft.note}
              placeholder="Say how the build went, and link the log."
              onInput={(event) => part.set({ note: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field
          label="Expires after"
          fault={part.faultOf('expiresIn')}
          hint="24h unless you say otherwise, 7d at most. Then it is over and tells nobody."
        >
          {(control) => (
            <input
              {...control}
              class="short"
              value={draft.expiresIn}
              onInput={(event) => part.set({ expiresIn: event.currentTarget.value })}
            />
          )}
        </Field>
      </fieldset>
      <div class="actions">
        <button type="submit" class="primary" disabled={busy}>
          Arm monitor
        </button>
        <a class="button" href={href('/monitors')}>
          Leave it
        </a>
      </div>
    </form>
  )
}

function ConversationField({ draft, set, faultOf }: MonitorPart) {
  const { conversations, agent } = useNames()
  const open = conversations.filter(({ state }) => state !== 'archived')
  return (
    <Field
      label="Conversation"
      fault={faultOf('session')}
      hint="The one that is woken, whose agent's tools can be watched."
    >
      {(control) => (
        <select
          {...control}
          required
          value={draft.session}
          onChange={(event) => {
            const session = event.currentTarget.value
            const of = open.find(({ id }) => id === session)?.agent ?? ''
            set(of === draft.agent ? { session } : { session, agent: of, tool: '' })
          }}
        >
          {open.map((one) => (
            <option key={one.id} value={one.id}>
              {agent(one.agent)} · {titleOf(one)}
            </option>
          ))}
          {open.some(({ id }) => id === draft.session) ? null : <option value={draft.session}>Choose one</option>}
        </select>
      )}
    </Field>
  )
}
