import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { nameFault } from '../../../shared/domain/names.ts'
import { UsageError } from '../report.ts'
import { type Entry, type Fault, fieldsOf, type PlanKind, PlanRefused } from './plan.ts'

export interface PlanFile {
  /** What it calls itself; null: nothing. */
  readonly plan: string | null
  readonly entries: readonly Entry[]
}

const topFields = ['rouse', 'plan', 'agent', 'session', 'tz', 'schedules', 'triggers']
const keyShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/**
 * Reads a plan: `schedules` and `triggers`, each a map from key to entry or a list of entries with a `key`. `agent`, `session` and `tz` at
 * the top hold for entries that say nothing else.
 *
 * @param file  its path; `promptFile` is looked for beside it
 * @throws UsageError when it is no YAML; PlanRefused naming every entry and field that is not right
 */
export function readPlan(text: string, file: string): PlanFile {
  const lines = new LineCounter()
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: true })
  const [error] = doc.errors
  if (error !== undefined) throw new UsageError(`${file} is not YAML: ${error.message.split('\n')[0]}`)
  const root = doc.contents
  if (root === null) return { plan: null, entries: [] }
  if (!isMap(root)) throw new UsageError(`${file}: expected a map with "schedules" and "triggers", got something else`)
  const top = contentOf(doc.toJS.bind(doc), file) as Record<string, unknown>
  const faults: Fault[] = []
  for (const name of Object.keys(top))
    if (!topFields.includes(name))
      faults.push({ where: file, field: name, message: `is not known here: expected one of ${topFields.join(', ')}` })
  if (top.rouse !== undefined && top.rouse !== 1)
    faults.push({
      where: file,
      field: 'rouse',
      message: `expected 1, the version of this format, got ${String(top.rouse)}`,
    })
  if (top.plan !== undefined && (typeof top.plan !== 'string' || !keyShape.test(top.plan)))
    faults.push({ where: file, field: 'plan', message: 'expected a name of letters, digits, ".", "_" and "-"' })
  const lineOf = (node: Node | null): string =>
    node?.range == null ? '' : ` (line ${lines.linePos(node.range[0]).line})`
  const entries: Entry[] = []
  const taken = new Set<string>()
  const ids = new Set<string>()
  for (const kind of ['schedule', 'trigger'] as const) {
    const list = root.get(`${kind}s`, true) as Node | undefined
    const given = top[`${kind}s`] as unknown
    if (given === undefined || given === null) continue
    for (const one of itemsOf(list, given, kind, faults)) {
      const where = `${kind}s.${one.key}${lineOf(one.node)}`
      if (taken.has(one.key))
        faults.push({ where, field: 'key', message: 'is the key of another entry: each needs one of its own' })
      taken.add(one.key)
      const entry = entryOf(one.value, { kind, key: one.key, where, top, file }, faults)
      if (entry === null) continue
      if (entry.id !== null && ids.has(entry.id))
        faults.push({
          where,
          field: 'id',
          message: 'is the id of another entry: leave it out, and another one is made',
        })
      if (entry.id !== null) ids.add(entry.id)
      entries.push(entry)
    }
  }
  if (faults.length > 0) throw new PlanRefused(faults)
  return { plan: (top.plan as string | undefined) ?? null, entries }
}

function contentOf(toJs: () => unknown, file: string): unknown {
  try {
    return toJs()
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

interface Item {
  readonly key: string
  readonly value: unknown
  readonly node: Node | null
}

function itemsOf(list: Node | undefined, given: unknown, kind: PlanKind, faults: Fault[]): Item[] {
  if (isMap(list))
    return list.items.map((pair) => {
      const key = String(isScalar(pair.key) ? pair.key.value : pair.key)
      return { key, value: (given as Record<string, unknown>)[key], node: pair.key as Node }
    })
  if (isSeq(list))
    return (given as unknown[]).flatMap((value, i) => {
      const { key, ...rest } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
      const node = list.items[i] as Node
      if (typeof key === 'string') return [{ key, value: rest, node }]
      faults.push({ where: `${kind}s[${i}]`, field: 'key', message: 'is missing: an entry of a list needs a key' })
      return []
    })
  faults.push({ where: `${kind}s`, field: '', message: 'expected a map from key to entry, or a list of entries' })
  return []
}

function entryOf(
  value: unknown,
  o: {
    readonly kind: PlanKind
    readonly key: string
    readonly where: string
    readonly top: Record<string, unknown>
    readonly file: string
  },
  faults: Fault[],
): Entry | null {
  const { kind, key, where, top } = o
  const fault = (field: string, message: string): number => faults.push({ where, field, message })
  if (!keyShape.test(key))
    fault('key', 'expected up to 100 letters, digits, ".", "_" and "-", beginning with a letter or a digit')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fault('', 'expected a map of fields')
    return null
  }
  const { id, paused, promptFile, ...given } = value as Record<string, unknown>
  const known = fieldsOf(kind)
  for (const field of Object.keys(given))
    if (!known.includes(field))
      fault(field, `is not known here: expected one of ${known.join(', ')}, paused, promptFile`)
  const fields: Record<string, unknown> = Object.fromEntries(Object.entries(given).filter(([, v]) => v !== null))
  if (promptFile !== undefined) fields.prompt = promptIn(String(promptFile), o.file, (m) => fault('promptFile', m))
  if (promptFile !== undefined && given.prompt != null) fault('prompt', 'is given twice: in promptFile too')
  fields.name ??= key
  const badName = typeof fields.name === 'string' ? nameFault(fields.name) : 'expected a text'
  if (badName !== null) fault('name', badName)
  if (fields.session === undefined && fields.agent === undefined)
    for (const target of ['session', 'agent']) if (top[target] != null) fields[target] = top[target]
  if (fields.session !== undefined && fields.agent !== undefined)
    fault('session', 'expected one of session and agent, got both')
  if (kind === 'schedule') {
    fields.tz ??= top.tz ?? 'UTC'
    if ((fields.prompt === undefined) === (fields.flow === undefined))
      fault('prompt', `expected one of prompt and flow, got ${fields.prompt === undefined ? 'none' : 'both'}`)
  } else {
    if (fields.prompt === undefined) fault('prompt', 'is missing')
    if (typeof fields.on !== 'object')
      fault('on', 'is missing: expected {document: {path | prefix}} or {webhook: true}')
  }
  if (paused !== undefined && typeof paused !== 'boolean') fault('paused', 'expected true or false')
  if (id !== undefined && typeof id !== 'string') fault('id', 'expected a text')
  return {
    key,
    kind,
    where,
    id: typeof id === 'string' ? id : null,
    fields,
    paused: typeof paused === 'boolean' ? paused : null,
  }
}

function promptIn(name: string, file: string, fault: (message: string) => void): string {
  try {
    return readFileSync(resolve(dirname(file), name), 'utf8').trimEnd()
  } catch (error) {
    fault(`${name} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return ''
  }
}
