import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { type ApplyOptions, applyPlan } from '../plans/apply.ts'
import { assertEntries } from '../plans/check.ts'
import { fileText } from '../plans/file.ts'
import { reportOf, showReport } from '../plans/show.ts'
import { StateStore } from '../plans/state.ts'
import { readPlan } from '../plans/yaml.ts'
import { calls, type Shell } from '../shell.ts'

interface Options {
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly recreate?: boolean
  readonly plan?: string
}

export function applyCommand(shell: Shell, program: Command): void {
  const apply = program
    .command('apply')
    .description('make schedules and triggers as a file has them; again, and nothing is made twice')
    .argument('<file>', 'YAML; - reads it from the standard input')
    .option('--dry-run', 'show the difference and change nothing')
    .option('--prune', 'delete those that are not in the file any more')
    .option('--recreate', 'make those again that were deleted by hand or have ended')
    .option('--plan <name>', 'which plan it is (default: what the file says, else its name)', planName)
  calls<Options>(
    shell,
    apply,
    { example: 'rouse apply schedules.yaml --dry-run\nrouse apply schedules.yaml' },
    async (caller) => {
      const { client, args, options, io, screen, show, progress } = caller
      const file = args[0]!
      const { plan: named, entries } = readPlan(await fileText(file, io.stdin), file)
      assertEntries(entries, file)
      const plan = options.plan ?? named ?? planOf(file)
      const asked: ApplyOptions = {
        dryRun: options.dryRun === true,
        prune: options.prune === true,
        recreate: options.recreate === true,
        skipBad: false,
        progress,
      }
      const applied = await applyPlan(client, new StateStore(caller, plan), entries, asked)
      const report = reportOf(plan, applied, asked)
      show(report, () => showReport(screen, report, applied.changes))
    },
  )
}

/** @throws InvalidArgumentError (a usage error) */
export function planName(value: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(value))
    throw new InvalidArgumentError('Expected letters, digits, ".", "_" and "-".')
  return value
}

/** `team/schedules.yaml` → `schedules` */
export function planOf(file: string): string {
  const name = basename(file)
    .replace(/\.(ya?ml|json|txt|cron|tab)$/i, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)
  return name === '' ? 'stdin' : name
}
