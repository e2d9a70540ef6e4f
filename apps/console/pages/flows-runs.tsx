import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { More, Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip, words } from '../parts/words.tsx'
import { href } from '../router.ts'
import { personName } from './agenda-who.ts'
import type { FlowRun } from './flows-shapes.ts'

/** The runs of an agent's flows, newest first; of one of them, where it is named. */
export function FlowRuns(o: { readonly agent: string; readonly flow?: string }) {
  const list = useLiveList<FlowRun>(path`/v1/agents/${o.agent}/flow-runs`)
  return (
    <section class="section" aria-labelledby="flow-runs">
      <header>
        <h2 id="flow-runs">Runs</h2>
      </header>
      <Shown of={list}>
        {(all) => {
          const runs = o.flow === undefined ? all : all.filter(({ flow }) => flow === o.flow)
          return runs.length === 0 ? (
            <p class="soft">
              {list.more === null ? 'It has not run yet.' : 'None of the latest runs is of this flow.'}
            </p>
          ) : (
            <ul class="rows">
              {runs.map((run) => (
                <li key={run.id} class="with-end">
                  <RunShown of={run} />
                </li>
              ))}
            </ul>
          )
        }}
      </Shown>
      <More more={list.more} />
    </section>
  )
}

function RunShown(o: { readonly of: FlowRun }) {
  const { id, flow, status, createdAt, by, schedule } = o.of
  return (
    <>
      <div>
        <div class="line">
          <a class="row-name" href={href(`/flows/runs/${id}`)} aria-label={`Run of ${flow}, ${createdAt}`}>
            {flow}
          </a>
          <span class="small">
            <When at={createdAt} />
          </span>
        </div>
        <div class="soft small">
          {stepWords(o.of)}
          {' · '}
          {schedule === null ? `started by ${personName(by)}` : 'on schedule'}
        </div>
      </div>
      <StateChip state={status} />
    </>
  )
}

/** `step 2 of 3`, and why it ended there. */
export function stepWords({ status, step, steps, reason }: FlowRun): string {
  const why = reason === null ? '' : `: ${words(reason)}`
  if (step === null || steps === null) return reason === null ? 'not begun' : words(reason)
  if (status === 'ok') return steps === 1 ? 'its one step done' : `all ${steps} steps done`
  return `${status === 'running' ? 'at' : 'ended at'} step ${step} of ${steps}${why}`
}
