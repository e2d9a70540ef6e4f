import { useLive, useLiveList } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { StateChip, whenWords } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Schedule } from '../shapes.ts'
import { ownZone } from '../times.ts'
import { AgendaLine } from './agenda-line.tsx'
import { AgendaRow } from './agenda-row.tsx'
import { type Agenda, plannedOf } from './agenda-shapes.ts'
import { ResumeTool } from './agenda-tools.tsx'
import type { Trigger } from './monitors-shapes.ts'

/** Everything that will wake somebody within a day, drawn on a line and told as a list. */
export function AgendaPage() {
  const agenda = useLive<Agenda>(`/v1/agenda?hours=24&tz=${encodeURIComponent(ownZone)}`)
  return (
    <Page title="Next 24 hours" lead={<Lead of={agenda.data} />}>
      <Shown of={agenda}>
        {(known) => {
          const planned = plannedOf(known.data)
          return planned.length === 0 ? (
            <Empty icon="agenda" title="Nobody will be woken">
              <p>No schedule, monitor or tick that you can see is due within a day.</p>
              <a class="button primary" href={href('/schedules/new')}>
                New schedule
              </a>
            </Empty>
          ) : (
            <>
              <AgendaLine of={known} />
              <section class="section" aria-labelledby="in-order">
                <header>
                  <h2 id="in-order">In order</h2>
                  <p>Times in {known.tz}.</p>
                </header>
                <ul class="rows agenda">
                  {planned.map((one) => (
                    <AgendaRow key={`${one.first.kind} ${one.first.id}`} of={one} tz={known.tz} />
                  ))}
                </ul>
                {known.truncated ? (
                  <p class="soft small">There is more than can be shown here; the first are shown.</p>
                ) : null}
              </section>
            </>
          )
        }}
      </Shown>
      <OnHold />
    </Page>
  )
}

function Lead(o: { readonly of: Agenda | null }) {
  if (o.of === null) return <>Everything that will wake somebody.</>
  const { data } = o.of
  const held = data.filter(({ hold }) => hold !== null).length
  const wakes = data.length - held
  return (
    <>
      {wakes === 1 ? '1 wake' : `${wakes} wakes`} to come
      {held === 0 ? '' : `, ${held} more stand still as things are`}
    </>
  )
}

/** What was put on hold: it wakes nobody, and would be forgotten where it does not stand. */
function OnHold() {
  const schedules = useLiveList<Schedule>('/v1/schedules?status=paused', { limit: 100 }).data ?? []
  const triggers = useLiveList<Trigger>('/v1/triggers?status=paused', { limit: 100 }).data ?? []
  const names = useNames()
  const held = [
    ...schedules.map(
      (one) => ({ ...one, kind: 'schedules', at: `/schedules/${one.id}`, words: whenWords(one) }) as const,
    ),
    ...triggers.map(
      (one) => ({ ...one, kind: 'triggers', at: `/monitors/triggers/${one.id}`, words: one.inWords }) as const,
    ),
  ]
  if (held.length === 0) return null
  return (
    <section class="section" aria-labelledby="on-hold">
      <header>
        <h2 id="on-hold">On hold</h2>
        <p>These wake nobody until they are resumed.</p>
      </header>
      <ul class="rows">
        {held.map(({ id, kind, name, at, words, agent }) => (
          <li key={id} class="with-end">
            <div>
              <div class="line">
                <a class="row-name" href={href(at)}>
                  {name}
                </a>
                <StateChip state="paused" />
              </div>
              <div class="soft small">
                {words} · {names.agent(agent)}
              </div>
            </div>
            <ResumeTool kind={kind} id={id} name={name} />
          </li>
        ))}
      </ul>
    </section>
  )
}
