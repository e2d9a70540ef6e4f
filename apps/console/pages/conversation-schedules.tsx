import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLiveList } from '../live.ts'
import { confirmed, Dialog } from '../parts/dialog.tsx'
import { More, Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { StateChip, whenWords } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Schedule } from '../shapes.ts'

/** What the chip opens: the schedules that fire in a conversation and those that it made. */
export function ScheduledHere(o: { readonly session: string; readonly onClose: () => void }) {
  const session = encodeURIComponent(o.session)
  const here = useLiveList<Schedule>(`/v1/schedules?session=${session}`)
  const made = useLiveList<Schedule>(`/v1/schedules?createdIn=${session}`)
  return (
    <Dialog title="Scheduled here" onClose={o.onClose} wide>
      <Shown of={here}>
        {(rows) => (
          <Rows
            rows={[...rows, ...(made.data ?? []).filter(({ id }) => !rows.some((row) => row.id === id))]}
            session={o.session}
          />
        )}
      </Shown>
      <More more={here.more ?? made.more} />
    </Dialog>
  )
}

function Rows(o: { readonly rows: readonly Schedule[]; readonly session: string }) {
  // What has ended is not scheduled any more; its page still tells its runs.
  const rows = o.rows.filter(({ status }) => status === 'active' || status === 'paused')
  if (rows.length === 0) return <p class="soft">Nothing is scheduled here any more.</p>
  return (
    <ul class="rows">
      {rows.map((row) => (
        <Row key={row.id} of={row} isElsewhere={row.session !== o.session} />
      ))}
    </ul>
  )
}

function Row(o: { readonly of: Schedule; readonly isElsewhere: boolean }) {
  const { id, name, status, tz, nextAt, waitingFor } = o.of
  const { act, busy } = useAct()
  const cancel = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Cancel ${name}?`,
      text: 'The schedule is deleted and never runs again. Its runs stay readable for 90 days.',
      action: 'Cancel the schedule',
    })
    if (yes) await act(() => call('DELETE', path`/v1/schedules/${id}`), `${name} is cancelled.`)
  }
  return (
    <li class="with-end">
      <div>
        <div class="line">
          <a class="row-name" href={href(`/schedules/${id}`)}>
            {name}
          </a>
          {status === 'active' && waitingFor === null ? null : (
            <StateChip state={waitingFor === null ? status : 'held'} />
          )}
          {o.isElsewhere ? <span class="chip">fires elsewhere</span> : null}
        </div>
        <div class="soft small">{whenWords(o.of)}</div>
        <div class="small">
          {nextAt === null ? <span class="soft">no next run</span> : <When at={nextAt} tz={tz} />}
        </div>
        {waitingFor === null ? null : <div class="held small">{waitingFor}</div>}
      </div>
      <button type="button" onClick={() => void cancel()} aria-disabled={busy} aria-label={`Cancel ${name}`}>
        Cancel
      </button>
    </li>
  )
}
