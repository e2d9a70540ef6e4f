import type { Instant } from './types.ts'

/**
 * Decision 19: how long after its nominal time an occurrence fires. A hash, so that every look at it agrees.
 *
 * @param o.seed  the schedule, so that schedules of one time spread
 * @param o.next  the next nominal time, before which the answer stays; null when none comes
 * @returns       ms in [0, jitterMs]
 */
export function jitterOf(o: { seed: string; nominal: Instant; jitterMs: number; next: Instant | null }): number {
  const room = o.next === null ? o.jitterMs : Math.min(o.jitterMs, o.next - o.nominal - 1)
  if (!(room > 0)) return 0
  let hash = 0x811c9dc5
  const text = `${o.seed}@${o.nominal}`
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  // FNV-1a leaves neighbours close together: murmur's last step spreads them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  hash = (hash ^ (hash >>> 16)) >>> 0
  return Math.floor((hash / 0x1_0000_0000) * (Math.floor(room) + 1))
}
