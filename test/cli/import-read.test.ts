import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readClaudeCode } from '../../apps/cli/plans/claude-code.ts'
import { readCrontab } from '../../apps/cli/plans/crontab.ts'
import { readHermes } from '../../apps/cli/plans/hermes.ts'
import { readOpenclaw } from '../../apps/cli/plans/openclaw.ts'
import type { Imported } from '../../apps/cli/plans/plan.ts'
import { UsageError } from '../../apps/cli/report.ts'

const pathOf = (name: string): string => fileURLToPath(new URL(`../fixtures/plans/${name}`, import.meta.url))
const file = (name: string): string => readFileSync(pathOf(name), 'utf8')
const tz = 'Europe/Amsterdam'
const timesOf = ({ entries }: Imported): unknown[] =>
  entries.map(({ fields: { name, cron, every, at, tz: zone } }) => [name, cron ?? every ?? at, zone])
const lost = ({ left }: Imported): string[] =>
  left.filter(({ whole }) => whole).map((one) => `${one.where}: ${one.what}`)
const without = ({ left }: Imported): string[] =>
  left.filter(({ whole }) => !whole).map((one) => `${one.where}: ${one.what}`)

describe('a crontab', () => {
  const found = readCrontab(file('crontab'), { system: false, tz })

  it('becomes prompts that run its commands, named by the comments above them', () => {
    expect(timesOf(found)).toEqual([
      ['Nightly backup', '30 2 * * *', tz],
      ['/usr/local/bin/poll-mail', '*/5 * * * *', tz],
      ['/usr/local/bin/rotate-reports', '0 0 * * *', tz],
      ['mail -s "It is 9\\%" team%Good morning,%%here is what is new.', '0 9 * * mon-fri', 'Asia/Tokyo'],
      [expect.stringMatching(/^cd \/srv\/site/), '15 14 1 * *', 'Asia/Tokyo'],
    ])
    expect(found.entries[0]!.fields.prompt).toBe(
      'Run this command as it stands, and say what came of it:\n\n    /usr/local/bin/backup.sh --full >> /var/log/backup.log 2>&1',
    )
  })

  it('reads percent signs as crontab(5) has them: input after the first, line breaks after it, and escaped ones as they are', () => {
    expect(found.entries[3]!.fields.prompt).toBe(
      'Run this command as it stands, and say what came of it:\n\n    mail -s "It is 9%" team\n\nIt reads this from its standard input:\n\n    Good morning,\n\n    here is what is new.',
    )
    expect(found.entries[4]!.fields.prompt).toContain('--month "$(date +%Y-%m)"')
  })

  it('names what cannot be carried over, and no value that may be a secret', () => {
    expect(lost(found)).toEqual([
      'line 13: "@reboot       /usr/local/bin/warm-up" runs when the machine starts, which has no time',
      'line 17: "this is no line of a crontab" is no line of a crontab',
    ])
    expect(without(found)).toEqual([
      'line 4: MAILTO=ops@example.com: no mail is sent; `deliver` tells how runs end',
      "line 5: the variable API_TOKEN: set it where the agent's worker runs",
    ])
    expect(JSON.stringify(found)).not.toContain('s3cr3t')
  })

  it('keeps the key of a line whose time is changed, and gives the same command twice two keys', () => {
    const keys = (text: string): string[] => readCrontab(text, { system: false, tz }).entries.map(({ key }) => key)
    expect(keys('0 1 * * * a b')).toEqual(keys('# x\n\n0 2 * * * a b'))
    expect(new Set(keys('0 1 * * * a\n0 5 * * * a')).size).toBe(2)
    expect(keys('0 1 * * * a')).not.toEqual(keys('0 1 * * * b'))
  })

  it('of the system names users, and says that they are not carried over', () => {
    const system = readCrontab(file('crontab-system'), { system: true, tz })
    expect(timesOf(system).map((one) => (one as string[])[1])).toEqual(['17 * * * *', '47 6 * * 7', '0 0 1 * *'])
    expect(system.entries[1]!.fields.prompt).toContain('    test -x /usr/sbin/anacron || run-parts')
    expect(without(system)).toHaveLength(3)
    expect(without(system)[1]).toMatch(/www-data/)
  })

  it.each([
    ['', 0],
    ['\r\n# only a comment\r\n', 0],
    ['0 1 * * * a\r\n0 2 * * * b\r\n', 2],
    ['  -*/30 * * * *   quiet  ', 1],
  ])('%j has so many entries: %d', (text, count) => {
    const { entries, left } = readCrontab(text, { system: false, tz })
    expect([entries.length, left]).toEqual([count, []])
    for (const { fields } of entries) expect(fields.prompt).not.toMatch(/\r/)
  })
})

