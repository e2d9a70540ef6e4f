import * as z from 'zod'
import { answers, nodeAnswers } from './answers.ts'
import { doors } from './openapi-doors.ts'
import {
  everyHeader,
  header,
  type ProblemAnswers,
  problemAnswersIn,
  problemSchema,
  rateHeaders,
  sharedHeaders,
} from './openapi-problems.ts'
import { about, examples, parameterWords, tags } from './openapi-words.ts'
import type { Operation } from './operation.ts'
import { problemsOf } from './problems.ts'

type Schema = { readonly [keyword: string]: unknown }

/**
 * The OpenAPI 3.1 document of a table of operations. Its schemas are JSON Schema 2020-12, made by zod: those of bodies and queries from the ones
 * that check the calls, those of answers from the ones that the compiler holds the calls against.
 */
export function openapi(operations: readonly Operation[]): object {
  const schemas: Record<string, Schema> = { Problem: problemSchema }
  const responses = new Map<string, object>()
  const problems = problemAnswersIn(responses)
  const paths: Record<string, Record<string, object>> = {}
  for (const op of operations) {
    const path = op.path.replaceAll('+}', '}')
    paths[path] = { ...paths[path], [op.method]: described(op, schemas, problems) }
  }
  const used = new Set(operations.map((op) => op.tag)).add('Doors')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rouse',
      version: '1',
      description: about,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [...used].map((name) => ({ name, description: tags[name] })),
    paths: { ...paths, ...doors(problems) },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: "A person's or an agent's key" } },
      headers: sharedHeaders,
      parameters: actingParameters,
      responses: Object.fromEntries(responses),
      schemas,
    },
  }
}

function described(op: Operation, schemas: Record<string, Schema>, problems: ProblemAnswers): object {
  const params = [...op.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: parameterWords(name!),
    schema: { type: 'string', minLength: 1 },
  }))
  return {
    operationId: op.name,
    summary: op.summary,
    tags: [op.tag],
    parameters: [...params, ...queryParameters(op), ...headerParameters(op), ...actingAs],
    ...(op.body === null ? {} : { requestBody: { required: !op.bodyOptional, content: contentOf(op, op.body) } }),
    responses: { ...answersOf(op, schemas), ...problems(problemsOf(op)) },
  }
}

function contentOf(op: Operation, body: z.ZodType): object {
  const example = Object.hasOwn(examples, op.name) ? { example: examples[op.name] } : {}
  if (op.takes === 'json') return { 'application/json': { schema: taken(body), ...example } }
  return { 'application/json': { schema: {}, ...example }, 'text/*': {} }
}

/** @throws Error for an operation whose answers nobody described */
function answersOf(op: Operation, schemas: Record<string, Schema>): object {
  const all: Readonly<Record<string, Readonly<Record<string, z.ZodType | null>>>> = { ...answers, ...nodeAnswers }
  const found = all[op.name]
  if (found === undefined) throw new Error(`${op.name}: nobody has described what it answers`)
  return Object.fromEntries(
    op.statuses.map((status) => {
      const schema = found[status]
      if (schema === undefined) throw new Error(`${op.name}: nobody has described its ${status}`)
      const headers = { ...everyHeader, ...rateHeaders, ...(withEtag.has(op.name) ? { ETag: header('ETag') } : {}) }
      if (schema === null) return [status, { description: 'Done; no content', headers }]
      return [status, { description: statusWords[status] ?? 'Done', headers, content: answered(op, schema, schemas) }]
    }),
  )
}

function answered(op: Operation, schema: z.ZodType, schemas: Record<string, Schema>): object {
  const json = { 'application/json': { schema: given(schema, schemas) } }
  const text = { schema: { type: 'string' } }
  if (op.name === 'readMetrics') return { 'text/plain': text }
  return op.name === 'getDocument' ? { ...json, 'text/*': text } : json
}

const statusWords: Readonly<Record<number, string>> = { 200: 'Done', 201: 'Created', 202: 'Accepted' }
/** Those that answer one thing which If-Match can name. */
const withEtag = new Set([
  ...['createSchedule', 'getSchedule', 'editSchedule', 'pauseSchedule', 'resumeSchedule'],
  ...['createTrigger', 'getTrigger', 'editTrigger', 'pauseTrigger', 'resumeTrigger', 'putDocument', 'getDocument'],
])

function queryParameters(op: Operation): object[] {
  if (op.query === null) return []
  const { properties = {}, required = [] } = taken(op.query) as {
    properties?: Record<string, Schema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: description ?? parameterWords(name),
    schema,
  }))
}

function headerParameters(op: Operation): object[] {
  const optional = (name: string, description: string, schema: object = { type: 'string' }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  })
  const twice = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' }
  return [
    ...(op.creates
      ? [
          optional(
            'Idempotency-Key',
            'The same key and body within 24 hours: the same answer and no second effect',
            twice,
          ),
        ]
      : []),
    ...(withIfMatch.has(op.name)
      ? [optional('If-Match', 'The ETag of what you read; another state of it is 412')]
      : []),
  ]
}
const withIfMatch = new Set(['editSchedule', 'editTrigger', 'putDocument', 'removeDocument'])

/** What callers send. */
const taken = (schema: z.ZodType): Schema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as Schema
}

/** What is answered. Shapes that have a name go into the document's components; more fields may come with time. */
function given(schema: z.ZodType, schemas: Record<string, Schema>): Schema {
  const made = z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = JSON.parse(JSON.stringify(made).replaceAll('#/$defs/', '#/components/schemas/'))
  for (const [name, { id: __, ...shape }] of Object.entries($defs as Record<string, Schema>)) schemas[name] = shape
  // One that has a name itself stands at the top, not among the definitions.
  const { id, ...top } = rest as { id?: string }
  if (id === undefined) return top
  schemas[id] = top
  return { $ref: `#/components/schemas/${id}` }
}

/** How an agent says where it acts. Nobody else's key looks at them. */
const actingParameters = {
  Session: {
    name: 'X-Rouse-Session',
    in: 'header',
    required: false,
    description: "With an agent's key: the session of its own that it acts in",
    schema: { type: 'string' },
  },
  Turn: {
    name: 'X-Rouse-Turn',
    in: 'header',
    required: false,
    description: 'With it: the turn; one that is not running is 409 `turn_not_running`',
    schema: { type: 'string' },
  },
}
const actingAs = Object.keys(actingParameters).map((name) => ({ $ref: `#/components/parameters/${name}` }))
