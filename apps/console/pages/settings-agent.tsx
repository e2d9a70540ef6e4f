import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, type Problem, path } from '../api.ts'
import { useLive } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Page } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { Switch } from '../parts/switch.tsx'
import { sentence } from '../parts/words.tsx'
import { go } from '../router.ts'
import type { Agent } from '../shapes.ts'
import { LimitFields, type Limits, limitsSent, textOf } from './settings-budgets.tsx'
import { Keys } from './settings-keys.tsx'

const up = { to: '/settings', name: 'Settings' }

/** What one agent may do by itself: its ticks, its limits, the tools that need no question, its keys. */
export function AgentPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const agent = useLive<Agent>(path`/v1/agents/${id}`)
  const { data } = agent
  const { act, busy } = useAct()
  const remove = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Delete ${data!.name}?`,
      text: 'Its schedules and monitors end, its keys are refused, and what runs is recorded as skipped. There is no way back.',
      action: 'Delete',
    })
    if (!yes) return
    await act(async () => {
      await call('DELETE', path`/v1/agents/${id}`)
      go('/settings')
    }, `${data!.name} is deleted.`)
  }
  return (
    <Page
      title={data?.name ?? 'Agent'}
      up={up}
      class="settings"
      actions={
        data === null ? undefined : (
          <button type="button" onClick={() => void remove()} aria-disabled={busy}>
            Delete
          </button>
        )
      }
    >
      <Shown of={agent}>{(known) => <Form of={known} />}</Shown>
      {data === null ? null : (
        <Keys
          title="Keys"
          at={path`/v1/agents/${id}/keys`}
          lead="Each acts as this agent, for what runs without a worker of Rouse."
          make={{ text: 'Give it to the agent as ROUSE_KEY.' }}
        />
      )}
    </Page>
  )
}

/** Numbers of a tick plan: name in the API, label, what it bounds. */
const tickNumbers = [
  ['tickSeconds', 'Idle before a tick', 'Seconds since the last turn ended.'],
  ['minSleepSeconds', 'Shortest sleep', 'Seconds; an agent that asks for less gets this.'],
  ['maxSleepSeconds', 'Longest sleep', 'Seconds.'],
  ['idleTickLimit', 'Idle ticks in a row', 'After so many with nothing to do it parks.'],
  ['maxTicksPerDay', 'Ticks a day', ''],
  ['maxTokensPerDay', 'Tokens a day', 'For ticks alone.'],
  ['maxWindowMinutes', 'Time on its own', 'Minutes since somebody last wrote; then it parks.'],
] as const

function Form(o: { readonly of: Agent }) {
  const { of } = o
  // What one began with: news that come meanwhile take nothing out of one's hands.
  const [name, setName] = useState(of.name)
  const [team, setTeam] = useState(of.team)
  const [proactive, setProactive] = useState(of.proactive)
  const [limits, setLimits] = useState<Limits>({
    wakesPerDay: textOf(of.budget.wakesPerDay),
    tokensPerDay: textOf(of.budget.tokensPerDay),
    usdPerDay: textOf(of.budget.usdPerDay),
  })
  const [autoApprove, setAutoApprove] = useState(of.autoApprove.join('\n'))
  const [problem, setProblem] = useState<Problem | null>(null)
  const { act, busy } = useAct()
  const faultOf = (field: string) =>
    problem?.errors.find(({ path: at }) => at === field || at.startsWith(`${field}.`))?.message ?? null
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    setProblem(null)
    const body = {
      name,
      team,
      proactive,
      budget: limitsSent(limits),
      autoApprove: autoApprove.split('\n').flatMap((line) => line.trim() || []),
    }
    await act(() => call('PATCH', path`/v1/agents/${of.id}`, body), `${name} is saved.`, { onProblem: setProblem })
  }
  return (
    <form class="fields" onSubmit={save}>
      {problem === null ? null : (
        <div class="refused" role="alert">
          <b>Not saved.</b> {sentence(problem.detail)}
        </div>
      )}
      <fieldset class="card pad">
        <legend class="hidden">Agent</legend>
        <Field label="Name" fault={faultOf('name')}>
          {(control) => (
            <input
              {...control}
              required
              maxLength={120}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Switch
          label="Team agent"
          hint="Everybody can talk to it, and see and change its schedules."
          on={team}
          onChange={setTeam}
        />
      </fieldset>
      <fieldset class="card pad">
        <legend class="hidden">Ticks</legend>
        <Switch
          label="Wakes itself while its main conversation is idle"
          hint="It looks whether useful work is left, does a bounded part, and sleeps again. It never starts before somebody has written."
          on={proactive.enabled === true}
          onChange={(enabled) => setProactive({ ...proactive, enabled })}
        />
        {proactive.enabled === true ? (
          <div class="three">
            {tickNumbers.map(([field, label, hint]) => (
              <Field key={field} label={label} fault={faultOf(`proactive.${field}`)} {...(hint === '' ? {} : { hint })}>
                {(control) => (
                  <input
                    {...control}
                    type="number"
                    min={0}
                    required
                    value={String(proactive[field])}
                    onInput={(event) => setProactive({ ...proactive, [field]: event.currentTarget.valueAsNumber })}
                  />
                )}
              </Field>
            ))}
          </div>
        ) : null}
        {proactive.enabled === true ? (
          <Switch
            label="Also in conversations with the permission yolo"
            hint="There it may do everything unasked, with nobody watching."
            on={proactive.allowYolo === true}
            onChange={(allowYolo) => setProactive({ ...proactive, allowYolo })}
          />
        ) : null}
      </fieldset>
      <fieldset class="card pad">
        <legend>Limits a day</legend>
        <LimitFields limits={limits} set={setLimits} faultOf={(field) => faultOf(`budget.${field}`)} />
      </fieldset>
      <fieldset class="card pad">
        <legend class="hidden">Tools</legend>
        <Field
          label="Tools that need no question"
          fault={faultOf('autoApprove')}
          hint="One name a line. Flows and ticks use them without asking; others stop and ask."
        >
          {(control) => (
            <textarea
              {...control}
              class="mono"
              rows={3}
              value={autoApprove}
              onInput={(event) => setAutoApprove(event.currentTarget.value)}
            />
          )}
        </Field>
      </fieldset>
      <p class="save">
        <button type="submit" class="primary" aria-disabled={busy}>
          Save
        </button>
      </p>
    </form>
  )
}
