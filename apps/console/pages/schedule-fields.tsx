import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Choice, Field } from '../parts/field.tsx'
import { titleOf, useNames } from '../parts/names.ts'
import type { FormPart } from './schedule-form.tsx'

/** Whom it wakes, and where. */
export function WhereFields({ draft, set, faultOf }: FormPart) {
  const { agents, conversations } = useNames()
  const open = conversations.filter(({ agent, state }) => agent === draft.agent && state !== 'archived')
  return (
    <div class="two">
      <Field label="Agent" fault={faultOf('agent')}>
        {(control) => (
          <select
            {...control}
            value={draft.agent}
            onChange={(event) => {
              const agent = event.currentTarget.value
              const main = agents.find(({ id }) => id === agent)?.mainSession ?? ''
              set({ agent, session: main, channel: '', flow: '', tool: '' })
            }}
          >
            {agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Conversation" fault={faultOf('session')}>
        {(control) => (
          <select {...control} value={draft.session} onChange={(event) => set({ session: event.currentTarget.value })}>
            <option value="">A new one for each run</option>
            {open.map((one) => (
              <option key={one.id} value={one.id}>
                {titleOf(one)}
                {one.main ? ' (main)' : ''}
              </option>
            ))}
            {draft.session === '' || open.some(({ id }) => id === draft.session) ? null : (
              <option value={draft.session}>{draft.session}</option>
            )}
          </select>
        )}
      </Field>
    </div>
  )
}

/** What the agent is told, or what is replayed. */
export function WhatFields({ draft, set, faultOf }: FormPart) {
  const flows = useLiveList<{ readonly name: string }>(
    draft.agent === '' ? null : path`/v1/agents/${draft.agent}/flows`,
  ).data
  const hasFlows = draft.does === 'flow' || (flows !== null && flows.length > 0)
  return (
    <>
      {hasFlows ? (
        <Choice
          label="What it does"
          value={draft.does}
          options={[
            ['prompt', 'Prompt'],
            ['flow', 'Flow, without a model'],
          ]}
          onChange={(does) => set({ does })}
        />
      ) : null}
      {draft.does === 'prompt' ? (
        <Field label="Prompt" fault={faultOf('prompt')} hint="What the agent is told each time.">
          {(control) => (
            <textarea
              {...control}
              required
              rows={4}
              value={draft.prompt}
              onInput={(event) => set({ prompt: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : (
        <Field label="Flow" fault={faultOf('flow')}>
          {(control) => (
            <select {...control} value={draft.flow} onChange={(event) => set({ flow: event.currentTarget.value })}>
              <option value="">Choose a flow</option>
              {(flows ?? []).map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  )
}

/** What most schedules leave as it is. */
export function MoreFields({ draft, set, faultOf }: FormPart) {
  const { conversations } = useNames()
  const channels = conversations.filter(({ state }) => state !== 'archived')
  const line = (name: 'jitter' | 'until' | 'maxRuns' | 'pauseAfterFailures', label: string, hint: string) => (
    <Field label={label} hint={hint} fault={faultOf(name)}>
      {(control) => (
        <input {...control} value={draft[name]} onInput={(event) => set({ [name]: event.currentTarget.value })} />
      )}
    </Field>
  )
  const pick = (name: 'overlap' | 'onUnknown', label: string, options: readonly (readonly [string, string])[]) => (
    <Field label={label} fault={faultOf(name)}>
      {(control) => (
        <select {...control} value={draft[name]} onChange={(event) => set({ [name]: event.currentTarget.value })}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
  return (
    <details class="card pad">
      <summary>More</summary>
      <div class="fields inner">
        <Field label="Channel" fault={faultOf('channel')} hint="Where title, answers and notes go.">
          {(control) => (
            <select
              {...control}
              value={draft.channel}
              onChange={(event) => set({ channel: event.currentTarget.value })}
            >
              <option value="">The agent’s main conversation</option>
              {channels.map((one) => (
                <option key={one.id} value={one.id}>
                  {titleOf(one)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Deliver"
          fault={faultOf('deliver')}
          hint="Where the end of each run is told, one a line: webhook:https://…, telegram:<chat>, sns:<arn>, session:<ses_…>, feed:<group>"
        >
          {(control) => (
            <textarea
              {...control}
              class="mono"
              rows={2}
              value={draft.deliver}
              onInput={(event) => set({ deliver: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Note" fault={faultOf('note')} hint="A remark for people.">
          {(control) => (
            <input {...control} value={draft.note} onInput={(event) => set({ note: event.currentTarget.value })} />
          )}
        </Field>
        <div class="two">
          <Field
            label="A time that was missed"
            fault={faultOf('misfire')}
            hint="once, skip, or a duration within which it is made up: 2h"
          >
            {(control) => (
              <input
                {...control}
                list="misfires"
                value={draft.misfire}
                placeholder="once"
                onInput={(event) => set({ misfire: event.currentTarget.value })}
              />
            )}
          </Field>
          <datalist id="misfires">
            <option value="once" />
            <option value="skip" />
            <option value="2h" />
          </datalist>
          {pick('overlap', 'While its last run is not over', [
            ['', 'As usual'],
            ['buffer', 'Wait for it'],
            ['skip', 'Skip this time'],
            ['allow', 'Run beside it'],
            ['cancel', 'Cancel the last one'],
          ])}
          {pick(
            'onUnknown',
            'When its worker vanished',
            [
              ['', 'Leave it'],
              ['leave', 'Leave it'],
              ['retry', 'Try once more'],
            ].slice(draft.onUnknown === '' ? 0 : 1) as [string, string][],
          )}
          {line('jitter', 'Jitter', 'Each run later by a fixed share of this: 5m')}
          {line('until', 'Until', 'No run after this: 2026-12-31T17:00:00Z')}
          {line('maxRuns', 'At most so many runs', 'Done after that.')}
          {line('pauseAfterFailures', 'Pause after failures in a row', 'A number; empty: never.')}
        </div>
      </div>
    </details>
  )
}
