import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { rouse as cli } from '../cli/rouse.ts'
import { agentWithSession, all, fresh, instant, letAgentsUseSessions, now, read, schedule } from './actors.ts'
import { type Json, onClock } from './node.ts'

const dir = mkdtempSync(join(tmpdir(), 'rouse-plans-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/plans/${name}`, import.meta.url))

onClock('schedules as a file', '2026-03-02T09:00:00Z', (rouse) => {
  const someone = async () => {
    const made = await rouse.ok('POST', '/v1/people', { name: fresh('person') })
    const as = { key: made.key as string }
    const agent = await rouse.ok('POST', '/v1/agents', { name: 'assistant' }, as)
    const session = await rouse.ok('POST', '/v1/sessions', { agent: agent.id, title: 'Desk' }, as)
    const run = async (...argv: string[]) => await cli(argv, { env: { ROUSE_URL: rouse.url, ROUSE_KEY: made.key } })
    const json = async (...argv: string[]): Promise<Json> => {
      const said = await run(...argv, '--json')
      expect(said).toMatchObject({ code: 0, stderr: '' })
      return JSON.parse(said.stdout)
    }
    const list = (kind = 'schedules'): Promise<Json[]> => all(rouse, `/v1/${kind}`, as)
    return { as, agent, session, run, json, list }
  }
  let files = 0
  const write = (text: string): string => {
    const file = join(dir, `plan-${++files}.yaml`)
    writeFileSync(file, text)
    return file
  }
  const kinds = ({ changes }: Json): Json => Object.fromEntries(changes.map(({ key, change }: Json) => [key, change]))

  test('applying makes what the file says, and applying again changes nothing', async () => {
    const who = await someone()
    const file = fixture('schedules.yaml')
    const first = await who.json('apply', file)
    expect(kinds(first)).toEqual({
      'morning-brief': 'create',
      fortnight: 'create',
      pulse: 'create',
      'new-brief': 'create',
    })
    const made = await who.list()
    expect(made.map(({ name, status, tz, inWords }) => [name, status, tz, inWords]).sort()).toEqual([
      [
        'Fortnight',
        'paused',
        'Europe/Amsterdam',
        'every 2 weeks on Friday at 16:00, from 2026-03-06 16:00 (Europe/Amsterdam)',
      ],
      ['Morning brief', 'active', 'Europe/Amsterdam', 'At 08:00, Monday through Friday (Europe/Amsterdam)'],
      ['pulse', 'active', 'UTC', 'every 6 hours from 2026-03-02 09:00'],
    ])
    expect(await who.list('triggers')).toHaveLength(1)
    for (let again = 0; again < 2; again++) {
      const second = await who.json('apply', file)
      expect(new Set(Object.values(kinds(second)))).toEqual(new Set(['same']))
    }
    expect(await who.list()).toEqual(made)
  })

  test('an edit changes the schedule in place, whatever has fired meanwhile', async () => {
    const who = await someone()
    const text = (cron: string, more = '') =>
      `plan: p\nschedules:\n  brief:\n    agent: assistant\n    prompt: Write.\n    cron: "${cron}"\n${more}`
    await who.json('apply', write(text('0 8 * * *', '    note: hello\n')))
    const [{ id }] = await who.list()
    await rouse.ok('POST', '/v1/clock', { by: '48h' })
    const report = await who.json('apply', write(text('0 9 * * 1', '    name: Brief\n    maxRuns: 7\n')))
    expect(report.changes[0]).toMatchObject({ key: 'brief', change: 'update', id })
    const fields = report.changes[0].fields.map(({ field, from, to }: Json) => [field, from, to])
    expect(fields.sort()).toEqual([
      ['cron', '0 8 * * *', '0 9 * * 1'],
      ['maxRuns', null, 7],
      ['name', 'brief', 'Brief'],
      ['note', 'hello', null],
    ])
    expect(await who.list()).toEqual([
      expect.objectContaining({ id, cron: '0 9 * * 1', name: 'Brief', note: null, maxRuns: 7 }),
    ])
    // From one kind of time to another, and to another place.
    const other = `plan: p\nschedules:\n  brief:\n    session: ${who.session.id}\n    name: Brief\n    prompt: Write.\n    every: 2h\n`
    await who.json('apply', write(other))
    expect(await read(rouse, id, who.as)).toMatchObject({
      cron: null,
      every: '2h',
      session: who.session.id,
      maxRuns: null,
    })
  })

  test('a dry run shows the same and changes nothing, not even the document', async () => {
    const who = await someone()
    const file = fixture('schedules.yaml')
    const would = await who.json('apply', file, '--dry-run')
    expect(would.dryRun).toBe(true)
    expect(new Set(Object.values(kinds(would)))).toEqual(new Set(['create']))
    expect([await who.list(), await who.list('triggers'), await all(rouse, '/v1/documents', who.as)]).toEqual([
      [],
      [],
      [],
    ])
    const said = await who.run('apply', file, '--dry-run')
    expect(said.stdout).toContain('+ morning-brief  Morning brief  cron 0 8 * * 1-5  Europe/Amsterdam')
    expect(said.stdout).toContain('Would be: 4 to make, 0 to change, 0 to remove, 0 as they are. Nothing was changed.')
  })

  test('what leaves the file is told, and removed only when asked to', async () => {
    const who = await someone()
    const entry = (key: string) => `  ${key}: { agent: assistant, prompt: Look., every: 6h }\n`
    await who.json('apply', write(`plan: p\nschedules:\n${entry('one')}${entry('two')}`))
    const less = write(`plan: p\nschedules:\n${entry('one')}`)
    expect(kinds(await who.json('apply', less))).toEqual({ one: 'same', two: 'dropped' })
    expect(kinds(await who.json('apply', less))).toEqual({ one: 'same', two: 'dropped' })
    expect(await who.list()).toHaveLength(2)
    expect(kinds(await who.json('apply', less, '--prune', '--dry-run'))).toEqual({ one: 'same', two: 'remove' })
    expect(await who.list()).toHaveLength(2)
    expect(kinds(await who.json('apply', less, '--prune'))).toEqual({ one: 'same', two: 'remove' })
    expect((await who.list()).map(({ name }) => name)).toEqual(['one'])
    expect(kinds(await who.json('apply', less))).toEqual({ one: 'same' })
  })

  test('one that was deleted by hand is made again only with a word', async () => {
    const who = await someone()
    const file = write('plan: p\nschedules:\n  one: { agent: assistant, prompt: Look., every: 6h }\n')
    await who.json('apply', file)
    const [{ id }] = await who.list()
    await rouse.ok('DELETE', `/v1/schedules/${id}`, undefined, who.as)
    const report = await who.json('apply', file)
    expect(report.changes).toEqual([
      expect.objectContaining({ key: 'one', change: 'gone', why: 'it was deleted by hand' }),
    ])
    expect(await who.list()).toEqual([])
    expect((await who.run('apply', file)).stdout).toContain('--recreate makes it again')
    expect(kinds(await who.json('apply', file, '--recreate'))).toEqual({ one: 'create' })
    expect(kinds(await who.json('apply', file))).toEqual({ one: 'same' })
    expect(await who.list()).toHaveLength(1)
  })

  test('what was changed by hand is set back where the file says something, and left where it does not', async () => {
    const who = await someone()
    const file = write('plan: p\nschedules:\n  one: { agent: assistant, prompt: Look., every: 6h }\n')
    await who.json('apply', file)
    const [{ id }] = await who.list()
    await rouse.ok('PATCH', `/v1/schedules/${id}`, { prompt: 'Do not look.', note: 'mine' }, who.as)
    const [change] = (await who.json('apply', file)).changes
    expect(change.fields).toEqual([{ field: 'prompt', from: 'Do not look.', to: 'Look.', byHand: true }])
    expect(await read(rouse, id, who.as)).toMatchObject({ prompt: 'Look.', note: 'mine' })
    expect(kinds(await who.json('apply', file))).toEqual({ one: 'same' })
  })

  test('paused in the file pauses and resumes; unsaid, it is left to whoever does', async () => {
    const who = await someone()
    const file = (paused: string) =>
      write(`plan: p\nschedules:\n  one: { agent: assistant, prompt: Look., every: 6h${paused} }\n`)
    await who.json('apply', file(', paused: true'))
    const [{ id, status }] = await who.list()
    expect(status).toBe('paused')
    await who.json('apply', file(', paused: false'))
    expect((await read(rouse, id, who.as)).status).toBe('active')
    await rouse.ok('POST', `/v1/schedules/${id}/pause`, {}, who.as)
    expect(kinds(await who.json('apply', file('')))).toEqual({ one: 'same' })
    expect((await read(rouse, id, who.as)).status).toBe('paused')
  })

  test('one bad entry applies nothing, and each is named with its field', async () => {
    const who = await someone()
    const good = '  good: { agent: assistant, prompt: Look., every: 6h }\n'
    const said = await who.run(
      'apply',
      write(
        `plan: p\nschedules:\n${good}  often: { agent: assistant, prompt: Look., cron: "*/5 * * * *" }\n  past: { agent: assistant, prompt: Look., at: 2026-01-01T09:00 }\n  zone: { agent: assistant, prompt: Look., every: 6h, tz: Mars/Olympus }\n  nobody: { agent: nobody, prompt: Look., every: 6h }\n`,
      ),
    )
    expect(said.code).toBe(1)
    expect(said.stderr).toContain('nothing was applied')
    expect(said.stderr).toMatch(/schedules\.often \(line 4\), cron: .*schedule_too_frequent/)
    expect(said.stderr).toMatch(/schedules\.past \(line 5\), at: .*is past/)
    expect(said.stderr).toMatch(/schedules\.zone \(line 6\), tz: /)
    expect(said.stderr).toMatch(/schedules\.nobody \(line 7\), agent: there is no agent "nobody"/)
    expect(await who.list()).toEqual([])
  })

  test('what only the call itself can refuse takes back what was made before it', async () => {
    const who = await someone()
    const entries = Array.from({ length: 21 }, (_, i) => `  n${i}: { agent: assistant, prompt: Look., every: 6h }\n`)
    const file = write(`plan: p\nschedules:\n${entries.join('')}`)
    const said = await who.run('apply', file)
    expect(said.code).toBe(1)
    expect(said.stderr).toMatch(/schedules\.n20 \(line 23\): .*schedule_limit/)
    expect(await who.list()).toEqual([])
    const fewer = write(`plan: p\nschedules:\n${entries.slice(0, 20).join('')}`)
    expect(new Set(Object.values(kinds(await who.json('apply', fewer))))).toEqual(new Set(['create']))
    expect(await who.list()).toHaveLength(20)
  })

  test('a run that broke off after it had made one makes no second one', async () => {
    const who = await someone()
    const text = 'plan: p\nschedules:\n  one: { agent: assistant, prompt: Look., every: 6h }\n'
    await who.json('apply', write(text))
    const [{ id, createdAt }] = await who.list()
    const where = '/v1/documents/rouse/plans/p'
    const { entries } = await rouse.ok('GET', where, undefined, who.as)
    // As it stood before the last write.
    const { applied } = entries.one
    const pending = { call: 'plan-lost', at: Date.parse(createdAt), body: 'of another file', applied }
    await rouse.ok('PUT', where, { version: 1, entries: { one: { kind: 'schedule', pending } } }, who.as)
    expect(kinds(await who.json('apply', write(text)))).toEqual({ one: 'same' })
    expect((await who.list()).map((row) => row.id)).toEqual([id])
    // And one that broke off before it had made any makes it.
    const none = { ...pending, applied: { ...applied, name: 'another' } }
    const state = { one: entries.one, two: { kind: 'schedule', pending: none } }
    await rouse.ok('PUT', where, { version: 1, entries: state }, who.as)
    const more = `${text}  two: { agent: assistant, prompt: Look twice., every: 6h }\n`
    expect(kinds(await who.json('apply', write(more)))).toEqual({ one: 'same', two: 'create' })
    expect(await who.list()).toHaveLength(2)
  })

  test('two at once make each entry once', async () => {
    const who = await someone()
    const file = fixture('schedules.yaml')
    const said = await Promise.all([who.run('apply', file), who.run('apply', file), who.run('apply', file)])
    expect(said.map(({ code }) => code)).toContain(0)
    for (const { code, stderr } of said)
      if (code !== 0) expect(stderr).toMatch(/somebody else applies it at the same time/)
    await who.run('apply', file)
    expect(await who.list()).toHaveLength(3)
    expect(await who.list('triggers')).toHaveLength(1)
  })

  test('what is written out is taken over as it is, by id', async () => {
    const who = await someone()
    const at = await now(rouse)
    await schedule(rouse, { session: who.session.id, cron: '0 8 * * *', tz: 'Asia/Tokyo', name: 'A: "brief"' }, who.as)
    const more = {
      until: instant(at, 60 * 24 * 300),
      misfire: { within: '2h' },
      overlap: 'allow',
      jitter: '5m',
      maxRuns: 9,
    }
    await schedule(
      rouse,
      { agent: who.agent.id, rrule: 'FREQ=WEEKLY;BYDAY=MO', prompt: 'Two\nlines: yes\n', ...more },
      who.as,
    )
    await schedule(rouse, { agent: who.agent.id, every: 90, at: instant(at, 60) }, who.as)
    const paused = await schedule(rouse, { agent: who.agent.id, every: '1h', name: 'A brief' }, who.as)
    await rouse.ok('POST', `/v1/schedules/${paused.id}/pause`, {}, who.as)
    const trigger = {
      name: 'Mail',
      agent: who.agent.id,
      prompt: 'Read.',
      on: { document: { path: 'mail' } },
      when: 'doc.n > 3',
    }
    await rouse.ok('POST', '/v1/triggers', trigger, who.as)
    const before = await who.list()
    const same = (rows: Json[]) =>
      rows.map((row) => JSON.stringify([row.inWords, row.status, row.prompt, row.maxRuns, row.until])).sort()
    const { stdout, code } = await who.run('export')
    expect(code).toBe(0)
    expect(stdout).toContain('agent: assistant')
    const file = write(stdout)
    const report = await who.json('apply', file, '--plan', 'taken')
    expect(Object.values(kinds(report))).toEqual(Array(5).fill('same'))
    const keys = Object.keys(kinds(report))
    expect(new Set(keys).size).toBe(5)
    expect(keys.filter((key) => /^(a-brief|nightly-review)-[0-9a-z]{6}$/.test(key))).toHaveLength(4)
    // A name that is given up changes the keys, and they still stand for the same.
    await rouse.ok('PATCH', `/v1/schedules/${paused.id}`, { name: 'Other' }, who.as)
    const renamed = await who.json('apply', write((await who.run('export')).stdout), '--plan', 'taken', '--prune')
    expect(Object.keys(kinds(renamed)).sort().slice(0, 2)).toEqual(['a-brief', 'mail'])
    expect(Object.values(kinds(renamed))).toEqual(Array(5).fill('same'))
    await rouse.ok('PATCH', `/v1/schedules/${paused.id}`, { name: 'A brief' }, who.as)
    expect(same(await who.list())).toEqual(same(before))
    // Elsewhere the ids name nothing, and it is all new.
    const other = await someone()
    const copy = write(stdout.replaceAll(/session: ses_\w+/g, 'agent: assistant'))
    expect(Object.values(kinds(await other.json('apply', copy)))).toEqual(Array(5).fill('create'))
    expect(same(await other.list())).toEqual(same(before))
  })

  test('a one-time schedule that is done stays so, until the file gives it another time', async () => {
    const who = await someone()
    const at = await now(rouse)
    const file = (time: string) =>
      write(`plan: p\nschedules:\n  once: { agent: assistant, prompt: Look., at: "${time}" }\n`)
    const first = file(instant(at, 60))
    await who.json('apply', first)
    await rouse.ok('POST', '/v1/clock', { by: '2h' })
    expect((await who.list())[0].status).toBe('done')
    expect(kinds(await who.json('apply', first))).toEqual({ once: 'same' })
    await who.json('apply', file(instant(at, 240)))
    expect((await who.list())[0]).toMatchObject({ status: 'active', nextAt: instant(at, 240) })
  })

  test('what a trigger follows is not changed in place', async () => {
    const who = await someone()
    const file = (path: string, settle: string) =>
      write(
        `plan: p\ntriggers:\n  t: { agent: assistant, prompt: Read., on: { document: { path: ${path} } }, settle: ${settle} }\n`,
      )
    await who.json('apply', file('a', '5m'))
    expect(kinds(await who.json('apply', file('a', '6m')))).toEqual({ t: 'update' })
    const said = await who.run('apply', file('b', '6m'))
    expect(said.code).toBe(1)
    expect(said.stderr).toMatch(/triggers\.t \(line 3\), on: cannot be changed in place/)
  })

  test("an agent's key applies a plan of its own", async () => {
    await letAgentsUseSessions(rouse)
    const { agent, session } = await agentWithSession(rouse)
    const { key } = await rouse.ok('POST', `/v1/agents/${agent.id}/keys`, {})
    const env = { ROUSE_URL: rouse.url, ROUSE_KEY: key, ROUSE_SESSION: session.id }
    const file = write(`plan: ${fresh('own')}\nschedules:\n  own: { prompt: Look., every: 6h }\n`)
    for (const change of ['create', 'same']) {
      const said = await cli(['apply', file, '--json'], { env })
      expect(said).toMatchObject({ code: 0, stderr: '' })
      expect(kinds(JSON.parse(said.stdout))).toEqual({ own: change })
    }
    const mine = (await all(rouse, `/v1/schedules?session=${session.id}`)).map(({ name }) => name)
    expect(mine).toEqual(['own'])
  })

  test('imports go the same way: repeated they make no second one, and what cannot be carried over is named each time', async () => {
    const who = await someone()
    const argv = ['--agent', 'assistant', '--tz', 'Europe/Amsterdam']
    for (const [format, name, count] of [
      ['crontab', 'crontab', 4],
      ['openclaw', 'openclaw-jobs.json', 3],
      ['hermes', 'hermes-jobs.json', 2],
      ['claude-code', 'claude-tasks.json', 2],
    ] as const) {
      const before = (await who.list()).length
      const would = await who.json('import', format, fixture(name), ...argv, '--dry-run')
      expect((await who.list()).length).toBe(before)
      const first = await who.json('import', format, fixture(name), ...argv)
      expect(would.left).toEqual(first.left)
      expect(Object.values(kinds(first))).toEqual(Array(count).fill('create'))
      const again = await who.json('import', format, fixture(name), ...argv)
      expect(Object.values(kinds(again))).toEqual(Array(count).fill('same'))
      expect(again.left).toEqual(first.left)
      expect((await who.list()).length).toBe(before + count)
    }
    const [reminder] = (await who.list()).filter(({ name }) => name === 'Reminder')
    // What went into the main conversation does so here.
    expect(reminder).toMatchObject({ session: who.session.id, nextAt: '2026-03-05T16:00:00.000Z' })
    const sweep = (await who.list()).find(({ name }) => name === 'Inbox sweep')
    expect(sweep).toMatchObject({ status: 'paused', session: null, agent: who.agent.id })
  })

  test('an import says in words what was left, and in which zone it read', async () => {
    const who = await someone()
    const { stdout, code } = await who.run('import', 'crontab', fixture('crontab'), '--agent', 'assistant')
    expect(code).toBe(0)
    expect(stdout).toContain('4 made, 0 changed, 0 removed, 0 as they are.')
    expect(stdout).toMatch(/Not carried over:\n {2}line 13: "@reboot/)
    expect(stdout).toMatch(/line 11: cron: this rule names times only 5 minutes apart.*schedule_too_frequent/)
    expect(stdout).toMatch(/Carried over without:\n {2}line 4: MAILTO/)
    expect(stdout).toMatch(/Times that name no zone are read in .+ this machine's/)
    expect(readFileSync(fixture('crontab'), 'utf8')).toContain('s3cr3t')
    expect(stdout).not.toContain('s3cr3t')
  })
})
