import type { IncomingHttpHeaders } from 'node:http'
import { type Need, needsOf } from './needs.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A call of AWS, as the SDK names it. */
export interface Call {
  readonly service: string
  readonly region: string
  readonly operation: string
  // biome-ignore lint/suspicious/noExplicitAny: what AWS is sent has as many shapes as it has calls
  readonly input: any
}

/** What a request on its way to AWS needs to be allowed. @throws Error for one that is not known */
export function needsOfRequest(asked: Asked): readonly Need[] {
  const { service, operation, input, region } = callOf(asked)
  return needsOf(service, operation, input, region)
}

/** @throws Error for a request that nobody signed */
export function callOf(asked: Asked): Call {
  const { authorization = '' } = asked.headers
  const [, region, service] = /Credential=[^/]+\/\d+\/([\w-]+)\/([\w-]+)\//.exec(authorization) ?? []
  if (region === undefined || service === undefined)
    throw new Error(`a call that nobody signed: ${asked.method} ${asked.path}`)
  const [operation, input] = operationOf(asked)
  return { service, region, operation, input }
}

/** Four protocols: a target and JSON, a form, and the paths of the Scheduler and of Lambda. */
function operationOf({ method, path, headers, body }: Asked): readonly [operation: string, input: object] {
  const target = headers['x-amz-target']
  if (typeof target === 'string') return [target.split('.')[1]!, JSON.parse(body)]
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    const { Action = '', ...input } = Object.fromEntries(new URLSearchParams(body))
    return [Action, input]
  }
  const [, Name] = /^\/schedules\/([^/?]+)$/.exec(path) ?? []
  if (method === 'POST' && Name !== undefined) return ['CreateSchedule', { ...JSON.parse(body), Name }]
  const [, FunctionName] = /^\/2015-03-31\/functions\/([^/?]+)\/invocations$/.exec(path) ?? []
  if (method === 'POST' && FunctionName !== undefined)
    return ['Invoke', { FunctionName: decodeURIComponent(FunctionName) }]
  return [`${method} ${path}`, {}]
}
