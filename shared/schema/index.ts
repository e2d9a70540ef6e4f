import { Remembered } from '../time/remembered.ts'
import type { Validator } from './ajv.ts'
import { SchemaInvalid } from './invalid.ts'

/**
 * JSON Schema 2020-12 that other people wrote, over data that other people wrote.
 *
 * Differs: `format` says something and refuses nothing; `$ref` leads to `#/$defs/…` of the same schema and not back to itself;
 * patterns are RE2's; `$schema` is read over. All of them so that a check takes a bounded time and asks nobody.
 */

export { SchemaInvalid, type Validator }

const remembered = new Remembered<Validator>(200)

/** @throws SchemaInvalid when it is no schema, or one that could take for ever */
export async function compileSchema(schema: { readonly [keyword: string]: unknown }): Promise<Validator> {
  const text = JSON.stringify(schema)
  const before = remembered.get(text)
  if (before !== undefined) return before
  // A copy: the library keeps what it is given, and `$schema` would have it look for another dialect.
  const { $schema: _dialect, $id: _name, ...rest } = JSON.parse(text) as { [keyword: string]: unknown }
  // Only tools need them, so that a start waits for neither.
  const [{ assertBounded }, { validatorOf }] = await Promise.all([import('./cost.ts'), import('./ajv.ts')])
  assertBounded(rest)
  const validator = validatorOf(rest)
  remembered.set(text, validator)
  return validator
}
