import { useAct } from './act.ts'
import { askSession, call, type Session } from './api.ts'
import { acted, isStale } from './live.ts'
import { Icon } from './parts/icon.tsx'
import { Mark } from './parts/mark.tsx'
import { Page } from './parts/page.tsx'
import { Empty } from './parts/states.tsx'
import { href, matched, place } from './router.ts'
import { bar, routes } from './routes.ts'

/** The left bar (below, where it is narrow) and the page beside it. */
export function Shell(o: { readonly person: NonNullable<Session['person']> }) {
  const { act, busy } = useAct()
  const at = place.value
  const signOut = () =>
    act(async () => {
      await call('POST', '/console/sign-out')
      await askSession()
    })
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <a class="brand" href={href('/')} aria-label="Rouse, the console">
          <Mark />
          <span>Rouse</span>
        </a>
        <nav aria-label="Main">
          <ul>
            {bar.map(({ to, name, icon }) => {
              const isHere = at === to || at.startsWith(`${to}/`) || (at === '/' && to === bar[0]!.to)
              return (
                <li key={to}>
                  <a href={href(to)} title={name} aria-current={isHere ? 'page' : undefined}>
                    <Icon name={icon} />
                    <span>{name}</span>
                  </a>
                </li>
              )
            })}
          </ul>
        </nav>
        <div class="who">
          <span title={o.person.id}>{o.person.name}</span>
          <button type="button" class="quiet" onClick={signOut} aria-disabled={busy}>
            <Icon name="out" /> Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {isStale.value ? (
          <p class="stale" role="status">
            Rouse does not answer; what you see may be old.{' '}
            <button type="button" class="quiet" onClick={acted}>
              Look again
            </button>
          </p>
        ) : null}
        <Here at={at} />
      </main>
    </div>
  )
}

function Here(o: { readonly at: string }) {
  for (const [pattern, Found] of routes) {
    const params = matched(pattern, o.at)
    // Another thing of the same kind is another page: nothing of the first may stay in it.
    if (params !== null) return <Found key={o.at} params={params} />
  }
  return (
    <Page title="There is no such page">
      <Empty icon="close" title="Nothing is here">
        <p>
          The address may be mistyped. <a href={href('/')}>Conversations</a> is a good place to start.
        </p>
      </Empty>
    </Page>
  )
}
