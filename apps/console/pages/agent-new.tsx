import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'

/** Adds an agent, and says how it is served. */
export function NewAgent(o: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const { act, busy } = useAct()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const add = () => call('POST', '/v1/agents', { name })
    const isDone = await act(add, `${name} is added.`, { onProblem: ({ detail }) => setFault(detail) })
    if (isDone) o.onClose()
  }
  return (
    <Dialog title="Add an agent" onClose={o.onClose}>
      <form onSubmit={submit}>
        <Field
          label="Name"
          fault={fault}
          hint="It is served where the agent lives: npx rouse attach --agent <name> -- claude -p"
        >
          {(control) => (
            <input
              {...control}
              value={name}
              required
              maxLength={120}
              placeholder="assistant"
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <footer>
          <button type="submit" class="primary" aria-disabled={busy}>
            Add
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
