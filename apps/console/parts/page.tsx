import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { href } from '../router.ts'
import { Icon } from './icon.tsx'

/** A page: its name, which is the window's too, what can be done here, and what there is. */
export function Page(o: {
  readonly title: string
  /** One line below the name. */
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  /** The page above this one. */
  readonly up?: { readonly to: string; readonly name: string }
  readonly children: ComponentChildren
  readonly class?: string
}) {
  useEffect(() => {
    document.title = `${o.title} · Rouse`
  }, [o.title])
  return (
    <div class={`page ${o.class ?? ''}`}>
      <header class="page-head">
        <div>
          {o.up === undefined ? null : (
            <a class="up" href={href(o.up.to)}>
              <Icon name="back" /> {o.up.name}
            </a>
          )}
          <h1>{o.title}</h1>
          {o.lead === undefined ? null : <div class="lead">{o.lead}</div>}
        </div>
        {o.actions === undefined ? null : <div class="actions">{o.actions}</div>}
      </header>
      {o.children}
    </div>
  )
}
