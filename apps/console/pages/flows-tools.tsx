import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { confirmed } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { go, href, place } from '../router.ts'
import type { Flow, FlowRun } from './flows-shapes.ts'

/** What can be done with one flow. `labelled`: with words beside the pictures. */
export function FlowTools(o: { readonly of: Pick<Flow, 'agent' | 'name'>; readonly labelled?: boolean }) {
  const { agent, name } = o.of
  const { act, busy } = useAct()
  const at = path`/v1/agents/${agent}/flows/${name}`
  const run = () =>
    act(async () => {
      const { flowRun } = await call<{ flowRun: FlowRun }>('POST', `${at}/run`, {})
      go(`/flows/runs/${flowRun.id}`)
    }, `${name} runs.`)
  const remove = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Delete ${name}?`,
      text: 'It replays no more, and its schedules will be blocked. The runs it was made of stay, so that it can be promoted again.',
      action: 'Delete',
    })
    if (!yes) return
    const isDone = await act(() => call('DELETE', at), `${name} is deleted.`)
    if (isDone && place.value !== '/flows') go(`/flows?agent=${agent}`)
  }
  const button = (icon: IconName, text: string, doing: () => void) => (
    <button
      type="button"
      class={o.labelled ? '' : 'quiet icon-only'}
      title={text}
      aria-label={`${text}: ${name}`}
      disabled={busy}
      onClick={doing}
    >
      <Icon name={icon} />
      {o.labelled ? text : null}
    </button>
  )
  return (
    <div class="tools">
      {button('run', 'Run now', () => void run())}
      <a
        class={o.labelled ? 'button' : 'button quiet icon-only'}
        href={href(`/schedules/new?agent=${encodeURIComponent(agent)}&flow=${encodeURIComponent(name)}`)}
        title="Schedule"
        aria-label={`Schedule ${name}`}
      >
        <Icon name="schedules" />
        {o.labelled ? 'Schedule' : null}
      </a>
      {button('remove', 'Delete', () => void remove())}
    </div>
  )
}
