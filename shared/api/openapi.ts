import * as z from 'zod'
import type { Operation } from './operation.ts'
import { problemCodes } from './problem.ts'

/** The OpenAPI 3.1 document of a table of operations. Its schemas are JSON Schema 2020-12, made by zod from the ones that check the calls. */
export function openapi(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const op of operations) {
    const path = op.path.replaceAll('+}', '}')
    paths[path] = { ...paths[path], [op.method]: described(op) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rouse',
      version: '1',
      description: 'Wakes AI agents: schedules whose prompts reach the queue of a session when due.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [...new Set(operations.map((op) => op.tag))].map((name) => ({ name })),
    paths: {
      '/healthz': {
        get: {
          operationId: 'health',
          summary: 'True while the node answers',
          security: [],
          responses: { '200': { description: 'It answers' } },
        },
      },
      ...paths,
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problemSchema },
    },
  }
}

function described(op: Operation): object {
  const params = [...op.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  return {
    operationId: op.name,
    summary: op.summary,
    tags: [op.tag],
    parameters: [...params, ...queryParameters(op), ...headerParameters(op)],
    ...(op.body === null
      ? {}
      : {
          requestBody: { required: !op.bodyOptional, content: contentOf(op, op.body) },
        }),
    responses: {
      ...Object.fromEntries(op.statuses.map((status) => [status, answerOf(status)])),
      default: {
        description: `A problem; \`code\` is one of ${[400, 401, 403, 404, 409, 422, 429].flatMap(problemCodes).join(', ')}`,
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

const contentOf = (op: Operation, body: z.ZodType): object =>
  op.takes === 'json'
    ? { 'application/json': { schema: schemaOf(body) } }
    : { 'application/json': { schema: {} }, 'text/*': { schema: { type: 'string' } } }

const answerOf = (status: number): object =>
  status === 204
    ? { description: 'Done; no content' }
    : { description: 'Done', content: { 'application/json': { schema: { type: 'object' } } } }

function queryParameters(op: Operation): object[] {
  if (op.query === null) return []
  const { properties = {}, required = [] } = schemaOf(op.query) as {
    properties?: Record<string, object>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

const headerParameters = (op: Operation): object[] =>
  op.creates
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          schema: { type: 'string', minLength: 1, maxLength: 255 },
          description: 'The same key and body within 24 hours gives the same answer and no second effect',
        },
      ]
    : []

function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}
