import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import type { Tool } from '../domain/tool.ts'
import { hostStep } from '../engine/jobs.ts'
import { armMonitor, viewMonitor } from '../engine/monitors.ts'
import { callTool } from '../engine/tool-call.ts'
import type { Effects } from '../engine/tool-steps.ts'
import { getTool, listTools, putTool, removeTool } from '../engine/tools.ts'
import { formatInstant } from '../time/index.ts'
import { parsed } from './body.ts'
import { cursorIn, list } from './cursors.ts'
import { created, noContent, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'
import { monitorCreate } from './schemas-monitors.ts'
import { toolCall, toolPut } from './schemas-tools.ts'

const tag = 'Tools'
const nameShape = /^[A-Za-z0-9_.-]{1,64}$/

export const toolOperations = [
  operation({
    name: 'putTool',
    method: 'put',
    path: '/v1/agents/{id}/tools/{name}',
    summary: 'Register a tool of the agent, or change it: steps that Rouse takes itself. Its owner and the agent do',
    tag,
    body: toolPut,
    // Blanks between the members are no part of a definition.
    bodyBytesMax: 2 * limits.toolBytesMax,
    statuses: [200, 201],
    run: async (call, { params, body }) => {
      const tool = await putTool(call, params.id!, params.name!, body)
      return tool.version === 1 ? created(shown(tool)) : ok(shown(tool))
    },
  }),
  operation({
    name: 'getTool',
    method: 'get',
    path: '/v1/agents/{id}/tools/{name}',
    summary: 'Read a tool',
    tag,
    run: async (call, { params }) => ok(shown(await getTool(call, params.id!, params.name!))),
  }),
  operation({
    name: 'listTools',
    method: 'get',
    path: '/v1/agents/{id}/tools',
    summary: 'The tools of an agent, in the order of their names',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      const after = cursorIn(query.cursor, nameShape)
      const { items, next } = await listTools(call, params.id!, { limit: query.limit, after })
      return ok(list(items.map(shown), next))
    },
  }),
  operation({
    name: 'removeTool',
    method: 'delete',
    path: '/v1/agents/{id}/tools/{name}',
    summary: 'Remove a tool; watches on it end',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await removeTool(call, params.id!, params.name!)
      return noContent
    },
  }),
  operation({
    name: 'callTool',
    method: 'post',
    path: '/v1/agents/{id}/tools/{name}/call',
    summary: 'Run a tool now, in the name of the caller, and wait for what it comes to',
    tag,
    body: toolCall,
    bodyOptional: true,
    creates: true,
    run: async (call, { params, body }) =>
      ok(await callTool(call, { agent: params.id!, name: params.name!, args: body.args ?? {} }, effects)),
  }),
]

/** A monitor step says what `POST /v1/monitors` takes, and is checked as that is. */
const effects: Effects = {
  onHost: hostStep,
  async arm(call, input) {
    const { id } = await armMonitor(
      call,
      parsed(monitorCreate, input, 'body_invalid') as z.output<typeof monitorCreate>,
    )
    const { monitor, session } = await viewMonitor(call, id)
    const { status, expiresAt } = monitor
    return { id, status, session, expiresAt: formatInstant(expiresAt) }
  },
}

const shown = ({ name, agent, description, parameters, readOnly, steps, output, hash, updatedAt, by }: Tool) => ({
  name,
  agent,
  description,
  parameters,
  readOnly,
  steps,
  output,
  hash,
  updatedAt: formatInstant(updatedAt),
  by,
})
