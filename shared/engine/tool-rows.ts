import { bare } from '../domain/ids.ts'
import { type Tool, toolNameFault } from '../domain/tool.ts'
import type { Key } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { read } from './store.ts'

/** Where an agent's tools stand. */
export const toolsPk = (agent: string): string => `L#${bare(agent)}`
export const toolKey = (agent: string, name: string): Key => [toolsPk(agent), `T#${name}`]

/** A tool as it stands now, whoever asks. */
export async function readTool(world: World, agentId: string, name: string): Promise<Tool | null> {
  if (toolNameFault(name) !== null) return null
  return (await read<Tool>(world, toolKey(agentId, name)))?.item ?? null
}
