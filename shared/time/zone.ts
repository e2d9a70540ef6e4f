import { dayMs } from './calendar.ts'
import { zoneBucketsMax } from './limits.ts'
import type { Adjusted, Instant, Occurrence, WallMs } from './types.ts'
import { SpecInvalid } from './types.ts'
import { isFixedUtc, requireZoneName } from './zone-names.ts'

/** A stretch of one offset inside a bucket and its margins. */
interface Segment {
  /** Instants of the bucket itself that lie in it: [from, to). */
  readonly from: Instant
  readonly to: Instant
  /** Where it really begins and ends, margins included. */
  readonly begin: Instant
  readonly end: Instant
  readonly offset: number
  /** The first wall time that is shown here for the first time: above it lies a gap, below it what a fold repeats. */
  readonly wallFirst: WallMs
  /** Wall times in [wallSafe, wallEnd) are shown in this segment and in no other. */
  readonly wallSafe: WallMs
  readonly wallEnd: WallMs
  /** The wall time that the clock had reached before; `wallFirst` above it is a gap. */
  readonly reached: WallMs
}

/** What the clock skips: wall times in [wallFrom, wallTo) do not exist, `wallTo` is what it shows at `at`. */
export interface Gap {
  at: Instant
  wallFrom: WallMs
  wallTo: WallMs
}

/** Tried: 199 days, probed every 5, right for 418 zones but 80 us; a third of it costs a third, and a `next` needs one. */
const bucketMs = 64 * dayMs
/** Longer than any change of offset (24 h in Apia, 2011, and Kwajalein, 1993), so that a wall time near an edge is found. */
const marginMs = 2 * dayMs
const shiftMaxMs = 26 * 3_600_000
/** Probing every 14 days missed transitions, every 5 none from 1970 to 2070; 4 divides a bucket with its margins. */
const probeMs = 4 * dayMs
const probes = (bucketMs + 2 * marginMs) / probeMs
/** 1970 to 2140; the rest of time is kept in a map. */
const nearBuckets = 970

/**
 * One zone, its offsets found through Intl as they are needed.
 *
 * Two functions carry decision 1. `latestWall(at)` is the latest wall time that the local clock has shown up to `at`;
 * `instantOf(wall)` is the first instant at which it shows `wall` or later. Both never fall, so gaps collapse, folds run
 * once, and a search in wall time needs no case for either.
 */
export class Zone {
  readonly name: string
  private readonly offset: (at: Instant) => number
  private near: (Segment[] | undefined)[]
  private far = new Map<number, Segment[]>()
  private buckets = 0
  private segment: Segment = nowhere

  constructor(name: string) {
    this.name = name
    this.near = new Array(isFixedUtc(name) ? 0 : nearBuckets)
    this.offset = isFixedUtc(name) ? () => 0 : offsetFromIntl(name)
    if (isFixedUtc(name)) this.segment = alwaysUtc
  }

  offsetAt(at: Instant): number {
    return this.segmentAt(at).offset
  }

  wallAt(at: Instant): WallMs {
    return at + this.segmentAt(at).offset
  }

  latestWall(at: Instant): WallMs {
    const segment = this.segmentAt(at)
    const wall = at + segment.offset
    return wall < segment.wallFirst ? segment.wallFirst - 1 : wall
  }

  instantOf(wall: WallMs): Instant {
    const last = this.segment
    if (wall >= last.wallSafe && wall < last.wallEnd) return wall - last.offset
    const guess = this.segmentAt(wall - last.offset)
    if (wall >= guess.wallSafe && wall < guess.wallEnd) return wall - guess.offset
    for (const s of this.bucket(Math.floor((wall - last.offset) / bucketMs)))
      if (s.end + s.offset > wall) return Math.max(s.begin, wall - s.offset)
    return wall - guess.offset
  }

  occurrence(wall: WallMs): Occurrence {
    const last = this.segment
    if (wall >= last.wallSafe && wall < last.wallEnd) return { at: wall - last.offset, adjusted: null }
    const guess = this.seek(wall - last.offset)
    if (wall >= guess.wallSafe && wall < guess.wallEnd) return { at: wall - guess.offset, adjusted: null }
    const at = this.instantOf(wall)
    return { at, adjusted: this.adjusted(wall, at) }
  }

  /** The gaps that end in (after, upTo], in order. */
  *gaps(after: Instant, upTo: Instant): Generator<Gap> {
    if (this.segment === alwaysUtc) return
    for (let index = Math.floor(after / bucketMs); index * bucketMs <= upTo; index++) {
      for (const s of this.bucket(index)) {
        if (s.begin !== s.from || s.begin <= after || s.begin > upTo || s.from >= s.to) continue
        const wallTo = s.begin + s.offset
        if (wallTo > s.reached) yield { at: s.begin, wallFrom: s.reached, wallTo }
      }
    }
  }

  /** The changes of offset in (after, upTo], in order. */
  *transitions(after: Instant, upTo: Instant): Generator<{ at: Instant; before: number; offset: number }> {
    if (this.segment === alwaysUtc) return
    for (let index = Math.floor(after / bucketMs); index * bucketMs <= upTo; index++) {
      let before: Segment | undefined
      for (const s of this.bucket(index)) {
        if (before !== undefined && s.begin === s.from && s.from < s.to && s.begin > after && s.begin <= upTo)
          yield { at: s.begin, before: before.offset, offset: s.offset }
        before = s
      }
    }
  }

