import Table from 'cli-table3'
import pc from 'picocolors'
import { shown } from './figures.ts'
import type { MeasuredRow, Run } from './results.ts'
import type { Cell, Row } from './row.ts'

/** What a terminal shows of one run. */
export function terminalTable(rows: readonly MeasuredRow[]): string {
  const table = new Table({
    head: ['what', 'ours', 'peer', 'ratio', 'met'],
    colWidths: [64, 14, 14, 10, 10],
    wordWrap: true,
    style: { head: [], border: [] },
  })
  for (const { id, what, peer, gate, result, failure } of rows) {
    table.push([{ colSpan: 5, content: `${pc.bold(id)}  ${what}\nbeside ${peer}; gate ${gate}` }])
    if (result === null) table.push([{ colSpan: 5, content: pc.red(`did not run: ${failure?.split('\n')[0]}`) }])
    for (const cell of result?.cells ?? []) {
      const met = cell.met === null ? '' : cell.met ? pc.green('met') : pc.red('not met')
      table.push([cell.name, ...figures(cell), met])
    }
  }
  return table.toString()
}

/** docs/benchmarks.md from the newest full result of each row; a row that never ran in full says so. */
export function markdown(rows: readonly Row[], runs: readonly Run[]): string {
  const newest = rows.map((row) => newestOf(row, runs))
  return `# Benchmarks

Written by \`npm run bench\` from bench/results/; not by hand. Ours beside a peer, taken interleaved in one run on one machine: figures move
with the machine, the ratio is what counts. How each row is measured, and how to run it: [bench/README.md](../bench/README.md).

| what | ours | peer | ratio | gate | aim | met |
|---|---|---|---|---|---|---|
${newest.flatMap(tableLines).join('\n')}

## Notes

${newest.map(noteLines).join('\n')}
`
}

/** The README with another table of months between its marks. */
export function withMonths(readme: string, months: string): string {
  const marks = /(<!-- months[^>]*-->\n\n).*?(\n\n<!-- \/months -->)/s
  if (!marks.test(readme)) throw new Error('README.md: expected the marks of the table of months, got none')
  return readme.replace(marks, (_, open: string, close: string) => open + months + close)
}

interface Newest {
  row: Row
  /** null: no full run has measured it */
  taken: { run: Run; measured: MeasuredRow } | null
  /** why the newest attempt did not run, when it did not */
  failure: string | null
}

function newestOf(row: Row, runs: readonly Run[]): Newest {
  const attempts = runs.flatMap((run) =>
    run.rows.filter(({ id }) => id === row.id).map((measured) => ({ run, measured })),
  )
  return {
    row,
    taken: attempts.find(({ measured }) => measured.result !== null) ?? null,
    failure: attempts[0]?.measured.failure ?? null,
  }
}

function tableLines({ row, taken }: Newest): string[] {
  const { what, peer, gate, aim, result } = taken?.measured ?? { ...row, result: null }
  const head = [`**${what}** (${peer})`, '', '', '', gate, aim ?? '', verdict(result)]
  const cells = result?.cells ?? []
  const lines = cells.map((cell) => [cell.name, ...figures(cell), '', '', cell.met === null ? '' : yesNo(cell.met)])
  return [head, ...lines].map((fields) => `| ${fields.map(inCell).join(' | ')} |`)
}

function verdict(result: MeasuredRow['result']): string {
  if (result === null) return 'did not run'
  if (!result.met) return '**no**'
  return result.aimMet === null ? 'yes' : result.aimMet ? 'yes, the aim too' : 'yes, the aim not'
}

function noteLines({ row, taken, failure }: Newest): string {
  const why = failure === null ? [] : [`- The newest attempt did not run: ${failure.split('\n')[0]}`]
  if (taken === null) return [`### ${row.id}`, '', '- No full run has measured it yet.', ...why, ''].join('\n')
  const { run, measured } = taken
  const { machine } = run
  const missed = (measured.result?.cells ?? []).filter(({ met }) => met === false).map(({ name }) => name)
  return [
    `### ${row.id}`,
    '',
    `${measured.result?.summary}. Taken ${run.at.slice(0, 10)} at ${run.commit}, on ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, Linux ${machine.kernel}, load ${machine.load} before.`,
    '',
    ...(missed.length === 0 ? [] : [`- Not met: ${missed.join('; ')}.`]),
    ...(measured.result?.notes ?? []).map((note) => `- ${note}`),
    ...why,
    '',
  ].join('\n')
}

function figures({ ours, peer, ratio, unit }: Cell): string[] {
  const withUnit = (value: number) => (unit.startsWith('/') ? `${shown(value)}${unit}` : `${shown(value)} ${unit}`)
  return [withUnit(ours), peer === null ? '' : withUnit(peer), ratio === null ? '' : `${shown(ratio)}×`]
}

const yesNo = (met: boolean): string => (met ? 'yes' : '**no**')

/** A bar would end the table's cell. */
const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
