import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { sentence } from './words.tsx'

/** What a control in a `Field` takes over, so that its name, its hint and its fault are read out with it. */
export interface Control {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A control with its name above, a hint and, where it does not fit, what was expected. */
export function Field(o: {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly fault?: string | null
  readonly children: (control: Control) => JSX.Element
}) {
  const id = useId()
  const fault = o.fault ?? null
  const described = [o.hint === undefined ? null : `${id}-hint`, fault === null ? null : `${id}-fault`]
  const control: Control = {
    id,
    'aria-describedby': described.filter((one) => one !== null).join(' ') || undefined,
    'aria-invalid': fault === null ? undefined : true,
  }
  return (
    <div class="field">
      <label for={id}>{o.label}</label>
      {o.children(control)}
      {o.hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {o.hint}
        </p>
      )}
      {fault === null ? null : (
        <p class="field-fault" id={`${id}-fault`}>
          {sentence(fault)}
        </p>
      )}
    </div>
  )
}

/** One of a few, all in sight. */
export function Choice<T extends string>(o: {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [T, string])[]
  readonly onChange: (value: T) => void
}) {
  const name = useId()
  return (
    <fieldset class="choice">
      <legend>{o.label}</legend>
      <div>
        {o.options.map(([value, text]) => (
          <label key={value}>
            <input type="radio" name={name} checked={o.value === value} onChange={() => o.onChange(value)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
