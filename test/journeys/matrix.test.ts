import { beforeAll, describe, expect, test } from 'vitest'
import { type Deed, type Standing, standings } from '../../shared/domain/access-matrix.ts'
import { deeds, expected } from '../domain/access-table.ts'
import { agent, all, fresh, letAgentsUseSessions, schedule, session } from './actors.ts'
import { type CallOptions, type Json, onClock, type RouseNode } from './node.ts'

/** The cells of test/domain/access-table.ts, each tried with real keys on everything that the API offers for it. */

/** A caller of one standing toward an agent, and what there is to act on. */
interface Stage {
  readonly as: CallOptions
  readonly owner: CallOptions
  readonly agent: Json
  readonly session: Json
  /** In a session of its own, so that others can be archived meanwhile. */
  readonly turn: string
  readonly schedule: Json
  /** Two traces of the agent that did the same; the flow `kept` was promoted from them. */
  readonly traces: readonly string[]
  /** An id of a key of the agent. */
  readonly key: string
  /** Another schedule that the caller may edit, in a session of its own agent. */
  readonly own: Json
}

const person = (rouse: RouseNode, more: Json = {}): Promise<Json> =>
  rouse.ok('POST', '/v1/people', { name: fresh('person'), ...more })

/** An agent of a person, with a session and a key. */
async function agentOf(rouse: RouseNode, who: Json, more: Json = {}) {
  const o = { key: who.key }
  const made = await agent(rouse, more, o)
  const where = await session(rouse, made.id, {}, o)
  const { key, id } = await rouse.ok('POST', `/v1/agents/${made.id}/keys`, {}, o)
  const as: CallOptions = { key, headers: { 'x-rouse-session': where.id } }
  return { agent: made, session: where, keyId: id as string, alone: { key } as CallOptions, as }
}

async function stage(rouse: RouseNode, standing: Standing): Promise<Stage> {
  const [owner, friend, other] = [await person(rouse), await person(rouse), await person(rouse)]
  const mine = { key: owner.key }
  const target = await agentOf(rouse, owner, { sharedWith: [friend.id, other.id] })
  const others = await agentOf(rouse, other)
  const to = { session: target.session.id, every: '1h' }
  const maker = standing === 'maker' ? { key: other.key } : standing === 'maker_agent' ? others.as : mine
  const kept = await schedule(rouse, to, maker)
  // From here on `other` is a stranger, but for what was asked for before.
  await rouse.ok('PATCH', `/v1/agents/${target.agent.id}`, { sharedWith: [friend.id], team: standing === 'team' }, mine)
  const busy = await session(rouse, target.agent.id, { main: false }, mine)
  await rouse.ok('POST', `/v1/sessions/${busy.id}/messages`, { text: 'work' }, mine)
  const claimed = await rouse.ok('POST', `/v1/sessions/${busy.id}/claim`, { leaseSeconds: 7200 }, mine)

  const did = { agent: target.agent.id, calls: [{ tool: 'look', args: {}, status: 'ok' }] }
  const imported = [await rouse.ok('POST', '/v1/traces', did, mine), await rouse.ok('POST', '/v1/traces', did, mine)]
  const traces = imported.map(({ id }) => id as string)
  await rouse.ok('POST', `/v1/agents/${target.agent.id}/flows`, { name: 'kept', from: traces }, mine)

  const near = standing === 'owner' || standing === 'sibling' ? owner : friend
  const side = await agentOf(rouse, near)
  const admin = standing === 'admin' ? await person(rouse, { admin: true }) : other
  const callers: Record<Standing, { as: CallOptions; at: string }> = {
    owner: { as: mine, at: side.session.id },
    friend: { as: { key: friend.key }, at: side.session.id },
    team: { as: { key: other.key }, at: others.session.id },
    maker: { as: { key: other.key }, at: others.session.id },
    admin: { as: { key: admin.key }, at: '' },
    stranger: { as: { key: other.key }, at: others.session.id },
    itself: { as: target.as, at: target.session.id },
    alone: { as: target.alone, at: target.session.id },
    maker_agent: { as: others.as, at: others.session.id },
    sibling: { as: side.as, at: side.session.id },
    ally: { as: side.as, at: side.session.id },
    foreign: { as: others.as, at: others.session.id },
  }
  const { as, at } = callers[standing]
  await rouse.ok('PUT', `/v1/agents/${target.agent.id}/tools/ours`, says, mine)
  const where = at === '' ? (await agentOf(rouse, admin)).session.id : at
  return {
    as,
    owner: mine,
    agent: target.agent,
    session: target.session,
    turn: claimed.turn.id,
    schedule: kept,
    traces,
    key: (await rouse.ok('POST', `/v1/agents/${target.agent.id}/keys`, {}, mine)).id,
    own: await schedule(rouse, { session: where, every: '1h' }, as),
  }
}

