import { type FieldError, Refused } from '../domain/refused.ts'
import type { Tool } from '../domain/tool.ts'
import { compileSchema } from '../schema/index.ts'

/** What does not fit a tool's parameters, by its path in the arguments; empty: all of it fits. Never throws. */
export const argsFaults = async (tool: Pick<Tool, 'parameters'>, args: unknown): Promise<readonly FieldError[]> =>
  (await compileSchema(tool.parameters)).faults(args)

/** @throws Refused `args_invalid` */
export async function assertArguments(tool: Pick<Tool, 'name' | 'parameters'>, args: unknown): Promise<void> {
  const faults = (await argsFaults(tool, args)).map(({ path, message }) => ({
    path: path === '' ? 'args' : `args.${path}`,
    message,
  }))
  const first = faults[0]
  if (first !== undefined)
    throw new Refused('args_invalid', `${first.path}: ${first.message} (tool ${tool.name})`, faults)
}
