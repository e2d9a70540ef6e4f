import { useState } from 'preact/hooks'
import { useLiveList } from '../live.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip } from '../parts/words.tsx'
import { query } from '../router.ts'
import { FlowPromote } from './flows-promote.tsx'
import type { Trace } from './flows-shapes.ts'
import { counted, Steps, toolsWords } from './flows-steps.tsx'

/** Chooses the runs that prove a flow: two or more that did the very same. */
export function PromotePage() {
  const agent = query.value.get('agent') ?? ''
  const list = useLiveList<Trace>(`/v1/traces?agent=${encodeURIComponent(agent)}`)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [isAsked, setAsked] = useState(false)
  const toggle = (id: string): void =>
    setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id]))
  const first = list.data?.find(({ id }) => id === chosen[0])
  return (
    <Page
      title="New flow"
      up={{ to: `/flows?agent=${agent}`, name: 'Flows' }}
      lead="Choose two runs or more that made the very same tool calls, in the same order, with the same arguments."
      actions={
        <button type="button" class="primary" disabled={chosen.length === 0} onClick={() => setAsked(true)}>
          {chosen.length === 0 ? 'Promote' : `Promote ${counted(chosen.length, 'run')}`}
        </button>
      }
    >
      <Shown of={list}>
        {(all) => {
          const traces = all.filter(({ calls }) => calls.length > 0)
          return traces.length === 0 ? (
            <Empty icon="runs" title="No run to choose from">
              <p>A turn that called tools leaves a trace, which stays for 30 days. This agent has none.</p>
            </Empty>
          ) : (
            <ul class="rows choosable">
              {traces.map((trace) => (
                <TraceRow key={trace.id} of={trace} isChosen={chosen.includes(trace.id)} toggle={toggle} />
              ))}
            </ul>
          )
        }}
      </Shown>
      <More more={list.more} />
      {isAsked && first !== undefined ? (
        <FlowPromote agent={agent} traces={chosen} steps={first.calls} onClose={() => setAsked(false)} />
      ) : null}
    </Page>
  )
}

function TraceRow(o: { readonly of: Trace; readonly isChosen: boolean; readonly toggle: (id: string) => void }) {
  const { id, at, calls, outcome, tokens, project, source } = o.of
  const tools = toolsWords(calls)
  return (
    <li>
      <input
        type="checkbox"
        checked={o.isChosen}
        aria-label={`Choose the run of ${at}: ${tools}`}
        onChange={() => o.toggle(id)}
      />
      <div>
        <div class="line">
          <When at={at} />
          <StateChip state={outcome} />
          {source === 'turn' ? null : <span class="chip">{source}</span>}
          {project === null ? null : <span class="chip">{project}</span>}
          {tokens === null ? null : <span class="soft small">{counted(tokens, 'token')}</span>}
        </div>
        <details class="small">
          <summary>{tools}</summary>
          <Steps steps={calls} fates={calls} label={`Calls of ${at}`} />
        </details>
      </div>
    </li>
  )
}
