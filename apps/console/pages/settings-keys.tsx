import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { ShownOnce } from '../parts/secret.tsx'
import { More, Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'

interface Key {
  readonly id: string
  readonly prefix: string | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
}

/** Keys of one holder. `make`: another one can be made here. */
export function Keys(o: {
  readonly title: string
  readonly at: string
  readonly lead: string
  readonly make?: { readonly text: string }
}) {
  const list = useLiveList<Key>(o.at)
  const [made, setMade] = useState<{ readonly key: string; readonly text: string } | null>(null)
  const { act, busy } = useAct()
  const make = () =>
    act(async () => {
      const { key } = await call<{ key: string }>('POST', o.at, {})
      setMade({ key, text: o.make!.text })
    })
  return (
    <section class="section" aria-labelledby="keys">
      <header>
        <div>
          <h2 id="keys">{o.title}</h2>
          <p>{o.lead}</p>
        </div>
        {o.make === undefined ? null : (
          <button type="button" onClick={() => void make()} aria-disabled={busy}>
            <Icon name="plus" /> Make a key
          </button>
        )}
      </header>
      <Shown of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="card pad soft">There is no key.</p>
          ) : (
            <ul class="rows">
              {rows.map((row) => (
                <KeyRow key={row.id} of={row} made={setMade} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
      {made === null ? null : (
        <ShownOnce title="The new key" secret={made.key} text={made.text} onClose={() => setMade(null)} />
      )}
    </section>
  )
}

function KeyRow(o: {
  readonly of: Key
  readonly made: (made: { readonly key: string; readonly text: string }) => void
}) {
  const { id, prefix, createdAt, lastUsedAt, expiresAt } = o.of
  const { act, busy } = useAct()
  const name = prefix === null ? id : `${prefix}…`
  const rotate = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Rotate ${name}?`,
      text: 'A new key is made in its place. The old one still works for an hour, so that nothing stands still meanwhile.',
      action: 'Rotate',
    })
    if (!yes) return
    await act(async () => {
      const { key } = await call<{ key: string }>('POST', path`/v1/keys/${id}/rotate`, {})
      o.made({ key, text: 'Put it where the old one stands now: that one ends in an hour.' })
    })
  }
  const revoke = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Revoke ${name}?`,
      text: 'Whoever uses it is refused from now on, browsers that were signed in with it too. There is no way back.',
      action: 'Revoke',
    })
    if (yes) await act(() => call('DELETE', path`/v1/keys/${id}`), `${name} is revoked.`)
  }
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <code>{name}</code>
          {expiresAt === null ? null : (
            <span class="chip wait">
              ends <Ago at={expiresAt} />
            </span>
          )}
        </div>
        <div class="soft small">
          made <Ago at={createdAt} />
          {', '}
          {lastUsedAt === null ? 'not used yet' : 'last used '}
          {lastUsedAt === null ? null : <Ago at={lastUsedAt} />}
        </div>
      </div>
      <div class="tools">
        <button
          type="button"
          class="quiet"
          onClick={() => void rotate()}
          aria-disabled={busy}
          aria-label={`Rotate ${name}`}
        >
          Rotate
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => void revoke()}
          aria-disabled={busy}
          aria-label={`Revoke ${name}`}
        >
          Revoke
        </button>
      </div>
    </li>
  )
}
