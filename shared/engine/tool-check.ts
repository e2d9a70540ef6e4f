import { canonicalJson } from '../domain/canonical.ts'
import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { type FieldError, Refused } from '../domain/refused.ts'
import { type McpStep, type Step, type Tool, toolNameFault, writes } from '../domain/tool.ts'
import type { World } from '../ports/world.ts'
import { compileSchema, SchemaInvalid } from '../schema/index.ts'
import { readSecrets } from './tool-secrets.ts'
import { compileStep, fixedAddress, isTemplate, secretsOf, wordFaults } from './tool-words.ts'

export type Definition = Pick<Tool, 'name' | 'description' | 'parameters' | 'readOnly' | 'steps' | 'output'>

/**
 * All that can be seen of a tool before it is stored.
 *
 * @param principal  whose secrets the question to an MCP server may need
 * @throws Refused `body_invalid` naming each place that does not fit
 */
export async function assertTool(world: World, tool: Definition, principal: string): Promise<void> {
  const name = toolNameFault(tool.name)
  if (name !== null) throw bodyFault('name', name)
  const bytes = Buffer.byteLength(canonicalJson(tool).text)
  if (bytes > limits.toolBytesMax)
    throw new Refused('body_invalid', `expected a definition of at most ${limits.toolBytesMax} bytes, got ${bytes}`)
  const faults = [
    ...(await schemaFaults(tool)),
    ...wordFaults(tool),
    ...tool.steps.flatMap((step, i) => stepFaults(world, step, i)),
  ]
  if (tool.readOnly) faults.push(...writing(tool.steps))
  if (faults.length === 0 && tool.readOnly) faults.push(...(await unannotated(world, tool.steps, principal)))
  const first = faults[0]
  if (first !== undefined) throw new Refused('body_invalid', `${first.path}: ${first.message}`, faults.slice(0, 20))
}

async function schemaFaults({ parameters }: Definition): Promise<FieldError[]> {
  try {
    await compileSchema(parameters)
    return []
  } catch (error) {
    if (!(error instanceof SchemaInvalid)) throw error
    return [{ path: error.path === '' ? 'parameters' : `parameters.${error.path}`, message: error.detail }]
  }
}

function stepFaults(world: World, step: Step, i: number): FieldError[] {
  const fault = (field: string, message: string | null): FieldError[] =>
    message === null ? [] : [{ path: `steps.${i}.${field}`, message }]
  const address = (field: string, text: string): FieldError[] => {
    const fixed = fixedAddress(text)
    return fixed === null ? [] : fault(field, world.outbound.refusal(fixed))
  }
  if ('http' in step) {
    const { method, url, body } = step.http
    const bodiless = (method === 'GET' || method === 'HEAD') && body !== undefined && body !== null
    return [
      ...address('http.url', url),
      ...fault('http.body', bodiless ? `${method} takes no body: put what it asks for into the url` : null),
    ]
  }
  if ('mcp' in step) return address('mcp.url', step.mcp.url)
  if ('lambda' in step && !isTemplate(step.lambda.arn)) return address('lambda.arn', step.lambda.arn)
  return []
}

const writing = (steps: readonly Step[]): FieldError[] =>
  steps.flatMap((step, i) => {
    const why = writes(step)
    return why === null ? [] : [{ path: `steps.${i}`, message: why }]
  })

/** What the servers of a read-only tool's MCP steps do not call read-only. */
async function unannotated(world: World, steps: readonly Step[], principal: string): Promise<FieldError[]> {
  const faults = steps.map(async (step, i) => {
    const message = 'mcp' in step ? await annotationFault(world, step, principal) : null
    return message === null ? [] : [{ path: `steps.${i}.mcp`, message }]
  })
  return (await Promise.all(faults)).flat()
}

async function annotationFault(
  world: World,
  step: { readonly mcp: McpStep },
  principal: string,
): Promise<string | null> {
  const { url, tool, headers = {} } = step.mcp
  if ([url, tool].some(isTemplate))
    return 'in a read-only tool url and tool hold no CEL: the server is asked now whether its tool only reads'
  // Its arguments are not needed, and cannot be had before a call.
  const filled = await headersNow(world, { mcp: { url, tool, args: {}, headers } }, principal)
  if (filled === null) return 'in a read-only tool the CEL in headers sees secrets only, and those must exist'
  const told = await world.outbound.mcpTool({ url, tool, headers: filled, timeoutMs: limits.toolStepMs })
  if (!told.ok) return `the MCP server does not say whether its tool only reads: ${told.error}`
  return told.readOnly ? null : `the MCP server does not annotate ${tool} with readOnlyHint: it may change something`
}

async function headersNow(
  world: World,
  step: { readonly mcp: McpStep },
  principal: string,
): Promise<Readonly<Record<string, string>> | null> {
  const found = await readSecrets(world, principal, secretsOf(step))
  if ('failed' in found) return null
  try {
    const { headers } = compileStep(step).fill({ secrets: found.secrets.data }) as unknown as McpStep
    return headers ?? {}
  } catch {
    return null
  }
}
