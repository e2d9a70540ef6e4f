import type { Need } from './needs.ts'

/** A statement of a policy as IAM has it, every reference resolved. */
export interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: { readonly StringEquals?: Readonly<Record<string, string>> }
}

/** One action on one resource that a role is allowed. */
export interface Grant {
  readonly action: string
  readonly resource: string
  readonly equals: Readonly<Record<string, string>>
}

/**
 * Everything that statements allow, singly.
 *
 * @throws Error for what this does not judge: a denial, another condition than StringEquals, NotAction and the like
 */
export const grantsOf = (statements: readonly Statement[]): readonly Grant[] =>
  statements.flatMap((statement) => {
    const { Effect, Action, Resource, Condition = {}, ...others } = statement
    const { StringEquals = {}, ...conditions } = Condition
    if (Effect !== 'Allow' || Object.keys({ ...others, ...conditions }).some((key) => key !== 'Sid'))
      throw new Error(`a statement that test/privilege/allow.ts does not judge: ${JSON.stringify(statement)}`)
    return [Action]
      .flat()
      .flatMap((action) => [Resource].flat().map((resource) => ({ action, resource, equals: StringEquals })))
  })

/** Whether this is one of the grants that let the call through. Actions match in any case, resources as they are written. */
export const covers = ({ action, resource, equals }: Grant, need: Need): boolean =>
  matches(action.toLowerCase(), need.action.toLowerCase()) &&
  matches(resource, need.resource) &&
  Object.entries(equals).every(([key, value]) => need.context[key] === value)

/** `*` stands for any text, also for none and for slashes and colons; `?` for one character. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(text)
}
