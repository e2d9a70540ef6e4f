import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Environment } from '@marcbachmann/cel-js'
import { compileCel } from '../../shared/cel/index.ts'
import { median, quantile, shown } from '../figures.ts'
import type { Cell, Row } from '../row.ts'
import { quick } from '../sizes.ts'

const WORST_MS = 250
const WORST_MB = 64
const rounds = quick ? 3 : 15
const calls = quick ? 2_000 : 20_000

const names = ['doc', 'before', 'now']
const now = new Date('2026-11-30T09:00:00Z')

/** Runs on the peer as it is, which takes an int and a JSON number together in comparisons only. */
const typical = 'doc.status == "open" && doc.price > 100 && doc.items.exists(item, item.tag.startsWith("urgent"))'
const typicalData = {
  doc: { status: 'open', price: 120.5, items: ['later', 'soon', 'urgent-1'].map((tag) => ({ tag, price: 1 })) },
  before: null,
  now,
}

export const cel: Row = {
  id: 'cel',
  what: 'A condition evaluated, and the worst that a hostile one can do',
  peer: '@marcbachmann/cel-js 8',
  gate: `worst case ≤ ${WORST_MS} ms and ≤ ${WORST_MB} MB`,
  aim: null,

  async measure() {
    const library = names.reduce((env, name) => env.registerVariable(name, 'dyn'), new Environment())
    const parsed = library.parse(typical)
    const program = compileCel(typical, names)
    if (program.evaluate(typicalData) !== true || parsed(typicalData) !== true)
      throw new Error('expected the condition to hold on both sides')
    const kept = compared('a typical condition, program kept', {
      ours: () => program.evaluate(typicalData),
      peer: () => parsed(typicalData),
    })
    const asText = compared('the same, from its text each time', {
      ours: () => compileCel(typical, names).evaluate(typicalData),
      peer: () => library.evaluate(typical, typicalData),
    })
    const worst = attacks.map(attacked)
    const ms = Math.max(...worst.map((cell) => cell.ms))
    const mb = Math.max(...worst.map((cell) => cell.mb))
    const figure = (name: string, ours: number, unit: string, met: boolean | null): Cell => ({
      name,
      ours,
      peer: null,
      unit,
      ratio: null,
      met,
    })
    const loops = loopsOnPeer(library)
    const own = worst[0]!.ms
    return {
      cells: [
        kept,
        asText,
        { name: 'loops over loops, 1,000 each', ours: own, peer: loops, unit: 'ms', ratio: loops / own, met: null },
        ...worst.slice(1).map((cell) => figure(cell.name, cell.ms, 'ms', null)),
        figure('the slowest of these', ms, 'ms', ms <= WORST_MS),
        figure('the most memory that one of these takes', mb, 'MB', mb <= WORST_MB),
      ],
      met: ms <= WORST_MS && mb <= WORST_MB,
      aimMet: null,
      summary: `${shown(kept.ours)} µs a condition, the library ${shown(kept.peer!)} µs; at worst ${shown(ms)} ms and ${shown(mb)} MB`,
      notes: [
        'Ours counts steps and measures data and result, the library does neither: it has no bound on what an evaluation takes.',
        `Each attack ends by itself or at its budget; the slowest of ${rounds} runs. Memory is what the heap has grown by when it ends, garbage included.`,
      ],
    }
  },
}

type Side = () => unknown

/** Both in turn, round by round; µs a call. */
function compared(name: string, { ours, peer }: { ours: Side; peer: Side }): Cell {
  microseconds(ours)
  microseconds(peer)
  const taken = Array.from({ length: rounds }, () => ({ ours: microseconds(ours), peer: microseconds(peer) }))
  return {
    name,
    ours: median(taken.map((t) => t.ours)),
    peer: median(taken.map((t) => t.peer)),
    unit: 'µs',
    ratio: median(taken.map((t) => t.peer / t.ours)),
    met: null,
  }
}

function microseconds(side: Side): number {
  const before = performance.now()
  for (let i = 0; i < calls; i++) side()
  return ((performance.now() - before) * 1000) / calls
}

const numbers = (length: number) => Array.from({ length }, (_, i) => i)
/** No pattern to it, so that a set of states is hardly met twice; the same on every run. */
const letters = randomLetters(24_000)

function randomLetters(length: number): string {
  let seed = 1
  return Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 16) % 2 === 0 ? 'a' : 'b'
  }).join('')
}

const attacks: { name: string; text: string; doc: unknown }[] = [
  { name: 'loops over loops', text: 'doc.all(x, doc.all(y, x + y >= 0))', doc: numbers(1_000) },
  { name: 'errors absorbed in a loop', text: 'doc.exists(x, x.nothing)', doc: numbers(9_000) },
  { name: 'a pattern with very many states', text: 'doc.matches("[ab]*a[ab]{90}[cd]")', doc: letters },
  {
    name: 'patterns made from data',
    text: 'doc.exists(x, "k".matches("(?i)(\\\\pL|" + x + ")*z"))',
    doc: numbers(3_000).map(String),
  },
  {
    name: 'lists doubled',
    text: 'cel.bind(a, doc + doc, cel.bind(b, a + a, [b, b + b].size()))',
    doc: numbers(9_000),
  },
  { name: 'maps in a loop', text: 'doc.map(x, {"a": x, "b": [x, x]})', doc: numbers(9_000) },
  { name: 'clocks of time zones', text: 'doc.map(x, now.getHours("Europe/Amsterdam"))', doc: numbers(3_000) },
]

function attacked({ name, text, doc }: (typeof attacks)[number]): { name: string; ms: number; mb: number } {
  const program = compileCel(text, names)
  const taken = Array.from({ length: rounds }, () => {
    collectGarbage()
    const heap = process.memoryUsage()
    const before = performance.now()
    try {
      program.evaluate({ doc, now })
    } catch {
      // A fault is how most of these end.
    }
    const ms = performance.now() - before
    const after = process.memoryUsage()
    return { ms, mb: (after.heapUsed + after.arrayBuffers - heap.heapUsed - heap.arrayBuffers) / 1_000_000 }
  })
  return {
    name,
    ms: quantile(
      taken.map((t) => t.ms),
      1,
    ),
    mb: quantile(
      taken.map((t) => t.mb),
      1,
    ),
  }
}

function loopsOnPeer(library: Environment): number {
  const parsed = library.parse(attacks[0]!.text.replace('x + y', 'x'))
  const before = performance.now()
  parsed({ doc: numbers(1_000), before: null, now })
  return performance.now() - before
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
