import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { limits } from '../../shared/domain/limits.ts'
import type { Job, JobEnd } from './jobs.ts'

/** What a host tool is told besides its arguments. */
export interface HostContext {
  /** Aborts when the step's time is up, or the worker is told to stop at once. */
  readonly signal: AbortSignal
  /** The session for which the step runs; null when it is none's. */
  readonly session: string | null
  readonly agent: string
  /** Names the step of a flow's run, for whoever is called to tell a repeat by; null for any other step. */
  readonly idempotencyKey: string | null
}

/** The owner's own code: it runs in the worker's process and may do what the owner may. */
export type HostTools = Readonly<Record<string, (args: unknown, context: HostContext) => unknown>>

/** The module is not what `--tools` takes. */
export class ToolsUnusable extends Error {}

/**
 * Loads a module whose default export, or export `tools`, is `{ name: async (args, { signal, session, agent }) => result }`.
 *
 * @throws ToolsUnusable
 */
export async function loadHostTools(file: string): Promise<HostTools> {
  const module: Record<string, unknown> = await import(pathToFileURL(resolve(file)).href).catch((error: unknown) => {
    throw new ToolsUnusable(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  })
  const tools = module.default ?? module.tools
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools))
    throw new ToolsUnusable(
      `${file}: expected a default export, or an export "tools", { name: async (args) => result }`,
    )
  const names = Object.keys(tools)
  if (names.length === 0) throw new ToolsUnusable(`${file}: expected at least one tool, got none`)
  const odd = names.find((name) => typeof (tools as Record<string, unknown>)[name] !== 'function')
  if (odd !== undefined) throw new ToolsUnusable(`${file}: expected the tool "${odd}" to be a function`)
  return tools as HostTools
}

/**
 * Runs a host step. A tool that does not heed its signal is left alone when its time is up.
 *
 * @returns exit 0 and the result as JSON; 1 and why it failed; 127 when there is no such tool
 */
export async function runHostTool(o: {
  readonly tools: HostTools | null
  readonly job: Job
  readonly tool: string
  readonly signal: AbortSignal
}): Promise<JobEnd> {
  const { tools, tool, signal } = o
  if (tools === null) return { exit: 127, output: 'this worker has no tools: attach it with --tools <module>' }
  if (!Object.hasOwn(tools, tool)) return { exit: 127, output: `this worker has no tool "${tool}"` }
  const context = {
    signal,
    session: o.job.session ?? null,
    agent: o.job.agent,
    idempotencyKey: o.job.idempotencyKey ?? null,
  }
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(new Error('stopped'))
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
  })
  stopped.catch(() => null)
  try {
    const result = await Promise.race([Promise.resolve().then(() => tools[tool]!(o.job.args ?? {}, context)), stopped])
    const output = JSON.stringify(result) ?? 'null'
    if (output.length <= limits.jobOutputCharsMax) return { exit: 0, output }
    return {
      exit: 1,
      output: `the result is ${output.length} characters as JSON; ${limits.jobOutputCharsMax} are taken: return less`,
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { exit: 1, output: why.slice(0, 2_000) || 'it failed without a word' }
  }
}
