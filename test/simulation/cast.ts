import type { Caller } from '../../shared/domain/access.ts'
import { recorded } from '../../shared/domain/trace.ts'
import { createAgent, editSettings, personOps } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { promoteFlow } from '../../shared/engine/flows.ts'
import { createSession, editSession } from '../../shared/engine/sessions.ts'
import { putTool } from '../../shared/engine/tools.ts'
import { importTrace } from '../../shared/engine/traces.ts'
import type { World } from '../../shared/ports/world.ts'

export interface CastAgent {
  readonly id: string
  readonly owner: Caller
  /** Whoever may use it. */
  readonly users: readonly Caller[]
  readonly key: Caller
}
export interface Seat {
  id: string
  readonly agent: CastAgent
}

/** Who there is when a history begins: people, their agents with tools and flows, and the agents' sessions. */
export interface Cast {
  readonly people: readonly Caller[]
  /** An admin and somebody with no agent: neither sees what is not theirs. */
  readonly strangers: readonly Caller[]
  readonly agents: CastAgent[]
  readonly seats: Seat[]
}

const zones = ['Europe/Amsterdam', 'UTC', 'America/Santiago', 'Asia/Kathmandu']

export async function gather(world: World, now: number): Promise<Cast> {
  const { ids } = world
  const people: Caller[] = []
  for (const [n, tz] of zones.entries()) {
    const id = `per_${ids.ulid(now)}`
    const admin = n === 2
    await world.table.commit(
      personOps({ id, name: id, tz, admin, createdAt: now }, `key_${ids.ulid(now)}`, id),
      `p${n}`,
    )
    people.push({ kind: 'person', key: `key_${n}`, person: id, admin })
  }
  const [ann, ben, ...strangers] = people as [Caller, Caller, ...Caller[]]
  const call = (caller: Caller): Call => callAs(world, caller, now)
  await editSettings(call(ann), { agentSessions: true })
  const agents: CastAgent[] = []
  const seats: Seat[] = []
  for (const [name, owner, users, more] of [
    ['assistant', ann, [ann, ben], { sharedWith: [personOf(ben)], autoApprove: ['rate', 'buy', 'shell'] }],
    ['scout', ann, [ann], { proactive: { tickSeconds: 120, maxTicksPerDay: 5, maxTokensPerDay: 9_000 } }],
    ['clerk', ben, [ben], { budget: { wakesPerDay: 12, tokensPerDay: 20_000 } }],
  ] as const) {
    const agent = await createAgent(call(owner), { name, ...more } as never)
    const cast: CastAgent = {
      id: agent.id,
      owner,
      users,
      key: { kind: 'agent', key: `key_${name}`, agent: agent.id, owner: personOf(owner) },
    }
    agents.push(cast)
    for (const title of ['Main', 'Side']) {
      const { row } = await createSession(call(owner), { agent: agent.id, title, main: title === 'Main' })
      seats.push({ id: row.id, agent: cast })
      await editSession(call(owner), row.id, { workerConnected: true, checks: true })
    }
    await putTool(call(owner), agent.id, 'rate', tool('GET', true))
    await putTool(call(owner), agent.id, 'buy', tool('POST', false))
  }
  await promote(call(ann), agents[0]!.id)
  return { people, strangers, agents, seats }
}

export const personOf = (caller: Caller): string => (caller.kind === 'person' ? caller.person : caller.owner)

export const callAs = (world: World, caller: Caller, now: number, more: Partial<Call> = {}): Call => ({
  world,
  caller,
  now,
  session: null,
  turn: null,
  newId: (prefix) => `${prefix}_${world.ids.ulid(now)}`,
  repeatable: false,
  ...more,
})

/** @param path  another one is another behaviour */
export const tool = (method: 'GET' | 'POST', readOnly: boolean, path = '') => ({
  description: 'What it is for.',
  parameters: { type: 'object' },
  readOnly,
  steps: [{ http: { method, url: `https://bank.test/${path}`, ...(readOnly ? {} : { body: `\${args}` }) } }],
})

/** A flow of a step that reads, one that does not, and one of the agent's machine. */
async function promote(call: Call, agent: string): Promise<void> {
  const done = (name: string, args: object) => recorded({ tool: name, args, status: 'ok', result: 'x' })
  for (const [name, calls] of [
    ['shopping', [done('rate', {}), done('buy', { what: 'bread' }), done('buy', { what: 'milk' })]],
    ['mixed', [done('rate', {}), done('shell', { cmd: 'ls' }), done('buy', { what: 'tea' })]],
  ] as const) {
    const from: string[] = []
    for (let n = 0; n < 2; n++) {
      const { trace } = await importTrace(call, {
        agent,
        session: null,
        project: null,
        outcome: 'ok',
        tokens: 100,
        usd: null,
        startedAt: null,
        at: null,
        ref: null,
        calls,
      })
      from.push(trace.id)
    }
    await promoteFlow(call, agent, { name, from, overwrite: false, approve: true })
  }
}
