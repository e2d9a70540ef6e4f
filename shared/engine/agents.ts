import { canUseSessions } from '../domain/access.ts'
import { isId } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { endSchedule } from './closing.ts'
import { hint } from './fire.ts'
import { type NewSecret, putKey, reissued } from './keys.ts'
import { endMonitorsOfAgent } from './monitor-look.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { agentFor, assertAdmin, assertMay, assertPerson, settingsOf } from './reach.ts'
import {
  type Agent,
  asItem,
  commit,
  defaultSettings,
  keys,
  type Person,
  putAgent,
  putPerson,
  read,
  readAll,
  type Settings,
} from './store.ts'

export interface AgentInput {
  readonly name: string
  readonly team?: boolean | undefined
  readonly sharedWith?: readonly string[] | undefined
  readonly project?: string | null | undefined
  readonly proactive?: Agent['proactive'] | null | undefined
  readonly autoApprove?: readonly string[] | undefined
  readonly budget?: Agent['budget'] | null | undefined
}

export async function createAgent(call: Call, input: AgentInput): Promise<Agent> {
  const owner = assertPerson(call, 'make an agent')
  await assertPeople(call, input.sharedWith ?? [])
  const agent: Agent = {
    id: call.newId('agt'),
    name: input.name,
    owner,
    team: input.team ?? false,
    sharedWith: input.sharedWith ?? [],
    project: input.project ?? null,
    proactive: input.proactive ?? {},
    autoApprove: input.autoApprove ?? [],
    budget: input.budget ?? {},
    mainSession: null,
    workerConnected: null,
    createdAt: call.now,
    deletedAt: null,
  }
  return await retrying(async () => {
    const [name, existing] = await readAll<unknown>(call.world, [
      keys.agentName(owner, agent.name),
      keys.agent(agent.id),
    ])
    if (existing !== null && call.repeatable) return existing!.item as Agent
    if (name !== null) throw nameTaken(agent.name)
    await commit(call.world, [putAgent(agent, 'absent'), putName(owner, agent.name, agent.id)])
    return agent
  })
}

/** The names of one owner's agents are unique, since the command line uses them. */
const putName = (owner: string, name: string, agent: string): Op => ({
  put: keys.agentName(owner, name),
  item: { agent },
  expect: 'absent',
})
const nameTaken = (name: string): Refused =>
  new Refused('name_taken', `you have an agent named "${name}" already; choose another name`, [
    { path: 'name', message: 'is taken' },
  ])

async function assertPeople(call: Call, people: readonly string[]): Promise<void> {
  const found = await readAll<Person>(call.world, people.filter((p) => isId('per', p)).map(keys.person))
  const known = new Set(found.flatMap((p) => (p === null ? [] : [p.item.id])))
  const missing = people.find((p) => !known.has(p))
  if (missing !== undefined)
    throw new Refused('body_invalid', `sharedWith: there is no person ${missing}`, [
      { path: 'sharedWith', message: 'names a person that does not exist' },
    ])
}

export async function editAgent(
  call: Call,
  id: string,
  patch: { readonly [field in keyof AgentInput]?: AgentInput[field] | undefined },
): Promise<Agent> {
  assertMay(call, 'set_agent', (await agentFor(call, id)).item, settingsOfAgent)
  if (patch.sharedWith !== undefined) await assertPeople(call, patch.sharedWith)
  return await retrying(async () => {
    const found = await agentFor(call, id)
    const { item: agent } = found
    assertMay(call, 'set_agent', agent, settingsOfAgent)
    const next: Agent = {
      ...agent,
      name: patch.name ?? agent.name,
      team: patch.team ?? agent.team,
      sharedWith: patch.sharedWith ?? agent.sharedWith,
      project: patch.project === undefined ? agent.project : patch.project,
      // Null or {} means the defaults, so what is stored is only what differs from them.
      proactive: merged(agent.proactive, patch.proactive),
      autoApprove: patch.autoApprove ?? agent.autoApprove,
      budget: merged(agent.budget, patch.budget),
    }
    const rename: Op[] =
      next.name === agent.name
        ? []
        : [putName(agent.owner, next.name, id), { delete: keys.agentName(agent.owner, agent.name), expect: 'any' }]
    if (rename.length > 0 && (await read(call.world, keys.agentName(agent.owner, next.name))) !== null)
      throw nameTaken(next.name)
    await commit(call.world, [putAgent(next, found.version), ...rename])
    return next
  })
}

