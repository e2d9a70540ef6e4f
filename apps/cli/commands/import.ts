import { type Command, Option } from 'commander'
import { type Client, path } from '../../client/client.ts'
import type { Agent } from '../../client/shapes.ts'
import { agentId } from '../lookup.ts'
import { type ApplyOptions, applyPlan } from '../plans/apply.ts'
import { assertEntries } from '../plans/check.ts'
import { readClaudeCode } from '../plans/claude-code.ts'
import { readCrontab } from '../plans/crontab.ts'
import { fileText } from '../plans/file.ts'
import { readHermes } from '../plans/hermes.ts'
import { readOpenclaw } from '../plans/openclaw.ts'
import type { Entry, Imported, Left } from '../plans/plan.ts'
import { reportOf, showReport } from '../plans/show.ts'
import { StateStore } from '../plans/state.ts'
import { UsageError } from '../report.ts'
import { calls, type Shell } from '../shell.ts'
import { planName, planOf } from './apply.ts'

interface Options {
  readonly agent?: string
  readonly session?: string
  readonly tz?: string
  readonly system?: boolean
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly recreate?: boolean
  readonly plan?: string
}

interface Asked {
  readonly file: string
  readonly tz: string
  readonly system: boolean
}

const formats: Readonly<Record<string, (text: string, o: Asked) => Imported>> = {
  crontab: readCrontab,
  'claude-code': readClaudeCode,
  openclaw: readOpenclaw,
  hermes: readHermes,
}

export function importCommand(shell: Shell, program: Command): void {
  const take = program
    .command('import')
    .description('take over what another program has scheduled; what cannot be carried over is named')
    .argument('<format>', `whose file it is: ${Object.keys(formats).join(', ')}`)
    .argument('<file>', 'e.g. ~/.openclaw/cron/jobs.json; - reads the standard input (`crontab -l | …`)')
    .option('--agent <agent>', 'name or id: whom they wake, in a fresh session for each run')
    .option('--session <session>', 'ses_…, the conversation that they wake')
    .option('--tz <zone>', "the zone of times that name none (default: this machine's)")
    .addOption(new Option('--system', 'a crontab whose lines name a user, as /etc/crontab and /etc/cron.d do'))
    .option('--dry-run', 'show what would be made and change nothing')
    .option('--prune', 'delete those that the file does not have any more')
    .option('--recreate', 'make those again that were deleted by hand or have ended')
    .option('--plan <name>', 'which plan it is (default: format and name of the file)', planName)
  calls<Options>(
    shell,
    take,
    { example: 'crontab -l | rouse import crontab - --agent assistant --dry-run' },
    async (caller) => {
      const { client, args, options, io, screen, show, progress } = caller
      const [format = '', file = ''] = args
      const read = formats[format]
      if (read === undefined)
        throw new UsageError(`expected one of ${Object.keys(formats).join(', ')}, got "${format}"`)
      const tz = options.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone
      const system = options.system ?? /^\/etc\/(crontab$|cron\.d\/)/.test(file)
      const found = read(await fileText(file, io.stdin), { file, tz, system })
      assertEntries(found.entries, file)
      const aimed = await withTargets(client, found.entries, options)
      const plan = options.plan ?? planOf(`${format}-${planOf(file)}`)
      const asked: ApplyOptions = {
        dryRun: options.dryRun === true,
        prune: options.prune === true,
        recreate: options.recreate === true,
        skipBad: true,
        progress,
      }
      const applied = await applyPlan(client, new StateStore(caller, plan), aimed.entries, asked)
      const report = reportOf(plan, applied, asked, [...found.left, ...aimed.left])
      show(report, () => {
        showReport(screen, report, applied.changes)
        if (options.tz === undefined && found.entries.length > 0)
          screen.line(`\nTimes that name no zone are read in ${tz}, which is this machine's; --tz names another.`)
      })
    },
  )
}

/** Whom each wakes: what wants the main conversation gets the one that is named, else the agent's own. */
async function withTargets(
  client: Client,
  entries: readonly Entry[],
  { agent, session }: Options,
): Promise<{ readonly entries: Entry[]; readonly left: Left[] }> {
  if (agent === undefined)
    return {
      entries: entries.map((entry) => (session === undefined ? entry : aimed(entry, { session }))),
      left: [],
    }
  const id = await agentId(client, agent)
  const isMain = ({ wants }: Entry): boolean => wants === 'main'
  const main =
    session ??
    (entries.some(isMain) ? (await client.call<Agent>('GET', path`/v1/agents/${id}`)).mainSession : null) ??
    null
  const left = entries
    .filter((entry) => isMain(entry) && main === null)
    .map(({ where }) => ({
      where,
      what: 'it went into the main conversation, and the agent has none: each run gets a session of its own',
      whole: false,
    }))
  return {
    entries: entries.map((entry) => aimed(entry, isMain(entry) && main !== null ? { session: main } : { agent: id })),
    left,
  }
}

const aimed = (entry: Entry, target: Readonly<Record<string, string>>): Entry => ({
  ...entry,
  fields: { ...entry.fields, ...target },
})
