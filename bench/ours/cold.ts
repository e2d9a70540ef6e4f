import { sayToParent, scriptOptions } from '../inside.ts'

/** What this process prints, on one line: CPU of all its threads, ms, user and system. */
export interface ColdStart {
  readonly init: number
  readonly first: number
}

export interface ColdOptions {
  /** A bundled function. */
  readonly bundle: string
  readonly event: object
}

// As Lambda does it: the module is loaded, and then called.
const { bundle, event } = scriptOptions<ColdOptions>()
const ms = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
const atStart = process.cpuUsage()
const { handler } = (await import(bundle)) as { handler(event: object, invoked: object): Promise<unknown> }
const init = ms(process.cpuUsage(atStart))
const atCall = process.cpuUsage()
await handler(event, {})
sayToParent({ init, first: ms(process.cpuUsage(atCall)) } satisfies ColdStart)
process.exit(0)
