import { useEffect, useState } from 'preact/hooks'
import { path as at, Problem, textOf } from '../api.ts'
import { useLiveList } from '../live.ts'
import { Shown } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import type { DocumentHead } from './monitors-shapes.ts'

/** More of a document than this is not drawn: it is a look, no reader. */
const shownChars = 4_000

/** A document as it is now, or that it is not there yet. */
export function MonitorDocument(o: { readonly path: string }) {
  // Asked for as a list, which is empty where a single one would be an error.
  const heads = useLiveList<DocumentHead>(`/v1/documents?prefix=${encodeURIComponent(o.path)}`, { limit: 1 })
  return (
    <Shown of={heads}>
      {([first]) =>
        first === undefined || first.path !== o.path ? (
          <p class="soft">There is no such document yet. Its coming is a change, too.</p>
        ) : (
          <Now of={first} />
        )
      }
    </Shown>
  )
}

function Now(o: { readonly of: DocumentHead }) {
  const { path, version, updatedAt, type } = o.of
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    let isOld = false
    // Its path holds slashes, which stay.
    const parts = path.split('/').map((part) => at`${part}`)
    textOf('GET', `/v1/documents/${parts.join('/')}`).then(
      (got) => {
        if (!isOld) setText(got)
      },
      (error: unknown) => {
        // Deleted between two looks: the next one says so.
        if (!(error instanceof Problem)) throw error
      },
    )
    return () => {
      isOld = true
    }
  }, [path, version])
  return (
    <div>
      <h3>The document as it is now</h3>
      <p class="soft small">
        version {version}, changed <When at={updatedAt} />
      </p>
      {text === null ? null : (
        <pre class="value">{text.length > shownChars ? `${text.slice(0, shownChars)}\n…` : readable(text, type)}</pre>
      )}
    </div>
  )
}

function readable(text: string, type: DocumentHead['type']): string {
  if (type === 'text') return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
