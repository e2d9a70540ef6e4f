import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { useNames } from '../parts/names.ts'
import { Ago } from '../parts/when.tsx'
import { href } from '../router.ts'
import type { Action, Card } from './feed-shapes.ts'

/** A longer body is cut until one asks for the rest. */
const longChars = 600

/** One card: what it says, from whom, and what can be done. */
export function FeedCard(o: { readonly of: Card; readonly level: 2 | 3 }) {
  const { id, kind, title, label, seen, status, at, settledAt, actions } = o.of
  const Heading = o.level === 2 ? 'h2' : 'h3'
  const isOpen = status === 'open'
  return (
    <article class={`card feed-card ${kind} ${isOpen ? '' : 'settled'}`} aria-labelledby={id}>
      <header>
        <Heading id={id}>{title}</Heading>
        {actions.includes('dismiss') ? <Dismiss of={o.of} /> : null}
      </header>
      <div class="line small">
        {kindWords[kind] === null ? null : (
          <span class={`chip ${isOpen ? kindTones[kind] : ''}`}>{kindWords[kind]}</span>
        )}
        {label === null ? null : <span class={`chip label-${label}`}>{label}</span>}
        {seen > 1 ? <span class="chip">seen {seen} times</span> : null}
        {isOpen ? null : <span class={`chip ${status === 'allowed' ? 'good' : ''}`}>{status}</span>}
        <From of={o.of} />
        <Ago at={settledAt ?? at} />
      </div>
      <Body of={o.of} />
      <Countdown of={o.of} />
      <Actions of={o.of} />
    </article>
  )
}

const kindWords: Readonly<Record<Card['kind'], string | null>> = {
  approval: 'asks for your word',
  incident: 'did not run',
  notice: 'notice',
  post: null,
}
const kindTones: Readonly<Record<Card['kind'], string>> = {
  approval: 'accent',
  incident: 'bad',
  notice: 'wait',
  post: '',
}

function From(o: { readonly of: Card }) {
  const { agent, session, schedule } = o.of
  const names = useNames()
  return (
    <>
      {agent === null ? null : <span>{names.agent(agent)}</span>}
      {session === null ? null : <a href={href(`/conversations/${session}`)}>{names.conversation(session)}</a>}
      {schedule === null ? null : <a href={href(`/schedules/${schedule}`)}>its schedule</a>}
    </>
  )
}

/** What agents write is text. */
function Body(o: { readonly of: Card }) {
  const { body } = o.of
  const [isWhole, setWhole] = useState(false)
  if (body === null || body === '') return null
  const isCut = body.length > longChars && !isWhole
  return (
    <div class="body">
      <p>{isCut ? `${body.slice(0, longChars).trimEnd()} …` : body}</p>
      {isCut ? (
        <button
          type="button"
          class="quiet small"
          aria-label={`Show all of ${o.of.title}`}
          onClick={() => setWhole(true)}
        >
          Show all
        </button>
      ) : null}
    </div>
  )
}

/** S2-76: when what the card proposes is sent by itself. Its Stop stands beside. */
function Countdown(o: { readonly of: Card }) {
  const { autoSendOn, daysLeft, status, title } = o.of
  const { busy, act } = useCardAct(o.of)
  if (autoSendOn === null || daysLeft === null || status !== 'open') return null
  return (
    <div class="countdown">
      <Icon name="alarm" />
      <span>
        <b>{countdownWords(daysLeft)}</b> <span class="small">{autoSendOn}</span>
      </span>
      <button type="button" aria-label={`Stop: ${title}`} disabled={busy} onClick={() => void act('stop')}>
        <Icon name="stop" /> Stop
      </button>
    </div>
  )
}

function countdownWords(daysLeft: number): string {
  if (daysLeft < 0) return 'Its day has come'
  if (daysLeft === 0) return 'Sent by itself today'
  return daysLeft === 1 ? 'Sent by itself tomorrow' : `Sent by itself in ${daysLeft} days`
}

function useCardAct(card: Card): { readonly busy: boolean; readonly act: (action: Action) => Promise<boolean> } {
  const { act, busy } = useAct()
  return {
    busy,
    act: (action) => act(() => call('POST', path`/v1/feed/${card.id}/actions/${action}`, {}), said(action, card)),
  }
}

function Dismiss(o: { readonly of: Card }) {
  const { busy, act } = useCardAct(o.of)
  return (
    <button
      type="button"
      class="quiet icon-only"
      title="Dismiss"
      aria-label={`Dismiss: ${o.of.title}`}
      disabled={busy}
      onClick={() => void act('dismiss')}
    >
      <Icon name="close" />
    </button>
  )
}

/** Those that stand below the card. */
const buttons: Readonly<{ [action in Action]?: readonly [text: string, tone: string] }> = {
  allow: ['Allow', 'primary'],
  'run-now': ['Run now', 'primary'],
  deny: ['Deny', ''],
}

function Actions(o: { readonly of: Card }) {
  const { busy, act } = useCardAct(o.of)
  const { title, status } = o.of
  const shown = o.of.actions.flatMap((action) => {
    const button = buttons[action]
    return button === undefined ? [] : [{ action, text: button[0], tone: button[1] }]
  })
  if (shown.length === 0) return null
  return (
    <footer class="tools">
      {shown.map(({ action, text, tone }) => (
        <button
          key={action}
          type="button"
          class={status === 'open' ? tone : ''}
          aria-label={`${text}: ${title}`}
          disabled={busy}
          onClick={() => void act(action)}
        >
          {text}
        </button>
      ))}
    </footer>
  )
}

function said(action: Action, { reason }: Card): string {
  switch (action) {
    case 'allow':
      return reason === 'flow_offer' ? 'Allowed: it is a flow now.' : 'Allowed: it goes out.'
    case 'deny':
      return 'Denied: it is left out.'
    case 'run-now':
      return 'It runs now.'
    case 'stop':
      return 'Stopped: nothing is sent by itself.'
    case 'dismiss':
      return 'Dismissed.'
  }
}
