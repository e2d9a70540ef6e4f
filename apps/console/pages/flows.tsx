import { path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'
import { go, href, query } from '../router.ts'
import type { Agent } from '../shapes.ts'
import { flowPlace } from './flows-place.ts'
import { FlowRuns } from './flows-runs.tsx'
import { Shadows } from './flows-shadows.tsx'
import type { Flow } from './flows-shapes.ts'
import { toolsWords } from './flows-steps.tsx'
import { Suggestions } from './flows-suggestions.tsx'
import { FlowTools } from './flows-tools.tsx'

/** What an agent can do without a model: its flows, what could become one, and their runs. */
export function FlowsPage() {
  const agents = useLiveList<Agent>('/v1/agents', { limit: 100 })
  const asked = query.value.get('agent')
  const agent = agents.data?.find(({ id }) => id === asked) ?? agents.data?.[0]
  return (
    <Page
      title="Flows"
      lead="The same tool calls, in the same order, with the same arguments. Replayed without a model."
      actions={
        agent === undefined ? undefined : (
          <a class="button primary" href={href(`/flows/promote?agent=${agent.id}`)}>
            <Icon name="plus" /> New flow
          </a>
        )
      }
    >
      <Shown of={agents}>
        {(all) =>
          agent === undefined ? (
            <Empty icon="agent" title="An agent comes first">
              <p>A flow is made of what an agent has done, and there is no agent yet.</p>
              <a class="button primary" href={href('/settings')}>
                Add an agent
              </a>
            </Empty>
          ) : (
            <>
              <AgentPicker agents={all} agent={agent.id} />
              <Suggestions agent={agent.id} />
              <Shadows agent={agent.id} />
              <Flows agent={agent} />
              <FlowRuns agent={agent.id} />
            </>
          )
        }
      </Shown>
    </Page>
  )
}

function AgentPicker(o: { readonly agents: readonly Agent[]; readonly agent: string }) {
  if (o.agents.length < 2) return null
  return (
    <p class="picker">
      <label for="whose-flows">Agent</label>
      <select
        id="whose-flows"
        value={o.agent}
        onChange={(event) => go(`/flows?agent=${event.currentTarget.value}`, { replace: true })}
      >
        {o.agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </p>
  )
}

function Flows(o: { readonly agent: Agent }) {
  const list = useLiveList<Flow>(path`/v1/agents/${o.agent.id}/flows`)
  return (
    <section class="section" aria-labelledby="flows">
      <header>
        <h2 id="flows">Flows of {o.agent.name}</h2>
      </header>
      <Shown of={list}>
        {(flows) =>
          flows.length === 0 ? (
            <Empty icon="flows" title="No flow yet">
              <p>
                When {o.agent.name} has done the very same twice, that can become a flow. It is suggested here, or you
                choose the runs yourself.
              </p>
            </Empty>
          ) : (
            <ul class="rows works">
              {flows.map((flow) => (
                <FlowRow key={flow.name} of={flow} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </section>
  )
}

function FlowRow(o: { readonly of: Flow }) {
  const { name, agent, steps, needsApproval, createdAt } = o.of
  return (
    <li>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(flowPlace(agent, name))}>
            {name}
          </a>
          {needsApproval.length === 0 ? null : <span class="chip wait">needs approval</span>}
        </div>
        <div class="soft small clip">{toolsWords(steps)}</div>
      </div>
      <div class="next soft small">
        promoted <Ago at={createdAt} />
      </div>
      <FlowTools of={o.of} />
    </li>
  )
}
