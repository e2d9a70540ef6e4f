import { type Entry, hashOf, type Imported, keysFrom, type Left, nameFrom, slug } from './plan.ts'

/** Words of crontab(5) and the rules that they stand for. */
const words: Readonly<Record<string, string>> = {
  yearly: '0 0 1 1 *',
  annually: '0 0 1 1 *',
  monthly: '0 0 1 * *',
  weekly: '0 0 * * 0',
  daily: '0 0 * * *',
  midnight: '0 0 * * *',
  hourly: '0 * * * *',
}

/** Set by cron itself or by whoever runs the command, and no business of the agent's. */
const ofCron = new Set(['SHELL', 'PATH', 'HOME', 'LOGNAME', 'USER'])

/**
 * Reads a crontab. Each command becomes a prompt that asks the agent to run it; a comment right above is its name.
 *
 * @param o.system  lines name a user before the command, as in /etc/crontab and /etc/cron.d
 * @param o.tz      the zone of times, until a line `CRON_TZ=` says another
 */
export function readCrontab(text: string, o: { readonly system: boolean; readonly tz: string }): Imported {
  const entries: Entry[] = []
  const left: Left[] = []
  const keyFor = keysFrom()
  let tz = o.tz
  let comment: string | null = null
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim()
    const where = `line ${i + 1}`
    const above = comment
    comment = line.startsWith('#') ? titleIn(line) : null
    if (line === '' || line.startsWith('#')) continue
    const set = /^("|'?)([A-Za-z_]\w*)\1\s*=\s*(.*)$/.exec(line)
    if (set !== null) {
      const [, , name = '', value = ''] = set
      if (name === 'CRON_TZ' || name === 'TZ') tz = unquoted(value) || o.tz
      else left.push(...leftOf(name, unquoted(value), where))
      continue
    }
    const parts = partsOf(line, o.system)
    if (parts === null) {
      left.push({ where, what: `"${clipped(line)}" is no line of a crontab`, whole: true })
      continue
    }
    const { rule, user, command } = parts
    if (rule === null) {
      left.push({ where, what: `"${clipped(line)}" runs when the machine starts, which has no time`, whole: true })
      continue
    }
    if (user !== null)
      left.push({
        where,
        what: `it ran as the user ${user}; the agent runs it as whoever its worker runs as`,
        whole: false,
      })
    const name = nameFrom(above ?? command)
    entries.push({
      // The rule is left out: a line whose time is changed stays the same entry.
      key: keyFor(`${slug(name).slice(0, 40)}-${hashOf(command).slice(0, 8)}`),
      kind: 'schedule',
      where,
      id: null,
      fields: { name, prompt: promptFor(command), cron: rule, tz },
      paused: null,
      wants: 'fresh',
    })
  }
  return { entries, left }
}

function leftOf(name: string, value: string, where: string): Left[] {
  if (ofCron.has(name) || (name === 'MAILTO' && value === '')) return []
  if (name === 'MAILTO' || name === 'MAILFROM')
    return [{ where, what: `${name}=${value}: no mail is sent; \`deliver\` tells how runs end`, whole: false }]
  if (name === 'RANDOM_DELAY')
    return [{ where, what: `RANDOM_DELAY=${value}: \`jitter\` delays a schedule`, whole: false }]
  // It may be a secret: a prompt is no place for it, and neither is this list.
  return [{ where, what: `the variable ${name}: set it where the agent's worker runs`, whole: false }]
}

function partsOf(line: string, system: boolean) {
  const word = /^@(\w+)\s+(.+)$/.exec(line)
  const fields = /^(-?)((?:[*\d]\S*\s+){3}\S+\s+\S+)\s+(.+)$/.exec(line)
  const named = word?.[1]?.toLowerCase() ?? null
  if (named !== null && named !== 'reboot' && words[named] === undefined) return null
  const rest = word?.[2] ?? fields?.[3]
  if (rest === undefined) return null
  const rule = named === null ? fields![2]!.replaceAll(/\s+/g, ' ') : (words[named] ?? null)
  if (!system) return { rule, user: null, command: rest }
  const [, user, command] = /^(\S+)\s+(.+)$/.exec(rest) ?? []
  return user === undefined || command === undefined ? null : { rule, user, command }
}

/** A `%` ends the command and begins its input, every further one is a line break; `\%` is a percent sign. */
function promptFor(command: string): string {
  const [run = '', ...input] = command.split(/(?<!\\)%/).map((part) => part.replaceAll('\\%', '%'))
  const lines = ['Run this command as it stands, and say what came of it:', '', indented(run.trim())]
  if (input.length > 0) lines.push('', 'It reads this from its standard input:', '', indented(input.join('\n')))
  return lines.join('\n')
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ')

/** A comment that is a title, and no command that was commented out. */
function titleIn(line: string): string | null {
  const title = line.replace(/^#+\s*/, '').trim()
  if (title === '' || /^(@\w+|[\d*][\d*,/-]*(\s+\S+){4})\s+\S/.test(title) || /^[-=#*~]+$/.test(title)) return null
  return /^\w+=/.test(title) ? null : title
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim()

const clipped = (line: string): string => (line.length <= 60 ? line : `${line.slice(0, 60).toWellFormed()}…`)
