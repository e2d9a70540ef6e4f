import { App } from 'aws-cdk-lib'
import { Template as Synthesized } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { includedStack, keepIndexes } from '../../infra/include.ts'
import { noSettings } from '../../infra/settings.ts'
import { stageOf } from '../../infra/stage.ts'
import { stepBefore, type Template, tablesOf } from '../../infra/steps.ts'
import { inApp, type Json, synthesized } from './synth.ts'

const now = synthesized('prod').toJSON() as Template

/** The same with other indexes on its tables, and other code. */
function changed(template: Template, change: (table: Json, id: string) => void, code = 'of yesterday'): Template {
  const copy: Json = structuredClone(template)
  for (const id of tablesOf(copy)) change(copy.Resources[id].Properties, id)
  for (const one of Object.values<Json>(copy.Resources))
    if (one.Type === 'AWS::Lambda::Function') one.Properties.Code.S3Key = code
  return copy
}

const without =
  (...names: string[]) =>
  (table: Json): void => {
    const left = (table.GlobalSecondaryIndexes ?? []).filter((index: Json) => !names.includes(index.IndexName))
    if (left.length === 0) delete table.GlobalSecondaryIndexes
    else table.GlobalSecondaryIndexes = left
    const keys = [...table.KeySchema, ...left.flatMap((index: Json) => index.KeySchema)].map((key) => key.AttributeName)
    table.AttributeDefinitions = table.AttributeDefinitions.filter((a: Json) => keys.includes(a.AttributeName))
  }

const indexesOf = (template: Template, id: string): string[] =>
  ((template.Resources[id] as Json)?.Properties.GlobalSecondaryIndexes ?? [])
    .map((index: Json) => index.IndexName)
    .sort()

const codeOf = (template: Template): unknown =>
  (Object.values(template.Resources).find(({ Type }) => Type === 'AWS::Lambda::Function') as Json).Properties.Code.S3Key

/** Everything that is deployed on the way, the goal included. */
function way(deployed: Template, wanted: Template): Template[] {
  const all: Template[] = []
  for (let at = deployed; all.length < 50; ) {
    const step = stepBefore(at, wanted)
    at = step?.template ?? wanted
    all.push(at)
    if (step === null) return all
  }
  throw new Error('the steps do not come to an end')
}

function assertOneEach(deployed: Template, wanted: Template): Template[] {
  const steps = way(deployed, wanted)
  for (const [i, after] of steps.entries()) {
    const before = i === 0 ? deployed : steps[i - 1]!
    for (const id of tablesOf(before)) {
      const [had, has] = [indexesOf(before, id), indexesOf(after, id)]
      const differing = [...had.filter((n) => !has.includes(n)), ...has.filter((n) => !had.includes(n))]
      expect([id, differing.length <= 1 || differing]).toEqual([id, true])
      const { AttributeDefinitions, GlobalSecondaryIndexes = [], KeySchema } = (after.Resources[id] as Json).Properties
      const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index: Json) => index.KeySchema)].flat()
      // DynamoDB refuses an attribute that no key has, and a key without its attribute.
      expect(new Set(AttributeDefinitions.map((a: Json) => a.AttributeName))).toEqual(
        new Set(keys.map((key: Json) => key.AttributeName)),
      )
    }
  }
  expect(steps.at(-1)).toBe(wanted)
  return steps
}

test('a stack that has all indexes, or is to get one more for each table, is deployed at once', () => {
  expect(stepBefore(now, now)).toBeNull()
  expect(way(changed(now, without('due', 'leases', 'watches')), now)).toEqual([now])
})

test('a table that is new comes with all its indexes', () => {
  const deployed: Json = structuredClone(now)
  for (const id of tablesOf(deployed)) if (id.startsWith('Schedules')) delete deployed.Resources[id]
  expect(stepBefore(deployed, now)).toBeNull()
})

test('however many indexes are missing, no step makes two of a table, and the functions change when all are there', () => {
  const steps = assertOneEach(
    changed(now, without('due', 'schedulesByAgent', 'schedulesByMaker', 'leases', 'jobs')),
    now,
  )
  expect(steps.map(codeOf)).toEqual(['of yesterday', 'of yesterday', codeOf(now)])
  const bare = assertOneEach(
    changed(now, (table) => without(...(table.GlobalSecondaryIndexes ?? []).map((i: Json) => i.IndexName))(table)),
    now,
  )
  expect(bare.length).toBe(Math.max(...tablesOf(now).map((id) => indexesOf(now, id).length)))
})

test('an index that is not wanted any more goes after the functions that asked it, one by one', () => {
  const wanted = changed(now, without('due', 'schedulesByAgent', 'leases'), 'of tomorrow')
  const steps = assertOneEach(now, wanted)
  expect(steps.map(codeOf)).toEqual(['of tomorrow', 'of tomorrow'])
  const schedules = tablesOf(now).find((id) => id.startsWith('Schedules'))!
  expect(steps.map((step) => indexesOf(step, schedules))).toEqual([
    ['deliveries', 'schedulesByAgent', 'schedulesByMaker'],
    ['deliveries', 'schedulesByMaker'],
  ])
  // Some come and some go: first all that come.
  const mixed = assertOneEach(changed(now, without('deliveries', 'schedulesByMaker')), wanted)
  expect(mixed.map(codeOf).slice(0, 2)).toEqual(['of yesterday', 'of tomorrow'])
})

test('an index that keeps its name and changes is refused', () => {
  const other = changed(now, (table) => {
    for (const index of table.GlobalSecondaryIndexes ?? [])
      if (index.IndexName === 'due') index.Projection = { ProjectionType: 'ALL' }
  })
  expect(() => stepBefore(other, now)).toThrow(/the index due of SchedulesTable.* changes: expected a new one/)
})

test('a stack that is made of a step is that step, to the letter', () => {
  // But for the order in which a resource names those that it waits for.
  const sorted = (given: Json): Json => {
    const copy = structuredClone(given)
    for (const one of Object.values<Json>(copy.Resources)) if (Array.isArray(one.DependsOn)) one.DependsOn.sort()
    return copy
  }
  const { template } = stepBefore(changed(now, without('due', 'schedulesByAgent')), now)!
  const app = new App({ analyticsReporting: false })
  const made = Synthesized.fromStack(includedStack(app, 'Rouse-prod', stageOf('prod'), template)).toJSON()
  expect(sorted(made)).toEqual(sorted(template))
})

test('a stack that keeps old indexes for a while has them beside its own, and new functions', () => {
  const older = changed(now, (table, id) => {
    if (!id.startsWith('Schedules')) return
    for (const letter of ['1', '2']) {
      table.GlobalSecondaryIndexes.push({
        IndexName: `old${letter}`,
        KeySchema: [{ AttributeName: `_${letter}p`, KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })
      table.AttributeDefinitions.push({ AttributeName: `_${letter}p`, AttributeType: 'S' })
    }
  })
  const step = stepBefore(older, now)!
  expect(step.kind).toBe('keeps')
  inApp(
    'prod',
    () => noSettings,
    (_, stack) => {
      keepIndexes(stack, step.template)
      const made = Synthesized.fromStack(stack).toJSON() as Template
      for (const id of tablesOf(made)) expect(made.Resources[id]).toEqual(step.template.Resources[id])
      expect(codeOf(made)).toBe(codeOf(now))
    },
  )
})
