/** '30 minutes', '1 hour 30 minutes'. */
export function lengthInWords(ms: number): string {
  const parts: string[] = []
  let rest = ms
  for (const [unit, unitMs] of lengths) {
    const n = Math.floor(rest / unitMs)
    rest -= n * unitMs
    if (n > 0) parts.push(`${n} ${unit}${n === 1 ? '' : 's'}`)
  }
  return parts.join(' ')
}

/** The same after 'every': 'hour', not '1 hour'. */
export function everyLength(ms: number): string {
  const words = lengthInWords(ms)
  return /^1 \w+$/.test(words) ? words.slice(2) : words
}

const lengths: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
]
