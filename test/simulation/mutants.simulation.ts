import { expect, test } from 'vitest'
import { bundled } from './bundle.ts'
import { onEveryCore } from './crowd.ts'
import { kept } from './kept.ts'
import { mutants } from './mutants.ts'
import type { Ask } from './thread.ts'

/** Within so many histories, besides those that were kept, each planted fault has to be found. */
const historiesMost = 60
const firstSeed = 1

test.each(mutants.map((mutant) => [mutant.what, mutant] as const))(
  '%s: the simulation finds it',
  async (what, mutant) => {
    const bundle = await bundled(mutant)
    let played = 0
    let found: readonly string[] = []
    try {
      // What was found once is looked for first.
      const drawn = Array.from({ length: historiesMost }, (_, n): Ask => ({ seed: firstSeed + n, pair: false }))
      const asks = [...kept, ...drawn]
      await onEveryCore(bundle.file, asks, (told) => {
        played += 1
        if (told.found.length > 0) found = told.found
        return told.found.length > 0
      })
    } finally {
      bundle.remove()
    }
    process.stderr.write(`${what}: after ${played} histories: ${found[0]?.slice(0, 160)}\n`)
    expect(found).not.toEqual([])
  },
  180_000,
)

test('a planted fault whose text is not found is told', async () => {
  const gone = { file: 'shared/engine/call.ts', text: 'this text stands nowhere', instead: '' }
  await expect(bundled(gone)).rejects.toThrow('has this text 0 times')
})
