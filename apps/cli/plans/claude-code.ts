import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Bag, bag, listIn, number, restOf, text } from './json.ts'
import { type Entry, type Imported, keysFrom, type Left, nameFrom, slug } from './plan.ts'

/**
 * Reads the scheduled tasks of Claude Code: `.claude/scheduled_tasks.json` of a project, whose tasks hold their prompts, or the desktop
 * app's `scheduled-tasks.json`, whose prompts stand in a SKILL.md each.
 *
 * @param o.file  its path: prompts are looked for beside it where the path that it names is not there
 */
export function readClaudeCode(content: string, o: { readonly file: string; readonly tz: string }): Imported {
  const entries: Entry[] = []
  const left: Left[] = []
  const keyFor = keysFrom()
  for (const [i, value] of listIn(content, ['tasks', 'scheduledTasks'], 'a file of scheduled tasks').entries()) {
    const task = bag(value)
    const id = text(task.id)
    const where = `task ${id ?? i + 1}`
    const prompt = text(task.prompt) ?? promptOf(task, id, o.file)
    const cron = text(task.cron) ?? text(task.cronExpression)
    const at = text(task.fireAt)
    if (prompt === null || (cron === null && at === null)) {
      const missing = prompt === null ? 'its prompt is nowhere to be found' : 'it has no time'
      left.push({ where, what: missing, whole: true })
      continue
    }
    const isOnce = cron !== null && task.recurring !== true && task.cronExpression === undefined
    const name = nameFrom(text(task.name) ?? (text(task.cron) === null ? id : null) ?? prompt)
    entries.push({
      key: keyFor(slug(id ?? name)),
      kind: 'schedule',
      where,
      id: null,
      fields: {
        name,
        prompt,
        ...(cron === null ? { at } : { cron }),
        tz: o.tz,
        ...(isOnce ? { maxRuns: 1, until: yearAfter(number(task.createdAt)) } : {}),
      },
      paused: task.enabled === false ? true : null,
      wants: task.cronExpression === undefined && at === null ? 'main' : 'fresh',
    })
    if (!isOnce && task.cron !== undefined && task.permanent !== true)
      left.push({ where, what: 'it would have expired seven days after it was made; it goes on here', whole: false })
    left.push(...restOf(task, known, where))
  }
  return { entries, left }
}

/** Read, or what the program noted of its own runs. */
const known = [
  ...['id', 'name', 'prompt', 'cron', 'cronExpression', 'fireAt', 'recurring', 'permanent', 'enabled', 'filePath'],
  ...['createdAt', 'lastFiredAt', 'lastRunAt', 'nextRunAt', 'lastScheduledFor', 'fireCount', 'durable'],
]

/** A rule that was to fire once names that day every year: what was not done within one is over. */
const yearAfter = (createdAt: number | null): string | undefined =>
  createdAt === null ? undefined : new Date(createdAt + 365 * 86_400_000).toISOString()

/** The body of its SKILL.md, below the front matter. */
function promptOf(task: Bag, id: string | null, file: string): string | null {
  const named = text(task.filePath)
  const beside = id === null || !/^[\w.-]+$/.test(id) ? [] : [join(dirname(file), id, 'SKILL.md')]
  for (const path of [...(named === null ? [] : [named]), ...beside])
    try {
      const body = readFileSync(path, 'utf8').replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n/, '')
      if (body.trim() !== '') return body.trim()
    } catch {
      // The next place.
    }
  return null
}
