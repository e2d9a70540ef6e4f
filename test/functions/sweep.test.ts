import { beforeEach, expect, test, vi } from 'vitest'
import { handler } from '../../functions/sweep.ts'
import { type Told, toldWorld } from './world.ts'

let told: Told
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => told.world }))
beforeEach(() => {
  told = toldWorld()
})

test('a sweep tells how many it looked at', async () => {
  expect(await handler({})).toEqual({ looked: 0 })
})

test('a sweep that the store is away for fails, so that it is seen', async () => {
  told.isAway = true
  await expect(handler({})).rejects.toThrow('the store is away')
})
