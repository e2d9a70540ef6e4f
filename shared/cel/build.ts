import type { ASTNode } from '@marcbachmann/cel-js'
import { bounds } from './bounds.ts'
import { call, received } from './calls.ts'
import { absorbable, CelFault, CelInvalid, quoted } from './errors.ts'
import { fromData } from './json.ts'
import { binaries } from './operators.ts'
import { place } from './parse.ts'
import { bool, type Eval, expectKind, madeOf, type Part, refused, type Scope, source, whileBuilding } from './scope.ts'
import { indexed, optionally } from './select.ts'
import { Steps } from './steps.ts'
import { asKey, CelType, int, type Kind, kindOf, said, samples, type Value } from './values.ts'

/**
 * A syntax tree as functions. Each node pays a step before it is evaluated, whatever else it does. What depends on no data is evaluated
 * here, once: `1 + "a"`, `duration('1 hour')` and a pattern that RE2 refuses are wrong for all data.
 *
 * @throws CelInvalid
 */
export function built(node: ASTNode, scope: Scope): Part {
  const { run, kind, constant } = unpaid(node, scope)
  if (constant) {
    const value = whileBuilding(node, scope, () => {
      scope.steps.spend(1)
      return run({ data: {}, steps: scope.steps, bound: [] })
    })
    return { run: paid(() => value), kind: kindOf(value), constant }
  }
  return { run: paid(run), kind, constant }
}

function paid(evaluate: Eval): Eval {
  return (run) => {
    run.steps.spend(1)
    return evaluate(run)
  }
}

function unpaid(node: ASTNode, scope: Scope): Part {
  const build = (inner: ASTNode) => built(inner, scope)
  switch (node.op) {
    case 'value':
      return literal(node.args as Value, node, scope)
    case 'id':
      return named(node.args, node, scope)
    case '.':
    case '.?':
      return member(node, build(node.args[0]), always(node.args[1]), scope)
    case '[]':
    case '[?]':
      return member(node, build(node.args[0]), build(node.args[1]), scope)
    case 'list': {
      const items = node.args.map(build)
      return madeOf(items, 'list', (run) => items.map((item) => item.run(run)))
    }
    case 'map':
      return mapLiteral(
        node.args.map(([key, value]) => [build(key), build(value)] as const),
        source(node, scope),
      )
    case '?:': {
      const [condition, yes, no] = node.args.map(build) as [Part, Part, Part]
      expectKind(condition, ['bool'], { what: '? takes true or false', node, scope })
      const kind = yes.kind === no.kind ? yes.kind : null
      return madeOf([condition, yes, no], kind, (run) => (bool(condition.run(run), '?') ? yes.run(run) : no.run(run)))
    }
    case '||':
    case '&&':
      return either(node, build(node.args[0]), build(node.args[1]), scope)
    case '!_': {
      const operand = build(node.args)
      expectKind(operand, ['bool'], { what: '! takes true or false', node, scope })
      return madeOf([operand], 'bool', (run) => !bool(operand.run(run), '!'))
    }
    case '-_':
      return negated(node.args, node, scope)
    case 'call':
      return call(node, { name: node.args[0], args: node.args[1] }, { scope, built })
    case 'rcall':
      return received(node, { name: node.args[0], receiver: node.args[1], args: node.args[2] }, { scope, built })
    default:
      return binary(node, node.op, build(node.args[0]), build(node.args[1]), scope)
  }
}

const always = (value: Value): Part => ({ run: () => value, kind: kindOf(value), constant: true })

function literal(value: Value, node: ASTNode, scope: Scope): Part {
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    throw refused('unsigned integers are not known: write the number without u', node, scope)
  return { ...always(value), run: () => (typeof value === 'bigint' ? int(value) : value) }
}

const TYPES = new Set(['string', 'bool', 'int', 'double', 'map', 'list', 'bytes', 'null_type', 'type'])

