import { limits } from './limits.ts'

/**
 * Says what is wrong with a name, or null. 1..120 printable characters; CR, LF and TAB pass (and are neutralised where a
 * name is rendered); other control characters and bidi controls are refused, since they make a line read as another.
 */
export function nameFault(name: string): string | null {
  const chars = [...name].length
  if (chars === 0 || name.trim() === '') return 'expected 1 to 120 printable characters, got an empty name'
  if (chars > limits.nameCharsMax) return `expected at most ${limits.nameCharsMax} characters, got ${chars}`
  return textFault(name)
}

/** The same for a longer text, without the bound: control and bidi characters only. */
export function textFault(text: string): string | null {
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (isForbidden(code))
      return `holds the control character U+${code.toString(16).toUpperCase().padStart(4, '0')}; leave it out`
  }
  return null
}

const isForbidden = (code: number): boolean =>
  (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) ||
  (code >= 0x7f && code <= 0x9f) ||
  code === 0x061c ||
  code === 0x200e ||
  code === 0x200f ||
  code === 0x2028 ||
  code === 0x2029 ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069) ||
  code === 0xfeff ||
  // A lone surrogate is no character and cannot be stored as UTF-8.
  (code >= 0xd800 && code <= 0xdfff)

/**
 * A name as it may stand between quotes inside a bracketed header line (S0-33): line breaks become blanks, quotes and
 * brackets turn into ones that cannot close anything.
 */
export const neutralised = (name: string): string =>
  name
    .replace(/[\r\n\t\u0085\u2028\u2029]+/g, ' ')
    .replace(/"/g, "'")
    .replace(/\[/g, '(')
    .replace(/\]/g, ')')
    .trim()

/** A name on one line of its own, outside brackets: only line breaks can do harm there. */
export const onOneLine = (name: string): string => name.replace(/[\r\n\t\u0085\u2028\u2029]+/g, ' ').trim()
