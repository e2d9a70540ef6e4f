import { afterAll, describe, expect, it } from 'vitest'
import { RouseNode } from '../journeys/node.ts'
import { killedInHerds } from './herd.ts'

describe('a node killed with -9 while 1,000 schedules fire', () => {
  const node = new RouseNode()
  afterAll(() => node.remove())

  it('loses none and doubles none, twenty times over', async () => {
    expect(await killedInHerds(node, 20)).toBeGreaterThanOrEqual(3)
  }, 480_000)
})
