import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page, run, sch, schedule, ses } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const sent = () => server.to('POST /v1/schedules')[0]?.body
const willAdd = () => server.on('POST /v1/schedules', { status: 201, body: schedule })

describe('schedule add', () => {
  test('S2-59 the morning brief is added word for word, and its next three times are shown in its zone', async () => {
    willAdd()
    const said = await rouse(
      ['schedule', 'add', 'Morning brief', '--prompt', '…', '--cron', '0 8 * * 1-5', '--tz', 'Europe/Amsterdam'],
      { url: server.url },
    )
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(sent()).toEqual({ name: 'Morning brief', prompt: '…', cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' })
    expect(said.stdout).toContain(sch)
    expect(said.stdout).toContain('At 08:00, Monday through Friday (Europe/Amsterdam)')
    expect(said.stdout).toContain('Fri 2026-03-27 08:00 +01:00  in 12 min')
    expect(said.stdout).toContain('Sun 2026-03-29 03:00 +02:00  in 42 h')
    expect(said.stdout).toContain('the clock skips the named time that day; it runs right after')
    expect(said.stdout).toContain(`rouse schedule runs ${sch}`)
  })

  test('S2-60 the renewal reminder is added word for word', async () => {
    willAdd()
    const at = ['--at', '2026-11-02T09:00', '--tz', 'Europe/Amsterdam', '--channel', ses]
    const said = await call('schedule', 'add', 'Renewal reminder', '--prompt', '…', ...at)
    expect(said.code).toBe(0)
    const body = { prompt: '…', at: '2026-11-02T09:00', tz: 'Europe/Amsterdam', channel: ses }
    expect(sent()).toEqual({ name: 'Renewal reminder', ...body })
  })

  test('S2-57 the server judges which times combine, so none or two are sent on and its refusal is told', async () => {
    server.on(
      'POST /v1/schedules',
      refusal(422, 'schedule_invalid', 'expected one of at, every, cron and rrule, got two.'),
    )
    const said = await call('schedule', 'add', 'x', '--prompt', 'y', '--cron', '0 8 * * *', '--every', '30m')
    expect(sent()).toMatchObject({ cron: '0 8 * * *', every: '30m' })
    expect(said).toMatchObject({ code: 1, stdout: '' })
    expect(said.stderr).toMatch(/^✗ expected one of at, every, cron and rrule, got two \(schedule_invalid\)\. `rouse/)
  })

  test('S2-58 without --tz no zone is sent, and the zone the server chose is shown', async () => {
    server.on('POST /v1/schedules', { status: 201, body: { ...schedule, tz: 'UTC' } })
    const said = await call('schedule', 'add', 'x', '--prompt', 'y', '--cron', '0 8 * * 1-5')
    expect(sent()).not.toHaveProperty('tz')
    expect(said.stdout).toContain('(UTC)')
  })

  test('cli-zone-flag-reaches-at: the zone goes along with a time without offset', async () => {
    willAdd()
    await call('schedule', 'add', 'x', '--prompt', 'y', '--at', '2026-05-06T10:00', '--tz', 'America/Chicago')
    expect(sent()).toMatchObject({ at: '2026-05-06T10:00', tz: 'America/Chicago' })
  })

  test('at-explicit-offset-wins: an offset reaches the server beside the zone, untouched', async () => {
    willAdd()
    await call('schedule', 'add', 'x', '--prompt', 'y', '--at', '2026-05-06T10:00:00-05:00', '--tz', 'Europe/Oslo')
    expect(sent()).toMatchObject({ at: '2026-05-06T10:00:00-05:00', tz: 'Europe/Oslo' })
  })

  test('every option reaches its field', async () => {
    willAdd()
    const flags = {
      '--every': '45',
      '--at': '2026-11-02T09:00Z',
      '--session': ses,
      '--note': 'n',
      '--misfire': '2h',
      '--overlap': 'buffer',
      '--on-unknown': 'retry',
      '--jitter': '5m',
      '--until': '2027-01-01T00:00Z',
      '--max-runs': '9',
      '--pause-after-failures': '3',
      '--idempotency-key': 'once',
    }
    await call('schedule', 'add', 'x', '--prompt', 'y', ...Object.entries(flags).flat())
    expect(sent()).toEqual({
      name: 'x',
      prompt: 'y',
      every: 45,
      at: '2026-11-02T09:00Z',
      session: ses,
      note: 'n',
      misfire: { within: '2h' },
      overlap: 'buffer',
      onUnknown: 'retry',
      jitter: '5m',
      until: '2027-01-01T00:00Z',
      maxRuns: 9,
      pauseAfterFailures: 3,
    })
    expect(server.to('POST /v1/schedules')[0]?.headers['idempotency-key']).toBe('once')
  })

  test('an option without effect is an error, never ignored: --dtstart beside --cron', async () => {
    const said = await call(
      'schedule',
      'add',
      'x',
      '--prompt',
      'y',
      '--cron',
      '0 8 * * *',
      '--dtstart',
      '2026-01-01T00:00',
    )
    expect(said).toMatchObject({ code: 2, stderr: '✗ --dtstart has an effect only with --rrule\n' })
    expect(server.calls).toEqual([])
  })

  test('the prompt comes from the standard input, or from a file, but not from both', async () => {
    willAdd()
    await rouse(['schedule', 'add', 'x', '--prompt', '-', '--every', '30m'], { url: server.url, stdin: 'from stdin\n' })
    const file = join(mkdtempSync(join(tmpdir(), 'rouse-')), 'prompt.md')
    writeFileSync(file, 'from a file\n')
    await call('schedule', 'add', 'x', '--prompt-file', file, '--every', '30m')
    expect(server.to('POST /v1/schedules').map(({ body }) => body.prompt)).toEqual(['from stdin', 'from a file'])
    expect(await call('schedule', 'add', 'x', '--prompt', 'y', '--prompt-file', file)).toMatchObject({ code: 2 })
    expect(await call('schedule', 'add', 'x', '--prompt-file', `${file}.not`)).toMatchObject({ code: 2 })
    expect(await call('schedule', 'add', 'x', '--prompt', '-')).toMatchObject({ code: 2 })
  })

  test('an agent is found by its name', async () => {
    willAdd().on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
    await call('schedule', 'add', 'x', '--prompt', 'y', '--every', '30m', '--agent', 'assistant')
    expect(sent()).toMatchObject({ agent: agt })
    const said = await call('schedule', 'add', 'x', '--prompt', 'y', '--every', '30m', '--agent', 'asistant')
    expect(said).toMatchObject({ code: 1 })
    expect(said.stderr).toBe('✗ there is no agent "asistant" (not_found); you can see "assistant"\n')
  })

  test('two agents of the same name are not guessed between', async () => {
    server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }, { id: 'agt_2', name: 'assistant' }))
    const said = await call('schedule', 'add', 'x', '--prompt', 'y', '--every', '30m', '--agent', 'assistant')
    expect(said).toMatchObject({ code: 2 })
    expect(said.stderr).toContain(`${agt}, agt_2`)
  })

  test('a call that a person has to allow first says so, with the card', async () => {
    server.on('POST /v1/schedules', { status: 202, body: { card: 'crd_1' } })
    const said = await call('schedule', 'add', 'x', '--prompt', 'y', '--every', '30m')
    expect(said).toMatchObject({ code: 0, stdout: 'Not added yet: a person has to allow card crd_1, which adds it.\n' })
  })
})

describe('the other schedule commands', () => {
  test('S2-61 the list shows id, name, rule, zone and next time, in 100 columns', async () => {
    const long = { ...schedule, name: 'A name that goes on and on, as names of schedules do when agents choose them' }
    const held = { ...schedule, waitingFor: 'waiting until you write in "Daily work"' }
    server.on(
      'GET /v1/schedules',
      page(schedule, long, held, { ...schedule, status: 'paused', nextAt: null, next: [] }),
    )
    const said = await call('schedule', 'list')
    expect(said.code).toBe(0)
    expect(Math.max(...said.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    const words = said.stdout.replace(/\s+/g, ' ')
    for (const part of [sch, 'Morning brief', 'Fri 2026-03-27 08:00 +01:00', 'in 12 min', 'paused'])
      expect(words).toContain(part)
  })

  test('a list fits a terminal of 80 columns, ids whole', async () => {
    server.on('GET /v1/schedules', page(schedule))
    const said = await rouse(['schedule', 'list'], { url: server.url, columns: 80 })
    expect(
      Math.max(...said.stdout.split('\n').map((line) => stripVTControlCharacters(line).length)),
    ).toBeLessThanOrEqual(80)
    for (const part of [sch, 'Fri 2026-03-27 08:00 +01:00']) expect(said.stdout).toContain(part)
  })

  test('a list filters, and says how to go on', async () => {
    server.on('GET /v1/schedules', { body: { data: [schedule], nextCursor: 'abc' } })
    const said = await call(
      'schedule',
      'list',
      '--session',
      ses,
      '--created-in',
      ses,
      '--status',
      'active',
      '--limit',
      '1',
    )
    expect(server.to('GET /v1/schedules')[0]?.query).toEqual({
      session: ses,
      createdIn: ses,
      status: 'active',
      limit: '1',
    })
    expect(said.stdout).toContain('--cursor abc')
  })

  test('S2-62 pause, resume, edit and remove name the schedule by its id', async () => {
    server.on(`POST /v1/schedules/${sch}/pause`, { body: { ...schedule, status: 'paused', nextAt: null, next: [] } })
    server.on(`POST /v1/schedules/${sch}/resume`, { body: schedule })
    server.on(`PATCH /v1/schedules/${sch}`, { body: schedule })
    server.on(`DELETE /v1/schedules/${sch}`, { status: 204 })
    expect((await call('schedule', 'pause', sch, '--reason', 'holiday')).stdout).toContain('paused')
    expect((await call('schedule', 'resume', sch)).stdout).toContain('in 12 min')
    expect(
      (await call('schedule', 'edit', sch, '--cron', '30 8 * * 1-5', '--clear', 'note', '--clear', 'max-runs')).code,
    ).toBe(0)
    expect((await call('schedule', 'remove', sch)).stdout).toBe(`Removed ${sch}.\n`)
    expect(server.to(`POST /v1/schedules/${sch}/pause`)[0]?.body).toEqual({ reason: 'holiday' })
    expect(server.to(`PATCH /v1/schedules/${sch}`)[0]?.body).toEqual({
      cron: '30 8 * * 1-5',
      note: null,
      maxRuns: null,
    })
  })

  test('an edit that changes nothing, or sets and clears a field at once, is refused', async () => {
    expect(await call('schedule', 'edit', sch)).toMatchObject({ code: 2 })
    expect(await call('schedule', 'edit', sch, '--note', 'x', '--clear', 'note')).toMatchObject({ code: 2 })
    expect(await call('schedule', 'edit', sch, '--clear', 'prompt')).toMatchObject({ code: 2 })
    expect(server.calls).toEqual([])
  })

  test('S2-63 the runs show time in the zone, outcome, result, and how many were missed', async () => {
    const missed = { ...run, trigger: 'catch_up', missed: 7, missedFrom: '2026-03-19T07:00:00.000Z', result: null }
    const held = { ...run, outcome: 'held', reason: 'waiting until you write in "Daily work"', result: null }
    server
      .on(`GET /v1/schedules/${sch}/runs`, page(run, missed, held))
      .on(`GET /v1/schedules/${sch}`, { body: schedule })
    const said = await call('schedule', 'runs', sch)
    const words = said.stdout.replace(/\s+/g, ' ')
    expect(words).toContain('Thu 2026-03-26 08:00 +01:00 24 h ago slot fired ok')
    expect(words).toContain('7 missed since')
    expect(Math.max(...said.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  test('S2-64 run now prints the run', async () => {
    server.on(`POST /v1/schedules/${sch}/run`, { status: 202, body: { run: 'run_9' } })
    expect((await call('schedule', 'run', sch)).stdout).toContain('run_9')
  })

  test('a preview shows times, notes and what adding would be refused for', async () => {
    const { next, inWords } = schedule
    const refused = { code: 'schedule_too_frequent', detail: 'runs every 5 minutes; 30 is the least' }
    const body = { next, inWords, cronEquivalent: null, notes: ['skips 29 March'], refusal: refused }
    server.on('POST /v1/schedules/preview', { body })
    const said = await call(
      'schedule',
      'preview',
      '--cron',
      '*/5 * * * *',
      '--from',
      '2026-03-27T00:00Z',
      '--count',
      '3',
    )
    expect(server.to('POST /v1/schedules/preview')[0]?.body).toEqual({
      cron: '*/5 * * * *',
      from: '2026-03-27T00:00Z',
      count: 3,
    })
    const words = said.stdout.replace(/\s+/g, ' ')
    expect(words).toContain('skips 29 March')
    expect(words).toContain('adding it would be: runs every 5 minutes; 30 is the least (schedule_too_frequent)')
  })

  test('backfill and why', async () => {
    server.on(`POST /v1/schedules/${sch}/backfill`, { status: 202, body: { runs: 4 } })
    const holds = [{ code: 'paused', detail: 'it is paused' }]
    server.on(`GET /v1/schedules/${sch}`, { body: schedule })
    server.on(`GET /v1/schedules/${sch}/why`, {
      body: { schedule: sch, status: 'paused', reason: 'holiday', holds, next: [], last: [run] },
    })
    const said = await call('schedule', 'backfill', sch, '--from', '2026-03-01T00:00Z', '--to', '2026-03-05T00:00Z')
    expect(said.stdout).toContain('Running 4')
    const words = (await call('schedule', 'why', sch)).stdout.replace(/\s+/g, ' ')
    expect(words).toContain('paused: holiday in its way it is paused (paused)')
    expect(words).toContain('slot fired ok')
  })
})
