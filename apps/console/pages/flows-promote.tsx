import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, type Problem, path } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { tell } from '../parts/toasts.tsx'
import { go } from '../router.ts'
import { flowPlace } from './flows-place.ts'
import type { Flow, Step } from './flows-shapes.ts'
import { Steps } from './flows-steps.tsx'

/** Asks for a name, and makes a flow of runs that did the same; at once, or after the next runs agree. */
export function FlowPromote(o: {
  readonly agent: string
  readonly traces: readonly string[]
  readonly steps: readonly Step[]
  readonly onClose: () => void
}) {
  const [name, setName] = useState('')
  const [begins, setBegins] = useState<'now' | 'shadow'>('now')
  const [wanted, setWanted] = useState('3')
  const [isApproved, setApproved] = useState(false)
  const [overwrite, setOverwrite] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const { act, busy } = useAct()
  const faultOf = (field: string): string | null => problem?.errors.find(({ path }) => path === field)?.message ?? null
  const promote = async (event: Event): Promise<void> => {
    event.preventDefault()
    setProblem(null)
    await act(
      async () => {
        const made = await call<Flow>('POST', path`/v1/agents/${o.agent}/flows`, {
          name: name.trim(),
          from: o.traces,
          approve: isApproved,
          ...(overwrite ? { overwrite } : {}),
          ...(begins === 'shadow' ? { shadow: Number(wanted) } : {}),
        })
        o.onClose()
        if (made.shadow === null) {
          tell(`${made.name} is a flow now.`)
          go(flowPlace(made.agent, made.name))
        } else {
          tell(`${made.name} is compared with the next runs.`)
          go(`/flows?agent=${made.agent}`)
        }
      },
      undefined,
      { onProblem: setProblem },
    )
  }
  return (
    <Dialog title="Make it a flow" onClose={o.onClose} wide>
      <form onSubmit={promote}>
        {problem === null ? null : (
          <p class="refused" role="alert">
            {problem.detail}
          </p>
        )}
        <Field label="Name" fault={faultOf('name')}>
          {(control) => (
            <input
              {...control}
              required
              value={name}
              placeholder="weekly-digest"
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Choice
          label="It becomes a flow"
          value={begins}
          options={[
            ['now', 'At once'],
            ['shadow', 'After the next runs agree'],
          ]}
          onChange={setBegins}
        />
        {begins === 'now' ? null : (
          <Field
            label="Runs that have to do the same"
            fault={faultOf('shadow')}
            hint="Nothing of it runs meanwhile. Then a card in the feed offers it; the first run that differs takes it back."
          >
            {(control) => (
              <input
                {...control}
                class="short"
                type="number"
                min={1}
                max={20}
                value={wanted}
                onInput={(event) => setWanted(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        <label class="check">
          <input type="checkbox" checked={isApproved} onChange={(event) => setApproved(event.currentTarget.checked)} />
          <span>
            Let the agent call these tools unasked
            <span class="hint"> A flow stops at a tool that nobody has approved.</span>
          </span>
        </label>
        {problem?.code !== 'flow_exists' ? null : (
          <label class="check">
            <input
              type="checkbox"
              checked={overwrite}
              onChange={(event) => setOverwrite(event.currentTarget.checked)}
            />
            <span>Replace the flow of that name</span>
          </label>
        )}
        <details>
          <summary>What it will do, step by step</summary>
          <Steps steps={o.steps} label="Steps" />
        </details>
        <footer>
          <button type="button" onClick={o.onClose}>
            Not now
          </button>
          <button type="submit" class="primary" disabled={busy}>
            Make it a flow
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
