import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bundle, bundled } from './bundle.ts'
import { onEveryCore } from './crowd.ts'
import type { Ask, Told } from './thread.ts'

/** SIMULATION_SEED: the first of the seeds; SIMULATION_HISTORIES: how many. */
const first = Number(process.env.SIMULATION_SEED ?? 1)
const count = Number(process.env.SIMULATION_HISTORIES ?? 1_000)
/** One in so many is played without faults too, to see whether it comes to the same. */
const pairEvery = 12
const msPerHistory = 2_000
const shrinkMsMax = 60_000
/** More say no more. */
const shownMost = 5

const again = (seed: number): string =>
  `SIMULATION_SEED=${seed} SIMULATION_HISTORIES=1 npm run test:simulation -- histories`

describe(`${count} histories from seed ${first}`, () => {
  let bundle: Bundle
  const told: Told[] = []
  const bad: Told[] = []
  beforeAll(
    async () => {
      bundle = await bundled()
      const asks = Array.from({ length: count }, (_, n): Ask => ({ seed: first + n, pair: n % pairEvery === 0 }))
      await onEveryCore(bundle.file, asks, (one) => {
        told.push(one)
        if (one.found.length > 0) bad.push(one)
        return bad.length >= shownMost
      })
    },
    120_000 + count * msPerHistory,
  )
  afterAll(() => bundle.remove())

  test(
    'nothing is lost, doubled, passed or left behind in any of them',
    async () => {
      if (bad.length === 0) return
      const [worst] = bad.toSorted((a, b) => a.seed - b.seed)
      await onEveryCore(bundle.file, [{ shrink: worst!.seed, msMax: shrinkMsMax }], ({ short, found }) => {
        const kept = JSON.stringify({ what: found[0], ...short })
        process.stderr.write(
          `seed ${worst!.seed}, made shorter (test/simulation/kept/<name>.json keeps it):\n${kept}\n`,
        )
        return true
      })
      expect.fail(bad.map(({ seed, found }) => `seed ${seed}: ${again(seed)}\n  ${found.join('\n  ')}`).join('\n'))
    },
    shrinkMsMax + 60_000,
  )

  test('enough happened in them for it to mean something', () => {
    const sum = (of: (one: Told) => number): number => told.reduce((all, one) => all + of(one), 0)
    const counts = new Map<string, number>()
    for (const one of told) for (const [what, times] of one.counts) counts.set(what, (counts.get(what) ?? 0) + times)
    const shown = {
      histories: told.length,
      steps: sum(({ steps }) => steps),
      events: sum(({ events }) => events),
      faults: sum(({ faults }) => faults),
      handedOut: counts.get('handed out') ?? 0,
      jobs: counts.get('jobs') ?? 0,
      died: counts.get('died') ?? 0,
      refused: [...counts].filter(([what]) => what.startsWith('refused')).reduce((all, [, times]) => all + times, 0),
    }
    process.stderr.write(`${JSON.stringify(shown)}\n`)
    expect(Math.min(...told.map(({ steps }) => steps))).toBeGreaterThanOrEqual(200)
    if (count < 100) return
    expect(shown.faults / count).toBeGreaterThan(20)
    expect(shown.handedOut / count).toBeGreaterThan(15)
    expect(shown.jobs / count).toBeGreaterThan(3)
  })
})
