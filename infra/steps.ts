/** A CloudFormation template, as far as tables are concerned. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>
}

interface TemplateResource {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly AttributeName: string
  readonly AttributeType: string
}

interface Index {
  readonly IndexName: string
  readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: string }[]
  readonly Projection: unknown
}

/**
 * What has to be deployed first.
 *
 * `indexes`: what is deployed, with more indexes; nothing else changes, so that the functions of today go on. `keeps`: what is wanted, with
 * indexes that the functions of yesterday needed: they go one by one.
 */
export interface Step {
  readonly kind: 'indexes' | 'keeps'
  readonly template: Template
  /** Of each table that this step changes: the index that it makes or takes away. */
  readonly changes: readonly string[]
}

/**
 * DynamoDB makes or deletes one index of a table at a time, and CloudFormation fails at a template that asks for two. This leads from what is
 * deployed to what is wanted in steps that never do.
 *
 * @returns the next step, or null when `wanted` itself can be deployed now
 * @throws  Error for an index that keeps its name and changes: the functions would be without it for a while
 */
export function stepBefore(deployed: Template, wanted: Template): Step | null {
  const all = tablesOf(wanted).flatMap((id) => {
    const [now, then] = [deployed.Resources[id], wanted.Resources[id]!]
    // A table that is not there yet is made with all its indexes.
    return now === undefined ? [] : [compared(id, now, then)]
  })
  const crowded = all.filter(({ more }) => more.length > 1)
  if (crowded.length > 0) {
    const grown = crowded.map(({ id, more }) => [
      id,
      withIndex(deployed.Resources[id]!, wanted.Resources[id]!, more[0]!),
    ])
    const changes = crowded.map(({ id, more }) => `${id}: make ${more[0]}`)
    return { kind: 'indexes', template: replaced(deployed, grown), changes }
  }
  const left = all.filter(({ more, less }) => more.length + less.length > 1)
  if (left.length === 0) return null
  const keeping = all.filter(({ less }) => less.length > 0)
  const kept = keeping.map(
    ({ id, more, less }) =>
      // The one change of the table that this step makes is the new index, or the first that goes.
      [
        id,
        less
          .slice(more.length === 0 ? 1 : 0)
          .reduce((table, name) => withIndex(table, deployed.Resources[id]!, name), wanted.Resources[id]!),
      ] as const,
  )
  const changes = all.flatMap(({ id, more, less }) =>
    more.length > 0 ? [`${id}: make ${more[0]}`] : less.length > 0 ? [`${id}: delete ${less[0]}`] : [],
  )
  return { kind: 'keeps', template: replaced(wanted, kept), changes }
}

export const tablesOf = ({ Resources }: Template): string[] =>
  Object.keys(Resources).filter((id) => Resources[id]!.Type === 'AWS::DynamoDB::Table')

function compared(id: string, now: TemplateResource, then: TemplateResource) {
  const [had, has] = [indexesOf(now), indexesOf(then)]
  for (const [name, index] of has) {
    const before = had.get(name)
    if (before !== undefined && JSON.stringify(shapeOf(now, before)) !== JSON.stringify(shapeOf(then, index)))
      throw new Error(`the index ${name} of ${id} changes: expected a new one with a name and attributes of its own`)
  }
  return {
    id,
    more: [...has.keys()].filter((name) => !had.has(name)),
    less: [...had.keys()].filter((name) => !has.has(name)),
  }
}

const listOf = <T>(table: TemplateResource, property: string): readonly T[] =>
  (table.Properties?.[property] ?? []) as readonly T[]

const indexesOf = (table: TemplateResource): Map<string, Index> =>
  new Map(listOf<Index>(table, 'GlobalSecondaryIndexes').map((index) => [index.IndexName, index]))

/** With the types of its attributes, which stand apart. */
const shapeOf = (table: TemplateResource, { KeySchema, Projection }: Index) => ({
  KeySchema,
  Projection,
  types: attributesIn(table, KeySchema),
})

const attributesIn = (table: TemplateResource, keys: Index['KeySchema']): Attribute[] =>
  listOf<Attribute>(table, 'AttributeDefinitions').filter(({ AttributeName }) =>
    keys.some((key) => key.AttributeName === AttributeName),
  )

/** The table with one index more, as another template has it. */
function withIndex(table: TemplateResource, from: TemplateResource, name: string): TemplateResource {
  const index = indexesOf(from).get(name)!
  const known = listOf<Attribute>(table, 'AttributeDefinitions')
  const news = attributesIn(from, index.KeySchema).filter(
    ({ AttributeName }) => !known.some((one) => one.AttributeName === AttributeName),
  )
  return {
    ...table,
    Properties: {
      ...table.Properties,
      AttributeDefinitions: [...known, ...news],
      GlobalSecondaryIndexes: [...listOf<Index>(table, 'GlobalSecondaryIndexes'), index],
    },
  }
}

const replaced = (template: Template, some: readonly (readonly (string | TemplateResource)[])[]): Template => ({
  ...template,
  Resources: { ...template.Resources, ...(Object.fromEntries(some) as Record<string, TemplateResource>) },
})
