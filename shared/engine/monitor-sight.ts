import type { Json } from '../cel/index.ts'
import { compileCondition, judge } from '../domain/condition.ts'
import { parsedJson } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import type { Found, Monitor, Verdict } from '../domain/monitor.ts'
import { type Event, snapshotText } from '../domain/monitor-text.ts'
import type { World } from '../ports/world.ts'
import { type DocumentState, readDocument } from './document-state.ts'

interface Seen {
  readonly found: Found
  readonly event: Event
}

/** What monitors see of a document. It is read once for all of them, and again only for one that has seen a later state. */
export function documentSight(world: World, state: DocumentState, now: number): (monitor: Monitor) => Promise<Seen> {
  let view = viewOf(state)
  return async (monitor) => {
    if (monitor.mark !== null && monitor.mark > view.mark)
      view = viewOf(await readDocument(world, state.owner, state.path))
    return documentSeen(monitor, view, now)
  }
}

interface View {
  readonly path: string
  readonly mark: number
  readonly value: Json
  /** Why no condition can be asked about it; null: it can. */
  readonly fault: string | null
  readonly snapshot: string | null
  /** Of the value as JSON. */
  readonly chars: number
}

export function viewOf({ path, head, text, mark }: DocumentState): View {
  if (head === null || text === null) return { path, mark, value: null, fault: null, snapshot: null, chars: 0 }
  if (head.item.type === 'text') return { path, mark, value: text, fault: null, snapshot: text, chars: text.length }
  const json = parsedJson(text)
  if (json === null)
    return { path, mark, value: null, fault: 'the document is nested too deep', snapshot: text, chars: text.length }
  return { path, mark, value: json.json, fault: null, snapshot: snapshotText(json.json), chars: text.length }
}

/** What one monitor makes of a document as it is. */
export function documentSeen(monitor: Monitor, view: View, now: number): Seen {
  const { path, mark, value, snapshot } = view
  const program = monitor.when === null ? null : compileCondition(monitor.when, 'document')
  const keeps = program?.names.includes('before') ?? false
  const verdict: Verdict =
    program !== null && view.fault !== null
      ? { is: 'fault', error: view.fault }
      : keeps && view.chars > limits.beforeCharsMax
        ? tooLarge
        : judge(program, { kind: 'document', value, before: monitor.before?.value ?? null, now })
  return { found: { kind: 'document', mark, value, verdict, keeps }, event: { kind: 'document', path, snapshot } }
}

/** What one monitor makes of what its tool answered. */
export function toolSeen(monitor: Monitor, name: string, output: Json, now: number): Seen {
  const program = monitor.when === null ? null : compileCondition(monitor.when, 'tool')
  // Without a condition a change is what counts, and that is seen only beside the last output.
  const keeps = program === null || program.names.includes('before')
  const verdict =
    keeps && JSON.stringify(output).length > limits.beforeCharsMax
      ? tooLarge
      : judge(program, { kind: 'tool', value: output, before: monitor.before?.value ?? null, now })
  return {
    found: { kind: 'tool', value: output, verdict, keeps },
    event: { kind: 'tool', name, snapshot: snapshotText(output) },
  }
}

/** A run of a tool that did not come to an output: a failed look. */
export const toolFailed = (name: string, error: string): Seen => ({
  found: { kind: 'tool', value: null, verdict: { is: 'fault', error }, keeps: false },
  event: { kind: 'tool', name, snapshot: '' },
})

const tooLarge: Verdict = {
  is: 'fault',
  error: `what is compared with its last state may have ${limits.beforeCharsMax} characters as JSON at most`,
}