describe('jobs of OpenClaw', () => {
  const found = readOpenclaw(file('openclaw-jobs.json'), { tz })

  it('keep their times and zones; one without a zone is in UTC when it is a time, in this zone when it is a rule', () => {
    expect(timesOf(found)).toEqual([
      ['Morning brief', '0 7 * * *', 'America/Los_Angeles'],
      ['Reminder', '2026-03-05T16:00:00Z', tz],
      ['Inbox sweep', '60m', tz],
      ['Every second', '*/30 * * * * *', 'UTC'],
    ])
    expect(found.entries[0]!.fields).toMatchObject({
      prompt: 'Summarize overnight updates.',
      note: 'What matters today',
      jitter: '2m',
      deliver: ['telegram:-1001234567890'],
    })
    expect(found.entries.map(({ wants, paused }) => [wants, paused])).toEqual([
      ['fresh', null],
      ['main', null],
      ['fresh', true],
      ['fresh', null],
    ])
  })

  it('name the model, the time limit and the channel that Rouse has not got', () => {
    expect(lost(found)).toEqual(['job Disk space: its payload (command) is no prompt for an agent'])
    expect(without(found)).toEqual([
      'job Morning brief: agentId: main',
      'job Morning brief: model: anthropic/claude-sonnet-4-5',
      'job Morning brief: timeoutSeconds: 600',
      'job Inbox sweep: its interval began at a time of its own; here it begins when it is made',
      'job Inbox sweep: its answer went to slack channel:C1234567890, which Rouse cannot send to',
    ])
  })

  it('also read the older form of a time', () => {
    const old = {
      jobs: [{ id: 'x', name: 'x', schedule: { kind: 'at', atMs: 1772721000000 }, payload: { text: 'y' } }],
    }
    expect(timesOf(readOpenclaw(JSON.stringify(old), { tz }))).toEqual([['x', '2026-03-05T14:30:00.000Z', tz]])
  })
})

describe('jobs of Hermes', () => {
  const found = readHermes(file('hermes-jobs.json'), { tz })

  it('keep their times, what is left of their runs, and whether they are paused', () => {
    expect(timesOf(found)).toEqual([
      ['Daily digest', '0 9 * * 1-5', tz],
      ['Check the build', 120, tz],
      ['Long past', '2026-01-01T00:00:00+01:00', tz],
    ])
    expect(found.entries.map(({ fields, paused }) => [fields.maxRuns ?? null, fields.deliver ?? null, paused])).toEqual(
      [
        [null, ['telegram:123456789'], null],
        [10, null, true],
        [null, null, null],
      ],
    )
  })

  it('name skills, models and where answers went', () => {
    expect(lost(found)).toEqual(['job Disk watchdog: it runs a script without an agent'])
    expect(without(found)).toEqual([
      'job Daily digest: skills: ["github-digest"]',
      'job Check the build: its answer went to origin, which Rouse cannot send to without an address',
      'job Check the build: model: nous/hermes-4-405b',
      'job Check the build: provider: nous',
    ])
  })
})

describe('scheduled tasks of Claude Code', () => {
  it('of a project fire in the conversation, once where they do not recur', () => {
    const found = readClaudeCode(file('claude-tasks.json'), { file: pathOf('claude-tasks.json'), tz })
    expect(timesOf(found)).toEqual([
      ['Look at the open pull requests and say which wait for me.', '57 8 * * 1-5', tz],
      ['/release-notes', '30 14 28 4 *', tz],
      ['check the deploy', '*/5 * * * *', tz],
    ])
    expect(found.entries.map(({ fields, paused, wants }) => [fields.maxRuns ?? null, paused, wants])).toEqual([
      [null, null, 'main'],
      [1, null, 'main'],
      [null, true, 'main'],
    ])
    expect(lost(found)).toEqual(['task 00000000: its prompt is nowhere to be found'])
    expect(without(found)).toHaveLength(2)
    expect(without(found)[0]).toMatch(/^task 8aa6f4b7: it would have expired seven days after it was made/)
  })

  it('of the desktop app read the prompt from where it is, below its front matter', () => {
    const name = 'claude-desktop/scheduled-tasks.json'
    const found = readClaudeCode(file(name), { file: pathOf(name), tz })
    expect(found.entries.map(({ key, fields }) => [key, fields.name, fields.prompt, fields.cron])).toEqual([
      [
        'morning-briefing',
        'morning-briefing',
        'Read the calendar and the mail of this morning, and post the briefing.',
        '30 7 * * *',
      ],
    ])
    expect(lost(found)).toEqual(['task gone: its prompt is nowhere to be found'])
    expect(without(found)).toEqual([
      'task morning-briefing: model: claude-sonnet-4-6',
      'task morning-briefing: userSelectedFolders: ["/Users/me/work"]',
    ])
  })
})

it.each([
  ['nothing', ''],
  ['no JSON', '{jobs'],
  ['another shape', '{"jobs": {}}'],
])('a file of %s is told, not read as an empty one', (_, text) => {
  expect(() => readOpenclaw(text, { tz })).toThrow(UsageError)
  expect(() => readHermes(text, { tz })).toThrow(UsageError)
  expect(() => readClaudeCode(text, { file: 'x', tz })).toThrow(UsageError)
})

it('entries that make no sense are named, not thrown at anybody', () => {
  const jobs = [null, 3, 'x', [], {}, { schedule: 'daily', prompt: 'p', payload: 7 }]
  for (const found of [
    readOpenclaw(JSON.stringify({ jobs }), { tz }),
    readHermes(JSON.stringify({ jobs }), { tz }),
    readClaudeCode(JSON.stringify({ tasks: jobs }), { file: 'x', tz }),
  ])
    expect([found.entries.length, found.left.length]).toEqual([0, jobs.length])
})
