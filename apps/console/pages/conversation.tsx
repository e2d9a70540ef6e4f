import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, path } from '../api.ts'
import { useLive } from '../live.ts'
import { confirmed } from '../parts/dialog.tsx'
import { titleOf, useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { Ago } from '../parts/when.tsx'
import { Scheduled, StateChip } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Conversation, Ticks } from '../shapes.ts'
import { Approvals } from './conversation-approvals.tsx'
import { ScheduledHere } from './conversation-schedules.tsx'
import { Thread } from './conversation-thread.tsx'
import { TicksLine } from './conversation-ticks.tsx'
import { SendBox } from './send-box.tsx'

const up = { to: '/conversations', name: 'Conversations' }

/** One conversation: what was said, what runs, what is scheduled, and a box to write in. */
export function ConversationPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const conversation = useLive<Conversation>(path`/v1/sessions/${id}`)
  const { data } = conversation
  const ticks = useLive<Ticks>(data?.main === true && data.state !== 'archived' ? path`/v1/sessions/${id}/ticks` : null)
  const names = useNames()
  const [isListed, setListed] = useState(false)
  if (data === null)
    return (
      <Page title="Conversation" up={up}>
        <Shown of={conversation}>{() => null}</Shown>
      </Page>
    )
  const { scheduled } = data
  const isOpen = data.state !== 'archived'
  return (
    <Page
      class="conversation"
      title={titleOf(data)}
      up={up}
      lead={
        <div class="line">
          <span>{names.agent(data.agent)}</span>
          <StateChip state={data.state} />
          {data.mode === 'agent' ? null : <span class="chip">mode {data.mode}</span>}
          {data.left ? <span class="chip wait">the agent has left</span> : null}
          {scheduled.count === 0 ? null : (
            <span class="line">
              <button type="button" class="chip accent" onClick={() => setListed(true)} aria-haspopup="dialog">
                <Scheduled count={scheduled.count} />
              </button>
              {scheduled.nextAt === null ? null : (
                <span class="small">
                  next <Ago at={scheduled.nextAt} />
                </span>
              )}
            </span>
          )}
        </div>
      }
      actions={isOpen ? <Actions of={data} /> : undefined}
    >
      {data.compactedInto === null ? null : (
        <p class="banner">
          This conversation goes on <a href={href(`/conversations/${data.compactedInto}`)}>in another session</a>.
        </p>
      )}
      {ticks.data === null ? null : <TicksLine of={ticks.data} session={id} />}
      <Thread id={id} title={titleOf(data)} agent={names.agent(data.agent)} />
      <Approvals session={id} />
      {isOpen ? <SendBox of={data} agent={names.agent(data.agent)} /> : null}
      {isListed ? <ScheduledHere session={id} onClose={() => setListed(false)} /> : null}
    </Page>
  )
}

function Actions(o: { readonly of: Conversation }) {
  const { id, state } = o.of
  const { act, busy } = useAct()
  const isPaused = state === 'paused'
  const pause = () =>
    act(
      () => call('PATCH', path`/v1/sessions/${id}`, { paused: !isPaused }),
      isPaused ? 'The conversation goes on.' : 'The conversation is paused: messages wait.',
    )
  const archive = async (): Promise<void> => {
    const yes = await confirmed({
      title: `Archive ${titleOf(o.of)}?`,
      text: 'It takes no more messages, and the schedules that fire in it or that it made end. What was said stays readable.',
      action: 'Archive',
    })
    if (yes) await act(() => call('POST', path`/v1/sessions/${id}/archive`, {}), 'The conversation is archived.')
  }
  return (
    <>
      <button type="button" onClick={() => void pause()} aria-disabled={busy}>
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" onClick={() => void archive()} aria-disabled={busy}>
        Archive
      </button>
    </>
  )
}
