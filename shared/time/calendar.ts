/** The proleptic Gregorian calendar on day numbers: 0 is 1970-01-01, a Thursday. Whole numbers throughout, from the year 1 on. */

export const dayMs = 86_400_000

/** The day number of a date; month 1..12; a day past the month's end flows over. Source: Howard Hinnant's days_from_civil. */
export function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = (y / 400) | 0
  const yearOfEra = y - era * 400
  const dayOfYear = (((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) | 0) + day - 1
  const dayOfEra = yearOfEra * 365 + (yearOfEra >> 2) - ((yearOfEra / 100) | 0) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** A date packed into one small integer, `year << 9 | month << 5 | day`: no allocation on the hot path. */
export function packedDate(day: number): number {
  const z = day + 719_468
  const era = (z / 146_097) | 0
  const dayOfEra = z - era * 146_097
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0))
  const shifted = ((5 * dayOfYear + 2) / 153) | 0
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return (year << 9) | (month << 5) | (dayOfYear - (((153 * shifted + 2) / 5) | 0) + 1)
}

export function isLeap(year: number): boolean {
  return (year & 3) === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Month 1..12. */
export function monthLength(year: number, month: number): number {
  return month === 2 ? (isLeap(year) ? 29 : 28) : 30 + ((month + (month >> 3)) & 1)
}

/** 0 is Sunday. */
export function weekday(day: number): number {
  return ((day % 7) + 11) % 7
}

/** The remainder with the sign of the divisor; exact below 2 ** 53, and unlike `%` also fast above 2 ** 31. */
export function modulo(n: number, by: number): number {
  return n - Math.floor(n / by) * by
}

export function gcd(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}
