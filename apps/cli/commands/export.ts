import type { Command } from 'commander'
import { stringify } from 'yaml'
import { agentId, agentNames } from '../lookup.ts'
import { fieldsOf, keysFrom, type PlanKind, slug } from '../plans/plan.ts'
import { actual, allRows, defaultOf, type Row } from '../plans/rows.ts'
import { calls, type Shell } from '../shell.ts'

export function exportCommand(shell: Shell, program: Command): void {
  const command = program
    .command('export')
    .description('write schedules and triggers out as a file that `rouse apply` takes')
    .option('--agent <agent>', 'name or id: only those that wake this agent')
  calls<{ agent?: string }>(shell, command, { example: 'rouse export > schedules.yaml' }, async (caller) => {
    const { client, options, io, show } = caller
    const agent = options.agent === undefined ? null : await agentId(client, options.agent)
    const names = await agentNames(client)
    const keyFor = keysFrom()
    const of = async (kind: PlanKind): Promise<Record<string, unknown>> => {
      const rows = (await allRows(client, kind)).filter(
        // Finished ones wake nobody: applied elsewhere they would be refused, or begin anew.
        (row) => (row.status === 'active' || row.status === 'paused') && (agent === null || row.agent === agent),
      )
      return Object.fromEntries(rows.reverse().map((row) => [keyFor(keyOf(row, rows)), entryOf(kind, row, names)]))
    }
    const plan = { rouse: 1, schedules: await of('schedule'), triggers: await of('trigger') }
    const count = Object.keys(plan.schedules).length + Object.keys(plan.triggers).length
    show(plan, () => {
      io.stdout.write(stringify(plan, { lineWidth: 0 }))
      if (count === 0) io.stderr.write('There is nothing that is active or paused.\n')
    })
  })
}

/** The same at every export: of those that are called the same, each has the end of its id. */
function keyOf(row: Row, rows: readonly Row[]): string {
  const key = slug(row.name)
  return rows.filter((other) => slug(other.name) === key).length === 1
    ? key
    : `${key}-${row.id.slice(-6).toLowerCase()}`
}

function entryOf(kind: PlanKind, row: Row, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const fields = fieldsOf(kind)
    .map((field) => [field, shownOf(field, row, names)] as const)
    .filter(([field, value]) => value !== null && value !== undefined && !isDefault(field, value, row))
  return { id: row.id, ...Object.fromEntries(fields), ...(row.status === 'paused' ? { paused: true } : {}) }
}

/** A conversation says whose it is; a name reads better than an id where it is plain whose it is. */
function shownOf(field: string, row: Row, names: ReadonlyMap<string, string>): unknown {
  if (field !== 'agent') return actual(row, field)
  if (row.session !== null) return null
  const name = names.get(String(row.agent))
  const isPlain = name !== undefined && [...names.values()].filter((other) => other === name).length === 1
  return isPlain ? name : row.agent
}

const isDefault = (field: string, value: unknown, row: Row): boolean =>
  !['tz', 'dtstart', 'channel', 'session', 'agent'].includes(field) && value === defaultOf(field, row)
