import { Unavailable } from './table.ts'

const asked: (() => Promise<unknown>)[] = []

/**
 * A module that is loaded when it is first asked for: `const tools = later(() => import('./tools.ts'))`, and then
 * `(await tools()).runTool(…)`.
 *
 * For what only some calls need: a function that starts in the cloud reads and runs none of it before. It stands below the imports of the file
 * that uses it, and only where one waits anyway: before something is read, or between a decision and its commit.
 *
 * @returns the same promise each time; a load that failed is tried again by the next call. It rejects with Unavailable: nothing is wrong with
 *          what was to be done, and nobody may set it aside
 */
export function later<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let module: Promise<Module> | null = null
  const ask = () => {
    module ??= load().catch((cause) => {
      module = null
      throw new Unavailable('a part of Rouse could not be loaded: is its folder as it was when it started?', cause)
    })
    return module
  }
  asked.push(ask)
  return ask
}

/** Loads all of it, and what that would load later: for a process that stays, in which nobody is to be the first. */
export async function loadNow(): Promise<void> {
  // Loading one may name more, at the end of the list.
  for (const ask of asked) await ask()
}
