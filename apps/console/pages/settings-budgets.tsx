import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call } from '../api.ts'
import { useLive } from '../live.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { useNames } from '../parts/names.ts'
import { Shown } from '../parts/states.tsx'
import { href } from '../router.ts'

interface Limited {
  readonly limit: number | null
  readonly used: number
  readonly left: number | null
}

/** What a person or an agent may use a day, and has used today. */
export interface Budget {
  readonly scope: 'person' | 'agent'
  readonly id: string
  readonly day: string
  readonly wakes: Limited
  readonly tokens: Limited
  readonly usd: Limited
}

/** Today's use of one's own budget and of those of one's agents. */
export function OwnBudget() {
  const budgets = useLive<{ readonly data: readonly Budget[] }>('/v1/budgets')
  const [isEdited, setEdited] = useState(false)
  const own = budgets.data?.data.find(({ scope }) => scope === 'person')
  return (
    <section class="section" aria-labelledby="budgets">
      <header>
        <div>
          <h2 id="budgets">Budgets today</h2>
          <p>A wake that would go past a limit is skipped, and says so. Without a limit nothing is counted.</p>
        </div>
        <button type="button" onClick={() => setEdited(true)} disabled={own === undefined}>
          Set your limits
        </button>
      </header>
      <Shown of={budgets}>
        {({ data }) => (
          <ul class="rows budgets">
            {data.map((one) => (
              <Row key={one.id} of={one} />
            ))}
          </ul>
        )}
      </Shown>
      {isEdited && own !== undefined ? <OwnLimits of={own} onClose={() => setEdited(false)} /> : null}
    </section>
  )
}

function Row(o: { readonly of: Budget }) {
  const { scope, id, wakes, tokens, usd } = o.of
  const names = useNames()
  return (
    <li>
      {scope === 'person' ? (
        <b>You, in all</b>
      ) : (
        <a class="row-name" href={href(`/settings/agents/${id}`)}>
          {names.agent(id)}
        </a>
      )}
      <dl class="uses">
        <Use name="Wakes" of={wakes} />
        <Use name="Tokens" of={tokens} />
        <Use name="USD" of={usd} />
      </dl>
    </li>
  )
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

function Use(o: { readonly name: string; readonly of: Limited }) {
  const { limit, used } = o.of
  const isShort = limit !== null && used >= limit
  return (
    <div>
      <dt>{o.name}</dt>
      <dd>
        {limit === null ? (
          <span class="soft">no limit</span>
        ) : (
          <>
            <span class={isShort ? 'short' : ''}>
              {number.format(used)} <span class="soft">of {number.format(limit)}</span>
              {isShort ? ' · used up' : ''}
            </span>
            <meter min={0} max={Math.max(limit, 1e-9)} value={Math.min(used, limit)} aria-label={`${o.name} used`} />
          </>
        )}
      </dd>
    </div>
  )
}

export type Limits = Readonly<Record<'wakesPerDay' | 'tokensPerDay' | 'usdPerDay', string>>

/** What stands in the fields, as the API takes it: an empty field takes a limit away; what is no number it refuses, and says why. */
export const limitsSent = (limits: Limits): Record<string, number | string | null> =>
  Object.fromEntries(
    Object.entries(limits).map(([name, text]) => [
      name,
      text.trim() === '' ? null : Number.isNaN(Number(text)) ? text : Number(text),
    ]),
  )

export const textOf = (limit: number | null | undefined): string => (limit == null ? '' : String(limit))

/** The three limits, each of which may be left empty. */
export function LimitFields(o: {
  readonly limits: Limits
  readonly set: (limits: Limits) => void
  readonly faultOf: (field: string) => string | null
}) {
  const field = (name: keyof Limits, label: string) => (
    <Field label={label} fault={o.faultOf(name)}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          value={o.limits[name]}
          placeholder="no limit"
          onInput={(event) => o.set({ ...o.limits, [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  return (
    <div class="three">
      {field('wakesPerDay', 'Wakes a day')}
      {field('tokensPerDay', 'Tokens a day')}
      {field('usdPerDay', 'USD a day')}
    </div>
  )
}

function OwnLimits(o: { readonly of: Budget; readonly onClose: () => void }) {
  const { wakes, tokens, usd } = o.of
  const [limits, setLimits] = useState<Limits>({
    wakesPerDay: textOf(wakes.limit),
    tokensPerDay: textOf(tokens.limit),
    usdPerDay: textOf(usd.limit),
  })
  const [faults, setFaults] = useState<readonly { readonly path: string; readonly message: string }[]>([])
  const { act, busy } = useAct()
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isDone = await act(() => call('PATCH', '/v1/budgets', limitsSent(limits)), 'Your limits hold from now on.', {
      onProblem: ({ errors, detail }) =>
        setFaults(errors.length > 0 ? errors : [{ path: 'wakesPerDay', message: detail }]),
    })
    if (isDone) o.onClose()
  }
  return (
    <Dialog title="Your limits a day" onClose={o.onClose} wide>
      <form onSubmit={save}>
        <p class="soft">
          They hold for everything that is woken for you, by whichever agent. The day is that of your zone.
        </p>
        <LimitFields
          limits={limits}
          set={setLimits}
          faultOf={(name) => faults.find(({ path }) => path === name)?.message ?? null}
        />
        <footer>
          <button type="submit" class="primary" aria-disabled={busy}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
