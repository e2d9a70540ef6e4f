import { path } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip, sentence, whenWords, words } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Run, Schedule, Why } from '../shapes.ts'
import { Runs } from './schedule-runs.tsx'
import { Slots } from './schedule-slots.tsx'
import { ScheduleTools } from './schedule-tools.tsx'

const up = { to: '/schedules', name: 'Schedules' }

/** One schedule: what it does, what comes, what stands in its way, and what became of every time. */
export function SchedulePage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const schedule = useLive<Schedule>(path`/v1/schedules/${id}`)
  const why = useLive<Why>(path`/v1/schedules/${id}/why`)
  const runs = useLiveList<Run>(path`/v1/schedules/${id}/runs`)
  const { data } = schedule
  if (data === null)
    return (
      <Page title="Schedule" up={up}>
        <Shown of={schedule}>{() => null}</Shown>
      </Page>
    )
  return (
    <Page
      title={data.name}
      up={up}
      lead={
        <span class="line">
          <StateChip state={data.waitingFor === null ? data.status : 'held'} />
          {whenWords(data)}
        </span>
      }
      actions={<ScheduleTools of={data} labelled />}
    >
      {data.waitingFor === null ? null : (
        <p class="banner wait">
          A run is held, {data.waitingFor}.{' '}
          {data.createdIn === null ? null : <a href={href(`/conversations/${data.createdIn}`)}>Go there</a>}
        </p>
      )}
      {why.data === null ? null : <Slots of={why.data} tz={data.tz} />}
      <div class="with-aside">
        <section aria-labelledby="runs">
          <h2 id="runs">Runs</h2>
          <Shown of={runs}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty icon="runs" title="It has not run yet">
                  <p>Every time it runs, or does not, stands here with what became of it and why.</p>
                </Empty>
              ) : (
                <Runs rows={rows} tz={data.tz} />
              )
            }
          </Shown>
          <More more={runs.more} />
        </section>
        <aside aria-label="About this schedule">
          <section class="card pad" aria-labelledby="why">
            <h2 id="why">Next, and why</h2>
            <Shown of={why}>{(known) => <WhyNext of={known} tz={data.tz} />}</Shown>
          </section>
          <section class="card pad" aria-labelledby="what">
            <h2 id="what">What it does</h2>
            <What of={data} />
          </section>
        </aside>
      </div>
    </Page>
  )
}

function WhyNext(o: { readonly of: Why; readonly tz: string }) {
  const { status, reason, holds, next } = o.of
  return (
    <dl class="pairs stacked">
      <dt>Status</dt>
      <dd>{reason === null ? words(status) : `${words(status)}: ${words(reason)}`}</dd>
      <dt>In its way</dt>
      <dd>
        {holds.length === 0
          ? status === 'active'
            ? 'nothing'
            : 'it is not active'
          : holds.map(({ code, detail }) => (
              <p key={code} class="held">
                {sentence(detail)}
              </p>
            ))}
      </dd>
      <dt>Next</dt>
      <dd>
        {next.length === 0
          ? 'no next run'
          : next.map(({ at, adjusted }) => (
              <div key={at}>
                <When at={at} tz={o.tz} adjusted={adjusted} />
              </div>
            ))}
      </dd>
    </dl>
  )
}

function What(o: { readonly of: Schedule }) {
  const s = o.of
  const names = useNames()
  const at = (id: string) => <a href={href(`/conversations/${id}`)}>{names.conversation(id)}</a>
  const rule = s.cron ?? s.rrule
  const more: readonly (readonly [string, string | number | null])[] = [
    ['Rule', rule],
    ['Delivers to', s.deliver.length === 0 ? null : s.deliver.join('\n')],
    ['If missed', typeof s.misfire === 'string' ? misfires[s.misfire]! : `made up within ${s.misfire.within}`],
    ['If running', overlaps[s.overlap] ?? s.overlap],
    ['If unknown', s.onUnknown === 'retry' ? 'tried once more' : null],
    ['Jitter', s.jitter],
    ['Until', s.until],
    ['At most', s.maxRuns === null ? null : `${s.maxRuns} runs`],
    ['Pauses after', s.pauseAfterFailures === null ? null : `${s.pauseAfterFailures} failures in a row`],
    ['Note', s.note],
  ]
  return (
    <dl class="pairs stacked">
      <dt>{s.kind === 'flow' ? 'Flow' : 'Prompt'}</dt>
      <dd class="prompt">{s.flow ?? s.prompt}</dd>
      <dt>Agent</dt>
      <dd>{names.agent(s.agent)}</dd>
      <dt>Conversation</dt>
      <dd>{s.session === null ? 'a new one each time' : at(s.session)}</dd>
      {s.channel === null ? null : (
        <>
          <dt>Channel</dt>
          <dd>{at(s.channel)}</dd>
        </>
      )}
      {s.createdIn === null ? null : (
        <>
          <dt>Made in</dt>
          <dd>{at(s.createdIn)}</dd>
        </>
      )}
      {s.check === null ? null : (
        <>
          <dt>Check first</dt>
          <dd>
            <code>
              {'script' in s.check ? s.check.script : `${s.check.tool} ${JSON.stringify(s.check.args ?? {})}`}
            </code>
          </dd>
        </>
      )}
      {more.map(([name, value]) =>
        value === null ? null : (
          <div key={name} class="pair">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

const misfires: Readonly<Record<string, string>> = { once: 'made up once', skip: 'skipped' }
const overlaps: Readonly<Record<string, string>> = {
  skip: 'skips',
  buffer: 'waits its turn',
  allow: 'runs beside it',
  cancel: 'cancels the one that runs',
}
