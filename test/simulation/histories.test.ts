import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bundle, bundled } from './bundle.ts'
import { onEveryCore } from './crowd.ts'
import { kept } from './kept.ts'
import { mutants } from './mutants.ts'
import type { Told } from './thread.ts'

/** A few of the thousand that `npm run test:simulation` plays, and each that has found a fault once. */
const seeds = [1, 2, 3, 4]

async function playedBy(bundle: Bundle, asks: Parameters<typeof onEveryCore>[1]): Promise<Told[]> {
  const told: Told[] = []
  await onEveryCore(bundle.file, asks, (one) => {
    told.push(one)
    return false
  })
  return told
}

describe('simulated histories', () => {
  let bundle: Bundle
  beforeAll(async () => {
    bundle = await bundled()
  }, 60_000)
  afterAll(() => bundle.remove())

  test('a few of many hold, with faults at every port and without', async () => {
    const told = await playedBy(
      bundle,
      seeds.map((seed) => ({ seed, pair: seed === 1 })),
    )
    expect(told.flatMap(({ seed, found }) => found.map((what) => `seed ${seed}: ${what}`))).toEqual([])
  }, 60_000)

  test('those that found a fault of the product once find none any more', async () => {
    const told = await playedBy(bundle, kept)
    expect(told).toHaveLength(kept.length)
    expect(told.flatMap(({ found }) => found)).toEqual([])
  }, 60_000)

  test('a planted fault is found', async () => {
    const lost = await bundled(mutants[1]!)
    try {
      const told = await playedBy(lost, [{ seed: 2, pair: false }])
      expect(told[0]!.found[0]).toContain('was taken, and then taken')
    } finally {
      lost.remove()
    }
  }, 60_000)
})
