import { computed, signal } from '@preact/signals'

/** Addresses of the console: `/console/schedules/sch_…?status=paused`. */
const base = '/console'

const address = signal(location.pathname + location.search)
addEventListener('popstate', () => {
  address.value = location.pathname + location.search
})

/** Below `/console`, always with a slash in front: `/schedules`. */
export const place = computed(() => {
  const { pathname } = new URL(address.value, location.origin)
  const below = pathname.startsWith(base) ? pathname.slice(base.length) : pathname
  return below.replace(/\/+$/, '') || '/'
})

/** What stands behind the `?`. */
export const query = computed(() => new URL(address.value, location.origin).searchParams)

/** The address of a place, for `href`. */
export const href = (to: string): string => base + (to === '/' ? '' : to)

/** Goes to a place below `/console`. `replace`: the way back leads past where one is now. */
export function go(to: string, o: { readonly replace?: boolean } = {}): void {
  const next = href(to)
  if (o.replace) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  const isElsewhere = new URL(next, location.origin).pathname !== new URL(address.value, location.origin).pathname
  address.value = next
  if (!isElsewhere) return
  scrollTo(0, 0)
  // Whoever listens instead of looking is told where they are now.
  queueMicrotask(() => document.getElementById('main')?.focus({ preventScroll: true }))
}

// Plain links stay plain links: a new tab, a middle click and a copied address all work.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return
  const link = (event.target as Element | null)?.closest?.('a')
  if (link == null || link.target !== '' || link.origin !== location.origin || !isOurs(link.pathname)) return
  if (link.hash !== '' && link.pathname === location.pathname) return
  event.preventDefault()
  go(link.pathname.slice(base.length) + link.search || '/')
})

const isOurs = (pathname: string): boolean => pathname === base || pathname.startsWith(`${base}/`)

/** The values in braces of `/schedules/{id}`, or null where the place is another. */
export function matched(pattern: string, at: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), at.split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) {
      if (part !== given[i]) return null
    } else {
      try {
        params[name] = decodeURIComponent(given[i]!)
      } catch {
        return null
      }
    }
  }
  return params
}
