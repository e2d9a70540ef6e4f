import { createRequire } from 'node:module'
import { join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import { describe, expect, it } from 'vitest'

const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs')

/** What the rules find below `baseDir`; fails when next to nothing was seen, since a cruise that reads no file finds no breach. */
async function breaches(baseDir: string, places: string[], seenAtLeast: number): Promise<string[]> {
  const { output } = await cruise(places, {
    baseDir,
    ruleSet: { forbidden },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
  })
  if (typeof output === 'string') throw new Error('the cruise answered text')
  if (output.summary.totalCruised < seenAtLeast)
    throw new Error(`only ${output.summary.totalCruised} modules were seen`)
  return output.summary.violations.map((v) => `${v.rule.name}: ${v.from} → ${v.to}`).sort()
}

const root = join(import.meta.dirname, '../..')

describe('the floors of the house', () => {
  it('imports go down only, and the core touches neither an SDK nor the machine', async () => {
    expect(await breaches(root, ['shared', 'apps'], 100)).toEqual([])
  }, 60_000)

  it('a breach would be seen', async () => {
    expect(await breaches(join(import.meta.dirname, 'breach'), ['shared'], 2)).toEqual([
      'core-is-pure: shared/domain/rule.ts → fs',
      'domain-knows-time-only: shared/domain/rule.ts → shared/adapters/store.ts',
    ])
  }, 60_000)
})
