import { useLive } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { When } from '../parts/when.tsx'
import { href } from '../router.ts'
import { kindWords, type Planned, placeOf } from './agenda-shapes.ts'
import { type Budget, spendWords } from './agenda-spend.ts'
import { AgendaTools } from './agenda-tools.tsx'
import { askedBy } from './agenda-who.ts'

/** One thing: its next time and the others, whom it wakes, who asked, what it may spend, and what stands in its way. */
export function AgendaRow(o: { readonly of: Planned; readonly tz: string }) {
  const { first, entries } = o.of
  const names = useNames()
  const { kind, name, at, adjusted, agent, session, who, checked, hold } = first
  const budgets = useLive<{ readonly data: readonly Budget[] }>('/v1/budgets').data?.data ?? []
  const rest = entries.slice(1)
  return (
    <li id={`at-${first.kind}-${first.id}`}>
      <div class="at">
        <When at={at} tz={o.tz} adjusted={adjusted} />
        {rest.length === 0 ? null : (
          <details class="small">
            <summary>{rest.length === 1 ? '1 more time' : `${rest.length} more times`}</summary>
            <ul class="more-times">
              {rest.map((entry) => (
                <li key={entry.at}>
                  <When at={entry.at} tz={o.tz} adjusted={entry.adjusted} />
                  {entry.hold === null || entry.hold.code === hold?.code ? null : (
                    <span class="held small"> {entry.hold.detail}</span>
                  )}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(placeOf(first))}>
            {name}
          </a>
          <span class={`chip kind-${kind}`}>{kindWords[kind]}</span>
          {checked ? <span class="chip">looks first</span> : null}
        </div>
        {hold === null ? null : <p class="held small">{sentence(hold.detail)}</p>}
        <p class="soft small">
          wakes {names.agent(agent)} in {session === null ? 'a new conversation' : names.conversation(session)}
        </p>
        <dl class="facts small">
          <div>
            <dt>Asked for by</dt>
            <dd>{askedBy(who, names.agent)}</dd>
          </div>
          <div>
            <dt>May spend</dt>
            <dd>{spendWords(first, budgets)}</dd>
          </div>
        </dl>
      </div>
      <AgendaTools of={first} />
    </li>
  )
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`
