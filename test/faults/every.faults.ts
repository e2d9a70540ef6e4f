import { afterAll, describe, expect, it, vi } from 'vitest'
import { journeys } from './journeys.ts'
import { faultKinds } from './line.ts'
import { trialOf } from './trial.ts'

vi.mock('../../functions/world.ts', async () => (await import('./cloud.ts')).mockedWorld())

let faults = 0
afterAll(() => {
  process.stdout.write(`${faults} faults in ${Object.keys(journeys).length} journeys\n`)
})

describe('nothing is lost and nothing doubled, whatever request fails and however, when', () => {
  for (const [title, journey] of Object.entries(journeys))
    it(title, async () => {
      const { tried, wrong } = await (await trialOf(journey)).faults(faultKinds)
      faults += tried
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(0)
    })
})

describe('nothing is lost and nothing doubled, however the event comes, when', () => {
  for (const [title, journey] of Object.entries(journeys))
    it(title, async () => {
      expect((await (await trialOf(journey)).arrivals()).wrong).toEqual([])
    })
})
