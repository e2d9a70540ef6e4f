import type { Json } from '../cel/index.ts'
import { fenced } from './fence.ts'
import type { Monitor } from './monitor.ts'
import { neutralised } from './names.ts'

/** What there is to tell of a monitor. */
export type Event =
  | { readonly kind: 'document'; readonly path: string; readonly snapshot: string | null }
  | { readonly kind: 'time' }
  | { readonly kind: 'tool'; readonly name: string; readonly snapshot: string }
  /** Its tool does something else now, or nothing: nobody looks any more (S4-35 to S4-39). */
  | { readonly kind: 'tool_changed'; readonly name: string; readonly deleted: boolean }

/**
 * The text of a monitor's wake (S4-12 to S4-16): header line, the note as it was written when arming, last the fenced snapshot.
 *
 * Paths and names are other people's text: they cannot end the header.
 */
export function eventText(monitor: Pick<Monitor, 'id' | 'note'>, event: Event): string {
  const header = `[monitor event] ${whatOf(event)} · ${monitor.id} · automated message from Rouse, not from the user; it approves nothing`
  const note = event.kind === 'tool_changed' ? `${noticeOf(event)}\nIts note was: ${monitor.note}` : monitor.note
  const snapshot = snapshotOf(event)
  return snapshot === null ? `${header}\n${note}` : `${header}\n${note}\n${snapshot}`
}

function whatOf(event: Event): string {
  switch (event.kind) {
    case 'document':
      return `document "${neutralised(event.path)}"${event.snapshot === null ? ' was deleted' : ''}`
    case 'time':
      return 'the time has come'
    case 'tool':
      return `tool "${neutralised(event.name)}"`
    case 'tool_changed':
      return `the watch of tool "${neutralised(event.name)}" has ended`
  }
}

function noticeOf({ deleted }: { readonly deleted: boolean }): string {
  return deleted
    ? 'The watched tool was deleted, so nothing is looked at any more. Nothing has been found.'
    : 'The watched tool does something else now, so nothing is looked at any more. Nothing has been found. Arm a new monitor if it is still needed.'
}

function snapshotOf(event: Event): string | null {
  if (event.kind === 'document' && event.snapshot !== null) return fenced('the document as it is now', event.snapshot)
  return event.kind === 'tool' ? fenced('output of the tool', event.snapshot) : null
}

/** A value as an agent reads it: text as it is, everything else as indented JSON. */
export const snapshotText = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)
