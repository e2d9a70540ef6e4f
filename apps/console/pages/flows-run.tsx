import { path } from '../api.ts'
import { useLive } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip } from '../parts/words.tsx'
import { href } from '../router.ts'
import { personName } from './agenda-who.ts'
import { flowPlace } from './flows-place.ts'
import { stepWords } from './flows-runs.tsx'
import type { Flow, FlowRun, Trace } from './flows-shapes.ts'
import { type StepFate, Steps } from './flows-steps.tsx'

/** One run of a flow: every step, with what it came to. */
export function FlowRunPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const run = useLive<FlowRun>(path`/v1/flow-runs/${o.params.id!}`)
  const { data } = run
  if (data === null)
    return (
      <Page title="Run" up={{ to: '/flows', name: 'Flows' }}>
        <Shown of={run}>{() => null}</Shown>
      </Page>
    )
  const { agent, flow, status } = data
  return (
    <Page
      title={`Run of ${flow}`}
      up={{ to: flowPlace(agent, flow), name: flow }}
      lead={
        <span class="line">
          <StateChip state={status} />
          {stepWords(data)}
        </span>
      }
    >
      <div class="with-aside">
        <section class="card pad" aria-labelledby="steps">
          <h2 id="steps">Steps</h2>
          {data.detail === null ? null : <p class="refused">{data.detail}</p>}
          {data.trace === null ? <Planned of={data} /> : <Taken of={data} trace={data.trace} />}
        </section>
        <aside aria-label="About this run">
          <section class="card pad" aria-labelledby="about">
            <h2 id="about">About</h2>
            <About of={data} />
          </section>
        </aside>
      </div>
    </Page>
  )
}

/** While it runs, and where it left no trace: the steps of the flow, as far as it came. */
function Planned(o: { readonly of: FlowRun }) {
  const { agent, flow, status, step } = o.of
  const plan = useFlow(agent, flow)
  if (plan === null) return <p class="soft">The flow is not there any more.</p>
  const at = (step ?? 1) - 1
  const fates = plan.steps.map((_, i): StepFate | null => {
    if (status === 'running') return i < at ? { status: 'ok' } : i === at ? { status: 'running' } : null
    return i === at ? { status } : i < at ? { status: 'ok' } : null
  })
  return <Steps steps={plan.steps} fates={fates} label="Steps" />
}

/** What it did; of the flow's steps those that it did not come to stand below. */
function Taken(o: { readonly of: FlowRun; readonly trace: string }) {
  const trace = useLive<Trace>(path`/v1/traces/${o.trace}`)
  const plan = useFlow(o.of.agent, o.of.flow)
  return (
    <Shown of={trace}>
      {({ calls }) => {
        const taken = calls.map(({ status, result, resultClipped }) => ({ status, result, isClipped: resultClipped }))
        // What stopped it before it called the step.
        const isStopped = o.of.status !== 'ok' && o.of.step === calls.length + 1
        const fates: readonly StepFate[] = isStopped ? [...taken, { status: o.of.status }] : taken
        const rest = plan === null || plan.steps.length !== o.of.steps ? [] : plan.steps.slice(calls.length)
        return <Steps steps={[...calls, ...rest]} fates={fates} label="Steps" />
      }}
    </Shown>
  )
}

/** Out of the list: a flow that is gone is no error there. */
function useFlow(agent: string, name: string): Flow | null {
  const flows = useLive<{ readonly data: readonly Flow[] }>(`${path`/v1/agents/${agent}/flows`}?limit=100`)
  return flows.data?.data.find((flow) => flow.name === name) ?? null
}

function About(o: { readonly of: FlowRun }) {
  const { agent, flow, schedule, by, createdAt, endedAt } = o.of
  const names = useNames()
  return (
    <dl class="pairs stacked">
      <dt>Flow</dt>
      <dd>
        <a href={href(flowPlace(agent, flow))}>{flow}</a> of {names.agent(agent)}
      </dd>
      <dt>Started by</dt>
      <dd>
        {schedule === null ? (
          personName(by)
        ) : (
          <>
            <a href={href(`/schedules/${schedule}`)}>its schedule</a>, for {personName(by)}
          </>
        )}
      </dd>
      <dt>Started</dt>
      <dd>
        <When at={createdAt} />
      </dd>
      {endedAt === null ? null : (
        <>
          <dt>Ended</dt>
          <dd>
            <When at={endedAt} />
          </dd>
        </>
      )}
    </dl>
  )
}
