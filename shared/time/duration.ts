const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * A length of elapsed time in ms.
 *
 * @param input  '30m', '1h30m' (w, d, h, m, s, ms, each once and from large to small), ISO 'PT30M', 'P1DT12H', 'P2W'; a number is minutes
 * @returns      null when it is none, is negative, not finite, or no whole number of ms. Months and years are none: they have no fixed length
 * @throws       never
 */
export function parseDuration(input: string | number): number | null {
  if (typeof input === 'number') return whole(input * 60_000)
  if (input.length > 60) return null
  const text = input.trim()
  const found =
    text.startsWith('P') || text.startsWith('p')
      ? isoPattern.exec(text.toUpperCase())
      : shortPattern.exec(text.toLowerCase())
  if (found?.groups === undefined) return null
  let ms = 0
  let isEmpty = true
  for (const [unit, amount] of Object.entries(found.groups)) {
    if (amount === undefined) continue
    isEmpty = false
    ms += Number(amount) * unitMs[unit]!
  }
  return isEmpty ? null : whole(ms)
}

const amount = (unit: string) => `(?<${unit}>\\d+(?:\\.\\d+)?)`
const shortPattern = new RegExp(`^${['w', 'd', 'h', 'm', 's', 'ms'].map((u) => `(?:${amount(u)} ?${u})?`).join('')}$`)
const isoPattern = new RegExp(
  `^P(?:${amount('w')}W)?(?:${amount('d')}D)?(?:T(?=\\d)(?:${amount('h')}H)?(?:${amount('m')}M)?(?:${amount('s')}S)?)?$`,
)

/** 1.1 hours are 3,960,000.0000000005 ms in floating point: a whole number all the same. */
function whole(ms: number): number | null {
  const rounded = Math.round(ms)
  return ms >= 0 && Number.isSafeInteger(rounded) && Math.abs(ms - rounded) < 1e-6 * Math.max(1, ms / 1e9)
    ? rounded
    : null
}
