import { useLayoutEffect, useRef } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Icon } from '../parts/icon.tsx'
import { Ago } from '../parts/when.tsx'
import { stayAtEnd } from './conversation-thread.tsx'

interface Asked {
  readonly id: string
  readonly kind: string
  readonly title: string
  readonly body: string | null
  readonly session: string | null
  readonly at: string
}

/** What agents of this conversation ask to be allowed, where one reads what they are about. The feed shows the same cards. */
export function Approvals(o: { readonly session: string }) {
  const open = useLiveList<Asked>('/v1/feed?status=open&label=decide', { limit: 100 }).data ?? []
  const here = open.filter(({ kind, session }) => kind === 'approval' && session === o.session)
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (here.length > 0) stayAtEnd(box.current)
  }, [here.length])
  if (here.length === 0) return null
  return (
    <section ref={box} class="approvals" aria-label="Waits for your word">
      {here.map((card) => (
        <Approval key={card.id} of={card} />
      ))}
    </section>
  )
}

function Approval(o: { readonly of: Asked }) {
  const { id, title, body, at } = o.of
  const { act, busy } = useAct()
  const answer = (action: 'allow' | 'deny') =>
    act(
      () => call('POST', `${path`/v1/feed/${id}/actions`}/${action}`, {}),
      action === 'allow' ? 'Allowed.' : 'Denied.',
    )
  return (
    <article class="approval">
      <header class="line small">
        <span class="chip wait">needs your word</span>
        <Ago at={at} />
      </header>
      <h2>{title}</h2>
      {body === null ? null : <p class="text">{body}</p>}
      <p class="line">
        <button type="button" class="primary" onClick={() => void answer('allow')} aria-disabled={busy}>
          <Icon name="check" /> Allow
        </button>
        <button type="button" onClick={() => void answer('deny')} aria-disabled={busy}>
          Deny
        </button>
      </p>
    </article>
  )
}
