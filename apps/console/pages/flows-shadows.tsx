import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { href } from '../router.ts'
import type { Flow } from './flows-shapes.ts'
import { Steps, toolsWords } from './flows-steps.tsx'

/** Flows that are none yet: the next runs are compared with them. Nothing is drawn where there is none. */
export function Shadows(o: { readonly agent: string }) {
  const list = useLiveList<Flow>(path`/v1/agents/${o.agent}/flow-shadows`, { limit: 100 })
  if (list.data === null || list.data.length === 0) return null
  return (
    <section class="section" aria-labelledby="shadows">
      <header>
        <h2 id="shadows">In the shadow</h2>
        <p>The next runs that begin alike are compared with these; none of them runs.</p>
      </header>
      <ul class="rows">
        {list.data.map((shadow) => (
          <ShadowRow key={shadow.name} of={shadow} />
        ))}
      </ul>
    </section>
  )
}

function ShadowRow(o: { readonly of: Flow }) {
  const { name, agent, steps } = o.of
  const { agreed, wanted } = o.of.shadow ?? { agreed: 0, wanted: 1 }
  const { act, busy } = useAct()
  const isOffered = agreed >= wanted
  const forget = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Forget ${name}?`,
      text: 'No run is compared with it any more, and it does not become a flow.',
      action: 'Forget it',
    })
    if (yes) await act(() => call('DELETE', path`/v1/agents/${agent}/flows/${name}`), `${name} is forgotten.`)
  }
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <b>{name}</b>
          <span class={`chip ${isOffered ? 'good' : 'accent'}`}>
            {agreed} of {wanted} agreed
          </span>
          <progress class="agreed" max={wanted} value={agreed} aria-label={`Runs that agreed with ${name}`} />
        </div>
        {isOffered ? (
          <p class="small">
            All agreed. <a href={href('/feed')}>The feed asks whether it becomes a flow.</a>
          </p>
        ) : null}
        <details class="small">
          <summary>{toolsWords(steps)}</summary>
          <Steps steps={steps} label={`Steps of ${name}`} />
        </details>
      </div>
      <button type="button" aria-label={`Forget ${name}`} disabled={busy} onClick={() => void forget()}>
        Forget
      </button>
    </li>
  )
}
