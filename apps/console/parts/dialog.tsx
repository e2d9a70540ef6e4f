import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** A dialog that is open as long as it is drawn. Escape, the cross and a click beside it close it; focus goes back where it was. */
export function Dialog(o: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly wide?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const opener = document.activeElement
    box.current?.showModal()
    return () => {
      // A dialog that leaves the page gives back no focus by itself; what opened it may be gone with what was done.
      queueMicrotask(() => {
        const back = opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById('main')
        if (document.querySelector('dialog[open]') === null) back?.focus({ preventScroll: true })
      })
    }
  }, [])
  return (
    <dialog
      ref={box}
      class={o.wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        o.onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === box.current) o.onClose()
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{o.title}</h2>
          <button type="button" class="quiet icon-only" onClick={o.onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        </header>
        {o.children}
      </div>
    </dialog>
  )
}

interface Question {
  readonly title: string
  /** What it means and whether there is a way back. */
  readonly text: string
  readonly action: string
  readonly answer: (yes: boolean) => void
}
const question = signal<Question | null>(null)

/** Asks before what cannot be taken back. */
export function confirmed(o: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((answer) => {
    question.value = { ...o, answer }
  })
}

/** Where `confirmed` asks; stands once in the page. */
export function Questions() {
  const asked = question.value
  if (asked === null) return null
  const answer = (yes: boolean): void => {
    question.value = null
    asked.answer(yes)
  }
  return (
    <Dialog title={asked.title} onClose={() => answer(false)}>
      <p>{asked.text}</p>
      <footer>
        <button type="button" onClick={() => answer(false)}>
          Keep
        </button>
        <button type="button" class="danger" onClick={() => answer(true)}>
          {asked.action}
        </button>
      </footer>
    </Dialog>
  )
}
