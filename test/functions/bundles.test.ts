import { beforeAll, describe, expect, test } from 'vitest'
import { bundleFunction, functionNames } from '../../scripts/bundle.mjs'

/** What a start may load, KB. Each is a little more than it is now: whoever makes one grow says so here. */
const startKbMax = { api: 800, alarm: 300, sweep: 360, change: 305, flow: 300 }

type Name = (typeof functionNames)[number]
const bundles = new Map<Name, Awaited<ReturnType<typeof bundleFunction>>>()

beforeAll(async () => {
  for (const name of functionNames) bundles.set(name, await bundleFunction(name, { outdir: 'dist', write: false }))
}, 120_000)

/** Our files and others' packages that a function loads with its start, and all that it has. */
function loads(name: Name) {
  const { start, whole } = bundles.get(name)!
  const packagesOf = (sources: readonly string[]) =>
    new Set(sources.flatMap((source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []))
  return { files: start.sources, packages: packagesOf(start.sources), later: packagesOf(whole.sources) }
}

test.each(functionNames)('%s starts with no more than its bytes', (name) => {
  expect(Math.round(bundles.get(name)!.start.bytes / 1000)).toBeLessThanOrEqual(startKbMax[name])
})

const seldom = [
  '@marcbachmann/cel-js',
  're2js',
  'ajv',
  '@modelcontextprotocol/client',
  '@aws-sdk/client-scheduler',
  '@aws-sdk/client-ssm',
]

describe('what only some calls need', () => {
  test.each(['alarm', 'sweep', 'change', 'flow'] as const)(
    '%s starts without zod, hono and the API, and with two clients of AWS',
    (name) => {
      const { files, packages } = loads(name)
      expect(files.filter((file) => file.startsWith('shared/api/'))).toEqual([])
      expect([...packages].filter((path) => /^(zod|hono|@hono)/.test(path))).toEqual([])
      expect([...packages].filter((path) => path.startsWith('@aws-sdk/client-'))).toEqual([
        '@aws-sdk/client-dynamodb',
        '@aws-sdk/client-sqs',
      ])
    },
  )

  test.each(functionNames)(
    '%s loads conditions, schemas, MCP and clients that few calls need with their first use',
    (name) => {
      const { files, packages } = loads(name)
      expect(files.filter((file) => file.startsWith('shared/cel/'))).toEqual([])
      expect(seldom.filter((path) => packages.has(path))).toEqual([])
      expect(seldom.filter((path) => !loads('api').later.has(path))).toEqual([])
    },
  )

  test('an alarm that wakes a session loads nothing of RRULEs, turns that end, monitors, flows and ways out', () => {
    const { files } = loads('alarm')
    expect(files).toContain('shared/engine/look.ts')
    expect(
      files.filter((file) => /rrule|finish|monitor|flow-step|trigger|outbound\/(http|mcp|sns)/.test(file)),
    ).toEqual([])
  })
})
