import type { IndexName } from '../ports/table.ts'
import type { World } from '../ports/world.ts'

/** A page of a list, newest first. `next` is the last id shown: the following page holds what is older. */
export interface ById<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export interface PageAsked {
  readonly limit: number
  /** Exclusive: an earlier page's `next`. */
  readonly before: string | null
}

/**
 * Merges index partitions whose sort value is the id, newest first, and keeps what the caller may see and asked for.
 *
 * @param load  reads a batch of ids; null for what is gone or not to be shown
 */
export async function pageById<T>(
  world: World,
  o: {
    readonly sources: readonly { readonly index: IndexName; readonly pk: string }[]
    readonly page: PageAsked
    readonly load: (ids: readonly string[]) => Promise<readonly (T | null)[]>
    readonly idOf: (item: T) => string
  },
): Promise<ById<T>> {
  const items: T[] = []
  let batch: string[] = []
  const flush = async (): Promise<void> => {
    for (const item of await o.load(batch)) if (item !== null) items.push(item)
    batch = []
  }
  for await (const id of newestFirst(o.sources.map((s) => idsOf(world, s.index, s.pk, o.page.before)))) {
    batch.push(id)
    if (batch.length > o.page.limit) await flush()
    if (items.length > o.page.limit) break
  }
  if (batch.length > 0) await flush()
  const shown = items.slice(0, o.page.limit)
  const last = shown.at(-1)
  return { items: shown, next: items.length > o.page.limit && last !== undefined ? o.idOf(last) : null }
}

async function* idsOf(world: World, index: IndexName, pk: string, before: string | null): AsyncGenerator<string> {
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find(index, pk, {
      descending: true,
      limit: 100,
      ...(before === null ? {} : { to: before }),
      ...(after === null ? {} : { after }),
    })
    for (const found of page.items) if (found.sk !== before) yield String(found.sk)
    after = page.next
  } while (after !== null)
}

async function* newestFirst(sources: AsyncGenerator<string>[]): AsyncGenerator<string> {
  const heads = await Promise.all(sources.map(async (source) => ({ source, head: await source.next() })))
  let last: string | null = null
  for (;;) {
    let best: (typeof heads)[number] | null = null
    for (const at of heads) if (at.head.done !== true && (best === null || at.head.value > best.head.value!)) best = at
    if (best === null || best.head.done === true) return
    const id: string = best.head.value
    best.head = await best.source.next()
    if (id !== last) yield id
    last = id
  }
}
