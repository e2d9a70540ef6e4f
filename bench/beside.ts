/** A peer that a row shows but is not judged by: that it did not run costs its line, not the row. */
export type Beside<T> = { figures: T; failure: null } | { figures: null; failure: string }

export async function beside<T>(measure: () => Promise<T>): Promise<Beside<T>> {
  try {
    return { figures: await measure(), failure: null }
  } catch (error) {
    return { figures: null, failure: (error instanceof Error ? error.message : String(error)).split('\n')[0]! }
  }
}

/** The rounds in which it ran, as one; the reason of the last when there is none. */
export function besideRounds<T>(rounds: readonly Beside<T>[], medians: (ran: T[]) => T): Beside<T> {
  const ran = rounds.flatMap(({ figures }) => (figures === null ? [] : [figures]))
  return ran.length > 0 ? { figures: medians(ran), failure: null } : rounds.at(-1)!
}
