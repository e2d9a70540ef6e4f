import { describe, expect, it, vi } from 'vitest'
import { journeys } from './journeys.ts'
import { trialOf } from './trial.ts'

vi.mock('../../functions/world.ts', async () => (await import('./cloud.ts')).mockedWorld())

// A sample: every journey under every fault is `npm run test:faults`.
const sampled = [
  'a schedule fires into a session',
  'a turn ends',
  'a flow takes a step that writes',
  'a tick wakes an idle session',
]

describe('a Lambda that dies before or after any of its requests leaves nothing lost and nothing doubled, when', () => {
  for (const title of sampled)
    it(title, async () => {
      const trial = await trialOf(journeys[title]!)
      expect(trial.requests.length).toBeGreaterThan(5)
      const { tried, wrong } = await trial.faults(['dies before', 'dies after'])
      expect(wrong).toEqual([])
      expect(tried).toBe(2 * trial.requests.length)
    })
})
