import { verdictOn } from '../domain/access.ts'
import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { textFault } from '../domain/names.ts'
import { Refused } from '../domain/refused.ts'
import type { Check, JsonObject } from '../domain/schedule.ts'
import type { Call } from './call.ts'
import type { Agent } from './store.ts'
import { argsFaults } from './tool-args.ts'
import { readTool } from './tool-rows.ts'

/** A check as a caller writes it; null takes it away. */
export type CheckInput =
  | { readonly script: string }
  | { readonly tool: string; readonly args?: JsonObject | null | undefined }

/**
 * A check that may be set for this agent by this caller.
 *
 * It runs with the agent's files and commands, so only the agent and its owner set, change or remove one (S2-25).
 *
 * @param before  what stands now; setting the same again is no change
 * @throws        Refused `owner_only`, `body_invalid`
 */
export async function checkOf(
  call: Call,
  agent: Agent,
  input: CheckInput | null | undefined,
  before: Check | null = null,
): Promise<Check | null> {
  const wanted: Check | null =
    input == null ? null : 'script' in input ? input : { tool: input.tool, args: input.args ?? {} }
  if (JSON.stringify(wanted) === JSON.stringify(before)) return before
  if (verdictOn('set_check', call.caller, agent) !== 'yes')
    throw new Refused(
      'owner_only',
      `a check runs with the files and commands of agent ${agent.id}: only that agent or its owner may set or change it. Leave "check" out, or ask its owner`,
    )
  if (wanted === null) return null
  if ('script' in wanted) {
    const fault = scriptFault(wanted.script)
    if (fault !== null) throw bodyFault('check.script', fault)
    return wanted
  }
  const tool = await readTool(call.world, agent.id, wanted.tool)
  if (tool === null)
    throw bodyFault(
      'check.tool',
      `expected a tool of agent ${agent.id}, got "${wanted.tool}", which it has not; \`rouse tool list\` shows those it has`,
    )
  if (!tool.readOnly)
    throw bodyFault(
      'check.tool',
      `expected a read-only tool, got "${wanted.tool}", which changes things; a check only looks`,
    )
  const faults = await argsFaults(tool, wanted.args as never)
  if (faults.length > 0)
    throw bodyFault(`check.args${faults[0]!.path === '' ? '' : `.${faults[0]!.path}`}`, faults[0]!.message)
  return wanted
}

/** The worker runs nothing outside of the agent's folder; what can be seen to lie outside is refused here. */
function scriptFault(script: string): string | null {
  if (script.trim() === '' || script.length > limits.scriptCharsMax)
    return `expected the path of a script, 1 to ${limits.scriptCharsMax} characters, got ${script.length}`
  if (script.startsWith('/') || /^[A-Za-z]:/.test(script) || script.includes('\\'))
    return `expected a path in the agent's folder, such as checks/new-calls.sh, got ${script}`
  if (/[\t\r\n]/.test(script)) return 'holds a tab or a line break; leave it out'
  if (script.split('/').some((part) => part === '..'))
    return `expected a path inside the agent's folder, without "..", got ${script}`
  return textFault(script)
}
