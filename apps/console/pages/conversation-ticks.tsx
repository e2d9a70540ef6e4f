import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { Ago } from '../parts/when.tsx'
import { StateChip, words } from '../parts/words.tsx'
import type { Ticks } from '../shapes.ts'

/** Whether and when an idle conversation wakes itself, why not, and Park. */
export function TicksLine(o: { readonly of: Ticks; readonly session: string }) {
  const { state, reason, nextAt, today } = o.of
  const { act, busy } = useAct()
  const park = () =>
    act(
      () => call('POST', path`/v1/sessions/${o.session}/ticks/park`, {}),
      'Parked: it does not wake itself until you write here.',
    )
  const canPark = state === 'armed' || state === 'waiting' || state === 'running'
  return (
    <section class="ticks" aria-label="Ticks">
      <b>Ticks</b>
      <StateChip state={state} />
      <span class="soft small">
        {said(state)}
        {reason === null ? null : ` ${reasons[reason] ?? words(reason)}.`}
        {nextAt === null ? null : (
          <>
            {' '}
            Next <Ago at={nextAt} />.
          </>
        )}
        {today.ticks === 0 ? null : ` ${today.ticks} today.`}
      </span>
      {canPark ? (
        <button type="button" class="quiet" onClick={() => void park()} aria-disabled={busy}>
          Park
        </button>
      ) : null}
    </section>
  )
}

/** The API's reasons as sentences; another one is shown as it is. */
const reasons: Readonly<Record<string, string>> = {
  switch_off: 'Ticks are switched off where Rouse runs',
  disabled: 'They are off for this agent',
  child_session: 'Only main conversations wake themselves',
  no_input: 'Nobody has written here yet',
  cancelled: 'Its turn was cancelled',
  parked: 'Parked by hand',
  turn_running: 'A turn runs',
  queue: 'Messages wait',
  agent_left: 'The agent has left',
  pending_requests: 'It waits for answers to its requests',
  goal: 'It works towards a goal',
  schedule_soon: 'A schedule is due soon',
  permission_manual: 'Its permissions are manual: somebody would have to be there',
  permission_yolo: 'With the permission yolo it must be allowed to first',
  max_ticks_per_day: 'It has had all its ticks of today',
  max_tokens_per_day: 'It has used all the tokens that ticks may use today',
  budget: 'A budget is used up for today',
  max_window: 'It was on its own for as long as it may be',
  idle_tick_limit: 'It found nothing to do several times in a row',
}

function said(state: Ticks['state']): string {
  switch (state) {
    case 'armed':
      return 'It wakes itself when it has been idle.'
    case 'waiting':
      return 'It wakes itself later.'
    case 'running':
      return 'It woke itself just now.'
    case 'parked':
      return 'It does not wake itself until you write here.'
    case 'off':
      return 'It does not wake itself.'
  }
}
