import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

/** What is shown this once and never again: a key, a secret address. */
export function ShownOnce(o: {
  readonly title: string
  readonly secret: string
  /** What it opens, and what to do with it. */
  readonly text: string
  readonly onClose: () => void
}) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    // Without TLS browsers lend nobody the clipboard; the text can still be selected.
    await navigator.clipboard?.writeText(o.secret)
    setCopied(navigator.clipboard !== undefined)
  }
  return (
    <Dialog title={o.title} onClose={o.onClose} wide>
      <p>{o.text}</p>
      <p class="secret">
        <code>{o.secret}</code>
        <button type="button" onClick={() => void copy()}>
          <Icon name="copy" /> {isCopied ? 'Copied' : 'Copy'}
        </button>
      </p>
      <p class="note">It is not shown again, and Rouse keeps only its hash.</p>
      <footer>
        <button type="button" class="primary" onClick={o.onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  )
}
