import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { rouseProgram } from '../journeys/bundle.ts'

/** One operation of openapi.json, and by status what it may answer: by media type the name of a check; null: no body. */
export interface Place {
  readonly path: string
  readonly method: string
  readonly operationId: string
  readonly answers: Readonly<Record<string, Readonly<Record<string, string | null>> | null>>
}

interface Check {
  (body: unknown): boolean
  readonly errors?: readonly { instancePath: string; message?: string; params: object }[] | null
}

interface Contract {
  readonly places: readonly (Place & { readonly shape: RegExp })[]
  readonly checks: Readonly<Record<string, Check>>
}

let read: Promise<Contract> | null = null

async function contract(): Promise<Contract> {
  const dir = dirname(dirname(await rouseProgram()))
  const places = JSON.parse(readFileSync(`${dir}/places.json`, 'utf8')) as Place[]
  return {
    checks: createRequire(import.meta.url)(`${dir}/validators.cjs`),
    places: places
      .map((place) => ({ ...place, shape: shapeOf(place.path) }))
      // `/v1/schedules/preview` is no schedule.
      .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length),
  }
}

/** The path of a document may hold slashes. */
const shapeOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replace('{path}', '.+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  )

/**
 * Throws where the API answered what openapi.json does not say: another status, another content type, another body. Every answer that the
 * journeys get goes through here.
 */
export async function assertAsDocumented(answer: {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly status: number
  readonly type: string | null
  readonly text: string
}): Promise<void> {
  read ??= contract()
  const { places, checks } = await read
  const path = answer.path.split(/[?#]/)[0]!
  const place = places.find(({ shape, method }) => method === answer.method.toLowerCase() && shape.test(path))
  // Where the clock goes by itself there are no calls that move it.
  if (place === undefined || (place.path === '/v1/clock' && answer.status === 404)) return
  const fail = (what: string): never => {
    const got = `${answer.status} ${answer.text.slice(0, 2000)}`
    throw new Error(`openapi.json does not say that ${place.operationId} answers this. ${what}\n${got}`)
  }
  const said = place.answers[answer.status]
  if (said === undefined) return fail(`Expected ${Object.keys(place.answers).join(', ')}, got ${answer.status}`)
  if (said === null) {
    if (answer.text !== '') fail('Expected no body')
    return
  }
  const type = (answer.type ?? '').split(';')[0]!.trim()
  const media = Object.keys(said).find((one) => one === type || (one === 'text/*' && type.startsWith('text/')))
  if (media === undefined) return fail(`Expected ${Object.keys(said).join(' or ')}, got ${type}`)
  const name = said[media]
  if (name == null) return
  const check = checks[name]!
  if (!check(JSON.parse(answer.text)))
    fail(check.errors!.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`).join('\n'))
}