interface Trial {
  readonly call: (on: Stage) => readonly [method: string, path: string, body?: Json]
  readonly ok: number | readonly number[]
  /** A list answers everybody; what must be in it, or not. */
  readonly holds?: (on: Stage) => string
}
const trial = (ok: Trial['ok'], call: Trial['call']): Trial => ({ ok, call })
const listed = (path: string, holds: (on: Stage) => string): Trial => ({ ok: 200, call: () => ['GET', path], holds })

const trials: Record<Deed, readonly Trial[]> = {
  see_agent: [
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}`]),
    listed('/v1/agents', ({ agent }) => agent.id),
  ],
  set_agent: [
    { name: 'other' },
    { team: true },
    { sharedWith: [] },
    { autoApprove: ['x'] },
    { budget: { wakesPerDay: 1 } },
  ]
    .map((body) => (body.name ? { name: fresh('renamed') } : body))
    .map((body) => trial(200, ({ agent }) => ['PATCH', `/v1/agents/${agent.id}`, body])),
  set_tools: [
    trial(201, ({ agent }) => ['PUT', `/v1/agents/${agent.id}/tools/look`, reads]),
    trial(204, ({ agent }) => ['DELETE', `/v1/agents/${agent.id}/tools/ours`]),
  ],
  delete_agent: [trial(204, ({ agent }) => ['DELETE', `/v1/agents/${agent.id}`])],
  make_keys: [
    trial(201, ({ agent }) => ['POST', `/v1/agents/${agent.id}/keys`, {}]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/keys`]),
  ],
  change_key: [
    trial(201, ({ key }) => ['POST', `/v1/keys/${key}/rotate`, {}]),
    trial(204, ({ key }) => ['DELETE', `/v1/keys/${key}`]),
  ],
  use_sessions: [
    trial(200, ({ session }) => ['GET', `/v1/sessions/${session.id}`]),
    listed('/v1/sessions', ({ session }) => session.id),
    trial(200, ({ agent }) => ['GET', `/v1/sessions?agent=${agent.id}`]),
    trial(200, ({ agent }) => ['GET', `/v1/schedules?agent=${agent.id}`]),
    trial(200, ({ session }) => ['GET', `/v1/schedules?session=${session.id}`]),
    trial(200, ({ session }) => ['GET', `/v1/sessions/${session.id}/messages`]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/tools`]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/tools/ours`]),
    trial(200, ({ agent }) => ['POST', `/v1/agents/${agent.id}/tools/ours/call`, {}]),
    listed('/v1/traces', ({ traces }) => traces[0]!),
    trial(200, ({ agent }) => ['GET', `/v1/traces?agent=${agent.id}`]),
    trial(200, ({ traces }) => ['GET', `/v1/traces/${traces[0]}`]),
    trial(201, ({ agent }) => ['POST', '/v1/traces', { agent: agent.id, calls: [] }]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/flows`]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/flows/kept`]),
    trial(200, ({ agent }) => ['GET', `/v1/agents/${agent.id}/flow-suggestions`]),
    trial(201, ({ agent }) => ['POST', '/v1/sessions', { agent: agent.id, main: false }]),
    trial(200, ({ session }) => ['PATCH', `/v1/sessions/${session.id}`, { title: 'renamed' }]),
    trial(200, ({ session }) => ['POST', `/v1/sessions/${session.id}/leave`, {}]),
    trial(200, ({ session }) => ['POST', `/v1/sessions/${session.id}/join`, {}]),
    trial(200, ({ session }) => ['POST', `/v1/sessions/${session.id}/queue`, {}]),
    trial(200, ({ agent }) => ['POST', `/v1/agents/${agent.id}/queue`, {}]),
    trial([200, 204], ({ session }) => ['POST', `/v1/sessions/${session.id}/claim`, {}]),
    trial([200, 204], ({ agent }) => ['POST', `/v1/agents/${agent.id}/claim`, {}]),
    trial(200, ({ turn }) => ['POST', `/v1/turns/${turn}/heartbeat`, {}]),
    trial(200, ({ turn }) => ['POST', `/v1/turns/${turn}/end`, { outcome: 'ok' }]),
    trial(201, ({ session }) => ['POST', `/v1/sessions/${session.id}/fork`, {}]),
    trial(200, ({ session }) => ['POST', `/v1/sessions/${session.id}/archive`, {}]),
    trial(204, ({ session }) => ['DELETE', `/v1/sessions/${session.id}`]),
  ],
  rule_session: [
    trial(200, ({ session }) => ['PATCH', `/v1/sessions/${session.id}`, { mode: 'plan' }]),
    trial(200, ({ session }) => ['PATCH', `/v1/sessions/${session.id}`, { permission: 'manual' }]),
    trial(204, ({ turn }) => ['POST', `/v1/turns/${turn}/cancel`, {}]),
  ],
  rule_flows: [
    trial(201, ({ agent, traces }) => ['POST', `/v1/agents/${agent.id}/flows`, { name: 'again', from: traces }]),
    trial(204, ({ agent }) => ['DELETE', `/v1/agents/${agent.id}/flows/kept`]),
  ],
  send: [trial(201, ({ session }) => ['POST', `/v1/sessions/${session.id}/messages`, { text: 'hello' }])],
  aim_schedule: [
    trial(201, ({ agent }) => ['POST', '/v1/schedules', body({ agent: agent.id })]),
    trial(201, ({ session }) => ['POST', '/v1/schedules', body({ session: session.id })]),
    trial(200, ({ own, agent }) => ['PATCH', `/v1/schedules/${own.id}`, { session: null, agent: agent.id }]),
    trial(200, ({ own, session }) => ['PATCH', `/v1/schedules/${own.id}`, { agent: null, session: session.id }]),
  ],
  set_check: [
    trial(200, ({ schedule }) => ['PATCH', `/v1/schedules/${schedule.id}`, { check: { script: 'checks/new.sh' } }]),
  ],
  use_schedule: [
    trial(200, ({ schedule }) => ['GET', `/v1/schedules/${schedule.id}`]),
    listed('/v1/schedules', ({ schedule }) => schedule.id),
    trial(200, ({ schedule }) => ['GET', `/v1/schedules/${schedule.id}/runs`]),
    trial(200, ({ schedule }) => ['GET', `/v1/schedules/${schedule.id}/why`]),
    trial(200, ({ schedule }) => ['PATCH', `/v1/schedules/${schedule.id}`, { name: 'renamed' }]),
    trial(200, ({ schedule }) => ['POST', `/v1/schedules/${schedule.id}/pause`, {}]),
    trial(200, ({ schedule }) => ['POST', `/v1/schedules/${schedule.id}/resume`, {}]),
    trial(202, ({ schedule }) => ['POST', `/v1/schedules/${schedule.id}/run`, {}]),
    trial(202, ({ schedule }) => ['POST', `/v1/schedules/${schedule.id}/backfill`, yesterday]),
    trial(204, ({ schedule }) => ['DELETE', `/v1/schedules/${schedule.id}`]),
  ],
}

