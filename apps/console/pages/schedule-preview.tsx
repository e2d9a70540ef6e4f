import { useEffect, useState } from 'preact/hooks'
import { call, Problem } from '../api.ts'
import { When } from '../parts/when.tsx'
import { sentence, whenWords } from '../parts/words.tsx'
import type { Preview } from '../shapes.ts'
import { type Draft, timeOf } from './schedule-draft.ts'

/** Long enough that a word is typed in one go, short enough that it seems at once. */
const afterMs = 250
const shownTimes = 5

/** What the schedule would do, in words and as times, as one types; and why it would be refused. */
export function PreviewPane(o: { readonly draft: Draft }) {
  const asked = askedOf(o.draft)
  const [shown, setShown] = useState<Preview | Problem | null>(null)
  useEffect(() => {
    if (asked === null) return setShown(null)
    let isOld = false
    const timer = setTimeout(async () => {
      try {
        const preview = await call<Preview>('POST', '/v1/schedules/preview', JSON.parse(asked))
        if (!isOld) setShown(preview)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (!isOld) setShown(error)
      }
    }, afterMs)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [asked])
  return (
    <section class="card pad preview" aria-labelledby="preview" aria-live="polite">
      <h2 id="preview">When it runs</h2>
      {shown === null ? (
        <p class="soft">Fill in a time, and its next runs stand here.</p>
      ) : shown instanceof Problem ? (
        <p class="refused">{sentence(shown.detail)}</p>
      ) : (
        <Times of={shown} />
      )}
    </section>
  )
}

/** As text, which changes only when the question does. */
function askedOf(draft: Draft): string | null {
  const time = timeOf(draft)
  if (time === null) return null
  const where = draft.session === '' ? { agent: draft.agent || null } : { session: draft.session }
  const flow = draft.does === 'flow' ? draft.flow || 'flow' : null
  return JSON.stringify({ ...time, ...where, flow, until: draft.until.trim() || null, count: shownTimes })
}

function Times(o: { readonly of: Preview }) {
  const { tz, next, notes, refusal, cronEquivalent } = o.of
  return (
    <>
      <p class="in-words">{whenWords(o.of)}</p>
      {cronEquivalent === null ? null : (
        <p class="soft small">
          as cron: <code>{cronEquivalent}</code>
        </p>
      )}
      {next.length === 0 ? (
        <p class="soft">It never runs.</p>
      ) : (
        <ol class="times" aria-label="Next runs">
          {next.map(({ at }) => (
            <li key={at}>
              <When at={at} tz={tz} />
            </li>
          ))}
        </ol>
      )}
      {notes.map((note) => (
        <p key={note} class="note small">
          {sentence(note)}
        </p>
      ))}
      {refusal === null ? null : <p class="refused">It would be refused: {sentence(refusal.detail)}</p>}
    </>
  )
}