const settingsOfAgent = "change an agent's settings, autoApprove, budget and sharing"

function merged<T extends object>(old: T, patch: T | null | undefined): T {
  if (patch === undefined) return old
  return patch === null || Object.keys(patch).length === 0 ? ({} as T) : { ...old, ...patch }
}

export async function getAgent(call: Call, id: string): Promise<Agent> {
  return (await agentFor(call, id)).item
}

/** Agents the caller can talk to, newest first. The index may lag by moments. */
export async function listAgents(call: Call, page: PageAsked): Promise<ById<Agent>> {
  return await pageById<Agent>(call.world, {
    sources: [{ index: 'agents', pk: 'all' }],
    page,
    load: async (ids) =>
      (await readAll<Agent>(call.world, ids.map(keys.agent))).map((row) =>
        row === null || row.item.deletedAt !== null || !canUseSessions(call.caller, row.item) ? null : row.item,
      ),
    idOf: (agent) => agent.id,
  })
}

/** Every agent the caller can talk to. */
export async function allAgents(call: Call): Promise<Agent[]> {
  return [...(await listAgents(call, { limit: Number.MAX_SAFE_INTEGER, before: null })).items]
}

/**
 * S2-21: its schedules stop, and the run due next is written as skipped. The agent's item stays, marked, since the ledger of
 * its schedules can be read for 90 days by those who could talk to it.
 */
export async function deleteAgent(call: Call, id: string): Promise<void> {
  await retrying(async () => {
    const found = await agentFor(call, id)
    assertMay(call, 'delete_agent', found.item, 'delete an agent')
    await commit(call.world, [
      putAgent({ ...found.item, deletedAt: call.now }, found.version),
      { delete: keys.agentName(found.item.owner, found.item.name), expect: 'any' },
    ])
  })
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await call.world.table.find('schedulesByAgent', id, {
      limit: 100,
      ...(after === null ? {} : { after }),
    })
    for (const found of page.items)
      await endSchedule(call.world, `sch_${found.key[0].slice(2)}`, 'agent_deleted', call.now)
    after = page.next
  } while (after !== null)
  await endMonitorsOfAgent(call.world, id, call.now)
  await hint(call.world, () => call.world.bell.close(id))
}

export async function createPerson(
  call: Call,
  input: { readonly name: string; readonly tz: string; readonly admin: boolean },
  newSecret: NewSecret,
): Promise<{ readonly person: Person; readonly key: string }> {
  assertAdmin(call, 'add a person')
  const person: Person = { id: call.newId('per'), ...input, createdAt: call.now }
  const keyId = call.newId('key')
  return await retrying(async () => {
    const again = await reissued(call, keyId, newSecret)
    if (again !== null) return { person, key: again.key }
    const secret = newSecret('person')
    await commit(call.world, personOps(person, keyId, secret.sha256, secret.prefix))
    return { person, key: secret.key }
  })
}

/** A person and the first key. */
export const personOps = (person: Person, keyId: string, sha256: string, prefix: string | null = null): Op[] => [
  putPerson(person),
  ...putKey(
    { id: keyId, person: person.id, agent: null, owner: person.id, createdAt: person.createdAt, prefix },
    sha256,
  ),
]

export async function getSettings(call: Call): Promise<Settings> {
  return await settingsOf(call)
}

/** A setting of the deployment: any person may turn it, an agent never. */
export async function editSettings(
  call: Call,
  patch: { readonly agentSessions?: boolean | undefined },
): Promise<Settings> {
  assertPerson(call, 'change settings')
  return await retrying(async () => {
    const stored: Stored<Settings> | null = await read<Settings>(call.world, keys.settings)
    const old = stored?.item ?? defaultSettings
    const next: Settings = { ...old, agentSessions: patch.agentSessions ?? old.agentSessions }
    await commit(call.world, [{ put: keys.settings, item: asItem(next), expect: stored?.version ?? 'absent' }])
    return next
  })
}
