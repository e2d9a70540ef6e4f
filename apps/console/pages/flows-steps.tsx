import { StateChip } from '../parts/words.tsx'
import type { Step } from './flows-shapes.ts'
import { shownValue } from './monitors-words.ts'

/** `3 steps: fetch, send, fetch`. */
export function toolsWords(steps: readonly Step[]): string {
  const tools = steps.slice(0, 6).map(({ tool }) => tool)
  return `${counted(steps.length, 'step')}: ${tools.join(', ')}${steps.length > tools.length ? ' …' : ''}`
}

export const counted = (n: number, what: string): string => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`

/** What became of a step; null: it was not taken (yet). */
export interface StepFate {
  readonly status: string
  readonly result?: unknown
  readonly isClipped?: boolean
}

/** Steps in their order, each with its arguments and, where one is given, its fate. */
export function Steps(o: {
  readonly steps: readonly Step[]
  readonly fates?: readonly (StepFate | null)[]
  readonly label: string
}) {
  return (
    <ol class="steps" aria-label={o.label}>
      {o.steps.map((step, i) => (
        // A step has no name of its own: its place is what it is.
        <StepShown key={i} of={step} fate={o.fates?.[i] ?? null} />
      ))}
    </ol>
  )
}

function StepShown(o: { readonly of: Step; readonly fate: StepFate | null }) {
  const { tool, args } = o.of
  return (
    <li class={o.fate?.status ?? ''}>
      <div class="line">
        <b class="mono">{tool}</b>
        {o.fate === null ? null : <StateChip state={o.fate.status} />}
      </div>
      <Value name="with" value={args} />
      {o.fate?.result == null ? null : <Value name="result" value={o.fate.result} />}
      {o.fate?.isClipped ? <p class="soft small">More of the result was not kept.</p> : null}
    </li>
  )
}

/** A short one on its line, a long one below. */
function Value(o: { readonly name: string; readonly value: unknown }) {
  const short = typeof o.value === 'string' ? o.value : JSON.stringify(o.value)
  if (short === '{}') return null
  if (short.length <= 100 && !short.includes('\n'))
    return (
      <p class="small">
        <span class="soft">{o.name}</span> <code>{short}</code>
      </p>
    )
  return (
    <>
      <p class="soft small">{o.name}</p>
      <pre class="value">{shownValue(o.value)}</pre>
    </>
  )
}
