import { signal } from '@preact/signals'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly text: string
}

const toasts = signal<readonly Toast[]>([])
let last = 0
const shownMs = { done: 4_000, failed: 12_000 }

/** Says for a moment what became of something that was done. A failure stays longer, since there is more to read. */
export function tell(text: string, tone: Toast['tone'] = 'done'): void {
  last += 1
  const id = last
  // The newest three: what was done long ago covers nothing.
  toasts.value = [...toasts.value, { id, tone, text }].slice(-3)
  setTimeout(() => drop(id), shownMs[tone])
}

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Stands in the page from the start, or nobody who listens would hear of the first. */
export function Toasts() {
  return (
    <div class="toasts" aria-live="polite" role="status">
      {toasts.value.map(({ id, tone, text }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <button type="button" class="quiet icon-only" onClick={() => drop(id)} aria-label="Dismiss">
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
