import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, session } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { Icon } from '../parts/icon.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Switch } from '../parts/switch.tsx'
import { href } from '../router.ts'
import type { Agent } from '../shapes.ts'
import { NewAgent } from './agent-new.tsx'
import { OwnBudget } from './settings-budgets.tsx'
import { Calendars } from './settings-calendars.tsx'
import { Keys } from './settings-keys.tsx'
import { People } from './settings-people.tsx'

/** What agents may do, what it may cost, and the keys to it. */
export function SettingsPage() {
  return (
    <Page title="Settings" class="settings" lead="What agents may do by themselves, and what it may cost.">
      <Deployment />
      <Agents />
      <OwnBudget />
      <Keys
        title="Your keys"
        at="/v1/keys"
        lead="Each opens everything that is yours. Your agents have keys of their own."
      />
      <Calendars />
      {session.value?.person?.admin === true ? <People /> : null}
    </Page>
  )
}

function Deployment() {
  const settings = useLive<{ readonly agentSessions: boolean }>('/v1/settings')
  const { act, busy } = useAct()
  const turn = (agentSessions: boolean) =>
    act(
      () => call('PATCH', '/v1/settings', { agentSessions }),
      agentSessions ? 'Agents may write to other conversations.' : 'Agents stay in the conversation that they are in.',
    )
  return (
    <section class="section" aria-labelledby="deployment">
      <header>
        <h2 id="deployment">Agents and conversations</h2>
      </header>
      <Shown of={settings}>
        {({ agentSessions }) => (
          <div class="card pad">
            <Switch
              label="Agents may write to, schedule in and open other conversations"
              hint="Off, an agent’s own calls that reach beyond its conversation are refused with agent_sessions_off. What people schedule runs either way."
              on={agentSessions}
              aria-disabled={busy}
              onChange={(on) => void turn(on)}
            />
          </div>
        )}
      </Shown>
    </section>
  )
}

function Agents() {
  const list = useLiveList<Agent>('/v1/agents')
  const [isNew, setNew] = useState(false)
  return (
    <section class="section" aria-labelledby="agents">
      <header>
        <h2 id="agents">Agents</h2>
        <button type="button" onClick={() => setNew(true)}>
          <Icon name="plus" /> Add an agent
        </button>
      </header>
      <Shown of={list}>
        {(agents) =>
          agents.length === 0 ? (
            <Empty icon="agent" title="No agent yet">
              <p>An agent is whatever reads a message and prints an answer. Add one, then let a worker serve it.</p>
            </Empty>
          ) : (
            <ul class="rows">
              {agents.map((agent) => (
                <AgentRow key={agent.id} of={agent} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
      {isNew ? <NewAgent onClose={() => setNew(false)} /> : null}
    </section>
  )
}

function AgentRow(o: { readonly of: Agent }) {
  const { id, name, team, sharedWith, project, proactive, workerConnected } = o.of
  const isOn = proactive.enabled === true
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <a class="row-name" href={href(`/settings/agents/${id}`)}>
            {name}
          </a>
          {team ? <span class="chip">team</span> : null}
          {sharedWith.length === 0 ? null : <span class="chip">shared with {sharedWith.length}</span>}
          {workerConnected === null ? null : (
            <span class={`chip ${workerConnected ? 'good' : 'wait'}`}>
              {workerConnected ? 'worker connected' : 'no worker'}
            </span>
          )}
        </div>
        <div class="soft small">
          {project === null ? '' : `${project} · `}
          {isOn ? `ticks on, at most ${String(proactive.maxTicksPerDay)} a day` : 'ticks off'}
        </div>
      </div>
      <a class="button" href={href(`/settings/agents/${id}`)} aria-label={`Settings of ${name}`}>
        Settings
      </a>
    </li>
  )
}
