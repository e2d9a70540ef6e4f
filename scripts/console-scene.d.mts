/** When the scene begins, for `rouse serve --clock`: a Monday. */
export const begins: string

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the scene knows, and no type vouches for it
type Call = (method: string, path: string, body?: unknown, as?: { key?: string; session?: string }) => Promise<any>

/** A week of a made-up desk, told to a node whose clock stands still; answers the ids of what it made, by name. */
export function playScene(call: Call): Promise<{
  readonly agents: Readonly<Record<'assistant' | 'scout', string>>
  readonly sessions: Readonly<Record<'desk' | 'brief' | 'release' | 'prices' | 'trip', string>>
  readonly schedules: Readonly<
    Record<'morning' | 'sources' | 'nightly' | 'monthEnd' | 'flights' | 'renewal' | 'watch', string>
  >
}>
