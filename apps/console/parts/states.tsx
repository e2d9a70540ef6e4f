import type { ComponentChildren } from 'preact'
import type { Problem } from '../api.ts'
import type { Live } from '../live.ts'
import { Icon, type IconName } from './icon.tsx'
import { sentence } from './words.tsx'

/**
 * Draws what is live: while it is not there a sign that it comes, what Rouse said where it cannot be had, else itself.
 */
export function Shown<T>(o: { readonly of: Live<T>; readonly children: (data: T) => ComponentChildren }) {
  if (o.of.fault !== null) return <Fault problem={o.of.fault} retry={o.of.refresh} />
  if (o.of.data === null) return <Loading />
  return <>{o.children(o.of.data)}</>
}

function Loading() {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  )
}

export function Fault(o: { readonly problem: Problem; readonly retry?: () => void }) {
  const isGone = o.problem.status === 404
  return (
    <div class="state fault" role="alert">
      <h2>{isGone ? 'This is not here' : 'This could not be shown'}</h2>
      <p>{sentence(o.problem.detail)}</p>
      {o.retry === undefined ? null : (
        <button type="button" onClick={o.retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Nothing there yet: says what would be, and what to do for it. */
export function Empty(o: { readonly icon: IconName; readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="state">
      <Icon name={o.icon} />
      <h2>{o.title}</h2>
      {o.children}
    </div>
  )
}

/** Below a list that goes on. */
export function More(o: { readonly more: (() => void) | null }) {
  if (o.more === null) return null
  return (
    <p class="more">
      <button type="button" onClick={o.more}>
        Show more
      </button>
    </p>
  )
}
