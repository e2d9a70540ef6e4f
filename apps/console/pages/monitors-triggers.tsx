import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'
import { StateChip, words } from '../parts/words.tsx'
import { go, href, place } from '../router.ts'
import { WatchTabs } from './monitors.tsx'
import type { Trigger } from './monitors-shapes.ts'

/** What wakes an agent each time that something happens. */
export function TriggersPage() {
  const list = useLiveList<Trigger>('/v1/triggers')
  return (
    <Page
      title="Monitors"
      lead="A trigger stays: whenever something happens, its agent gets the prompt, or its flow runs."
      actions={
        <a class="button primary" href={href('/monitors/triggers/new')}>
          <Icon name="plus" /> New trigger
        </a>
      }
    >
      <WatchTabs at="triggers" />
      <Shown of={list}>
        {(triggers) =>
          triggers.length === 0 ? (
            <Empty icon="monitors" title="No trigger yet">
              <p>
                A trigger follows a document, everything below a prefix, or a webhook with an address of its own, and
                wakes an agent each time.
              </p>
              <a class="button primary" href={href('/monitors/triggers/new')}>
                New trigger
              </a>
            </Empty>
          ) : (
            <ul class="rows works">
              {triggers.map((trigger) => (
                <TriggerRow key={trigger.id} of={trigger} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </Page>
  )
}

function TriggerRow(o: { readonly of: Trigger }) {
  const { id, name, status, kind, inWords, settlesAt, agent, session } = o.of
  const names = useNames()
  const reason = o.of.endedReason ?? o.of.pausedReason
  return (
    <li>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(`/monitors/triggers/${id}`)}>
            {name}
          </a>
          <StateChip state={status} />
          {kind === 'flow' ? <span class="chip">flow</span> : null}
        </div>
        <div class="small">{capital(inWords)}</div>
      </div>
      <div class="next">
        {settlesAt === null ? (
          <div class="soft">
            {status === 'active' ? 'nothing waits' : reason === null ? 'hears nothing' : words(reason)}
          </div>
        ) : (
          <div>
            something happened; fires <Ago at={settlesAt} />
          </div>
        )}
        <div class="soft small clip">
          {names.agent(agent)}
          {' · '}
          {session === null ? 'a new conversation each time' : names.conversation(session)}
        </div>
      </div>
      <TriggerTools of={o.of} />
    </li>
  )
}

export const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** What can be done with a trigger. `labelled`: with words beside the pictures. */
export function TriggerTools(o: { readonly of: Trigger; readonly labelled?: boolean }) {
  const { id, name, status } = o.of
  const { act, busy } = useAct()
  const post = (verb: string) => call('POST', `${path`/v1/triggers/${id}`}/${verb}`, {})
  const remove = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Delete ${name}?`,
      text: 'It never fires again, and there is no way back. Its runs stay readable for 90 days.',
      action: 'Delete',
    })
    if (!yes) return
    const isDone = await act(() => call('DELETE', path`/v1/triggers/${id}`), `${name} is deleted.`)
    if (isDone && place.value !== '/monitors/triggers') go('/monitors/triggers')
  }
  const button = (icon: IconName, text: string, doing: () => void) => (
    <button
      type="button"
      class={o.labelled ? '' : 'quiet icon-only'}
      title={text}
      aria-label={`${text}: ${name}`}
      disabled={busy}
      onClick={doing}
    >
      <Icon name={icon} />
      {o.labelled ? text : null}
    </button>
  )
  const isOpen = status === 'active' || status === 'paused'
  return (
    <div class="tools">
      {isOpen ? button('run', 'Run now', () => void act(() => post('run'), `${name} runs now.`)) : null}
      {isOpen ? (
        <a
          class={o.labelled ? 'button' : 'button quiet icon-only'}
          href={href(`/monitors/triggers/${id}/edit`)}
          title="Edit"
          aria-label={`Edit ${name}`}
        >
          <Icon name="edit" />
          {o.labelled ? 'Edit' : null}
        </a>
      ) : null}
      {status === 'active'
        ? button(
            'pause',
            'Pause',
            () => void act(() => post('pause'), `${name} is paused: what happens now is not made up.`),
          )
        : null}
      {status === 'paused'
        ? button(
            'resume',
            'Resume',
            () => void act(() => post('resume'), `${name} hears again what happens from now on.`),
          )
        : null}
      {button('remove', 'Delete', () => void remove())}
    </div>
  )
}
