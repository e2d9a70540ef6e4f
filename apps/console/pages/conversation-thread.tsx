import { useLayoutEffect, useState } from 'preact/hooks'
import { session } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { useNames } from '../parts/names.ts'
import { Empty, Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'
import { href } from '../router.ts'
import type { Message } from '../shapes.ts'
import { type Exchange, useThread } from './thread.ts'

/** So many exchanges are drawn at first, and so many more each time one asks. */
const step = 50
/** A longer text is cut until one asks for the rest. */
const longChars = 1500
/** Whoever is so near the end reads the end; a new message is about as high. */
const nearEndPx = 400

export function Thread(o: { readonly id: string; readonly title: string; readonly agent: string }) {
  const thread = useThread(o.id)
  const [shown, setShown] = useState(step)
  useLatest(thread.data)
  return (
    <Shown of={thread}>
      {(all) =>
        all.length === 0 ? (
          <Empty icon="conversations" title="Nothing has been said yet">
            <p>Write below. {o.agent} answers when a worker serves it:</p>
            <pre>npx rouse attach {o.id} -- claude -p</pre>
          </Empty>
        ) : (
          <>
            {all.length > shown ? (
              <p class="more">
                <button type="button" onClick={() => setShown(shown + step)}>
                  Show earlier messages
                </button>
              </p>
            ) : null}
            <ol class="thread" aria-label={`Messages of ${o.title}`}>
              {all.slice(-shown).map((exchange) => (
                <Shared key={exchange.message.id} of={exchange} agent={o.agent} />
              ))}
            </ol>
          </>
        )
      }
    </Shown>
  )
}

/** Opens at the latest message, and stays with it as long as one has not scrolled up to read. */
function useLatest(all: readonly Exchange[] | null): void {
  const latest = all?.at(-1)
  const mark = latest === undefined ? null : `${latest.message.id} ${latest.answers.length}`
  const [last, setLast] = useState<string | null>(null)
  useLayoutEffect(() => {
    if (mark === null || mark === last) return
    toEnd(last === null ? Number.POSITIVE_INFINITY : nearEndPx)
    setLast(mark)
  }, [mark, last])
}

/** Shows the end to whoever is no further from it than this. */
function toEnd(withinPx: number): void {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement
  if (scrollHeight - clientHeight - scrollTop < withinPx) scrollTo({ top: scrollHeight, behavior: 'instant' })
}

/** What comes to stand below the messages is shown to whoever reads the last of them. */
export const stayAtEnd = (below: HTMLElement | null): void => toEnd(nearEndPx + (below?.offsetHeight ?? 0))

function Shared(o: { readonly of: Exchange; readonly agent: string }) {
  const { message, answers, to } = o.of
  return (
    <li class={`exchange ${message.kind}`}>
      <Said of={message} agent={o.agent} to={to} answers={answers} />
      {answers.length === 0 ? null : (
        <ol class="answers" aria-label="Answers">
          {answers.map((answer) => (
            <li key={answer.id}>
              <Said of={answer} agent={o.agent} to={null} />
            </li>
          ))}
        </ol>
      )}
    </li>
  )
}

function Said(o: {
  readonly of: Message
  readonly agent: string
  readonly to: Message | null
  readonly answers?: readonly Message[]
}) {
  const { kind, automated, status, at } = o.of
  const [isWhole, setWhole] = useState(false)
  const text = untold(plain(o.of), o.answers ?? [])
  // A tick says the same each time.
  const cutAt = kind === 'tick' ? 0 : longChars
  const isCut = text.length > cutAt && !isWhole
  return (
    <article class={`said ${kind}`}>
      <header class="line small">
        <Who of={o.of} agent={o.agent} />
        {o.to === null || kind !== 'answer' ? null : <span class="soft">answers {theKind(o.to.kind)}</span>}
        {kind === 'schedule' ? <span class="chip accent">scheduled</span> : null}
        {automated && (kind === 'agent' || kind === 'note') ? <span class="chip">automated</span> : null}
        {status === 'waiting' ? <span class="chip wait">waiting</span> : null}
        {status === 'dropped' ? <span class="chip">dropped</span> : null}
        <Ago at={at} />
      </header>
      {isCut && cutAt === 0 ? null : <div class="text">{isCut ? `${text.slice(0, cutAt)} …` : text}</div>}
      {isCut ? (
        <button type="button" class="quiet small" onClick={() => setWhole(true)}>
          {cutAt === 0 ? 'Show what it said' : 'Show all'}
        </button>
      ) : null}
    </article>
  )
}

/** A note quotes the answer that stands below it, or its beginning: once is enough. */
function untold(text: string, answers: readonly Message[]): string {
  const [, head, quoted] = /^([^\n]*? \(\w+\)): ([\s\S]+?)…?$/.exec(text) ?? []
  return quoted !== undefined && answers.some((answer) => answer.text.startsWith(quoted.trimEnd())) ? head! : text
}

/** The first line tells the agent that no person wrote this; here a chip says so. */
const plain = ({ automated, kind, text }: Message): string => {
  if (!automated) return text
  const told = text.replace(/^\[rouse [^\n]*\]\n/, '')
  return kind === 'schedule' ? told.replace(titleLine, '') : told
}
/** A schedule's name, which stands above its text here. */
const titleLine = /^Scheduled run: ([^\n]*)\n?/
const nameIn = (text: string): string => titleLine.exec(text.replace(/^\[rouse [^\n]*\]\n/, ''))?.[1] ?? 'Schedule'

function Who(o: { readonly of: Message; readonly agent: string }) {
  const { kind, origin } = o.of
  const names = useNames()
  switch (kind) {
    case 'user':
      return <b>{origin?.principal === session.value?.person?.id ? 'You' : 'Another person'}</b>
    case 'answer':
      return <b>{o.agent}</b>
    case 'schedule':
      return (
        <span class="line">
          <Icon name="alarm" />
          {origin?.schedule == null ? (
            <b>{nameIn(o.of.text)}</b>
          ) : (
            <a class="row-name" href={href(`/schedules/${origin.schedule}`)}>
              {nameIn(o.of.text)}
            </a>
          )}
        </span>
      )
    case 'agent':
      return (
        <span>
          <b>{origin?.agent == null ? 'Another agent' : names.agent(origin.agent)}</b>
          {origin?.session == null ? null : (
            <>
              {' '}
              from <a href={href(`/conversations/${origin.session}`)}>{names.conversation(origin.session)}</a>
            </>
          )}
        </span>
      )
    case 'tick':
      return <b>Tick</b>
    case 'note':
      return <b>Note</b>
    case 'monitor':
      return <b>Monitor</b>
  }
}

function theKind(kind: Message['kind']): string {
  switch (kind) {
    case 'monitor':
      return 'a monitor'
    case 'tick':
      return 'a tick'
    case 'schedule':
      return 'a schedule'
    default:
      return 'an earlier message'
  }
}
