import type { ProblemCode } from './problem.ts'

type Problems = (codes: readonly ProblemCode[]) => Record<string, object>

const faults = ['rate_limited', 'internal', 'unavailable'] as const
const body = { type: 'object' }
const html = (description: string): object => ({
  description,
  content: { 'text/html': { schema: { type: 'string' } } },
})

const rpcFault = (description: string): object => ({
  description,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['jsonrpc', 'error'],
        properties: { jsonrpc: { const: '2.0' }, error: body },
      },
    },
  },
})
/** A client whose headers are longer than the server reads gets this of the server, whatever it asks for. */
const headersTooLong = { 431: { description: 'The headers are longer than this server reads' } }

/** What is served beside the table of operations. */
export function doors(problems: Problems): Record<string, object> {
  return {
    '/healthz': {
      get: {
        operationId: 'health',
        summary: 'True while the node answers',
        tags: ['Doors'],
        security: [],
        responses: {
          200: {
            description: 'It answers',
            content: {
              'application/json': {
                schema: { type: 'object', required: ['ok'], properties: { ok: { const: true } } },
              },
            },
          },
          ...headersTooLong,
          ...problems(['internal']),
        },
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'openapi',
        summary: 'This document',
        tags: ['Doors'],
        security: [],
        responses: {
          200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: body } } },
          ...headersTooLong,
          ...problems(['internal']),
        },
      },
    },
    '/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document as a page; it works without a way to the internet',
        tags: ['Doors'],
        security: [],
        responses: { 200: html('The page'), ...problems(['not_found', 'internal']) },
      },
    },
    '/v1/calendar.ics': {
      get: {
        operationId: 'readCalendar',
        summary: 'The agenda of a person as an iCalendar feed; the token in the address is the key',
        tags: ['Agenda'],
        security: [],
        parameters: [
          {
            name: 'token',
            in: 'query',
            required: true,
            description: 'From `POST /v1/calendar-tokens`.',
            schema: { type: 'string' },
          },
        ],
        responses: {
          200: { description: 'RFC 5545', content: { 'text/calendar': { schema: { type: 'string' } } } },
          ...problems(['not_found', ...faults]),
        },
      },
    },
    '/v1/hooks/{token}': {
      post: {
        operationId: 'receiveWebhook',
        summary: 'Tell a trigger that something has happened; the token in the address is the key',
        description:
          'The body is handed to the agent as data. Where the trigger is signed, the call carries the three headers of Standard Webhooks.',
        tags: ['Triggers'],
        security: [],
        parameters: [
          {
            name: 'token',
            in: 'path',
            required: true,
            description: 'As it stands in the address that creating the trigger answered.',
            schema: { type: 'string', minLength: 1 },
          },
          ...[
            ['webhook-id', 'The same id is told once.', { type: 'string', pattern: '^[!-~]{1,200}$' }],
            ['webhook-timestamp', 'Seconds since 1970, at most five minutes off.', { type: 'string' }],
            ['webhook-signature', '`v1,` and the HMAC-SHA256 in base64.', { type: 'string' }],
          ].map(([name, description, schema]) => ({ name, in: 'header', required: false, description, schema })),
        ],
        requestBody: {
          required: false,
          content: { 'application/json': { schema: {} }, 'text/plain': { schema: { type: 'string' } } },
        },
        responses: {
          202: { description: 'It was taken', content: { 'application/json': { schema: body } } },
          ...problems([
            'body_invalid',
            'body_too_large',
            'header_invalid',
            'not_found',
            'signature_invalid',
            ...faults,
          ]),
        },
      },
    },
    '/mcp': {
      post: {
        operationId: 'mcp',
        summary: 'MCP over Streamable HTTP, without sessions: the same operations as tools for a model',
        tags: ['Doors'],
        parameters: [
          {
            name: 'Accept',
            in: 'header',
            required: false,
            description: '`application/json, text/event-stream`',
            schema: { type: 'string' },
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {},
              example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
            },
          },
        },
        responses: {
          200: {
            description: 'JSON-RPC 2.0',
            content: { 'application/json': { schema: {} }, 'text/event-stream': { schema: { type: 'string' } } },
          },
          202: { description: 'A notification was taken' },
          ...problems([
            'unauthorized',
            'host_not_allowed',
            'origin_not_allowed',
            'body_invalid',
            'body_too_large',
            ...faults,
          ]),
          400: rpcFault('It is no message of JSON-RPC, or one that is not taken here'),
          406: rpcFault('`Accept` names not both of `application/json` and `text/event-stream`'),
          415: rpcFault('The body is not said to be `application/json`'),
        },
      },
    },
  }
}
