/**
 * Compares two strings as the stores order them: by their UTF-8 bytes, which is the order of code points.
 *
 * JavaScript compares UTF-16 units, which puts U+1F600 (a surrogate pair) before U+FF5E.
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return lifted(x) - lifted(y)
  }
  return a.length - b.length
}

/** Surrogates, which stand for the code points above U+FFFF, go above every other unit. */
const lifted = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** The least string above every string that begins with `prefix`; null when there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (c) => c.codePointAt(0)!)
  while (points.length > 0) {
    const last = points.pop()!
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return null
}
