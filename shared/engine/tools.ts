import { createHash } from 'node:crypto'
import type { Json } from '../cel/index.ts'
import { canonicalJson } from '../domain/canonical.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Step, type Tool, toolNameFault } from '../domain/tool.ts'
import { later } from '../ports/later.ts'
import type { Key, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { toolChanged } from './monitor-look.ts'
import { actingIn, agentFor, assertMay, principal } from './reach.ts'
import { type Agent, asItem, commit, read } from './store.ts'
import type { Definition } from './tool-check.ts'
import { readTool, toolKey, toolsPk } from './tool-rows.ts'

const checks = later(() => import('./tool-check.ts'))

export interface ToolInput {
  readonly description: string
  readonly parameters: { readonly [keyword: string]: Json }
  readonly readOnly: boolean
  readonly steps: readonly Step[]
  readonly output?: string | null | undefined
}

/** The names of an agent's tools. Written when one is made or removed: its length is what the bound counts. */
interface Names {
  readonly names: readonly string[]
}

const namesKey = (agent: string): Key => [toolsPk(agent), 'T']

/**
 * Keeps a tool, or changes it. A behaviour that is another one ends the watches on the tool.
 *
 * @returns the tool; `version` is 1 when it is new
 * @throws Refused `not_found`, `owner_only`, `body_invalid`, `tool_limit`
 */
export async function putTool(call: Call, agentId: string, name: string, input: ToolInput): Promise<Tool> {
  const agent = await writable(call, agentId)
  const { description, parameters, readOnly, steps } = input
  const definition: Definition = { name, description, parameters, readOnly, steps, output: input.output ?? null }
  const { assertTool } = await checks()
  await assertTool(call.world, definition, principal(call))
  const { world, now } = call
  const [put, before] = await retrying(async () => {
    const stored = await read<Tool>(world, toolKey(agent.id, name))
    const tool: Tool = {
      agent: agent.id,
      ...definition,
      hash: hashOf(definition),
      version: (stored?.item.version ?? 0) + 1,
      updatedAt: now,
      by: call.caller.kind === 'person' ? call.caller.person : call.caller.agent,
    }
    const names = stored === null ? [await withName(world, agent.id, name)] : []
    await commit(world, [
      { put: toolKey(agent.id, name), item: asItem(tool), expect: stored?.version ?? 'absent' },
      ...names,
    ])
    return [tool, stored?.item.hash ?? null] as const
  })
  if (before !== null && before !== put.hash) await toolChanged(world, agent.id, name, put.hash, now)
  return put
}

/** @throws Refused `not_found` */
export async function getTool(call: Call, agentId: string, name: string): Promise<Tool> {
  const agent = await agentFor(call, agentId)
  const tool = await readTool(call.world, agent.item.id, name)
  if (tool === null) throw notFound('tool', name)
  return tool
}

/** An agent's tools in the byte order of their names. `next` is the last name shown. @throws Refused `not_found` */
export async function listTools(
  call: Call,
  agentId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly Tool[]; readonly next: string | null }> {
  const { after, limit } = page
  const agent = await agentFor(call, agentId)
  const found = await call.world.table.list(toolsPk(agent.item.id), {
    prefix: 'T#',
    limit: limit + 2,
    ...(after === null ? {} : { from: `T#${after}` }),
  })
  const tools = (found.items as readonly Stored<unknown>[] as readonly Stored<Tool>[]).map(({ item }) => item)
  const rest = tools.filter(({ name }) => name !== after)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit || found.next !== null ? (items.at(-1)?.name ?? null) : null }
}

/** @throws Refused `not_found`, `owner_only` */
export async function removeTool(call: Call, agentId: string, name: string): Promise<void> {
  const agent = await writable(call, agentId)
  const { world, now } = call
  await retrying(async () => {
    const stored = toolNameFault(name) === null ? await read<Tool>(world, toolKey(agent.id, name)) : null
    if (stored === null) throw notFound('tool', name)
    const names = await read<Names>(world, namesKey(agent.id))
    await commit(world, [
      { delete: stored.key, expect: stored.version },
      {
        put: namesKey(agent.id),
        item: { names: (names?.item.names ?? []).filter((other) => other !== name) },
        expect: names?.version ?? 'absent',
      },
    ])
  })
  await toolChanged(world, agent.id, name, null, now)
}

async function writable(call: Call, agentId: string): Promise<Agent> {
  const { item: agent } = await agentFor(call, agentId)
  assertMay(call, 'set_tools', agent, 'change its tools')
  await actingIn(call)
  return agent
}

async function withName(world: World, agent: string, name: string) {
  const stored = await read<Names>(world, namesKey(agent))
  const names = stored?.item.names ?? []
  if (names.length >= limits.toolsPerAgent)
    throw new Refused(
      'tool_limit',
      `agent ${agent} has ${names.length} tools, and ${limits.toolsPerAgent} is the most; remove one that it no longer uses`,
    )
  return { put: namesKey(agent), item: { names: [...names, name] }, expect: stored?.version ?? ('absent' as const) }
}

/** Decision 29: the description is for readers, and whether it may be watched is no behaviour. */
function hashOf({ name, parameters, steps, output }: Definition): string {
  return createHash('sha256').update(canonicalJson({ name, parameters, steps, output }).text).digest('base64url')
}
