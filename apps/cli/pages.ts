import type { Command } from 'commander'
import type { Page } from '../client/shapes.ts'
import type { Screen } from './screen.ts'
import { wholeNumber } from './shell.ts'

export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string
}

export const pageOptions = (command: Command): Command =>
  command
    .option('--limit <n>', 'at most this many, 1 to 100 (default 25)', wholeNumber)
    .option('--cursor <cursor>', 'go on where the last list ended')

export const pageQuery = ({ limit, cursor }: PageOptions): Record<string, string | number | undefined> => ({
  limit,
  cursor,
})

/** Says that there are none, or that there are more. */
export function showPage<T>(
  screen: Screen,
  page: Page<T>,
  o: { readonly none: string; readonly rows: () => void },
): void {
  if (page.data.length === 0) screen.line(o.none)
  else o.rows()
  if (page.nextCursor !== null) screen.line(screen.dim(`more: --cursor ${page.nextCursor}`))
}
