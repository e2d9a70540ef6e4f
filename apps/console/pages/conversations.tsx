import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { titleOf, useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'
import { Scheduled, StateChip } from '../parts/words.tsx'
import { go, href, query } from '../router.ts'
import type { Conversation } from '../shapes.ts'
import { NewAgent } from './agent-new.tsx'

/** All conversations that one may see; archived ones on their own. */
export function ConversationsPage() {
  const list = useLiveList<Conversation>('/v1/sessions')
  const [isNew, setNew] = useState(false)
  const past = query.value.get('show') === 'archived'
  return (
    <Page
      title="Conversations"
      lead="Where agents are written to, by you and by what is scheduled."
      actions={
        <button type="button" class="primary" onClick={() => setNew(true)}>
          <Icon name="plus" /> New conversation
        </button>
      }
    >
      <nav class="filters" aria-label="Which conversations">
        <a class="button" href={href('/conversations')} aria-current={past ? undefined : 'true'}>
          Open
        </a>
        <a class="button" href={href('/conversations?show=archived')} aria-current={past ? 'true' : undefined}>
          Archived
        </a>
      </nav>
      <Shown of={list}>
        {(all) => {
          const shown = all.filter(({ state }) => (state === 'archived') === past)
          if (shown.length === 0)
            return past ? (
              <Empty icon="conversations" title="Nothing is archived">
                <p>A conversation that is archived takes no more messages, and stays here to be read.</p>
              </Empty>
            ) : (
              <NoConversations begin={() => setNew(true)} />
            )
          return (
            <ul class="rows conversations">
              {shown.map((one) => (
                <Row key={one.id} of={one} />
              ))}
            </ul>
          )
        }}
      </Shown>
      <More more={list.more} />
      {isNew ? <NewConversation onClose={() => setNew(false)} /> : null}
    </Page>
  )
}

function NoConversations(o: { readonly begin: () => void }) {
  const { agents } = useNames()
  const [isNew, setNew] = useState(false)
  return (
    <Empty icon="conversations" title="No conversation yet">
      {agents.length === 0 ? (
        <>
          <p>An agent comes first: whatever reads a message and prints an answer. Then begin a conversation with it.</p>
          <button type="button" class="primary" onClick={() => setNew(true)}>
            Add an agent
          </button>
          {isNew ? <NewAgent onClose={() => setNew(false)} /> : null}
        </>
      ) : (
        <>
          <p>Begin one, then let the agent serve it:</p>
          <pre>npx rouse attach --agent {agents[0]!.name} -- claude -p</pre>
          <button type="button" class="primary" onClick={o.begin}>
            New conversation
          </button>
        </>
      )}
    </Empty>
  )
}

function Row(o: { readonly of: Conversation }) {
  const { id, agent, state, scheduled, badges, waiting, main, mode } = o.of
  const names = useNames()
  return (
    <li>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(`/conversations/${id}`)}>
            {titleOf(o.of)}
          </a>
          <StateChip state={state} />
          {badges.map((badge) => (
            <span key={badge} class="chip accent">
              {badge}
            </span>
          ))}
        </div>
        <div class="soft small line">
          <span>{names.agent(agent)}</span>
          {main ? <span>main</span> : null}
          {mode === 'agent' ? null : <span>mode {mode}</span>}
        </div>
      </div>
      <div class="counts line small">
        {waiting === 0 ? null : <span class="chip wait">{waiting} waiting</span>}
        {scheduled.count === 0 ? null : (
          <span class="line">
            <span class="chip">
              <Scheduled count={scheduled.count} />
            </span>
            {scheduled.nextAt === null ? null : <Ago at={scheduled.nextAt} />}
          </span>
        )}
      </div>
    </li>
  )
}

function NewConversation(o: { readonly onClose: () => void }) {
  const { agents } = useNames()
  const [agent, setAgent] = useState<string | null>(null)
  const [title, setTitle] = useState('')
  const { act, busy } = useAct()
  const of = agent ?? agents[0]?.id
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await act(async () => {
      const body = { agent: of, ...(title.trim() === '' ? {} : { title }) }
      const made = await call<Conversation>('POST', '/v1/sessions', body)
      o.onClose()
      go(`/conversations/${made.id}`)
    })
  }
  return (
    <Dialog title="New conversation" onClose={o.onClose}>
      {of === undefined ? (
        <p>
          There is no agent yet to talk with. Add one under <a href={href('/settings')}>Settings</a>, or by{' '}
          <code>npx rouse agent add assistant</code>.
        </p>
      ) : (
        <form onSubmit={submit}>
          <Field label="Agent">
            {(control) => (
              <select {...control} value={of} onChange={(event) => setAgent(event.currentTarget.value)}>
                {agents.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Title" hint="How you find it again. May stay empty.">
            {(control) => (
              <input
                {...control}
                value={title}
                maxLength={120}
                onInput={(event) => setTitle(event.currentTarget.value)}
              />
            )}
          </Field>
          <footer>
            <button type="submit" class="primary" aria-disabled={busy}>
              Begin
            </button>
          </footer>
        </form>
      )}
    </Dialog>
  )
}
