import type { ASTNode } from '@marcbachmann/cel-js'
import { bounds } from './bounds.ts'
import { absorbable, CelFault } from './errors.ts'
import { bool, expectKind, type Part, type Run, refused, type Scope } from './scope.ts'
import { isList, type JsonObject, type Kind, keysOf, kindOf, said, sizeOf, type Value } from './values.ts'

type Loop = (
  node: ASTNode,
  at: { receiver: ASTNode; args: readonly ASTNode[]; scope: Scope; built(node: ASTNode, scope: Scope): Part },
) => Part

/** One round: what the body makes of one element. */
type Round = (item: Value, run: Run) => Value

type Shape = { name: string; gives: Kind; evaluate(items: readonly Value[], rounds: Round[], run: Run): Value }

/** Goes over a list, or over the keys of a map; each round pays a step besides what its body costs. */
function loop({ name, gives, evaluate }: Shape): Loop {
  return (node, { receiver, args, scope, built }) => {
    const most = name === 'map' ? 3 : 2
    if (args.length < 2 || args.length > most)
      throw refused(`${name}() takes a name and what to do with the element, as in ${name}(x, x > 1),`, node, scope)
    if (scope.loops === bounds.loopsMax)
      throw refused(`${name}() inside ${bounds.loopsMax} others; loops nest ${bounds.loopsMax} deep`, node, scope)
    const over = built(receiver, scope)
    expectKind(over, ['list', 'map'], { what: `${name}() goes over a list or a map`, node, scope })
    const slot = scope.names.length
    const inner = { ...scope, names: [...scope.names, args[0]!.args as string], loops: scope.loops + 1 }
    const bodies = args.slice(1).map((arg) => built(arg, inner))
    if (name !== 'map' || bodies.length === 2)
      expectKind(bodies[0]!, ['bool'], { what: `${name}() asks for true or false`, node, scope })
    const rounds = bodies.map((body): Round => {
      return (item, run) => {
        run.steps.spend(1)
        run.bound[slot] = item
        return body.run(run)
      }
    })
    return { run: (run) => evaluate(elements(name, over.run(run), run), rounds, run), kind: gives, constant: false }
  }
}

function elements(name: string, value: Value, run: Run): readonly Value[] {
  if (isList(value)) return value
  if (kindOf(value) !== 'map') throw new CelFault('type', `${name}() goes over a list or a map, got ${said(value)}`)
  run.steps.spend(sizeOf(value as JsonObject))
  return keysOf(value as JsonObject)
}

/** `exists` and `all`: one element that decides is enough, whatever became of the others. */
function decided(name: string, decides: boolean): Loop {
  return loop({
    name,
    gives: 'bool',
    evaluate(items, [round], run) {
      let failed: CelFault | null = null
      for (const item of items) {
        try {
          if (bool(round!(item, run), `${name}()`) === decides) return decides
        } catch (error) {
          if (!absorbable(error)) throw error
          run.steps.spend(bounds.absorbedSteps)
          failed ??= error
        }
      }
      if (failed !== null) throw failed
      return !decides
    },
  })
}

const kept = (name: string, items: readonly Value[], round: Round, run: Run): Value[] =>
  items.filter((item) => bool(round(item, run), `${name}()`))

export const loops: ReadonlyMap<string, Loop> = new Map([
  ['exists', decided('exists', true)],
  ['all', decided('all', false)],
  [
    'exists_one',
    loop({
      name: 'exists_one',
      gives: 'bool',
      evaluate: (items, [round], run) => kept('exists_one', items, round!, run).length === 1,
    }),
  ],
  [
    'filter',
    loop({ name: 'filter', gives: 'list', evaluate: (items, [round], run) => kept('filter', items, round!, run) }),
  ],
  [
    'map',
    loop({
      name: 'map',
      gives: 'list',
      evaluate(items, [first, second], run) {
        if (second === undefined) return items.map((item) => first!(item, run))
        return kept('map', items, first!, run).map((item) => second(item, run))
      },
    }),
  ],
])
