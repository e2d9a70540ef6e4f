// Writes the types of `rouse/client`: what openapi.json says, as the Hono type that hono/client reads. They need hono and nothing of ours. That they
// are those of the app (apps/client/api.ts) the compiler sees to: test/contract/published.ts.

const statusMax = 300

/** @returns the text of client.d.ts */
export function clientTypes(document) {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema, 'given')}`,
  )
  const bodies = []
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const endpoints = Object.entries(methods)
      .filter(([, { security }]) => security === undefined)
      .filter(([, { tags }]) => !tags.includes('Doors'))
      .map(([method, operation]) => {
        const { body, endpoint } = endpointOf(operation, document)
        if (body !== null) bodies.push(body)
        return `${comment(operation.summary)}$${method}: ${endpoint}`
      })
    return endpoints.length === 0 ? '' : `'${routeOf(path)}': {\n${endpoints.join('\n')}\n}\n`
  })
  return [head, ...indented([...schemas, ...bodies, `interface Paths {\n${paths.join('')}}`].join('\n')), ''].join('\n')
}

function indented(text) {
  let depth = 0
  return text.split('\n').map((line) => {
    const bare = line.trim()
    // A comment may hold a brace of its own.
    const counted = bare.startsWith('/**') ? '' : bare
    const [opened, closed] = [counted.split('{').length - 1, counted.split('}').length - 1]
    const at = bare.startsWith('}') ? depth - 1 : depth
    depth += opened - closed
    return `${'  '.repeat(at)}${bare}`
  })
}

const head = `import type { Hono } from 'hono'
import type { hc } from 'hono/client'

export interface ConnectOptions {
  /** Where Rouse is: \`http://127.0.0.1:4750\` */
  readonly url: string
  /** A person's or an agent's key. */
  readonly key: string
  /** With an agent's key: the session of its own that it acts in. */
  readonly session?: string | undefined
  /** With it: the turn. */
  readonly turn?: string | undefined
  /** In place of the runtime's own. */
  readonly fetch?: typeof fetch | undefined
}
/** A client of one Rouse with one key: \`rouse.v1.schedules.$post({ json: {…} })\`. Answers are responses; \`ok\` tells a \`Problem\` from what was asked for. */
export declare function connect(options: ConnectOptions): Rouse
export type Rouse = ReturnType<typeof hc<Api>>
/** The API as a type of hono's client. */
export type Api = Hono<{}, { [P in keyof Paths]: Paths[P] }, '/'>

interface CallHeaders {
  'Idempotency-Key'?: string | undefined
  'If-Match'?: string | undefined
  'X-Rouse-Session'?: string | undefined
  'X-Rouse-Turn'?: string | undefined
}
type Failed<Input, Status extends number> = { input: Input; output: Problem; outputFormat: 'json'; status: Status }
type Answered<Input, Status extends number, Output> = { input: Input; output: Output; outputFormat: 'json'; status: Status }
type Empty<Input, Status extends number> = { input: Input; output: null; outputFormat: 'body'; status: Status }
`

function endpointOf({ operationId, parameters = [], requestBody, responses }, document) {
  const said = (response) => (response.$ref === undefined ? response : at(document, response.$ref))
  const named = (place) => parameters.map(said).filter((one) => one.in === place)
  const bodyName = `${operationId[0].toUpperCase()}${operationId.slice(1)}Body`
  const sent = requestBody?.content['application/json']?.schema
  const params = named('path').map(({ name }) => `${name}: string`)
  const input = [
    ...(params.length === 0 ? [] : [`param: { ${params.join('; ')} }`]),
    ...(sent === undefined ? [] : [`json${requestBody.required ? '' : '?'}: ${bodyName}`]),
    ...(named('query').length === 0 ? [] : [`query?: { ${named('query').map(queryOf).join('; ')} }`]),
    'header?: CallHeaders',
  ]
  const given = `{ ${input.join('; ')} }`
  const failed = Object.keys(responses).filter((status) => Number(status) >= statusMax)
  const answers = Object.entries(responses)
    .filter(([status]) => Number(status) < statusMax)
    .map(([status, response]) => {
      const { content } = said(response)
      if (content === undefined) return `Empty<${given}, ${status}>`
      const json = content['application/json']
      return `Answered<${given}, ${status}, ${json === undefined ? 'string' : typeOf(json.schema, 'given')}>`
    })
  return {
    body: sent === undefined ? null : `export type ${bodyName} = ${typeOf(sent, 'taken')}`,
    endpoint: [...answers, `Failed<${given}, ${failed.join(' | ')}>`].join(' | '),
  }
}

const queryOf = ({ name, schema }) => {
  const { type, enum: values } = schema
  const read = values === undefined ? (type === 'integer' || type === 'number' ? 'number' : 'string') : union(values)
  return `${name}?: ${read} | undefined`
}

const at = (document, ref) =>
  ref
    .slice(2)
    .split('/')
    .reduce((place, part) => place[part], document)

/** `/v1/documents/{path}` as hono's client writes it; a document's path may hold slashes. */
const routeOf = (path) => path.replaceAll(/\{(path|group)\}/g, ':$1{.+}').replaceAll(/\{(\w+)\}/g, ':$1')

/** @param side `taken`: what callers send; `given`: what is answered */
function typeOf(schema, side) {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum)
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.map((one) => typeOf(one, side)).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, side)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${typeOf(schema.items ?? {}, side)}>`
    case 'object':
      return objectOf(schema, side)
    case undefined:
      return schema.properties === undefined ? 'unknown' : objectOf(schema, side)
    default:
      throw new Error(`no type for ${JSON.stringify(schema).slice(0, 200)}`)
  }
}

function objectOf({ properties, required = [], additionalProperties }, side) {
  if (properties === undefined || Object.keys(properties).length === 0)
    return typeof additionalProperties === 'object'
      ? `{ [name: string]: ${typeOf(additionalProperties, side)} }`
      : 'Record<string, never>'
  const members = Object.entries(properties).map(([name, schema]) => {
    const left = required.includes(name) ? ': ' : '?: '
    const undefinable = side === 'taken' && !required.includes(name) ? ' | undefined' : ''
    return `${comment(schema.description)}${name}${left}${typeOf(schema, side)}${undefinable}`
  })
  return `{\n${members.join('\n')}\n}`
}

const union = (values) => values.map((value) => JSON.stringify(value)).join(' | ')
const comment = (text) => (text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`)
