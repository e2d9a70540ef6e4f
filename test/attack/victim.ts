import { operations } from '../../shared/api/app.ts'
import { examples } from '../../shared/api/openapi-words.ts'
import { inHouse } from '../api/in-house.ts'

export type House = Awaited<ReturnType<typeof inHouse>>
// biome-ignore lint/suspicious/noExplicitAny: an answer is what is under test; no type vouches for it
export type Json = any
export type Said = { readonly status: number; readonly body: Json }

/** Somebody with one of everything that the API can make, in a house where others live too. */
export interface Victim {
  readonly house: House
  readonly key: string
  readonly agentKey: string
  readonly session: string
  /** What stands for `{…}` in a path, by what it is an id of. */
  readonly ids: Readonly<Record<string, string>>
}

export async function openVictim(o: { readonly env?: Readonly<Record<string, string>> } = {}): Promise<Victim> {
  const house = await inHouse({ at: '2026-03-02T09:00:00Z', rate: null, ...o })
  const key = await house.person('victim')
  const ok = async (method: string, path: string, body?: Json): Promise<Json> => {
    const answer = await call(house, method, path, body, { authorization: `Bearer ${key}` })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const agent = (await ok('POST', '/v1/agents', { name: 'assistant', autoApprove: ['look'] })).id
  const session = (await ok('POST', '/v1/sessions', { agent })).id
  const running = (await ok('POST', '/v1/sessions', { agent, main: false })).id
  await ok('POST', `/v1/sessions/${running}/messages`, { text: 'private work' })
  const turn = (await ok('POST', `/v1/sessions/${running}/claim`, { leaseSeconds: 7200 })).turn.id
  const rule = { name: 'private', session, prompt: 'private', every: '1h', deliver: ['feed:private'] }
  const schedule = (await ok('POST', '/v1/schedules', rule)).id
  await ok('PUT', '/v1/documents/private/notes', { text: 'private' })
  const on = { document: { path: 'private/notes' } }
  const trigger = (await ok('POST', '/v1/triggers', { name: 'private', session, prompt: 'private', on })).id
  const watch = { document: { path: 'private/notes' } }
  const monitor = (await ok('POST', '/v1/monitors', { session, note: 'private', watch })).id
  const card = (await ok('POST', '/v1/feed', { title: 'private', group: 'private' })).id
  const agentKey = await ok('POST', `/v1/agents/${agent}/keys`, {})
  await ok('PUT', '/v1/secrets/PRIVATE', { value: 'a private value' })
  const steps = [{ document: { get: 'private/notes' } }]
  const tool = { description: 'private', parameters: { type: 'object' }, readOnly: true, steps }
  await ok('PUT', `/v1/agents/${agent}/tools/look`, tool)
  const did = { agent, calls: [{ tool: 'look', args: {}, status: 'ok' }] }
  const from = [(await ok('POST', '/v1/traces', did)).id, (await ok('POST', '/v1/traces', did)).id]
  await ok('POST', `/v1/agents/${agent}/flows`, { name: 'private', from })
  const flowRun = (await ok('POST', `/v1/agents/${agent}/flows/private/run`, {})).flowRun.id
  await ok('POST', '/v1/calendar-tokens', {})
  const calendar = (await ok('GET', '/v1/calendar-tokens')).data[0].id
  const ids = { agent, session, turn, schedule, trigger, monitor, card, trace: from[0], flowRun, calendar }
  return { house, key, agentKey: agentKey.key, session, ids: { ...ids, key: agentKey.id } }
}

/** What the victim sees of everything that is theirs. */
export async function seen({ house, key, ids }: Victim): Promise<Json> {
  const paths = [
    ...['schedules', 'triggers', 'monitors', 'sessions', 'agents', 'documents', 'feed', 'budgets', 'secrets'],
    ...['traces', 'calendar-tokens', `turns/${ids.turn}`, `sessions/${ids.session}/messages`],
    ...[`agents/${ids.agent}/tools`, `agents/${ids.agent}/flows`, `agents/${ids.agent}/flow-runs`],
    ...[`agents/${ids.agent}/keys`, `schedules/${ids.schedule}/runs`, `sessions/${ids.session}/ticks`],
    'documents/private/notes',
  ]
  const headers = { authorization: `Bearer ${key}` }
  const all = await Promise.all(
    paths.map(async (path) => {
      const { data, ...one } = (await call(house, 'GET', `/v1/${path}`, undefined, headers)).body
      return [path, withoutUse(data ?? one)]
    }),
  )
  return Object.fromEntries(all)
}

/** When a key was last used is noted of whoever uses it. */
const withoutUse = (body: Json): Json =>
  JSON.parse(JSON.stringify(body, (name, of) => (name === 'lastUsedAt' ? undefined : of)))

/** A call as it is: what hostile calls are answered need not be what the document promises to others. */
export async function call(
  house: House,
  method: string,
  path: string,
  body: Json,
  headers: Record<string, string>,
): Promise<Said> {
  const answer = await house.request(path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = /json/.test(answer.headers.get('content-type') ?? '')
  return { status: answer.status, body: isJson ? JSON.parse(text) : text === '' ? null : { text } }
}

export interface Attempt {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body: Json
  /** The path names something of the victim's. */
  readonly isAimed: boolean
}

/** Every operation once, aimed at what is the victim's. */
export const attempts = ({ ids }: Victim): Attempt[] =>
  operations.map(({ name, method, path, body }) => ({
    name,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\+?\}/g, (_, part: string) => placed(part, path, name, ids)),
    body: body === null ? undefined : bodyFor(name, ids),
    isAimed: path.includes('{'),
  }))

