import Table from 'cli-table3'
import pc from 'picocolors'

/** Standard output as people read it: plain columns in a pipe, a little weight for what matters on a terminal. */
export interface Screen {
  line(text?: string): void
  json(answer: unknown): void
  /** Columns, the header dimmed; those with a `narrowest` give way when the line is too long. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void
  /** Names and values below each other; a value of '' is left out. */
  pairs(rows: readonly (readonly [string, string])[]): void
  /** True on a terminal that has less room than the 100 columns that tables are made for. */
  readonly isNarrow: boolean
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

export interface Column {
  readonly head: string
  /** May be narrowed, its text wrapped, but to no less than this. */
  readonly narrowest?: number
}

const columnsMax = 100
const gap = 2

export function createScreen(io: {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly env: NodeJS.ProcessEnv
}): Screen {
  const { bold, dim } = pc.createColors(io.stdout.isTTY === true && !io.env.NO_COLOR)
  const width = Math.min(columnsMax, io.stdout.isTTY ? (io.stdout.columns ?? columnsMax) : columnsMax)
  const line = (text = '') => io.stdout.write(`${text}\n`)
  return {
    line: (text) => line(text === undefined ? '' : printable(text)),
    json: (answer) => line(JSON.stringify(answer, null, 2)),
    table(columns, rows) {
      const cells = rows.map((row) => row.map(printable))
      const widths = widthsOf(columns, cells, width)
      const table = bare(widths)
      table.push(columns.map(({ head }) => head))
      table.push(...cells.map((row) => row.map((cell, i) => broken(cell, widths[i]!))))
      const [head, ...lines] = table
        .toString()
        .split('\n')
        .map((text) => text.trimEnd())
      line(dim(head!))
      for (const text of lines) line(text)
    },
    pairs(rows) {
      const shown = rows.filter(([, value]) => value !== '')
      const label = Math.max(0, ...shown.map(([name]) => name.length))
      const table = bare([label, width - label - gap])
      table.push(...shown.map(([name, value]) => [dim(name), broken(printable(value), width - label - gap)]))
      for (const text of table.toString().split('\n')) line(text.trimEnd())
    },
    isNarrow: width < columnsMax,
    bold,
    dim,
  }
}

/** Other people's text must not move the cursor, ring the bell or turn the reading direction. Line breaks and tabs stay, and our own bold and dim. */
export const printable = (text: string): string => text.replace(unprintable, '')

// biome-ignore lint/suspicious/noControlCharactersInRegex: our own escapes are told from those of others
const unprintable = /(?!\u001b\[(?:1|2|22)m)[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

function bare(widths: readonly number[]): Table.Table {
  const none = [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
  ]
  const rest = ['left-mid', 'mid', 'mid-mid', 'right', 'right-mid']
  return new Table({
    chars: { ...Object.fromEntries([...none, ...rest].map((name) => [name, ''])), middle: ' '.repeat(gap) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: [...widths],
    wordWrap: true,
  })
}

/** Every column as wide as its widest cell; when that is too much, those that may give way do, the widest first, and words break last. */
function widthsOf(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): number[] {
  const widths = columns.map(({ head }, i) => Math.max(head.length, ...rows.map((row) => widest(row[i]!))))
  const words = columns.map((_, i) => Math.max(0, ...rows.map((row) => widest(row[i]!.replace(/\s+/g, '\n')))))
  const room = width - gap * (columns.length - 1)
  for (const isWhole of [true, false]) {
    const floors = columns.map(({ narrowest = Infinity }, i) => Math.max(narrowest, isWhole ? words[i]! : 0))
    for (let over = widths.reduce((a, b) => a + b, 0) - room; over > 0; over -= 1) {
      const yielding = columns.flatMap((_, i) => (widths[i]! > floors[i]! ? [i] : []))
      if (yielding.length === 0) break
      const at = yielding.reduce((a, b) => (widths[b]! > widths[a]! ? b : a))
      widths[at]! -= 1
    }
  }
  return widths
}

const isWide =
  /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/u
const cellsOf = (character: string): number => (isWide.test(character) ? 2 : 1)
const widest = (cell: string): number =>
  Math.max(...cell.split('\n').map((text) => [...text].reduce((sum, character) => sum + cellsOf(character), 0)))

/** Breaks words that are longer than their column, which the table would cut. */
function broken(cell: string, width: number): string {
  let out = ''
  let used = 0
  for (const character of cell) {
    used = /\s/.test(character) ? 0 : used + cellsOf(character)
    if (used > width) {
      out += '\n'
      used = cellsOf(character)
    }
    out += character
  }
  return out
}
