import { StringDecoder } from 'node:string_decoder'

/** A line that is longer than this is no event of an agent, but a file that somebody printed. */
const lineCharsMax = 16 * 1024 * 1024

/** Cuts bytes that come piece by piece into lines of JSON. */
export class JsonLines {
  private readonly decoder = new StringDecoder('utf8')
  private readonly each: (value: unknown) => void
  private rest = ''
  private isTooLong = false

  /** @param each  is given each line's value; undefined for a line that is no JSON, or too long */
  constructor(each: (value: unknown) => void) {
    this.each = each
  }

  add(chunk: Buffer): void {
    this.take(this.decoder.write(chunk))
  }

  /** The last line need not end with a line break. */
  end(): void {
    this.take(`${this.decoder.end()}\n`)
  }

  private take(text: string): void {
    const lines = text.split('\n')
    const last = lines.pop()!
    for (const line of lines) {
      this.line(this.rest + line)
      this.rest = ''
    }
    this.rest += last
    if (this.rest.length <= lineCharsMax) return
    this.rest = ''
    this.isTooLong = true
  }

  private line(line: string): void {
    const isWhole = !this.isTooLong
    this.isTooLong = false
    if (isWhole && line.trim() === '') return
    this.each(isWhole ? parsed(line) : undefined)
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The fields of what may be an object; anything else has none. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The numbers among some fields, summed up; null when there is none. */
export function sumOf(value: unknown, names: readonly string[]): number | null {
  const fields = fieldsOf(value)
  const numbers = names.map((name) => fields[name]).filter((n): n is number => typeof n === 'number' && n >= 0)
  return numbers.length === 0 ? null : numbers.reduce((sum, n) => sum + n, 0)
}
