import { path } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { useNames } from '../parts/names.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { Ago, When } from '../parts/when.tsx'
import { StateChip, words } from '../parts/words.tsx'
import { href } from '../router.ts'
import type { Run } from '../shapes.ts'
import { personName } from './agenda-who.ts'
import type { Trigger } from './monitors-shapes.ts'
import { capital, TriggerTools } from './monitors-triggers.tsx'

const up = { to: '/monitors/triggers', name: 'Triggers' }

/** One trigger: what it follows, and what became of everything that happened. */
export function TriggerPage(o: { readonly params: Readonly<Record<string, string>> }) {
  const id = o.params.id!
  const trigger = useLive<Trigger>(path`/v1/triggers/${id}`)
  const runs = useLiveList<Run>(path`/v1/triggers/${id}/runs`)
  const { data } = trigger
  if (data === null)
    return (
      <Page title="Trigger" up={up}>
        <Shown of={trigger}>{() => null}</Shown>
      </Page>
    )
  return (
    <Page
      title={data.name}
      up={up}
      lead={
        <span class="line">
          <StateChip state={data.status} />
          {capital(data.inWords)}
        </span>
      }
      actions={<TriggerTools of={data} labelled />}
    >
      <div class="with-aside">
        <section aria-labelledby="runs">
          <h2 id="runs">What happened</h2>
          <Shown of={runs}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty icon="runs" title="Nothing has happened yet">
                  <p>Every change or call stands here, with what became of it and why.</p>
                </Empty>
              ) : (
                <ul class="rows">
                  {rows.map((run) => (
                    <li key={run.id} class="with-end">
                      <Happened of={run} />
                    </li>
                  ))}
                </ul>
              )
            }
          </Shown>
          <More more={runs.more} />
        </section>
        <aside aria-label="About this trigger">
          <section class="card pad" aria-labelledby="what">
            <h2 id="what">What it does</h2>
            <What of={data} />
          </section>
        </aside>
      </div>
    </Page>
  )
}

function Happened(o: { readonly of: Run }) {
  const { at, trigger, outcome, result, reason, session, flowRun } = o.of
  return (
    <>
      <div>
        <div class="line">
          <When at={at} />
          {trigger === 'manual' ? <span class="chip">run by hand</span> : null}
        </div>
        <div class="line small">
          {reason === null ? null : <span class="soft">{words(reason)}</span>}
          {session === null ? null : (
            <a href={href(`/conversations/${session}`)} aria-label={`Conversation of ${at}`}>
              conversation
            </a>
          )}
          {flowRun === null ? null : (
            <a href={href(`/flows/runs/${flowRun}`)} aria-label={`Run of the flow at ${at}`}>
              run of the flow
            </a>
          )}
        </div>
      </div>
      <div class="line">
        <StateChip state={outcome} />
        {result === null ? null : <StateChip state={result} />}
      </div>
    </>
  )
}

function What(o: { readonly of: Trigger }) {
  const t = o.of
  const names = useNames()
  const at = (id: string) => <a href={href(`/conversations/${id}`)}>{names.conversation(id)}</a>
  const more: readonly (readonly [string, preact.ComponentChildren])[] = [
    ['Follows', followed(t)],
    ['Condition', t.when === null ? null : <code>{t.when}</code>],
    ['Fires once nothing happened for', t.settle],
    ['At most', t.maxPerDay === null ? null : `${t.maxPerDay} a day`],
    ['Until', t.until === null ? null : <When at={t.until} />],
    ['Waits to fire', t.settlesAt === null ? null : <Ago at={t.settlesAt} />],
    [t.kind === 'flow' ? 'Flow' : 'Prompt', t.flow ?? t.prompt],
    ['Agent', names.agent(t.agent)],
    ['Conversation', t.session === null ? 'a new one each time' : at(t.session)],
    ['Asked for by', personName(t.createdBy)],
    ['Made in', t.createdIn === null ? null : at(t.createdIn)],
  ]
  return (
    <dl class="pairs stacked">
      {more.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function followed({ on }: Trigger) {
  if ('webhook' in on) return on.webhook.signed ? 'a webhook whose calls are signed' : 'a webhook'
  const { document } = on
  return 'path' in document ? (
    <>
      the document <code>{document.path}</code>
    </>
  ) : (
    <>
      everything below <code>{document.prefix}</code>
    </>
  )
}
