import { useState } from 'preact/hooks'
import { useAct } from '../act.ts'
import { call, clock, Problem, path, session as signedIn } from '../api.ts'
import { useLive } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { Ago, When } from '../parts/when.tsx'
import { StateChip } from '../parts/words.tsx'
import { href } from '../router.ts'
import { personName } from './agenda-who.ts'
import { failedWords, MonitorTools } from './monitors.tsx'
import { MonitorDocument } from './monitors-document.tsx'
import type { Monitor } from './monitors-shapes.ts'
import { endReasons, lastLookAt, minutesWords, shownValue, watchTitle, watchWords } from './monitors-words.ts'

const up = { to: '/monitors', name: 'Monitors' }

/** One monitor: what it waits for, what its looks found, and what became of it. */
export function MonitorPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const monitor = useLive<Monitor>(path`/v1/monitors/${id}`)
  const { data } = monitor
  if (data === null)
    return (
      <Page title="Monitor" up={up}>
        <Shown of={monitor}>{() => null}</Shown>
      </Page>
    )
  return (
    <Page
      title={watchTitle(data.watch)}
      up={up}
      lead={
        <span class="line">
          <StateChip state={data.status} />
          {watchWords(data)}
        </span>
      }
      actions={<MonitorTools of={data} labelled />}
    >
      <div class="with-aside">
        <div class="fields">
          <section class="card pad" aria-labelledby="waits">
            <h2 id="waits">What it waits for</h2>
            <Waits of={data} />
          </section>
          <section class="card pad" aria-labelledby="looks">
            <h2 id="looks">What it has seen</h2>
            <Looks of={data} />
          </section>
        </div>
        <aside aria-label="About this monitor">
          <section class="card pad" aria-labelledby="state">
            <h2 id="state">State</h2>
            <State of={data} />
          </section>
          <section class="card pad" aria-labelledby="whose">
            <h2 id="whose">Whose</h2>
            <Whose of={data} />
          </section>
        </aside>
      </div>
    </Page>
  )
}

function Waits(o: { readonly of: Monitor }) {
  const { watch, when, note } = o.of
  return (
    <dl class="pairs stacked">
      {'document' in watch ? <Pair name="Document">{<code>{watch.document.path}</code>}</Pair> : null}
      {'time' in watch ? <Pair name="Time">{<When at={watch.time.at} />}</Pair> : null}
      {'tool' in watch ? (
        <>
          <Pair name="Tool">
            <code>{watch.tool.name}</code>, every {minutesWords(watch.tool.every)}
          </Pair>
          {Object.keys(watch.tool.args).length === 0 ? null : (
            <Pair name="Called with">
              <pre class="value">{shownValue(watch.tool.args)}</pre>
            </Pair>
          )}
        </>
      ) : null}
      {'time' in watch ? null : (
        <Pair name="Condition">{when === null ? 'none: any change tells' : <code>{when}</code>}</Pair>
      )}
      <Pair name="Note: what the agent is to do then">{note}</Pair>
    </dl>
  )
}

function Pair(o: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{o.name}</dt>
      <dd>{o.children}</dd>
    </>
  )
}

function Looks(o: { readonly of: Monitor }) {
  const { watch, status, failures, error, found, createdBy } = o.of
  const isOwn = createdBy === signedIn.value?.person?.id
  const last = lastLookAt(o.of, clock.value)
  return (
    <div class="fields">
      {'time' in watch ? (
        <p>{status === 'armed' ? 'Nothing is looked at before its time.' : outcome(o.of)}</p>
      ) : (
        <p>
          {last === null ? null : (
            <>
              Last look <When at={last} />.{' '}
            </>
          )}
          {status === 'armed'
            ? failures > 0
              ? `The ${failedWords(failures)}:`
              : last === null && 'tool' in watch
                ? 'It has not looked yet.'
                : 'What it waits for has not come.'
            : outcome(o.of)}
        </p>
      )}
      {error === null ? null : <p class="refused mono">{error}</p>}
      {found === null ? null : (
        <div>
          <h3>The next look is compared with</h3>
          <pre class="value">{shownValue(found.value)}</pre>
        </div>
      )}
      {'document' in watch && isOwn ? <MonitorDocument path={watch.document.path} /> : null}
      {'tool' in watch && isOwn && status === 'armed' ? (
        <TryTool of={o.of} name={watch.tool.name} args={watch.tool.args} />
      ) : null}
    </div>
  )
}

