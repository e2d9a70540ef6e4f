import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { go, href, place } from '../router.ts'
import type { Schedule } from '../shapes.ts'

/** What can be done with one schedule. `labelled`: with words beside the pictures. */
export function ScheduleTools(o: { readonly of: Schedule; readonly labelled?: boolean }) {
  const { id, name, status } = o.of
  const { act, busy } = useAct()
  const post = (verb: string) => call('POST', `${path`/v1/schedules/${id}`}/${verb}`, {})
  const remove = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Delete ${name}?`,
      text: 'It never runs again, and there is no way back. Its runs stay readable for 90 days.',
      action: 'Delete',
    })
    if (!yes) return
    await act(async () => {
      await call('DELETE', path`/v1/schedules/${id}`)
      if (place.value !== '/schedules') go('/schedules')
    }, `${name} is deleted.`)
  }
  const link = (icon: IconName, text: string, to: string) => (
    <a
      class={o.labelled ? 'button' : 'button quiet icon-only'}
      href={href(to)}
      title={text}
      aria-label={`${text} of ${name}`}
    >
      <Icon name={icon} />
      {o.labelled ? text : null}
    </a>
  )
  const button = (icon: IconName, text: string, doing: () => void) => (
    <button
      type="button"
      class={o.labelled ? '' : 'quiet icon-only'}
      title={text}
      aria-label={`${text}: ${name}`}
      aria-disabled={busy}
      onClick={doing}
    >
      <Icon name={icon} />
      {o.labelled ? text : null}
    </button>
  )
  const isOver = status === 'ended'
  return (
    <div class="tools">
      {o.labelled ? null : link('runs', 'Runs', `/schedules/${id}`)}
      {isOver ? null : button('run', 'Run now', () => void act(() => post('run'), `${name} runs now.`))}
      {isOver ? null : link('edit', 'Edit', `/schedules/${id}/edit`)}
      {status === 'active'
        ? button('pause', 'Pause', () => void act(() => post('pause'), `${name} is paused: no next run.`))
        : status === 'paused'
          ? button(
              'resume',
              'Resume',
              () => void act(() => post('resume'), `${name} goes on; its next run counts from now.`),
            )
          : null}
      {button('remove', 'Delete', () => void remove())}
    </div>
  )
}
