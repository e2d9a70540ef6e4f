import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Ago } from '../parts/when.tsx'
import { FlowPromote } from './flows-promote.tsx'
import type { Suggestion } from './flows-shapes.ts'
import { counted, Steps, toolsWords } from './flows-steps.tsx'

/** What an agent has done again and again with a model, and could do without. Nothing is drawn where there is nothing. */
export function Suggestions(o: { readonly agent: string }) {
  const list = useLiveList<Suggestion>(path`/v1/agents/${o.agent}/flow-suggestions`, { limit: 100 })
  if (list.data === null || list.data.length === 0) return null
  return (
    <section class="section" aria-labelledby="suggestions">
      <header>
        <h2 id="suggestions">Could be flows</h2>
        <p>Done the very same way, more than once.</p>
      </header>
      <ul class="rows">
        {list.data.map((suggestion) => (
          <SuggestionRow key={suggestion.fingerprint} of={suggestion} agent={o.agent} />
        ))}
      </ul>
    </section>
  )
}

function SuggestionRow(o: { readonly of: Suggestion; readonly agent: string }) {
  const { fingerprint, count, tokens, usd, traces, steps, lastAt } = o.of
  const { act, busy } = useAct()
  const [isAsked, setAsked] = useState(false)
  const tools = toolsWords(steps)
  const decline = () =>
    act(
      () => call('DELETE', path`/v1/agents/${o.agent}/flow-suggestions/${fingerprint}`),
      'Declined: it is not suggested again.',
    )
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <b>{counted(count, 'run')} did the same</b>
          <span class="soft small">
            {counted(tokens, 'token')}
            {usd === 0 ? '' : `, $${usd.toFixed(2)}`} together · last <Ago at={lastAt} />
          </span>
        </div>
        <details class="small">
          <summary>{tools}</summary>
          <Steps steps={steps} label={`Steps of ${tools}`} />
        </details>
      </div>
      <div class="tools">
        <button type="button" class="primary" aria-label={`Accept: ${tools}`} onClick={() => setAsked(true)}>
          Accept
        </button>
        <button type="button" aria-label={`Decline: ${tools}`} disabled={busy} onClick={() => void decline()}>
          Decline
        </button>
      </div>
      {isAsked ? <FlowPromote agent={o.agent} traces={traces} steps={steps} onClose={() => setAsked(false)} /> : null}
    </li>
  )
}