  private adjusted(wall: WallMs, at: Instant): Adjusted {
    if (this.wallAt(at) !== wall) return 'gap'
    for (const s of this.bucket(Math.floor(at / bucketMs)))
      if (s.begin > at && s.begin + s.offset <= wall && wall < s.end + s.offset) return 'fold'
    return null
  }

  private segmentAt(at: Instant): Segment {
    const last = this.segment
    return at >= last.from && at < last.to ? last : this.seek(at)
  }

  private seek(at: Instant): Segment {
    const all = this.bucket(Math.floor(at / bucketMs))
    let found = all[0]!
    for (let i = 1; i < all.length && at >= found.to; i++) found = all[i]!
    this.segment = found
    return found
  }

  private bucket(index: number): Segment[] {
    const isNear = index >= 0 && index < nearBuckets
    const known = isNear ? this.near[index] : this.far.get(index)
    if (known !== undefined) return known
    if (++this.buckets > zoneBucketsMax) {
      this.buckets = 1
      this.near = new Array(nearBuckets)
      this.far = new Map()
    }
    const found = this.probe(index * bucketMs, (index + 1) * bucketMs)
    if (isNear) this.near[index] = found
    else this.far.set(index, found)
    return found
  }

  private probe(from: Instant, to: Instant): Segment[] {
    const begins: Instant[] = [from - marginMs]
    const offsets: number[] = [this.offset(from - marginMs)]
    for (let i = 1; i <= probes; i++) this.descend(begins, offsets, from - marginMs + i * probeMs)
    const segments: Segment[] = []
    let reached = -Infinity
    for (let i = 0; i < begins.length; i++) {
      const begin = begins[i]!
      const offset = offsets[i]!
      const isLast = i === begins.length - 1
      const end = isLast ? to + marginMs : begins[i + 1]!
      const wallFirst = Math.max(reached, begin + offset)
      segments.push({
        from: Math.min(Math.max(begin, from), to),
        to: Math.min(Math.max(end, from), to),
        begin,
        end,
        offset,
        wallFirst,
        // What lies before the first and after the last segment is not known here, but is no longer than any shift.
        wallSafe: i === 0 ? begin + offset + shiftMaxMs : wallFirst,
        wallEnd: isLast ? end + offset - shiftMaxMs : end + Math.min(offset, offsets[i + 1]!),
        reached: i === 0 ? begin + offset : reached,
      })
      reached = Math.max(reached, end + offset)
    }
    return segments
  }

  /** Adds the transition, if any, between the last known instant and `to`; two with the same outcome within 5 days are not seen. */
  private descend(begins: Instant[], offsets: number[], to: Instant): void {
    const reached = offsets[offsets.length - 1]!
    const target = this.offset(to)
    if (target === reached) return
    let low = Math.max(to - probeMs, begins[begins.length - 1]!)
    let high = to
    // Transitions fall on whole seconds.
    low = Math.floor(low / 1000) * 1000
    high = Math.ceil(high / 1000) * 1000
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000
      if (this.offset(middle) === reached) low = middle
      else high = middle
    }
    begins.push(high)
    offsets.push(this.offset(high))
    if (offsets[offsets.length - 1] !== target) this.descend(begins, offsets, to)
  }
}

/** Zones are few, and each is asked for all the time. */
const zones = new Map<string, Zone>()
let latest: Zone | undefined

/** @throws SpecInvalid  at 'tz' */
export function zoneOf(name: string): Zone {
  if (name === latest?.name) return latest
  const known = zones.get(name)
  if (known !== undefined) {
    latest = known
    return known
  }
  const canonical = requireZoneName(name)
  let zone = zones.get(canonical)
  if (zone === undefined) {
    try {
      zone = new Zone(canonical)
    } catch {
      throw new SpecInvalid(
        'tz',
        `The time zone ${canonical} is not known to this system. Write another zone of its region.`,
      )
    }
    zones.set(canonical, zone)
  }
  return zone
}

const alwaysUtc: Segment = {
  from: -Infinity,
  to: Infinity,
  begin: -Infinity,
  end: Infinity,
  offset: 0,
  wallFirst: -Infinity,
  wallSafe: -Infinity,
  wallEnd: Infinity,
  reached: -Infinity,
}

/** What a zone that was not asked yet has at hand: no instant and no wall time is in it. */
const nowhere: Segment = { ...alwaysUtc, from: Infinity, to: -Infinity, wallSafe: Infinity, wallEnd: -Infinity }

/** Reads offsets from Intl: 'M, GMT+05:30'. The narrow weekday is the shortest companion; asking for less adds a whole date. */
function offsetFromIntl(name: string): (at: Instant) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, weekday: 'narrow', timeZoneName: 'longOffset' })
  return (at) => {
    const text = format.format(at)
    const sign = text.indexOf('GMT') + 3
    if (sign === text.length) return 0
    const hours = digits(text, sign + 1) * 3_600_000
    const minutes = digits(text, sign + 4) * 60_000
    const seconds = text.length > sign + 6 ? digits(text, sign + 7) * 1000 : 0
    return (hours + minutes + seconds) * (text.charCodeAt(sign) === 43 ? 1 : -1)
  }
}

function digits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48
}