function named(name: string, node: ASTNode, { text, names, variables, used }: Scope): Part {
  const slot = names.lastIndexOf(name)
  if (slot !== -1) return { run: ({ bound }) => bound[slot]!, kind: null, constant: false }
  if (variables.has(name)) {
    used.add(name)
    const run: Eval = ({ data }) => {
      const value = Object.hasOwn(data, name) ? data[name] : undefined
      if (value === undefined) throw new CelFault('missing', `${name} has no value`)
      return fromData(name, value)
    }
    return { run, kind: null, constant: false }
  }
  if (TYPES.has(name)) return always(new CelType(name === 'null_type' ? 'null' : name))
  const known = [...variables, ...names].join(', ') || 'none'
  throw new CelInvalid(`unknown variable ${quoted(name)}${place(text, node.start)}; it knows ${known}`)
}

function member(node: ASTNode, object: Part, key: Part, scope: Scope): Part {
  const isOptional = node.op === '.?' || node.op === '[?]'
  const run = (isOptional ? optionally : indexed)(object.run, key.run, source(node, scope))
  return madeOf([object, key], isOptional ? 'optional' : null, run)
}

/** `||` and `&&`: one side that decides is enough, whatever became of the other. */
function either(node: ASTNode, left: Part, right: Part, scope: Scope): Part {
  const op = node.op
  const decides = op === '||'
  for (const side of [left, right]) expectKind(side, ['bool'], { what: `${op} takes true or false`, node, scope })
  return madeOf([left, right], 'bool', (run) => {
    try {
      if (bool(left.run(run), op) === decides) return decides
    } catch (error) {
      if (!absorbable(error)) throw error
      run.steps.spend(bounds.absorbedSteps)
      if (bool(right.run(run), op) === decides) return decides
      throw error
    }
    return bool(right.run(run), op)
  })
}

function negated(operand: ASTNode, node: ASTNode, scope: Scope): Part {
  // The least int has no positive counterpart.
  if (operand.op === 'value' && typeof operand.args === 'bigint') return literal(-operand.args, operand, scope)
  const part = built(operand, scope)
  expectKind(part, ['int', 'double'], { what: '- takes a number', node, scope })
  return madeOf([part], part.kind, (run) => {
    const value = part.run(run)
    if (typeof value === 'bigint') return int(-value)
    if (typeof value === 'number') return -value
    throw new CelFault('type', `- takes a number, got ${said(value)}`)
  })
}

function binary(node: ASTNode, op: string, left: Part, right: Part, scope: Scope): Part {
  const apply = binaries[op]!
  const kind =
    left.kind === null || right.kind === null ? null : tried(node, { op, left: left.kind, right: right.kind }, scope)
  return madeOf([left, right], kind, (run) => apply(left.run(run), right.run(run), run.steps))
}

/** What an operator gives for values of two kinds; tried on one value of each. */
function tried(node: ASTNode, { op, left, right }: { op: string; left: Kind; right: Kind }, scope: Scope): Kind | null {
  const isNumber = (kind: Kind) => kind === 'int' || kind === 'double'
  const canEqual = left === right || left === 'null' || right === 'null' || (isNumber(left) && isNumber(right))
  if ((op === '==' || op === '!=') && !canEqual)
    throw refused(`${left} ${op} ${right}: the two are never equal`, node, scope)
  return whileBuilding(node, scope, () => kindOf(binaries[op]!(samples[left], samples[right], new Steps())))
}

function mapLiteral(entries: readonly (readonly [Part, Part])[], where: string): Part {
  return madeOf(entries.flat(), 'map', (run) => {
    const map = new Map<Value, Value>()
    for (const [key, value] of entries) {
      const name = asKey(key.run(run))
      if (typeof name !== 'string' && typeof name !== 'bigint' && typeof name !== 'boolean')
        throw new CelFault('type', `a key in ${where} is text, a whole number or a bool, got ${said(name)}`)
      if (map.has(name)) throw new CelFault('other', `${quoted(String(name))} is twice a key in ${where}`)
      map.set(name, value.run(run))
    }
    return map
  })
}
