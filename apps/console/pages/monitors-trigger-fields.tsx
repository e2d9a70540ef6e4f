import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Choice, Field } from '../parts/field.tsx'
import { titleOf, useNames } from '../parts/names.ts'
import type { TriggerPart } from './monitors-trigger-form.tsx'

/** Its name, and what it follows. */
export function FollowFields({ draft, set, faultOf, isEdit }: TriggerPart) {
  return (
    <>
      <Field label="Name" fault={faultOf('name')}>
        {(control) => (
          <input
            {...control}
            required
            maxLength={120}
            value={draft.name}
            placeholder="New picks"
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        )}
      </Field>
      {isEdit ? null : (
        <>
          <Choice
            label="It follows"
            value={draft.on}
            options={[
              ['path', 'A document'],
              ['prefix', 'All below a prefix'],
              ['webhook', 'A webhook'],
            ]}
            onChange={(on) => set({ on })}
          />
          {draft.on === 'webhook' ? (
            <label class="check">
              <input
                type="checkbox"
                checked={draft.isSigned}
                onChange={(event) => set({ isSigned: event.currentTarget.checked })}
              />
              <span>
                Its calls are signed (Standard Webhooks)
                <span class="hint"> Without, whoever has the address can fire it.</span>
              </span>
            </label>
          ) : (
            <Field label={draft.on === 'path' ? 'Document' : 'Prefix'} fault={faultOf('on')}>
              {(control) => (
                <input
                  {...control}
                  required
                  class="mono"
                  value={draft.path}
                  placeholder={draft.on === 'path' ? 'state/picks' : 'briefs/'}
                  onInput={(event) => set({ path: event.currentTarget.value })}
                />
              )}
            </Field>
          )}
        </>
      )}
      <Field
        label="Condition (optional)"
        fault={faultOf('when')}
        hint={
          <>
            CEL over <code>doc</code> (the document, or the body of the call), <code>before</code> and <code>now</code>.
          </>
        }
      >
        {(control) => (
          <input
            {...control}
            class="mono"
            spellcheck={false}
            value={draft.when}
            placeholder="size(doc.items) > 0"
            onInput={(event) => set({ when: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  )
}

/** Whom it wakes, where, and with what. */
export function TellFields(part: TriggerPart) {
  const { draft, set, faultOf, isEdit } = part
  const { agents, conversations } = useNames()
  const flows = useLiveList<{ readonly name: string }>(
    draft.agent === '' ? null : path`/v1/agents/${draft.agent}/flows`,
  ).data
  const open = conversations.filter(({ agent, state }) => agent === draft.agent && state !== 'archived')
  return (
    <>
      {isEdit ? null : (
        <div class="two">
          <Field label="Agent" fault={faultOf('agent')}>
            {(control) => (
              <select
                {...control}
                value={draft.agent}
                onChange={(event) => {
                  const agent = event.currentTarget.value
                  set({ agent, session: agents.find(({ id }) => id === agent)?.mainSession ?? '', flow: '' })
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
              <select
                {...control}
                value={draft.session}
                onChange={(event) => set({ session: event.currentTarget.value })}
              >
                <option value="">A new one each time</option>
                {open.map((one) => (
                  <option key={one.id} value={one.id}>
                    {titleOf(one)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      )}
      {isEdit || (flows ?? []).length === 0 ? null : (
        <Choice
          label="What it does"
          value={draft.does}
          options={[
            ['prompt', 'Prompt'],
            ['flow', 'Flow, without a model'],
          ]}
          onChange={(does) => set({ does })}
        />
      )}
      {draft.does === 'prompt' ? (
        <Field
          label="Prompt"
          fault={faultOf('prompt')}
          hint="What the agent is told each time; the document or the body stands above it, as data."
        >
          {(control) => (
            <textarea
              {...control}
              required
              rows={3}
              value={draft.prompt}
              onInput={(event) => set({ prompt: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : (
        <Field label="Flow" fault={faultOf('flow')}>
          {(control) => (
            <select
              {...control}
              required
              value={draft.flow}
              onChange={(event) => set({ flow: event.currentTarget.value })}
            >
              <option value="">Choose one</option>
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

/** How often at most, and how long. */
export function LimitFields({ draft, set, faultOf }: TriggerPart) {
  return (
    <div class="fields inner">
      <Field label="Settle" fault={faultOf('settle')} hint="It fires once nothing has happened for so long: 30s, 5m.">
        {(control) => (
          <input
            {...control}
            class="short"
            value={draft.settle}
            onInput={(event) => set({ settle: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="At most a day" fault={faultOf('maxPerDay')}>
        {(control) => (
          <input
            {...control}
            class="short"
            type="number"
            min={1}
            value={draft.maxPerDay}
            onInput={(event) => set({ maxPerDay: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Until" fault={faultOf('until')} hint="An instant with its offset: 2026-11-02T09:00:00Z.">
        {(control) => (
          <input
            {...control}
            class="short"
            value={draft.until}
            onInput={(event) => set({ until: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
  )
}
