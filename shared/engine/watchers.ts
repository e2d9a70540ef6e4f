import { bare } from '../domain/ids.ts'
import type { Key, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'

/**
 * Who watches what: a partition for each thing that is watched, with one pointer per watcher. Read strongly, so that whoever changes the
 * thing after somebody began to watch it finds them.
 */
export const documentWatchers = (owner: string, path: string): string => `W#d/${bare(owner)}/${path}`
/** Triggers on everything of a person below a prefix; there are few, and each is looked at. */
export const prefixWatchers = (owner: string): string => `W#p/${bare(owner)}`
export const toolWatchers = (agent: string, name: string): string => `W#t/${bare(agent)}/${name}`

/** Whether anybody watches a document now. */
export async function hasWatchers(world: World, owner: string, path: string): Promise<boolean> {
  const [own, above] = await Promise.all([
    world.table.list(documentWatchers(owner, path), { limit: 1 }),
    triggersAbove(world, owner, path),
  ])
  return own.items.length > 0 || above.length > 0
}

/** Triggers that a change of a document concerns, page by page. */
export async function* triggersOn(world: World, owner: string, path: string): AsyncGenerator<readonly string[]> {
  yield* watchersIn(world, documentWatchers(owner, path), 'sch_')
  const above = await triggersAbove(world, owner, path)
  if (above.length > 0) yield above
}

async function triggersAbove(world: World, owner: string, path: string): Promise<readonly string[]> {
  const { items } = await world.table.list(prefixWatchers(owner), { limit: perPage })
  return items.filter(({ item }) => path.startsWith(String(item.prefix))).map(({ key }) => key[1])
}

const perPage = 1000

/** The watchers in a partition whose ids begin with `prefix`, page by page. */
export async function* watchersIn(world: World, pk: string, prefix: 'mon_' | 'sch_'): AsyncGenerator<string[]> {
  let after: string | null = null
  do {
    const page: { readonly items: readonly Stored[]; readonly next: string | null } = await world.table.list(pk, {
      prefix,
      limit: perPage,
      ...(after === null ? {} : { after }),
    })
    if (page.items.length > 0) yield page.items.map(({ key }) => key[1])
    after = page.next
  } while (after !== null)
}

export const pointer = (pk: string, watcher: string): Key => [pk, watcher]
