import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** Something that is on or off, and what that means below its name. */
export function Switch(o: {
  readonly label: string
  readonly hint: ComponentChildren
  readonly on: boolean
  readonly disabled?: boolean
  readonly onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div class="switch">
      <div>
        <label for={id}>{o.label}</label>
        <p class="hint" id={`${id}-hint`}>
          {o.hint}
        </p>
      </div>
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={o.on}
        aria-describedby={`${id}-hint`}
        checked={o.on}
        disabled={o.disabled}
        onChange={(event) => {
          const { checked } = event.currentTarget
          // What is shown is what holds: it turns when the server has said yes.
          event.currentTarget.checked = o.on
          o.onChange(checked)
        }}
      />
    </div>
  )
}
