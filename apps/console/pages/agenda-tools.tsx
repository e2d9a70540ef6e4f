import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Entry } from './agenda-shapes.ts'

/** Hold keeps it and lets it wake nobody; Stop ends it. A monitor waits once, and can only be stopped; a tick is parked. */
export function AgendaTools(o: { readonly of: Entry }) {
  const { kind, id, name } = o.of
  const { act, busy } = useAct()
  const isMonitor = kind === 'monitor' || kind === 'look'
  const at = isMonitor
    ? path`/v1/monitors/${id}`
    : kind === 'trigger'
      ? path`/v1/triggers/${id}`
      : path`/v1/schedules/${id}`
  const hold = () =>
    kind === 'tick'
      ? act(
          () => call('POST', path`/v1/sessions/${id}/ticks/park`, {}),
          'Parked: it does not wake itself until somebody writes there.',
        )
      : act(() => call('POST', `${at}/pause`, {}), `${name} is on hold: it wakes nobody until it is resumed.`)
  const stop = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Stop ${name}?`,
      text: isMonitor
        ? 'The monitor is cancelled: it is over at once and tells nobody.'
        : 'It is deleted and never runs again, and there is no way back. Its runs stay readable for 90 days.',
      action: 'Stop it',
    })
    if (!yes) return
    await act(() => call('DELETE', at), `${name} is stopped.`)
  }
  return (
    <div class="tools">
      {isMonitor ? null : (
        <button type="button" aria-label={`Hold ${name}`} disabled={busy} onClick={() => void hold()}>
          <Icon name="pause" /> Hold
        </button>
      )}
      {kind === 'tick' ? null : (
        <button type="button" class="quiet" aria-label={`Stop ${name}`} disabled={busy} onClick={() => void stop()}>
          <Icon name="stop" /> Stop
        </button>
      )}
    </div>
  )
}

export function ResumeTool(o: { readonly kind: 'schedules' | 'triggers'; readonly id: string; readonly name: string }) {
  const { act, busy } = useAct()
  const resume = () =>
    act(() => call('POST', path`/v1/${o.kind}/${o.id}/resume`, {}), `${o.name} goes on; its next run counts from now.`)
  return (
    <button type="button" aria-label={`Resume ${o.name}`} disabled={busy} onClick={() => void resume()}>
      <Icon name="resume" /> Resume
    </button>
  )
}
