import type { Json } from '../../shared/cel/index.ts'
import type { FieldError } from '../../shared/domain/refused.ts'
import type { Step, Tool } from '../../shared/domain/tool.ts'
import type { Call } from '../../shared/engine/call.ts'
import { type Agent, keys, read } from '../../shared/engine/store.ts'
import { runTool, type ToolEnd, type ToolRun } from '../../shared/engine/tool-run.ts'
import { putTool, type ToolInput } from '../../shared/engine/tools.ts'
import type { Room } from './room.ts'

export const get = (url = 'https://bank.test/rate', more: object = {}): Step => ({
  http: { method: 'GET', url, ...more },
})
export const post = (body: Json, more: object = {}): Step => ({
  http: { method: 'POST', url: 'https://bank.test/orders', body, ...more },
})

export const put = (room: Room, name: string, input: Partial<ToolInput>, call: Call = room.call()): Promise<Tool> =>
  putTool(call, room.agent, name, {
    description: 'What it is for.',
    parameters: { type: 'object' },
    readOnly: false,
    steps: [get()],
    ...input,
  })

/** Registers a tool and runs it as its owner does. */
export async function run(room: Room, input: Partial<ToolInput>, over: Partial<ToolRun> = {}): Promise<ToolEnd> {
  const tool = await put(room, 'tried', input)
  const agent = (await read<Agent>(room.world, keys.agent(room.agent)))!.item
  return await runTool({
    world: room.world,
    tool,
    agent,
    principal: agent.owner,
    args: {},
    runId: 'run_1',
    call: room.call(),
    ...over,
  })
}

/** What a refusal says, place by place; fails when it is none. */
export async function faultsOf(act: Promise<unknown>): Promise<Record<string, string>> {
  try {
    await act
  } catch (error) {
    const { name, errors } = error as { name: string; errors?: readonly FieldError[] }
    if (name === 'Refused') return Object.fromEntries((errors ?? []).map(({ path, message }) => [path, message]))
    throw error
  }
  throw new Error('it was not refused')
}
