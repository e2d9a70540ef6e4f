import { CelFault, CelInvalid, type Json } from '../cel/index.ts'
import { principalOf } from '../domain/access.ts'
import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import type { Step, StepResult, Tool } from '../domain/tool.ts'
import type { World } from '../ports/world.ts'
import type { Call } from './call.ts'
import type { Agent } from './store.ts'
import { readSecrets, type UsedSecrets } from './tool-secrets.ts'
import { type Effects, failed, type Stage, type Taken, takeStep } from './tool-steps.ts'
import { compileOutput, compileStep, kindOf, secretsOf } from './tool-words.ts'

export interface ToolRun {
  readonly world: World
  readonly tool: Tool
  readonly agent: Agent
  /** The person whose secrets and documents the steps use. */
  readonly principal: string
  /** That fit the tool's parameters: nobody looks at them again here. */
  readonly args: Json
  /** Names the run: a repeat under the same name sends the same Idempotency-Keys, `<runId>:<step>`. */
  readonly runId: string
  /** The call that it runs in; null: nobody's, and a monitor step fails. */
  readonly call: Call | null
  /** For monitor and host steps, which fail without. */
  readonly effects?: Effects
  /** For all steps together, real time. */
  readonly timeoutMs?: number
}

export type ToolEnd =
  | { readonly ok: true; readonly output: Json; readonly steps: readonly StepResult[] }
  | {
      readonly ok: false
      /** The index of the step that failed, or the output expression. */
      readonly step: number | 'output'
      /** In words: no secret, no path and no query of an address. */
      readonly error: string
      /** The same run may do better later. */
      readonly retry: boolean
      readonly steps: readonly StepResult[]
    }

/**
 * Takes a tool's steps in order, up to the first one that fails.
 *
 * @throws Unavailable when the store cannot be reached; never for what a step does
 */
export async function runTool(run: ToolRun): Promise<ToolEnd> {
  const { world, tool, agent, call, principal } = run
  const as = inTheNameOf(run)
  // Real time: the world's clock may stand still.
  const until = performance.now() + (run.timeoutMs ?? limits.toolCallMs)
  const steps: StepResult[] = []
  // A later answer may repeat what an earlier step has said.
  const known = new Map<string, string | null>()
  for (const [i, step] of tool.steps.entries()) {
    const leftMs = until - performance.now()
    const stage: Stage = {
      world,
      agent,
      as,
      call,
      effects: run.effects ?? null,
      idempotencyKey: `${run.runId}:${i}`,
      timeoutMs: Math.min(leftMs, kindOf(step) === 'host' ? leftMs : limits.toolStepMs),
    }
    const taken = leftMs <= 0 ? failed('the time of the call was over before this step', true) : await take(stage, step)
    if (!taken.ok) return { ok: false, step: i, error: taken.error, retry: taken.retry, steps }
    steps.push(taken.result)
  }
  return { ...outputOf(tool, run.args, steps), steps }

  async function take(stage: Stage, step: Step): Promise<Taken> {
    const read = await readSecrets(world, principal, secretsOf(step), known)
    if ('failed' in read) return failed(read.failed, true)
    const { secrets } = read
    const filled = fill(step, { args: run.args, steps: [...steps], secrets })
    if ('error' in filled) return failed(filled.error)
    const taken = await takeStep(stage, filled.step).catch(refusedOnly)
    return taken.ok
      ? { ok: true, result: secrets.scrubbed(taken.result) }
      : { ...taken, error: secrets.scrubbedText(taken.error) }
  }
}

/** What is refused to a step, a missing document say, fails the step. */
function refusedOnly(error: unknown): Taken {
  if (error instanceof Refused) return failed(error.detail)
  throw error
}

function fill(
  step: Step,
  {
    args,
    steps,
    secrets,
  }: { readonly args: Json; readonly steps: readonly StepResult[]; readonly secrets: UsedSecrets },
): { readonly step: Step } | { readonly error: string } {
  const named = secretsOf(step)
  try {
    const inner = compileStep(step).fill({ args, steps, secrets: secrets.data })
    return { step: { [kindOf(step)]: inner } as unknown as Step }
  } catch (error) {
    const missing = named.find((name) => !Object.hasOwn(secrets.data, name))
    if (error instanceof CelFault && missing !== undefined)
      return { error: `there is no secret ${missing}: a person keeps it with PUT /v1/secrets/${missing}` }
    // What an expression says of its data may quote them.
    if (error instanceof CelFault)
      return {
        error: `an expression could not be evaluated${named.length > 0 ? ` (${error.reason})` : `: ${error.detail}`}`,
      }
    if (error instanceof CelInvalid) return { error: `an expression does not compile: ${error.detail}` }
    throw error
  }
}

function outputOf(
  { steps: taken, output }: Tool,
  args: Json,
  steps: readonly StepResult[],
): { ok: true; output: Json } | { ok: false; step: 'output'; error: string; retry: false } {
  const last = steps.length - 1
  if (output === null) return { ok: true, output: bodyOf(taken[last]!, steps[last]!) }
  try {
    return { ok: true, output: compileOutput(output).evaluate({ args, steps }) }
  } catch (error) {
    if (error instanceof CelFault || error instanceof CelInvalid)
      return { ok: false, step: 'output', error: error.detail, retry: false }
    throw error
  }
}

const bodyOf = (step: Step, result: StepResult): Json =>
  'http' in step || 'document' in step ? (result as { readonly body: Json }).body : result

/** Documents are a person's; who wrote one is the agent when its owner is the one who pays. */
function inTheNameOf({ world, agent, principal, call }: ToolRun): Call {
  if (call !== null && principalOf(call.caller) === principal) return call
  const now = call?.now ?? world.clock.now()
  return {
    world,
    caller:
      agent.owner === principal
        ? { kind: 'agent', key: 'tool', agent: agent.id, owner: principal }
        : { kind: 'person', key: 'tool', person: principal, admin: false },
    now,
    session: null,
    turn: null,
    newId: (prefix) => `${prefix}_${world.ids.ulid(now)}`,
    repeatable: false,
  }
}