/** A tool that reads, and one that anybody can call who may: it touches nothing of anybody's. */
const reads: Json = { description: 'Look.', parameters: {}, readOnly: true, steps: [{ document: { get: 'plan' } }] }
const says: Json = {
  description: 'Say.',
  parameters: {},
  readOnly: false,
  steps: [{ document: { put: 'said', body: 'ours' } }],
}

const body = (to: Json): Json => ({ name: 'Look', prompt: 'Look.', every: '1h', ...to })
const yesterday = { from: '2026-03-01T00:00:00Z', to: '2026-03-01T12:00:00Z' }

const codes = {
  hidden: [404, 'not_found'],
  person_only: [403, 'person_only'],
  owner_only: [403, 'owner_only'],
  admin_only: [403, 'admin_only'],
  schedule_agent_not_allowed: [403, 'schedule_agent_not_allowed'],
} as const

/** The behaviour that a cell proves, if it is one of those that are named. */
function behaviour(deed: Deed, standing: Standing): string {
  if (deed === 'use_schedule' && ['owner', 'friend', 'team'].includes(standing)) return 'S2-52 '
  if (deed === 'use_schedule' && standing === 'maker') return 'S2-53 '
  if (deed === 'use_schedule' && ['admin', 'stranger'].includes(standing)) return 'S2-54 '
  return deed === 'aim_schedule' && expected(deed, standing) !== 'yes' ? 'S2-55 ' : ''
}

