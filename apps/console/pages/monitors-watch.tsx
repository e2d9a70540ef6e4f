import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Choice, Field } from '../parts/field.tsx'
import { ownZone } from '../times.ts'
import type { MonitorPart } from './monitors-form.tsx'
import type { DocumentHead, Tool } from './monitors-shapes.ts'

/** What is watched: a document, a time or a tool, and the condition. */
export function WatchFields(part: MonitorPart) {
  const { draft, set } = part
  return (
    <>
      <Choice
        label="It watches"
        value={draft.kind}
        options={[
          ['document', 'A document'],
          ['time', 'A time'],
          ['tool', 'A tool'],
        ]}
        onChange={(kind) => set({ kind, when: '' })}
      />
      {draft.kind === 'document' ? <DocumentField {...part} /> : null}
      {draft.kind === 'time' ? <TimeField {...part} /> : null}
      {draft.kind === 'tool' ? <ToolFields {...part} /> : null}
      {draft.kind === 'time' ? null : <ConditionField {...part} />}
    </>
  )
}

function DocumentField({ draft, set, faultOf }: MonitorPart) {
  const typed = draft.path.trim()
  const known = useLiveList<DocumentHead>(`/v1/documents?prefix=${encodeURIComponent(typed)}`, { limit: 20 })
  return (
    <Field
      label="Document"
      fault={faultOf('watch.document')}
      hint="Its path. It need not be there yet; a change wakes within a second."
    >
      {(control) => (
        <>
          <input
            {...control}
            required
            class="mono"
            list="known-documents"
            value={draft.path}
            placeholder="builds/42.json"
            onInput={(event) => set({ path: event.currentTarget.value })}
          />
          <datalist id="known-documents">
            {(known.data ?? []).map(({ path }) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function TimeField({ draft, set, faultOf }: MonitorPart) {
  return (
    <>
      <Choice
        label="When"
        value={draft.timeAs}
        options={[
          ['in', 'After a while'],
          ['at', 'At a time'],
        ]}
        onChange={(timeAs) => set({ timeAs })}
      />
      {draft.timeAs === 'in' ? (
        <Field label="After" fault={faultOf('watch.time')} hint="30m, 2h, 3d …; not after the monitor expires.">
          {(control) => (
            <input
              {...control}
              required
              class="short"
              value={draft.in}
              onInput={(event) => set({ in: event.currentTarget.value })}
            />
          )}
        </Field>
      ) : (
        <Field label="At" fault={faultOf('watch.time')} hint={`In ${ownZone}, the zone of this browser.`}>
          {(control) => (
            <input
              {...control}
              required
              class="short"
              type="datetime-local"
              value={draft.at}
              onInput={(event) => set({ at: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

function ToolFields({ draft, set, faultOf }: MonitorPart) {
  const all = useLiveList<Tool>(draft.agent === '' ? null : path`/v1/agents/${draft.agent}/tools`, { limit: 100 })
  const tools = (all.data ?? []).filter(({ readOnly }) => readOnly)
  const chosen = tools.find(({ name }) => name === draft.tool)
  if (all.data !== null && tools.length === 0)
    return (
      <p class="note">
        This agent has no tool that only reads. Register one with <code>rouse tool put</code>, or watch a document.
      </p>
    )
  return (
    <>
      <div class="two">
        <Field
          label="Tool"
          fault={faultOf('watch.tool.name', 'watch.tool')}
          hint={chosen?.description ?? 'Only tools that read can be watched.'}
        >
          {(control) => (
            <select
              {...control}
              required
              value={draft.tool}
              onChange={(event) => set({ tool: event.currentTarget.value })}
            >
              <option value="">Choose one</option>
              {tools.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
              {draft.tool === '' || chosen !== undefined ? null : <option value={draft.tool}>{draft.tool}</option>}
            </select>
          )}
        </Field>
        <Field label="Run it every" fault={faultOf('watch.tool.every')} hint="5m or longer.">
          {(control) => (
            <input
              {...control}
              required
              value={draft.every}
              onInput={(event) => set({ every: event.currentTarget.value })}
            />
          )}
        </Field>
      </div>
      <Field label="Arguments" fault={faultOf('watch.tool.args')} hint={argsHint(chosen)}>
        {(control) => (
          <textarea
            {...control}
            class="mono"
            rows={2}
            spellcheck={false}
            value={draft.args}
            onInput={(event) => set({ args: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  )
}

function argsHint(tool: Tool | undefined): string {
  const { properties } = (tool?.parameters ?? {}) as { readonly properties?: object }
  const names = Object.keys(properties ?? {})
  return names.length === 0 ? 'A JSON object.' : `A JSON object with ${names.join(', ')}.`
}

function ConditionField({ draft, set, faultOf }: MonitorPart) {
  const name = draft.kind === 'document' ? 'doc' : 'output'
  return (
    <Field
      label="Condition (optional)"
      fault={faultOf('when')}
      hint={
        <>
          CEL over <code>{name}</code> (now), <code>before</code> (at the last look) and <code>now</code>. Without one,
          any change tells.
        </>
      }
    >
      {(control) => (
        <input
          {...control}
          class="mono"
          spellcheck={false}
          value={draft.when}
          placeholder={draft.kind === 'document' ? "doc.state == 'done'" : 'output.rate > 1.1'}
          onInput={(event) => set({ when: event.currentTarget.value })}
        />
      )}
    </Field>
  )
}
