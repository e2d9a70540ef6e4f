import { When } from '../parts/when.tsx'
import { StateChip, words } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Run } from '../shapes.ts'

/** S2-44: every run with its time, what became of the slot, how its turn ended, and why. */
export function Runs(o: { readonly rows: readonly Run[]; readonly tz: string }) {
  return (
    <ul class="rows runs" aria-label={`Runs, times in ${o.tz}`}>
      {o.rows.map((run) => (
        <li key={run.id}>
          <When at={run.nominalAt} tz={o.tz} />
          <span class="line">
            <StateChip state={run.outcome} />
            {run.result === null ? null : <StateChip state={run.result} />}
          </span>
          <Note of={run} tz={o.tz} />
        </li>
      ))}
    </ul>
  )
}

const triggers: Readonly<Record<string, string>> = {
  catch_up: 'made up',
  manual: 'run by hand',
  backfill: 'backfill',
  retry: 'tried again',
}

function Note(o: { readonly of: Run; readonly tz: string }) {
  const { trigger, reason, missed, missedFrom, session, nominalAt } = o.of
  const notes = [triggers[trigger], reason === null ? undefined : words(reason)].filter((one) => one !== undefined)
  return (
    <span class="line small">
      {notes.length === 0 ? null : <span>{notes.join(', ')}</span>}
      {missed > 1 && missedFrom !== null ? (
        <span>
          {missed} missed since <When at={missedFrom} tz={o.tz} />
        </span>
      ) : null}
      {session === null ? null : (
        <a href={href(`/conversations/${session}`)} aria-label={`Conversation of the run of ${nominalAt}`}>
          Conversation
        </a>
      )}
    </span>
  )
}
