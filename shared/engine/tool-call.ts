import type { Json } from '../cel/index.ts'
import { isShallow } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import type { StepResult } from '../domain/tool.ts'
import { later } from '../ports/later.ts'
import { audit } from './audit.ts'
import type { Call } from './call.ts'
import { actingIn, agentFor, principal } from './reach.ts'
import { assertArguments } from './tool-args.ts'
import { readTool } from './tool-rows.ts'
import type { Effects } from './tool-steps.ts'

const tools = later(() => import('./tool-run.ts'))

export interface ToolAnswer {
  readonly output: Json
  /** One for each step; of one that is too large for the answer only its size. */
  readonly steps: readonly StepResult[]
}

/**
 * Runs a tool in the name of the caller: with the caller's secrets and documents, an agent's being its owner's.
 *
 * @throws Refused `not_found`, `args_invalid`, `tool_failed` naming the step
 */
export async function callTool(
  call: Call,
  { agent: agentId, name, args }: { readonly agent: string; readonly name: string; readonly args: unknown },
  effects: Effects,
): Promise<ToolAnswer> {
  const { item: agent } = await agentFor(call, agentId)
  const tool = await readTool(call.world, agent.id, name)
  if (tool === null) throw notFound('tool', name)
  await actingIn(call)
  if (!isShallow(args))
    throw new Refused('args_invalid', 'args: is nested too deep', [{ path: 'args', message: 'is nested too deep' }])
  await assertArguments(tool, args)
  const runId = call.newId('run')
  const { runTool } = await tools()
  const end = await runTool({
    world: call.world,
    tool,
    agent,
    principal: principal(call),
    args: args as Json,
    runId,
    call,
    effects,
  })
  const answer = end.ok ? fitted(end) : null
  if (answer !== null) return answer
  const failure = end.ok
    ? { step: 'output', error: `it is larger than an answer may be: let the tool's "output" pick what is needed` }
    : end
  // What its steps did before has been done, so that it belongs in the trail as a call that succeeded does.
  await audit(call, { operation: 'callTool', targets: [agent.id, tool.name], status: 422 })
  const path = typeof failure.step === 'number' ? `steps.${failure.step}` : failure.step
  throw new Refused('tool_failed', `${path}: ${failure.error}`, [{ path, message: failure.error }])
}

/** The answer within its bound: the largest results give way to their sizes. Null when the output alone is too large. */
function fitted({ output, steps }: ToolAnswer): ToolAnswer | null {
  const shown = [...steps]
  for (;;) {
    const answer = { output, steps: shown }
    if (bytesOf(answer) <= limits.toolCallAnswerBytesMax) return answer
    const sizes = shown.map((result) => bytesOf(result))
    const largest = sizes.indexOf(Math.max(...sizes))
    if (largest < 0 || isClipped(shown[largest]!)) return null
    shown[largest] = { clipped: true, bytes: Buffer.byteLength(JSON.stringify(shown[largest])) }
  }
}

const isClipped = (result: StepResult): boolean =>
  typeof result === 'object' && result !== null && 'clipped' in result && Object.keys(result).length === 2

/** As it is kept for a repeat of the call: JSON inside JSON. */
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value)))
