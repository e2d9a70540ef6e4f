import { expect, test } from 'vitest'
import { later } from '../../shared/ports/later.ts'
import { Unavailable } from '../../shared/ports/table.ts'

test('a module that cannot be loaded is a fault that passes, and is asked for again', async () => {
  let isThere = false
  let loads = 0
  const module = later(async () => {
    loads++
    if (!isThere) throw new Error('Cannot find module')
    return { answer: 42 }
  })
  // Anything else, and whoever looks at a schedule just then would set it aside for good.
  await expect(module()).rejects.toBeInstanceOf(Unavailable)
  isThere = true
  expect((await module()).answer).toBe(42)
  expect([await module(), loads]).toEqual([await module(), 2])
})
