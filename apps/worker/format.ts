import { readClaude } from './format-claude.ts'
import { readCodex } from './format-codex.ts'
import type { Calls } from './tool-calls.ts'

/** What the command prints: the answer itself, or events of which the answer is one. */
export const formats = ['text', 'claude', 'codex'] as const
export type Format = (typeof formats)[number]

/** Reads an agent's events while it prints them. */
export interface Reading {
  add(chunk: Buffer): void
  /** After the last of them. */
  end(): Said
}

/** What the events said in the end. */
export interface Said {
  /** Null when there was none. */
  readonly answer: string | null
  /** Why the agent says it failed, or `null`. */
  readonly failure: string | null
  /** The failure is a limit that the agent was given. */
  readonly isLimit: boolean
  /** All that the model read and wrote, cached or not; null when not told. */
  readonly tokens: number | null
  readonly usd: number | null
}

/** @param calls  is told of each tool call as it begins and ends */
export function readingOf(format: Exclude<Format, 'text'>, calls: Calls): Reading {
  return format === 'claude' ? readClaude(calls) : readCodex(calls)
}