const kinds: readonly (readonly [start: string, kind: string])[] = [
  ['/v1/schedules', 'schedule'],
  ['/v1/triggers', 'trigger'],
  ['/v1/sessions', 'session'],
  ['/v1/monitors', 'monitor'],
  ['/v1/agents', 'agent'],
  ['/v1/turns', 'turn'],
  ['/v1/feed', 'card'],
  ['/v1/keys', 'key'],
  ['/v1/traces', 'trace'],
  ['/v1/flow-runs', 'flowRun'],
  ['/v1/calendar-tokens', 'calendar'],
]

function placed(part: string, path: string, name: string, ids: Victim['ids']): string {
  if (part === 'id') {
    const kind = kinds.find(([start]) => path.startsWith(start))?.[1]
    return kind === undefined ? 'job_01KJQZ8M00000000000000000A' : ids[kind]!
  }
  if (part === 'path') return 'private/notes'
  if (part === 'group') return 'private'
  if (part === 'name') return path.includes('/tools/') ? 'look' : name.includes('ecret') ? 'PRIVATE' : 'private'
  if (part === 'fingerprint') return 'f'.repeat(64)
  return 'dlv_01KJQZ8M00000000000000000A'
}

/** A body that fits, and names what is the victim's wherever it can. */
function bodyFor(name: string, { agent, session, trace }: Victim['ids']): Json {
  const own: Record<string, Json> = {
    createSchedule: { name: 'x', session, prompt: 'x', every: '1h' },
    editSchedule: { name: 'taken' },
    createTrigger: { name: 'x', session, prompt: 'x', on: { document: { path: 'private/notes' } } },
    editTrigger: { name: 'taken' },
    createMonitor: { session, note: 'x', watch: { document: { path: 'private/notes' } } },
    createSession: { agent },
    editSession: { title: 'taken' },
    editAgent: { name: 'taken' },
    endTurn: { outcome: 'ok' },
    endJob: { exit: 0, output: '' },
    importTrace: { agent, calls: [{ tool: 'x', args: {}, status: 'ok' }] },
    promoteFlow: { name: 'private', from: [trace, trace], overwrite: true },
    setBudget: { agent, wakesPerDay: 1 },
    backfillSchedule: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
  }
  return own[name] ?? (examples as Record<string, Json>)[name] ?? {}
}