/** All that the owner sees of it. */
const seen = (rouse: RouseNode, on: Stage): Promise<Json[]> =>
  Promise.all(
    [
      `agents/${on.agent.id}`,
      `sessions/${on.session.id}`,
      `schedules/${on.schedule.id}`,
      `agents/${on.agent.id}/keys`,
    ].map(async (path) => withoutUse(await rouse.ok('GET', `/v1/${path}`, undefined, on.owner))),
  )
/** That a refused call shows the key as used is as it should be. */
const withoutUse = (json: Json): Json =>
  JSON.parse(JSON.stringify(json, (name, value) => (name === 'lastUsedAt' ? 0 : value)))

onClock('the access matrix over HTTP', '2026-03-02T09:00:00Z', (rouse) => {
  beforeAll(() => letAgentsUseSessions(rouse))

  describe.each(deeds)('%s', (deed) => {
    test.each(standings.map((standing) => [`${behaviour(deed, standing)}by ${standing}`, standing] as const))(
      '%s',
      async (_title, standing) => {
        const verdict = expected(deed, standing)
        const on = await stage(rouse, standing)
        const before = await seen(rouse, on)
        for (const { call, ok, holds } of trials[deed]) {
          const [method, path, body] = call(on)
          if (holds !== undefined) {
            const ids = (await all(rouse, path, on.as)).map(({ id }) => id)
            expect([path, ids.includes(holds(on))]).toEqual([path, verdict === 'yes'])
            continue
          }
          const answer = await rouse.call(method, path, body, on.as)
          const what = [method, path, answer.status, answer.body?.code]
          if (verdict !== 'yes') expect(what).toEqual([method, path, ...codes[verdict]])
          else expect([ok].flat(), JSON.stringify(what)).toContain(answer.status)
        }
        if (verdict !== 'yes') expect(await seen(rouse, on)).toEqual(before)
        // Everybody can talk to it, which would count in the other tests.
        if (standing === 'team' && deed !== 'delete_agent')
          await rouse.ok('PATCH', `/v1/agents/${on.agent.id}`, { team: false }, on.owner)
      },
    )
  })

  test('what concerns no agent: people are added by admins; settings, agents and secrets are for people', async () => {
    const [admin, plain] = [await person(rouse, { admin: true }), await person(rouse)]
    const { alone } = await agentOf(rouse, plain)
    const cells = [
      ['POST', '/v1/people', () => ({ name: 'x' }), 201, 403, 'admin_only'],
      ['POST', '/v1/agents', () => ({ name: fresh('agent') }), 201, 201, null],
      ['PATCH', '/v1/settings', () => ({ agentSessions: true }), 200, 200, null],
      ['PUT', '/v1/secrets/x', () => ({ value: 'y' }), 204, 204, null],
      ['GET', '/v1/secrets', () => undefined, 200, 200, null],
      ['DELETE', '/v1/secrets/x', () => undefined, 204, 204, null],
      ['GET', '/v1/keys', () => undefined, 200, 200, null],
      ['GET', '/v1/audit', () => undefined, 200, 200, null],
    ] as const
    for (const [method, path, body, ofAdmin, ofPerson, code] of cells) {
      const tried = async (o: CallOptions) => {
        const answer = await rouse.call(method, path, body(), o)
        return [method, path, answer.status, answer.body?.code ?? null]
      }
      expect(await tried({ key: admin.key })).toEqual([method, path, ofAdmin, null])
      expect(await tried({ key: plain.key })).toEqual([method, path, ofPerson, code])
      expect(await tried(alone)).toEqual([method, path, 403, 'person_only'])
    }
  })

  test("S2-77 an agent's schedule without a target is one for itself", async () => {
    const on = await stage(rouse, 'itself')
    const here = await schedule(rouse, { every: '1h' }, on.as)
    expect([here.agent, here.session, here.createdIn]).toEqual([on.agent.id, on.session.id, on.session.id])
    const alone = await schedule(rouse, { every: '1h' }, { key: await keyOfOwner(on) })
    expect([alone.agent, alone.session, alone.createdIn]).toEqual([on.agent.id, null, null])
  })

  test('S2-78 what an agent schedules counts as created by its owner', async () => {
    const on = await stage(rouse, 'sibling')
    const made = await schedule(rouse, { session: on.session.id, every: '1h' }, on.as)
    expect(made.createdBy).toBe(on.agent.owner)
  })

  const keyOfOwner = async (on: Stage): Promise<string> =>
    (await rouse.ok('POST', `/v1/agents/${on.agent.id}/keys`, {}, on.owner)).key
})
