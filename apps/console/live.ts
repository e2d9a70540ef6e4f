import { type Signal, signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { askSession, Problem, session, textOf } from './api.ts'

/** What is on screen, and stays true while one looks at it. */
export interface Live<T> {
  /** Null until the first answer. */
  readonly data: T | null
  /** Why there is nothing to show; null while there is, however old. */
  readonly fault: Problem | null
  /** Looks again now. */
  readonly refresh: () => void
}

export interface LiveList<T> extends Live<readonly T[]> {
  /** Shows one page more; null when everything is there. */
  readonly more: (() => void) | null
}

interface State {
  readonly data: unknown
  readonly fault: Problem | null
  readonly next: string | null
}

interface Watched {
  readonly state: Signal<State>
  readonly load: () => Promise<void>
  pages: number
  users: number
}

/** Rouse did not answer the last look: what is shown may be old. */
export const isStale = signal(false)

const watched = new Map<string, Watched>()
/** What nobody looks at any more is kept so long: one who comes back sees it at once. */
const keptMs = 60_000
/** Where nothing has changed for so long, looks come less often. */
const quietAfterMs = 60_000
const quietFactor = 3

let changedAt = Date.now()
let timer: ReturnType<typeof setTimeout> | null = null

/** One answer of the API. Null: nothing is asked for. */
export function useLive<T>(path: string | null): Live<T> {
  const { state, refresh } = useWatched(path, () => single(path!))
  return { data: state.data as T | null, fault: state.fault, refresh }
}

/** A list of the API, page after page. */
export function useLiveList<T>(path: string | null, o: { readonly limit?: number } = {}): LiveList<T> {
  const { limit = 50 } = o
  const key = path === null ? null : `${limit} of ${path}`
  const { state, refresh, source } = useWatched(key, () => listed(path!, limit))
  const more = (): void => {
    if (source === null) return
    source.pages += 1
    void source.load()
  }
  return {
    data: state.data as readonly T[] | null,
    fault: state.fault,
    refresh,
    more: state.next === null ? null : more,
  }
}

/**
 * What takes more than one call to know.
 *
 * @param open  makes what is asked at each look: its answer counts as new where `text` differs from that before. @throws Problem
 */
export function useLiveWhole<T>(key: string, open: () => () => Promise<{ text: string; data: () => T }>): Live<T> {
  const { state, refresh } = useWatched(key, () => {
    const ask = open()
    return watching(async () => {
      const { text, data } = await ask()
      return { text, state: () => ({ data: data(), fault: null, next: null }) }
    })
  })
  return { data: state.data as T | null, fault: state.fault, refresh }
}

/** Looks at everything on screen at once: after something was done. */
export function acted(): void {
  changedAt = Date.now()
  round()
}

const nothing: State = { data: null, fault: null, next: null }
const none = signal(nothing)

function useWatched(
  key: string | null,
  open: () => Watched,
): { state: State; refresh: () => void; source: Watched | null } {
  const source = key === null ? null : (watched.get(key) ?? opened(key, open))
  // In the layout: Preact ends other effects after the next paint, and what is gone from the page is not asked for again.
  useLayoutEffect(() => {
    if (source === null || key === null) return
    source.users += 1
    watched.set(key, source)
    void source.load()
    arm()
    return () => {
      source.users -= 1
      setTimeout(() => {
        if (source.users === 0 && watched.get(key) === source) watched.delete(key)
      }, keptMs)
    }
  }, [key])
  return { state: (source?.state ?? none).value, refresh: () => void source?.load(), source }
}

function opened(key: string, open: () => Watched): Watched {
  const made = open()
  watched.set(key, made)
  return made
}

const single = (path: string): Watched =>
  watching(async () => {
    const text = await textOf('GET', path)
    return { text, state: () => ({ data: JSON.parse(text), fault: null, next: null }) }
  })

interface Page {
  readonly data: readonly unknown[]
  readonly nextCursor: string | null
}

const listed = (path: string, limit: number): Watched =>
  watching(async (pages) => {
    const texts: string[] = []
    const found: Page[] = []
    for (let cursor: string | null = null; found.length < pages; ) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) })
      const text = await textOf('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)
      const page = JSON.parse(text) as Page
      texts.push(text)
      found.push(page)
      cursor = page.nextCursor
      if (cursor === null) break
    }
    const next = found.at(-1)?.nextCursor ?? null
    return { text: texts.join('\n'), state: () => ({ data: found.flatMap(({ data }) => data), fault: null, next }) }
  })

/** What came is taken over only where it differs: what did not change is not drawn again. */
function watching(ask: (pages: number) => Promise<{ text: string; state: () => State }>): Watched {
  const state = signal<State>(nothing)
  let text: string | null = null
  let under: Promise<void> | null = null
  let again = false
  const load = async (): Promise<void> => {
    try {
      const got = await ask(made.pages)
      isStale.value = false
      if (got.text === text) return
      if (text !== null) changedAt = Date.now()
      text = got.text
      state.value = got.state()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // A hiccup takes nothing from the screen; that something is gone does.
      const isPassing = error.status === 0 || error.status === 429 || error.status >= 500
      isStale.value = error.status === 0
      if (!isPassing || state.peek().data === null) {
        text = null
        state.value = { data: null, fault: error, next: null }
      }
    }
  }
  const made: Watched = {
    state,
    pages: 1,
    users: 0,
    // One look at a time; what was asked for meanwhile is one more look after it, so that nobody is told what was true before.
    async load() {
      if (under !== null) {
        again = true
        return under
      }
      under = load()
      await under
      under = null
      if (again) {
        again = false
        await made.load()
      }
    },
  }
  return made
}

function round(): void {
  if (timer !== null) clearTimeout(timer)
  timer = null
  if (document.hidden || session.peek()?.person == null) return
  const looks = [...watched.values()].filter(({ users }) => users > 0).map(({ load }) => load())
  // A clock that is moved by hand is looked at like everything else.
  if (session.peek()?.standing === true) looks.push(askSession().catch(() => {}))
  void Promise.all(looks).finally(arm)
}

function arm(): void {
  if (timer !== null || document.hidden) return
  const { refreshMs = 5000 } = session.peek() ?? {}
  const isQuiet = Date.now() - changedAt > quietAfterMs
  timer = setTimeout(round, isQuiet ? refreshMs * quietFactor : refreshMs)
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    if (timer !== null) clearTimeout(timer)
    timer = null
  } else acted()
})
