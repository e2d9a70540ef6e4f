/** A tool call, as little of it as it takes to tell that nothing moves. */
interface Made {
  readonly tool: string
  readonly args: string
  readonly result: string | null
}

/** S4-2: so many times the same call with the same arguments and the same result, one after the other. */
export const stallTimes = 5

/** The tool on which a turn was stuck, and how often in a row it was called; null: it moved. */
export function stallIn(calls: readonly Made[]): { readonly tool: string; readonly times: number } | null {
  let worst: { tool: string; times: number } | null = null
  let times = 0
  for (const [i, call] of calls.entries()) {
    const before = calls[i - 1]
    const same =
      before !== undefined && before.tool === call.tool && before.args === call.args && before.result === call.result
    times = same ? times + 1 : 1
    if (times >= stallTimes && times > (worst?.times ?? 0)) worst = { tool: call.tool, times }
  }
  return worst
}
