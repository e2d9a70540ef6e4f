import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import { SchemaInvalid } from './invalid.ts'
import { compilePattern } from './pattern.ts'

const faultsMax = 20

const options: Options = {
  strict: false,
  validateFormats: false,
  ownProperties: true,
  addUsedSchema: false,
  logger: false,
  inlineRefs: false,
  code: {
    regExp: Object.assign((pattern: string) => compilePattern(pattern, ''), { code: 'compilePattern' }) as never,
  },
}

/** Knows what a schema is, and compiles nothing but that. Made with the first one: a start waits for none. */
let judge: Ajv2020 | null = null

export interface Validator {
  /** What does not fit, at most 20 places; empty: all of it fits. Never throws. */
  faults(value: unknown): readonly { readonly path: string; readonly message: string }[]
}

/** @throws SchemaInvalid when it is no schema */
export const validatorOf = (schema: { [keyword: string]: unknown }): Validator => ({
  faults: faultsOf(compiled(schema)),
})

function compiled(schema: { [keyword: string]: unknown }): ValidateFunction {
  judge ??= new Ajv2020(options)
  try {
    if (judge.validateSchema(schema) !== true) {
      const { path, message } = faultOf(judge.errors![0]!)
      throw new SchemaInvalid(path, `is no JSON Schema: ${message}`)
    }
    // One for each: it keeps all that it ever compiled.
    return new Ajv2020({ ...options, meta: false, validateSchema: false }).compile(schema)
  } catch (error) {
    if (error instanceof SchemaInvalid) throw error
    throw new SchemaInvalid(
      '',
      `is no JSON Schema: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown fault'}`,
    )
  }
}

const faultsOf =
  (validate: ValidateFunction): Validator['faults'] =>
  (value) => {
    try {
      if (validate(value)) return []
    } catch {
      // Data that is nested so deep that the stack ends.
      return [{ path: '', message: 'is nested too deep' }]
    }
    return (validate.errors ?? []).slice(0, faultsMax).map(faultOf)
  }

function faultOf(error: ErrorObject): { path: string; message: string } {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
  return { path, message: wordsOf(error) }
}

/** Where the library's words leave out what was expected. */
function wordsOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'additionalProperties':
      return `holds "${String(params.additionalProperty).slice(0, 80)}", which is no parameter`
    case 'enum':
      return `expected one of ${JSON.stringify(params.allowedValues).slice(0, 200)}`
    case 'const':
      return `expected ${JSON.stringify(params.allowedValue).slice(0, 200)}`
    default:
      return message ?? 'does not fit'
  }
}
