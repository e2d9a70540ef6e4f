import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Choice, Field } from '../parts/field.tsx'
import type { FormPart } from './schedule-form.tsx'

/** S2-24: a look before each run, which wakes the agent only if it says something. */
export function CheckFields({ draft, set, faultOf }: FormPart) {
  const tools = useLiveList<{ readonly name: string; readonly readOnly: boolean }>(
    draft.agent === '' ? null : path`/v1/agents/${draft.agent}/tools`,
  ).data
  return (
    <fieldset class="card pad">
      <legend class="hidden">Check first</legend>
      <Choice
        label="Check first"
        value={draft.checks}
        options={[
          ['nothing', 'No check'],
          ['script', 'A script'],
          ['tool', 'A tool'],
        ]}
        onChange={(checks) => set({ checks })}
      />
      {draft.checks === 'nothing' ? null : (
        <p class="hint">The agent is woken only when the check says something; what it says stands with the prompt.</p>
      )}
      {draft.checks === 'script' ? (
        <Field
          label="Script"
          fault={faultOf('check')}
          hint="In the agent’s folder, run by its worker. No output, no wake."
        >
          {(control) => (
            <input
              {...control}
              class="mono"
              required
              value={draft.script}
              placeholder="checks/new-calls.sh"
              onInput={(event) => set({ script: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : null}
      {draft.checks === 'tool' ? (
        <div class="two">
          <Field label="Tool" fault={faultOf('check')} hint="A read-only tool of the agent, run by Rouse.">
            {(control) => (
              <input
                {...control}
                class="mono"
                required
                list="tools"
                value={draft.tool}
                onInput={(event) => set({ tool: event.currentTarget.value })}
              />
            )}
          </Field>
          <datalist id="tools">
            {(tools ?? [])
              .filter(({ readOnly }) => readOnly)
              .map(({ name }) => (
                <option key={name} value={name} />
              ))}
          </datalist>
          <Field label="Arguments" hint="JSON; may stay empty.">
            {(control) => (
              <input
                {...control}
                class="mono"
                value={draft.args}
                placeholder="{}"
                onInput={(event) => set({ args: event.currentTarget.value })}
              />
            )}
          </Field>
        </div>
      ) : null}
    </fieldset>
  )
}
