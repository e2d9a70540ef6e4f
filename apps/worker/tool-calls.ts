import { createHash } from 'node:crypto'
import { limits } from '../../shared/domain/limits.ts'

/** A tool call as the end of a turn reports it. */
export interface ToolCall {
  readonly tool: string
  readonly args: unknown
  readonly status: Status
  readonly result?: unknown
}

export type Status = 'ok' | 'failed' | 'denied'

/** How far one turn may go; what is left out has no bound. */
export interface RunLimits {
  readonly maxSeconds?: number | undefined
  readonly maxToolCalls?: number | undefined
}

/** Where whoever works on a turn says which tools it calls, as it calls them. */
export interface Calls {
  /** A call counts from here on. */
  begin(tool: string, args: unknown): OpenCall
}

export interface OpenCall {
  /** @param result  left out: not known, and then never taken for a repetition */
  end(status: Status, result?: unknown): void
  /** It was not allowed, as it turned out. */
  deny(): void
}

/** S4-2: so many calls in a row that ask the same and are told the same are no progress. */
const sameInARow = 5
/** Of a call's arguments or result; the server cuts what is longer than as many bytes, and marks it. */
const resultCharsMax = 4_000
const cut = '… [clipped]'

/** What one turn called: counted, watched for loops, and reported at its end. */
export class CallLog implements Calls {
  private readonly kept: { tool: string; args: unknown; status: Status; result?: unknown }[] = []
  private readonly maxToolCalls: number
  private readonly stop: (summary: string) => void
  private count = 0
  private last = ''
  private repeats = 0

  /** @param o.stop  the turn must end, and why; may be told again */
  constructor(o: { readonly maxToolCalls?: number | undefined; readonly stop: (summary: string) => void }) {
    this.maxToolCalls = o.maxToolCalls ?? Number.POSITIVE_INFINITY
    this.stop = o.stop
  }

  begin(tool: string, args: unknown): OpenCall {
    this.count += 1
    const call = { tool: tool.slice(0, 200) || 'unknown', args: clipped(args ?? null), status: 'failed' as Status }
    const entry: (typeof this.kept)[number] = call
    if (this.kept.length < limits.toolCallsPerTurnMax) this.kept.push(entry)
    if (this.count > this.maxToolCalls) this.stop(tooMany(this.maxToolCalls))
    return {
      end: (status, result) => {
        entry.status = status
        if (result !== undefined) entry.result = clipped(result)
        this.watch(tool, result === undefined ? null : JSON.stringify([tool, args ?? null, status, result]))
      },
      deny: () => {
        entry.status = 'denied'
      },
    }
  }

  /**
   * What `end` takes as `toolCalls`; calls that were never answered count as failed. What is too much is left out from the end, results
   * first, since nothing can be done again from them.
   *
   * @param bytesMax  of all of them as JSON
   */
  report(bytesMax: number): readonly ToolCall[] {
    const calls: ToolCall[] = this.kept.map((call) => ({ ...call }))
    let over = calls.reduce((sum, call) => sum + bytesOf(call), 0) - bytesMax
    const shorten = (bare: (call: ToolCall) => ToolCall) => {
      for (let at = calls.length - 1; at >= 0 && over > 0; at -= 1) {
        const call = calls[at]!
        calls[at] = bare(call)
        over -= bytesOf(call) - bytesOf(calls[at]!)
      }
    }
    shorten(({ tool, args, status }) => ({ tool, args, status }))
    shorten(({ tool, status }) => ({ tool, args: cut, status }))
    return calls
  }

  private watch(tool: string, said: string | null): void {
    const seen = said === null ? '' : createHash('sha256').update(said).digest('hex')
    this.repeats = seen !== '' && seen === this.last ? this.repeats + 1 : 1
    this.last = seen
    if (seen !== '' && this.repeats >= sameInARow) this.stop(stalled(tool))
  }
}

/** The summary of a turn that passed `--max-seconds`. */
export const tooLong = (seconds: number): string =>
  `stopped after ${seconds} s, the limit of a turn (attach --max-seconds ${seconds}): raise it, or ask for less in one turn; ${wait}`

const tooMany = (calls: number): string =>
  `stopped after ${calls} tool calls, the limit of a turn (attach --max-tool-calls ${calls}): raise it, or ask for less in one turn; ${wait}`

const stalled = (tool: string): string =>
  `stalled: the tool "${tool.slice(0, 200)}" was called ${sameInARow} times in a row with the same arguments and gave the same result. Polling gets nowhere within a turn: arm a monitor (rouse monitor add) and end the turn, the change starts the next one`

const wait = 'what waits for something arms a monitor (rouse monitor add) instead of looking again and again'

const bytesOf = (call: ToolCall): number => Buffer.byteLength(JSON.stringify(call)) + 1

/** As it is, or the beginning of its text with a mark: a flow made of it must not take it for whole. */
function clipped(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= resultCharsMax) return value
  return text.slice(0, resultCharsMax).replace(/[\uD800-\uDBFF]$/, '') + cut
}
