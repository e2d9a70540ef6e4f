import { describe, expect, it } from 'vitest'
import { atOneMoment, quantile, steadily, woken } from './herd.ts'

// A sample: ten thousand at one moment, and minutes of a steady stream, are `npm run test:faults`.
describe('with the limits and delays of AWS', () => {
  it('a thousand schedules of one moment are out within six seconds, each once', async () => {
    const { lateMs, lost, odd, busiest, hottest, said } = await woken({
      seed: 1,
      due: atOneMoment(1_000),
      perSession: 20,
      partitions: 4,
      untilMs: 6_000,
    })
    expect({ lost, odd, said }).toEqual({ lost: 0, odd: 0, said: [] })
    expect(lateMs).toHaveLength(1_000)
    // Bounded: the mapping's twenty batches, and no partition beyond what it may.
    expect(busiest).toBeLessThanOrEqual(20)
    expect(hottest).toBeLessThanOrEqual(1)
  })

  it('at 50 wakes a second 99 of 100 are at most two seconds late, though the Scheduler takes its minute', async () => {
    const { lateMs, lost, odd } = await woken({
      seed: 2,
      due: steadily({ perSecond: 50, seconds: 10 }),
      perSession: 5,
      partitions: 4,
      untilMs: 10_000,
    })
    expect({ lost, odd }).toEqual({ lost: 0, odd: 0 })
    // None goes out before its time.
    expect(lateMs[0]).toBeGreaterThanOrEqual(0)
    expect(quantile(lateMs, 0.99)).toBeLessThanOrEqual(2_000)
  })
})
