import { useRef, useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { Ago } from '../parts/when.tsx'
import { words } from '../parts/words.tsx'
import type { Conversation } from '../shapes.ts'

/** Where one writes; above it what runs just now, with Cancel. */
export function SendBox(o: { readonly of: Conversation; readonly agent: string }) {
  const { id, turn, workerConnected, waiting } = o.of
  const [text, setText] = useState('')
  const box = useRef<HTMLTextAreaElement>(null)
  const { act, busy } = useAct()
  const send = async (): Promise<void> => {
    if (text.trim() === '') return
    const isDone = await act(() => call('POST', path`/v1/sessions/${id}/messages`, { text }))
    if (isDone) setText('')
    box.current?.focus()
  }
  return (
    <div class="send">
      {turn === null ? null : <Running of={turn} />}
      {turn === null && waiting > 0 && workerConnected !== true ? (
        <p class="soft small">
          {waiting === 1 ? 'One message waits' : `${waiting} messages wait`} for a worker:{' '}
          <code>npx rouse attach {id} -- claude -p</code>
        </p>
      ) : null}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <label class="hidden" for="say">
          Message to {o.agent}
        </label>
        <textarea
          id="say"
          ref={box}
          rows={2}
          value={text}
          placeholder={`Write to ${o.agent} …`}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter sends; with Shift it begins a line, and while an input method composes it is not ours.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        <button type="submit" class="primary" disabled={busy || text.trim() === ''}>
          <Icon name="send" /> Send
        </button>
      </form>
    </div>
  )
}

function Running(o: { readonly of: NonNullable<Conversation['turn']> }) {
  const { id, kind, startedAt, cancelled } = o.of
  const { act, busy } = useAct()
  const cancel = () =>
    act(() => call('POST', path`/v1/turns/${id}/cancel`, {}), 'The turn is cancelled; its worker is told.')
  return (
    <div class="running" role="status">
      <span class="pulse" aria-hidden="true" />
      <span>
        {cancelled ? 'A turn is being cancelled' : 'A turn runs'}
        {kind === 'user' ? '' : `, for a ${words(kind)}`}, since <Ago at={startedAt} />
      </span>
      {cancelled ? null : (
        <button type="button" onClick={() => void cancel()} aria-disabled={busy}>
          <Icon name="stop" /> Cancel
        </button>
      )}
    </div>
  )
}
