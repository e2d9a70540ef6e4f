import { CelInvalid, compileCel, compileTemplate, type Json, type Program, type Template } from '../cel/index.ts'
import type { FieldError } from '../domain/refused.ts'
import type { Step, StepKind, Tool } from '../domain/tool.ts'

/** What the strings of a tool may say: which variables their CEL sees, and which secrets they name. */

/** What is stored, or travels through the table as a host step does, must not hold a secret. */
const seesSecrets: Readonly<Record<StepKind, boolean>> = {
  http: true,
  lambda: true,
  mcp: true,
  document: false,
  monitor: false,
  host: false,
}

const plain = ['args', 'steps'] as const
const variablesOf = (step: Step): readonly string[] => (seesSecrets[kindOf(step)] ? [...plain, 'secrets'] : plain)

export const kindOf = (step: Step): StepKind => Object.keys(step)[0] as StepKind
const innerOf = (step: Step): Json => Object.values(step)[0] as Json

/** A step whose strings can be filled in. @throws CelInvalid */
export const compileStep = (step: Step): Template => compileTemplate(innerOf(step), variablesOf(step))

/** @throws CelInvalid */
export const compileOutput = (output: string): Program => compileCel(output, plain)

/** Every string that does not compile, with its place in the definition. */
export function wordFaults(tool: Pick<Tool, 'steps' | 'output'>): FieldError[] {
  const inSteps = tool.steps.flatMap((step, i) => {
    const path = `steps.${i}.${kindOf(step)}`
    return textsIn(innerOf(step), path).flatMap(({ text, at }) => [
      ...faultOf(at, () => compileTemplate(text, variablesOf(step))),
      ...(namesSecretsUnseen(text, step) ? [{ path: at, message: unseen }] : []),
    ])
  })
  const { output } = tool
  return [...inSteps, ...(output === null ? [] : faultOf('output', () => compileOutput(output)))]
}

const unseen = 'expected secrets by name, as secrets.NAME or secrets["NAME"]: only those that are named are read'

function namesSecretsUnseen(text: string, step: Step): boolean {
  if (!seesSecrets[kindOf(step)] || secretNames(text).length > 0) return false
  try {
    return compileTemplate(text, variablesOf(step)).names.includes('secrets')
  } catch {
    return false
  }
}

function faultOf(path: string, compile: () => unknown): FieldError[] {
  try {
    compile()
    return []
  } catch (error) {
    if (error instanceof CelInvalid) return [{ path, message: error.detail }]
    throw error
  }
}

function textsIn(value: Json, at: string): { text: string; at: string }[] {
  if (typeof value === 'string') return [{ text: value, at }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner as Json, `${at}.${name}`))
}

/** The names of all secrets that a step may use. One that only looks like a name is read for nothing, and fails nothing. */
export const secretsOf = (step: Step): string[] =>
  seesSecrets[kindOf(step)] ? [...new Set(textsIn(innerOf(step), '').flatMap(({ text }) => secretNames(text)))] : []

function secretNames(text: string): string[] {
  if (!text.includes('${')) return []
  const members = text.matchAll(/\bsecrets\s*\.\s*\??\s*([A-Za-z_]\w*)(?!\w|\s*\()/g)
  const indexed = text.matchAll(/\bsecrets\s*\[\s*\??\s*(["'])([A-Za-z0-9_.-]{1,100})\1\s*\]/g)
  return [...[...members].map(([, name]) => name!), ...[...indexed].map(([, , name]) => name!)]
}

/** True where CEL stands in it. */
export const isTemplate = (text: string): boolean => text.replaceAll('$${', '').includes('${')

/** The part of an address that is the same in every call, when the whole host is in it; null when it is not. */
export function fixedAddress(text: string): string | null {
  const literal = text.replaceAll('$${', '$%7B')
  const cel = literal.indexOf('${')
  if (cel < 0) return literal
  return /^[a-z][a-z+.-]*:\/\/[^/?#\\]+[/?#]/i.exec(literal.slice(0, cel))?.[0] ?? null
}
