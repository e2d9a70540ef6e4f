import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'

const root = new URL('../../', import.meta.url)
const text = readFileSync(new URL('SECURITY.md', root), 'utf8')
const promised = /\n## What is promised\n([\s\S]*?)(?=\n## )/.exec(text)![1]!
const promises = promised.split(/^- /m).slice(1)
const named = (promise: string): string[] => [...promise.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!)

describe('SECURITY.md', () => {
  test.each(promises.map((promise) => [promise.split('\n')[0]!.slice(0, 70), promise] as const))(
    'names tests that are there for: %s',
    (_, promise) => {
      expect(named(promise).length).toBeGreaterThan(0)
      for (const path of named(promise)) {
        expect([path, existsSync(fileURLToPath(new URL(path, root)))]).toEqual([path, true])
        expect(readFileSync(new URL(path, root), 'utf8')).toMatch(/\b(test|it)(\.each)?\b/)
      }
    },
  )

  test('names every test of test/attack', () => {
    const files = readdirSync(new URL('test/attack/', root)).filter((name) => name.endsWith('.test.ts'))
    const all = promises.flatMap(named)
    expect(files.filter((name) => !all.includes(`test/attack/${name}`))).toEqual([])
  })

  test('says how to report, what is promised and what is not, with the figures that hold', () => {
    for (const heading of ['Report a fault', 'Who is trusted with what', 'What is promised', 'What is not promised'])
      expect(text).toContain(`\n## ${heading}\n`)
    expect(limits.scrubbedCharsMin).toBe(6)
    expect(text).toContain('shorter than six characters')
    expect(text).toContain(`cut at ${limits.dataCharsMax.toLocaleString('en')} characters`)
  })
})
