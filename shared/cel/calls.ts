import type { ASTNode } from '@marcbachmann/cel-js'
import { CelFault, CelInvalid, quoted } from './errors.ts'
import { type Fn, functions, methods } from './functions.ts'
import { loops } from './loops.ts'
import { place } from './parse.ts'
import { expectKind, madeOf, type Part, refused, type Scope, whileBuilding } from './scope.ts'
import { has } from './select.ts'
import { Optional, said } from './values.ts'

type Building = { scope: Scope; built(node: ASTNode, scope: Scope): Part }
type Arguments = readonly ASTNode[]

/** `name(args)` */
export function call(
  node: ASTNode,
  { name, args }: { name: string; args: Arguments },
  { scope, built }: Building,
): Part {
  if (name === 'has') {
    const [operand] = args
    if (args.length !== 1 || operand?.op !== '.')
      throw refused('has() takes a key of something, as in has(doc.name),', node, scope)
    const object = built(operand.args[0], scope)
    return madeOf([object], 'bool', has(object.run, operand.args[1]))
  }
  const fn = functions.get(name)
  if (fn === undefined) throw unknown(node, name, scope)
  return applied(node, { name, fn, parts: args.map((arg) => built(arg, scope)), args, given: args.length }, scope)
}

/** `receiver.name(args)` */
export function received(
  node: ASTNode,
  { name, receiver, args }: { name: string; receiver: ASTNode; args: Arguments },
  building: Building,
): Part {
  const { scope, built } = building
  const namespace = receiver.op === 'id' && !isBound(receiver.args, scope) ? receiver.args : null
  if (namespace === 'cel' && name === 'bind' && args.length === 3) return bound(args, building)
  if (namespace === 'optional' && name === 'none' && args.length === 0)
    return { run: () => new Optional(undefined), kind: 'optional', constant: true }
  if (namespace === 'optional' && name === 'of' && args.length === 1) {
    const value = built(args[0]!, scope)
    return madeOf([value], 'optional', (run) => new Optional(value.run(run)))
  }
  const loop = loops.get(name)
  if (loop) return loop(node, { receiver, args, scope, built })
  if ((name === 'orValue' || name === 'or') && args.length === 1)
    return otherwise(node, { name, from: built(receiver, scope), other: built(args[0]!, scope) }, scope)
  const fn = methods.get(name)
  if (fn === undefined) throw unknown(node, name, scope)
  const parts = [receiver, ...args].map((arg) => built(arg, scope))
  return applied(node, { name, fn, parts, args: [receiver, ...args], given: args.length }, scope)
}

const isBound = (name: string, { names, variables }: Scope) => names.includes(name) || variables.has(name)

function bound([variable, value, body]: Arguments, { scope, built }: Building): Part {
  const slot = scope.names.length
  const bind = built(value!, scope)
  const inner = built(body!, { ...scope, names: [...scope.names, variable!.args as string] })
  return {
    kind: inner.kind,
    constant: false,
    run(run) {
      run.bound[slot] = bind.run(run)
      return inner.run(run)
    },
  }
}

/** The other value is looked at only when there is none. */
function otherwise(
  node: ASTNode,
  { name, from, other }: { name: string; from: Part; other: Part },
  scope: Scope,
): Part {
  const what = `${name}() takes an optional, as .?name gives one`
  expectKind(from, ['optional'], { what, node, scope })
  return madeOf([from, other], null, (run) => {
    const value = from.run(run)
    if (!(value instanceof Optional)) throw new CelFault('type', `${what}, got ${said(value)}`)
    if (value.value === undefined) return other.run(run)
    return name === 'or' ? value : value.value
  })
}

function applied(
  node: ASTNode,
  o: { name: string; fn: Fn; parts: readonly Part[]; args: Arguments; given: number },
  scope: Scope,
): Part {
  const { name, fn, parts, given } = o
  const [least, most] = fn.takes
  if (given < least || given > most) {
    const takes = least === most ? String(least) : `${least} or ${most}`
    throw refused(`${name}() takes ${takes} argument${takes === '1' ? '' : 's'}, got ${given},`, node, scope)
  }
  const pattern = o.args[1]
  // A pattern that stands there is tried on no text.
  if (name === 'matches' && pattern?.op === 'value' && typeof pattern.args === 'string')
    whileBuilding(node, scope, () => fn.apply(['', pattern.args as string], scope.steps))
  return madeOf(parts, fn.gives, (run) =>
    fn.apply(
      parts.map((part) => part.run(run)),
      run.steps,
    ),
  )
}

function unknown(node: ASTNode, name: string, { text }: Scope): CelInvalid {
  const what = `unknown function ${quoted(name)}${place(text, node.start)}`
  if (methods.has(name) || loops.has(name)) return new CelInvalid(`${what}; it is called behind a value: x.${name}(…)`)
  if (functions.has(name)) return new CelInvalid(`${what}; it is called before a value: ${name}(x)`)
  const names = (of: Iterable<string>) => [...of].join(', ')
  return new CelInvalid(
    `${what}; functions are ${names(functions.keys())}, has; methods are ${names(methods.keys())}, ${names(loops.keys())}`,
  )
}
