import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { agentId } from '../lookup.ts'
import { UsageError } from '../report.ts'
import type { Caller } from '../shell.ts'
import { importClaude } from './claude.ts'
import { importOpenai } from './openai.ts'
import { importOtel } from './otel.ts'
import { type BadLine, bodyOf, type Importer, type Log, Unreadable } from './trace.ts'

const importers = { claude: importClaude, openai: importOpenai, otel: importOtel } satisfies Record<string, Importer>
export const importFormats = Object.keys(importers)

export interface ImportOptions {
  readonly format: keyof typeof importers
  readonly agent: string
  readonly project?: string
  readonly skipBad?: boolean
}

/** A file that was read, before anything of it is sent. */
interface Ready extends Log {
  readonly file: string
  readonly bodies: readonly ReturnType<typeof bodyOf>[]
}

/** Reads all files first, then takes in those that can be read: `rouse traces import`. */
export async function importFiles(caller: Caller<ImportOptions>): Promise<void> {
  const { client, args, options, screen, show, progress } = caller
  const agent = await agentId(client, options.agent)
  const ready: Ready[] = []
  for (const file of args) {
    const log = importers[options.format](await textIn(file))
    const bad = [...log.bad]
    const bodies = log.traces.flatMap((trace) => {
      try {
        return [bodyOf(trace, { agent, project: options.project })]
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        bad.push({ line: trace.line, why: error.message })
        return []
      }
    })
    ready.push({ ...log, file, bad, bodies })
  }
  const taken: (Omit<Log, 'traces'> & { readonly file: string; readonly traces: readonly string[] })[] = []
  for (const { file, bodies, bad, unfinished, ofOthers } of ready) {
    const isLeftOut = bad.length > 0 && !options.skipBad
    const traces = isLeftOut
      ? []
      : await sendAll(client, bodies, (n) => progress(`${file}: ${n} of ${bodies.length} traces`))
    taken.push({ file, traces, bad, unfinished, ofOthers })
  }
  show(taken, () => {
    for (const { file, traces, unfinished, ofOthers, bad } of taken) {
      const notes = [
        unfinished === 0 ? '' : `${unfinished} unfinished`,
        ofOthers === 0 ? '' : `${counted(ofOthers, 'call')} of subagents left out`,
        bad.length === 0 ? '' : `${counted(bad.length, 'bad line')}`,
      ].filter(Boolean)
      screen.line(`${file}: ${counted(traces.length, 'trace')}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`)
    }
  })
  const wrong = ready.flatMap(({ file, bad }) => (bad.length === 0 ? [] : [linesOf(file, bad)]))
  if (wrong.length > 0 && !options.skipBad)
    throw new UsageError(`${wrong.join('\n')}\nNothing of such a file is taken in; --skip-bad takes in the rest of it`)
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

const linesOf = (file: string, bad: readonly BadLine[]): string =>
  [
    ...bad.slice(0, shownMax).map(({ line, why }) => `${file}:${line}: ${why}`),
    ...(bad.length > shownMax ? [`${file}: and ${bad.length - shownMax} more`] : []),
  ].join('\n')
const shownMax = 5

async function textIn(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === undefined || code.startsWith('ERR_') ? 'it is no text in UTF-8' : code
    throw new UsageError(`${file} cannot be read: ${why}`)
  }
}

/** One after the other, oldest first as in the file. Thousands are more than anybody's rate: it waits as it is told to. */
async function sendAll(client: Client, bodies: Ready['bodies'], on: (sent: number) => void): Promise<string[]> {
  const ids: string[] = []
  for (const body of bodies) {
    for (;;) {
      try {
        on(ids.length)
        ids.push((await client.call<{ id: string }>('POST', '/v1/traces', { body })).id)
        break
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error
        await sleep((error.retryAfterSeconds ?? 1) * 1000)
      }
    }
  }
  return ids
}
