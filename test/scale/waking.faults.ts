import { describe, expect, it } from 'vitest'
import { atOneMoment, quantile, steadily, type WakingOptions, woken } from './herd.ts'
import { alarmsPerSecond } from './paper.ts'

const herd = (more: Partial<WakingOptions> = {}) =>
  woken({ seed: 3, due: atOneMoment(10_000), perSession: 20, partitions: 4, untilMs: 90_000, ...more })

describe('ten thousand schedules of one moment', () => {
  it('are out within a minute, each once, on tables that were just made', async () => {
    const { lateMs, lost, odd, busiest, hottest, said } = await herd()
    expect({ lost, odd, said }).toEqual({ lost: 0, odd: 0, said: [] })
    expect(lateMs.at(-1)).toBeLessThanOrEqual(60_000)
    // What docs/scale.md reckons with.
    expect(10_000 / (lateMs.at(-1)! / 1000)).toBeGreaterThanOrEqual(alarmsPerSecond)
    expect(busiest).toBe(20)
    expect(hottest).toBeLessThanOrEqual(1)
  })

  it('are out within a minute where all keys of a table meet in one partition, which refuses some thousands of requests', async () => {
    const { lateMs, lost, odd, refused } = await herd({ partitions: 1 })
    expect({ lost, odd }).toEqual({ lost: 0, odd: 0 })
    expect(refused).toBeGreaterThan(1_000)
    expect(lateMs.at(-1)).toBeLessThanOrEqual(60_000)
  })

  it('would wait for a hot partition if what is due stood in one shard: so it stands in eight', async () => {
    const [one, eight] = [await herd({ shards: 1, partitions: 8 }), await herd({ partitions: 8 })]
    // Two writes for each that moves on, a thousand a second.
    expect(one.lateMs.at(-1)).toBeGreaterThan(19_000)
    expect(eight.lateMs.at(-1)).toBeLessThan(one.lateMs.at(-1)! * 0.7)
    expect(eight.lost + one.lost).toBe(0)
  })

  it('are out within a minute in a region whose Scheduler takes 250 new entries a second: the rest hops through the queue', async () => {
    const { lateMs, lost, odd } = await herd({ creates: 250 })
    expect({ lost, odd }).toEqual({ lost: 0, odd: 0 })
    expect(lateMs.at(-1)).toBeLessThanOrEqual(60_000)
  })
})

it.each([4, 5, 6])(
  'at 50 wakes a second for two minutes, 99 of 100 are at most two seconds late (seed %i)',
  async (seed) => {
    const due = steadily({ perSecond: 50, seconds: 120 })
    const { lateMs, lost, odd } = await woken({ seed, due, perSession: 5, partitions: 4, untilMs: 30_000 })
    expect({ lost, odd }).toEqual({ lost: 0, odd: 0 })
    expect(quantile(lateMs, 0.99)).toBeLessThanOrEqual(2_000)
  },
)
