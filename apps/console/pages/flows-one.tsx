import { path } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip, whenWords } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Schedule } from '../shapes.ts'
import { personName } from './agenda-who.ts'
import { FlowRuns } from './flows-runs.tsx'
import type { Flow } from './flows-shapes.ts'
import { counted, Steps } from './flows-steps.tsx'
import { FlowTools } from './flows-tools.tsx'
import { ScheduleTools } from './schedule-tools.tsx'

/** One flow: what it replays, when, and what became of it. */
export function FlowPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const { agent, name } = o.params as { readonly agent: string; readonly name: string }
  const flow = useLive<Flow>(path`/v1/agents/${agent}/flows/${name}`)
  const names = useNames()
  const up = { to: `/flows?agent=${agent}`, name: 'Flows' }
  const { data } = flow
  if (data === null)
    return (
      <Page title="Flow" up={up}>
        <Shown of={flow}>{() => null}</Shown>
      </Page>
    )
  return (
    <Page
      title={data.name}
      up={up}
      lead={`${counted(data.steps.length, 'step')} of ${names.agent(agent)}, without a model`}
      actions={<FlowTools of={data} labelled />}
    >
      {data.needsApproval.length === 0 ? null : (
        <p class="banner wait">
          It stops at {data.needsApproval.join(', ')}: nobody has approved that yet. Promote it again with approval, or
          add the tool to the agent's settings.
        </p>
      )}
      <div class="with-aside">
        <section class="card pad" aria-labelledby="steps">
          <h2 id="steps">Steps</h2>
          <Steps steps={data.steps} label={`Steps of ${data.name}`} />
        </section>
        <aside aria-label="About this flow">
          <section class="card pad" aria-labelledby="times">
            <h2 id="times">When it runs</h2>
            <Times agent={agent} flow={name} />
          </section>
          <section class="card pad" aria-labelledby="about">
            <h2 id="about">Where it comes from</h2>
            <p>
              {counted(data.from.length, 'run')} that did the same, promoted by {personName(data.by)}{' '}
              <When at={data.createdAt} />
            </p>
          </section>
        </aside>
      </div>
      <FlowRuns agent={agent} flow={name} />
    </Page>
  )
}

/** Its schedules, each with what can be done with it: pausing a flow is pausing what sets it off. */
function Times(o: { readonly agent: string; readonly flow: string }) {
  const list = useLiveList<Schedule>(`/v1/schedules?agent=${encodeURIComponent(o.agent)}`, { limit: 100 })
  return (
    <Shown of={list}>
      {(all) => {
        const own = all.filter(({ flow, status }) => flow === o.flow && (status === 'active' || status === 'paused'))
        return own.length === 0 ? (
          <p class="soft">Only by hand. Schedule puts it on set times.</p>
        ) : (
          <ul class="fields">
            {own.map((schedule) => (
              <li key={schedule.id}>
                <div class="line">
                  <a class="row-name" href={href(`/schedules/${schedule.id}`)}>
                    {schedule.name}
                  </a>
                  <StateChip state={schedule.status} />
                </div>
                <div class="soft small">{whenWords(schedule)}</div>
                {schedule.nextAt === null ? null : (
                  <div class="small">
                    <When at={schedule.nextAt} tz={schedule.tz} />
                  </div>
                )}
                <ScheduleTools of={schedule} />
              </li>
            ))}
          </ul>
        )
      }}
    </Shown>
  )
}
