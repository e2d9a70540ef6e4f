import { type ProblemCode, problemKind } from './problem.ts'

/** Problems and headers of openapi.json. */

export type ProblemAnswers = (codes: readonly ProblemCode[]) => Record<string, object>

/** One answer for each status, with the codes that it can carry. Those that many operations share stand once, under `shared`. */
export function problemAnswersIn(shared: Map<string, object>): ProblemAnswers {
  const names = new Map<string, string>()
  return (codes) => {
    const all = Object.entries(problemAnswers(codes))
    return Object.fromEntries(
      all.map(([status, answer]) => {
        const text = JSON.stringify(answer)
        let name = names.get(text)
        if (name === undefined) {
          const others = [...shared.keys()].filter((one) => one.startsWith(`Problem${status}`)).length
          name = `Problem${status}${others === 0 ? '' : `_${others + 1}`}`
          names.set(text, name)
          shared.set(name, answer)
        }
        return [status, { $ref: `#/components/responses/${name}` }]
      }),
    )
  }
}

function problemAnswers(codes: readonly ProblemCode[]): Record<string, object> {
  const statuses = [...new Set(codes.map((code) => problemKind(code).status))].toSorted()
  return Object.fromEntries(
    statuses.map((status) => {
      const here = codes.filter((code) => problemKind(code).status === status)
      return [
        status,
        {
          description: here.map((code) => `\`${code}\`: ${problemKind(code).title}`).join('. '),
          headers: { ...everyHeader, ...problemHeaders[status] },
          content: {
            'application/problem+json': {
              schema: {
                allOf: [
                  { $ref: '#/components/schemas/Problem' },
                  { properties: { status: { const: status }, code: { enum: here } } },
                ],
              },
            },
          },
        },
      ]
    }),
  )
}

export const header = (name: string): object => ({ $ref: `#/components/headers/${name}` })
export const everyHeader = { 'X-Request-Id': header('X-Request-Id') }
export const rateHeaders = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimit-Policy') }
const problemHeaders: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': header('WWW-Authenticate') },
  429: { 'Retry-After': header('Retry-After'), ...rateHeaders },
}
const text = (description: string): object => ({ description, schema: { type: 'string' } })
export const sharedHeaders = {
  'X-Request-Id': text('Names the call in the log'),
  ETag: text('Names this state of it; send it as If-Match'),
  'WWW-Authenticate': text('Bearer'),
  'Retry-After': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } },
  RateLimit: text('Calls left, and the seconds until there are some (draft-ietf-httpapi-ratelimit-headers)'),
  'RateLimit-Policy': text('The quota and its window'),
}

export const problemSchema = {
  type: 'object',
  description: 'RFC 9457. `code` is the stable word to switch on',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'expected, got, and what to do' },
    code: { type: 'string' },
    card: { type: 'string', description: 'of `approval_needed`: the card that asks a person' },
    instance: { type: 'string', description: 'the call, as the log knows it' },
    errors: {
      type: 'array',
      description: 'what does not fit, field by field',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}
