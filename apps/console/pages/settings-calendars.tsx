import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLive } from '../live.ts'
import { confirmed, Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { ShownOnce } from '../parts/secret.tsx'
import { Shown } from '../parts/states.tsx'
import { Switch } from '../parts/switch.tsx'
import { Ago } from '../parts/when.tsx'

interface Calendar {
  readonly id: string
  readonly detail: boolean
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** The agenda as a calendar that Google, Apple and Outlook read. */
export function Calendars() {
  const list = useLive<{ readonly data: readonly Calendar[] }>('/v1/calendar-tokens')
  const [isNew, setNew] = useState(false)
  const [url, setUrl] = useState<string | null>(null)
  return (
    <section class="section" aria-labelledby="calendars">
      <header>
        <div>
          <h2 id="calendars">Calendar feeds</h2>
          <p>What wakes your agents, in your own calendar. Whoever has the address reads it.</p>
        </div>
        <button type="button" onClick={() => setNew(true)}>
          <Icon name="plus" /> Make a feed
        </button>
      </header>
      <Shown of={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="card pad soft">No calendar reads yet. Make a feed, and subscribe to its address.</p>
          ) : (
            <ul class="rows">
              {data.map((one) => (
                <Row key={one.id} of={one} />
              ))}
            </ul>
          )
        }
      </Shown>
      {isNew ? (
        <NewCalendar
          made={(made) => {
            setNew(false)
            setUrl(made)
          }}
          onClose={() => setNew(false)}
        />
      ) : null}
      {url === null ? null : (
        <ShownOnce
          title="The feed’s address"
          secret={url}
          text="Subscribe to it: “From URL” in Google Calendar, “New Calendar Subscription” in Apple’s, “Subscribe from web” in Outlook."
          onClose={() => setUrl(null)}
        />
      )}
    </section>
  )
}

function NewCalendar(o: { readonly made: (url: string) => void; readonly onClose: () => void }) {
  const [detail, setDetail] = useState(false)
  const { act, busy } = useAct()
  const make = (event: Event): void => {
    event.preventDefault()
    void act(async () => o.made((await call<{ url: string }>('POST', '/v1/calendar-tokens', { detail })).url))
  }
  return (
    <Dialog title="Make a calendar feed" onClose={o.onClose}>
      <form onSubmit={make}>
        <Switch
          label="With prompts"
          hint="Entries hold what agents are told, not only names and times."
          on={detail}
          onChange={setDetail}
        />
        <footer>
          <button type="submit" class="primary" aria-disabled={busy}>
            Make the feed
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function Row(o: { readonly of: Calendar }) {
  const { id, detail, createdAt, lastUsedAt } = o.of
  const { act, busy } = useAct()
  const revoke = async (): Promise<void> => {
    const yes = await confirmed({
      title: 'Revoke this feed?',
      text: 'Its address answers nobody any more; calendars that read it show nothing new. There is no way back.',
      action: 'Revoke',
    })
    if (yes) await act(() => call('DELETE', path`/v1/calendar-tokens/${id}`), 'The feed is revoked.')
  }
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <code>…{id.slice(-6)}</code>
          <span class="chip">{detail ? 'with prompts' : 'names and times'}</span>
        </div>
        <div class="soft small">
          made <Ago at={createdAt} />
          {', '}
          {lastUsedAt === null ? 'not read yet' : 'last read '}
          {lastUsedAt === null ? null : <Ago at={lastUsedAt} />}
        </div>
      </div>
      <button
        type="button"
        class="quiet"
        onClick={() => void revoke()}
        aria-disabled={busy}
        aria-label={`Revoke the feed …${id.slice(-6)}`}
      >
        Revoke
      </button>
    </li>
  )
}
