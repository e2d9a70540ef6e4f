import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Ago, When } from '../parts/when.tsx'
import { StateChip } from '../parts/words.tsx'
import { href, query } from '../router.ts'
import { type Monitor, monitorStates } from './monitors-shapes.ts'
import { endReasons, watchKind, watchTitle, watchWords } from './monitors-words.ts'

/** What agents wait for: each tells once. */
export function MonitorsPage() {
  const status = query.value.get('status')
  const list = useLiveList<Monitor>(
    status === null ? '/v1/monitors' : `/v1/monitors?status=${encodeURIComponent(status)}`,
  )
  return (
    <Page
      title="Monitors"
      lead="What agents wait for. Each tells once, and until then no model is called."
      actions={
        <a class="button primary" href={href('/monitors/new')}>
          <Icon name="plus" /> New monitor
        </a>
      }
    >
      <WatchTabs at="monitors" />
      <nav class="filters" aria-label="Which monitors">
        {[null, ...monitorStates].map((value) => (
          <a
            key={value ?? 'all'}
            class="button"
            href={href(value === null ? '/monitors' : `/monitors?status=${value}`)}
            aria-current={status === value ? 'true' : undefined}
          >
            {value === null ? 'All' : `${value[0]!.toUpperCase()}${value.slice(1)}`}
          </a>
        ))}
      </nav>
      <Shown of={list}>
        {(monitors) =>
          monitors.length === 0 ? (
            <NoMonitors isFiltered={status !== null} />
          ) : (
            <ul class="rows works">
              {monitors.map((monitor) => (
                <MonitorRow key={monitor.id} of={monitor} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </Page>
  )
}

/** Monitors tell once, triggers each time: two lists of one place. */
export function WatchTabs(o: { readonly at: 'monitors' | 'triggers' }) {
  return (
    <nav class="tabs" aria-label="Monitors and triggers">
      <a href={href('/monitors')} aria-current={o.at === 'monitors' ? 'page' : undefined}>
        Once: monitors
      </a>
      <a href={href('/monitors/triggers')} aria-current={o.at === 'triggers' ? 'page' : undefined}>
        Every time: triggers
      </a>
    </nav>
  )
}

function NoMonitors(o: { readonly isFiltered: boolean }) {
  if (o.isFiltered)
    return (
      <Empty icon="monitors" title="None like that">
        <p>
          No monitor is in this state. <a href={href('/monitors')}>All monitors</a>
        </p>
      </Empty>
    )
  return (
    <Empty icon="monitors" title="Nobody waits for anything">
      <p>
        A monitor watches a document, a time or a tool, and wakes its conversation when that comes. Agents arm their
        own; you can arm one for them.
      </p>
      <a class="button primary" href={href('/monitors/new')}>
        New monitor
      </a>
    </Empty>
  )
}

function MonitorRow(o: { readonly of: Monitor }) {
  const { id, status, reason, note, watch, when, session, agent, failures } = o.of
  const names = useNames()
  const title = watchTitle(watch)
  return (
    <li>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(`/monitors/${id}`)}>
            {title}
          </a>
          <StateChip state={status} />
          <span class="chip">{watchKind(watch)}</span>
          {status === 'armed' && failures > 0 ? <span class="chip bad">{failedWords(failures)}</span> : null}
        </div>
        <div class="small">
          {watchWords(o.of)}
          {when === null ? null : (
            <>
              {': '}
              <code>{when}</code>
            </>
          )}
        </div>
        <div class="soft small clip" title={note}>
          {note}
        </div>
      </div>
      <div class="next">
        <NextOf of={o.of} />
        {reason === null ? null : <div class="soft small">{endReasons[reason] ?? `budget used up: ${reason}`}</div>}
        <div class="soft small clip">
          {names.agent(agent)}
          {' · '}
          {session === null ? 'its conversation is gone' : names.conversation(session)}
        </div>
      </div>
      <MonitorTools of={o.of} />
    </li>
  )
}

export const failedWords = (failures: number): string =>
  failures === 1 ? 'last look failed' : `last ${failures} looks failed`

/** What comes next, or what became of it and when. */
function NextOf(o: { readonly of: Monitor }) {
  const { status, watch, nextLookAt, expiresAt, firedAt, endedAt } = o.of
  if (status !== 'armed')
    return (
      <div>
        {status} <Ago at={firedAt ?? endedAt ?? expiresAt} />
      </div>
    )
  if ('document' in watch)
    return (
      <div>
        expires <Ago at={expiresAt} />
      </div>
    )
  return (
    <div>
      {'tool' in watch ? 'next look ' : null}
      <When at={nextLookAt ?? expiresAt} />
    </div>
  )
}

/** What can be done with a monitor: an armed one is cancelled, one that is over is armed again. */
export function MonitorTools(o: { readonly of: Monitor; readonly labelled?: boolean }) {
  const { id, status, watch } = o.of
  const { act, busy } = useAct()
  const title = watchTitle(watch)
  const cancel = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Cancel the monitor of ${title}?`,
      text: 'It is over at once, tells nobody and frees its place. You can arm it again later.',
      action: 'Cancel the monitor',
    })
    if (yes) await act(() => call('DELETE', path`/v1/monitors/${id}`), `The monitor of ${title} is cancelled.`)
  }
  return (
    <div class="tools">
      {status === 'armed' ? (
        <button
          type="button"
          class={o.labelled ? '' : 'quiet'}
          aria-label={`Cancel the monitor of ${title}`}
          disabled={busy}
          onClick={() => void cancel()}
        >
          Cancel
        </button>
      ) : (
        <a
          class={o.labelled ? 'button' : 'button quiet'}
          href={href(`/monitors/new?like=${id}`)}
          aria-label={`Arm the monitor of ${title} again`}
        >
          Arm again
        </a>
      )}
    </div>
  )
}
