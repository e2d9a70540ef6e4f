import * as z from 'zod'
import { flowNameFault } from '../domain/promote.ts'
import { Refused } from '../domain/refused.ts'
import { listShadows } from '../engine/flow-shadows.ts'
import { declineSuggestion, suggestFlows } from '../engine/flow-suggestions.ts'
import { getFlow, listFlows, promoteFlow, removeFlow } from '../engine/flows.ts'
import { cursorIn, list } from './cursors.ts'
import { created, noContent, ok, operation } from './operation.ts'
import * as present from './present-traces.ts'
import * as schemas from './schemas.ts'
import { flowPromote } from './schemas-traces.ts'

const tag = 'Traces and flows'

export const flowOperations = [
  operation({
    name: 'promoteFlow',
    method: 'post',
    path: '/v1/agents/{id}/flows',
    summary: "Make a flow of traces that did the same, call for call; a person's key only",
    tag,
    body: flowPromote,
    statuses: [201],
    creates: true,
    run: async (call, { params, body }) =>
      created(
        present.flow(
          await promoteFlow(call, params.id!, {
            name: body.name,
            from: body.from,
            overwrite: body.overwrite ?? false,
            approve: body.approve ?? false,
            shadow: body.shadow ?? null,
          }),
        ),
      ),
  }),
  operation({
    name: 'listFlows',
    method: 'get',
    path: '/v1/agents/{id}/flows',
    summary:
      'The flows of an agent, in the order of their names; a page may hold fewer than `limit` where they are long',
    tag,
    // The name of a flow is longer than an id.
    query: z.strictObject({ ...schemas.page, cursor: z.string().min(1).max(1000).optional() }),
    run: async (call, { params, query }) => {
      const after = cursorIn(query.cursor, /^.+$/su)
      if (after !== null && flowNameFault(after) !== null)
        throw new Refused('cursor_invalid', 'expected the "nextCursor" of an earlier page of the flows')
      const { items, next } = await listFlows(call, params.id!, { limit: query.limit, after })
      return ok(list(items.map(present.flow), next))
    },
  }),
  operation({
    name: 'getFlow',
    method: 'get',
    path: '/v1/agents/{id}/flows/{name}',
    summary: 'Read a flow: the steps it replays, and the tools that nobody has approved yet',
    tag,
    run: async (call, { params }) => ok(present.flow(await getFlow(call, params.id!, params.name!))),
  }),
  operation({
    name: 'removeFlow',
    method: 'delete',
    path: '/v1/agents/{id}/flows/{name}',
    summary: "Remove a flow; a person's key only",
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await removeFlow(call, params.id!, params.name!)
      return noContent
    },
  }),
  operation({
    name: 'listShadows',
    method: 'get',
    path: '/v1/agents/{id}/flow-shadows',
    summary: "Flows that are none yet: the agent's next runs are compared with them, and none of them runs",
    tag,
    run: async (call, { params }) => ok(list((await listShadows(call, params.id!)).map(present.flow), null)),
  }),
  operation({
    name: 'suggestFlows',
    method: 'get',
    path: '/v1/agents/{id}/flow-suggestions',
    summary: 'Groups of identical clean traces that no flow stands for, those that cost the most tokens first',
    tag,
    run: async (call, { params }) => ok(list((await suggestFlows(call, params.id!)).map(present.suggestion), null)),
  }),
  operation({
    name: 'declineSuggestion',
    method: 'delete',
    path: '/v1/agents/{id}/flow-suggestions/{fingerprint}',
    summary: "Suggest a group no more, however often it is done again; a person's key only",
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await declineSuggestion(call, params.id!, params.fingerprint!)
      return noContent
    },
  }),
]
