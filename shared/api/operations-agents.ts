import * as z from 'zod'
import { bodyFault } from '../domain/define.ts'
import {
  createAgent,
  createPerson,
  deleteAgent,
  editAgent,
  editSettings,
  getAgent,
  getSettings,
  listAgents,
} from '../engine/agents.ts'
import { zoneName } from '../time/index.ts'
import { cursorIn, idShape, list } from './cursors.ts'
import { newSecret } from './keys.ts'
import { created, noContent, ok, operation } from './operation.ts'
import * as present from './present.ts'
import * as schemas from './schemas.ts'

const tag = 'Agents and people'

export const agentOperations = [
  operation({
    name: 'createAgent',
    method: 'post',
    path: '/v1/agents',
    summary: 'Add an agent',
    tag,
    body: schemas.agentCreate,
    statuses: [201],
    creates: true,
    run: async (call, { body }) => created(present.agent(await createAgent(call, settled(body)))),
  }),
  operation({
    name: 'listAgents',
    method: 'get',
    path: '/v1/agents',
    summary: 'List the agents that the caller can talk to, newest first',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { query }) => {
      const { items, next } = await listAgents(call, { limit: query.limit, before: cursorIn(query.cursor, idShape) })
      return ok(list(items.map(present.agent), next))
    },
  }),
  operation({
    name: 'getAgent',
    method: 'get',
    path: '/v1/agents/{id}',
    summary: 'Read an agent',
    tag,
    run: async (call, { params }) => ok(present.agent(await getAgent(call, params.id!))),
  }),
  operation({
    name: 'editAgent',
    method: 'patch',
    path: '/v1/agents/{id}',
    summary: "Change an agent; a person's key only",
    tag,
    body: schemas.agentPatch,
    run: async (call, { params, body }) => ok(present.agent(await editAgent(call, params.id!, settled(body)))),
  }),
  operation({
    name: 'deleteAgent',
    method: 'delete',
    path: '/v1/agents/{id}',
    summary: 'Delete an agent; its schedules end',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await deleteAgent(call, params.id!)
      return noContent
    },
  }),
  operation({
    name: 'createPerson',
    method: 'post',
    path: '/v1/people',
    summary: "Add a person; an admin's call. The key is shown once",
    tag,
    body: schemas.personCreate,
    statuses: [201],
    creates: true,
    secret: true,
    run: async (call, { body }) => {
      const tz = zoneName(body.tz ?? 'UTC')
      if (tz === null)
        throw bodyFault('tz', `expected an IANA zone such as Europe/Amsterdam, got "${body.tz?.slice(0, 40)}"`)
      const { person, key } = await createPerson(call, { name: body.name, tz, admin: body.admin ?? false }, (of) =>
        newSecret(call.world.ids, of),
      )
      return created(present.person(person, key))
    },
  }),
  operation({
    name: 'getSettings',
    method: 'get',
    path: '/v1/settings',
    summary: 'Read the settings of the deployment',
    tag: 'Settings',
    run: async (call) => ok(await getSettings(call)),
  }),
  operation({
    name: 'editSettings',
    method: 'patch',
    path: '/v1/settings',
    summary: "Change the settings; a person's key only",
    tag: 'Settings',
    body: schemas.settingsPatch,
    run: async (call, { body }) => ok(await editSettings(call, body)),
  }),
]

/** Settings that are given as undefined or null do not differ from the defaults. */
const settled = <T extends { proactive?: object | null | undefined; budget?: object | null | undefined }>(body: T) => ({
  ...body,
  proactive: filled(body.proactive) as Record<string, number | boolean> | null | undefined,
  budget: filled(body.budget) as Record<string, number | null> | null | undefined,
})
const filled = (given: object | null | undefined): object | null | undefined =>
  given == null ? given : Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
