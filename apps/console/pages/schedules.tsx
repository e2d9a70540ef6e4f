import { useLiveList } from '../live.ts'
import { Icon } from '../parts/icon.tsx'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip, whenWords, words } from '../parts/words.tsx'
import { href, query } from '../router.ts'
import type { Schedule } from '../shapes.ts'
import { ScheduleTools } from './schedule-tools.tsx'

const filters = [
  ['All', null],
  ['Active', 'active'],
  ['Paused', 'paused'],
  ['Done', 'done'],
  ['Ended', 'ended'],
] as const

/** S2-80: every schedule that one may see, and what can be done with each. */
export function SchedulesPage() {
  const status = query.value.get('status')
  const list = useLiveList<Schedule>(
    status === null ? '/v1/schedules' : `/v1/schedules?status=${encodeURIComponent(status)}`,
  )
  return (
    <Page
      title="Schedules"
      lead="Prompts and flows that go out at their times."
      actions={
        <a class="button primary" href={href('/schedules/new')}>
          <Icon name="plus" /> New schedule
        </a>
      }
    >
      <nav class="filters" aria-label="Which schedules">
        {filters.map(([name, value]) => (
          <a
            key={name}
            class="button"
            href={href(value === null ? '/schedules' : `/schedules?status=${value}`)}
            aria-current={status === value ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <Shown of={list}>
        {(schedules) =>
          schedules.length === 0 ? (
            <NoSchedules isFiltered={status !== null} />
          ) : (
            <ul class="rows schedules">
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.id} of={schedule} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
    </Page>
  )
}

function NoSchedules(o: { readonly isFiltered: boolean }) {
  if (o.isFiltered)
    return (
      <Empty icon="schedules" title="None like that">
        <p>
          No schedule is in this state. <a href={href('/schedules')}>All schedules</a>
        </p>
      </Empty>
    )
  return (
    <Empty icon="schedules" title="Nothing is scheduled yet">
      <p>A schedule writes to an agent at its times: on weekdays at 8, every six hours, once on Friday.</p>
      <a class="button primary" href={href('/schedules/new')}>
        New schedule
      </a>
    </Empty>
  )
}

function ScheduleRow(o: { readonly of: Schedule }) {
  const { id, name, status, tz, nextAt, next, session, agent, waitingFor, check, kind } = o.of
  const names = useNames()
  const reason = o.of.endedReason ?? o.of.pausedReason
  return (
    <li>
      <div class="what">
        <div class="line">
          <a class="row-name" href={href(`/schedules/${id}`)}>
            {name}
          </a>
          <StateChip state={waitingFor === null ? status : 'held'} />
          {kind === 'flow' ? <span class="chip">flow</span> : null}
          {check === null ? null : <span class="chip">checks first</span>}
        </div>
        <div class="soft small">{whenWords(o.of)}</div>
        {waitingFor === null ? null : <div class="held small">{waitingFor}</div>}
        {reason === null ? null : <div class="soft small">{words(reason)}</div>}
      </div>
      <div class="next">
        {nextAt === null ? (
          <span class="soft">no next run</span>
        ) : (
          <When at={nextAt} tz={tz} adjusted={next[0]?.adjusted ?? null} />
        )}
        <div class="soft small clip">
          {names.agent(agent)}
          {' · '}
          {session === null ? 'a new conversation each time' : names.conversation(session)}
        </div>
      </div>
      <ScheduleTools of={o.of} />
    </li>
  )
}