function outcome({ status, reason }: Monitor): string {
  switch (status) {
    case 'fired':
      return 'It came, and the agent was told once.'
    case 'expired':
      return 'It did not come in time, and nobody was told.'
    case 'cancelled':
      return 'It was cancelled, and nobody was told.'
    default:
      return `It ended: ${endReasons[reason ?? ''] ?? `the budget ${reason} was used up for that day`}.`
  }
}

/** Runs the watched tool once, by hand: it only reads, and the monitor hears nothing of it. */
function TryTool(o: { readonly of: Monitor; readonly name: string; readonly args: unknown }) {
  const { act, busy } = useAct()
  const [said, setSaid] = useState<{ readonly output: unknown } | Problem | null>(null)
  const look = () =>
    act(
      async () => {
        const tool = path`/v1/agents/${o.of.agent}/tools/${o.name}/call`
        setSaid(await call<{ output: unknown }>('POST', tool, { args: o.args }))
      },
      undefined,
      { onProblem: setSaid },
    )
  return (
    <div>
      <button type="button" disabled={busy} onClick={() => void look()}>
        {busy ? 'Looking …' : 'Look now'}
      </button>{' '}
      <span class="soft small">Runs the tool once for you; it only reads, and the monitor stays as it is.</span>
      <div aria-live="polite">
        {said === null ? null : said instanceof Problem ? (
          <p class="refused">{said.detail}</p>
        ) : (
          <>
            <h3>It answers</h3>
            <pre class="value">{shownValue(said.output)}</pre>
          </>
        )}
      </div>
    </div>
  )
}

function State(o: { readonly of: Monitor }) {
  const { status, armedAt, nextLookAt, expiresAt, firedAt, endedAt, watch } = o.of
  return (
    <dl class="pairs stacked">
      <Pair name="Armed">
        <When at={armedAt} />
      </Pair>
      {status !== 'armed' || 'document' in watch || nextLookAt === null ? null : (
        <Pair name={'tool' in watch ? 'Next look' : 'Tells'}>
          <When at={nextLookAt} />
        </Pair>
      )}
      {firedAt === null ? null : (
        <Pair name="Fired">
          <When at={firedAt} />
        </Pair>
      )}
      {firedAt !== null || endedAt === null || status === 'expired' ? null : (
        <Pair name={status === 'cancelled' ? 'Cancelled' : 'Ended'}>
          <When at={endedAt} />
        </Pair>
      )}
      <Pair name={status === 'armed' ? 'Expires' : status === 'expired' ? 'Expired' : 'Would have expired'}>
        <When at={expiresAt} />
      </Pair>
      {status === 'armed' ? null : (
        <Pair name="Over">
          <Ago at={firedAt ?? endedAt ?? expiresAt} />
        </Pair>
      )}
    </dl>
  )
}

function Whose(o: { readonly of: Monitor }) {
  const { agent, session, createdBy, createdIn, depth } = o.of
  const names = useNames()
  const at = (id: string) => <a href={href(`/conversations/${id}`)}>{names.conversation(id)}</a>
  return (
    <dl class="pairs stacked">
      <Pair name="Wakes">
        {names.agent(agent)}
        {session === null ? ', in a conversation that is gone' : <> in {at(session)}</>}
      </Pair>
      <Pair name="Asked for by">{personName(createdBy)}</Pair>
      {createdIn === null ? null : <Pair name="Armed in">{at(createdIn)}</Pair>}
      {depth <= 1 ? null : <Pair name="Chain">{`armed by a wake of a monitor; the next wake may arm none`}</Pair>}
    </dl>
  )
}
