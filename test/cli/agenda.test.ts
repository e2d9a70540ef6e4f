import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page, run, sch, schedule, ses } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

const entry = {
  at: '2026-03-27T07:00:00.000Z',
  local: '2026-03-27T08:00:00+01:00[Europe/Amsterdam]',
  adjusted: null,
  kind: 'prompt',
  id: sch,
  name: 'Morning brief',
  session: null,
  agent: agt,
  who: { person: 'per_1', agent: null },
  checked: false,
  budget: null,
  hold: null,
}
const agenda = (...data: readonly object[]) => ({
  body: {
    from: '2026-03-27T06:48:00.000Z',
    to: '2026-03-28T06:48:00.000Z',
    tz: 'Europe/Amsterdam',
    data,
    truncated: false,
  },
})

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse()
    .on('GET /v1/clock', clock)
    .on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
    .up()
})
afterEach(() => server.down())
const call = (...argv: string[]) => rouse(argv, { url: server.url })

describe('agenda', () => {
  test('a line for each wake, under its day', async () => {
    const late = {
      ...entry,
      at: '2026-03-29T01:00:00.000Z',
      local: '2026-03-29T03:00:00+02:00[Europe/Amsterdam]',
      adjusted: 'gap',
    }
    const held = { code: 'held', detail: 'waiting until you write in Desk' }
    server.on(
      'GET /v1/agenda',
      agenda(entry, {
        ...late,
        name: 'Review',
        kind: 'held',
        hold: held,
        checked: true,
        who: { person: 'per_1', agent: agt },
        budget: { wakes: 1, tokens: null, usd: null },
      }),
    )
    const { code, stdout, stderr } = await call('agenda', '--hours', '48', '--tz', 'Europe/Amsterdam')
    expect([code, stderr]).toEqual([0, ''])
    expect(server.to('GET /v1/agenda')[0]!.query).toEqual({ hours: '48', tz: 'Europe/Amsterdam' })
    expect(stdout).toMatch(
      /^Fri 2026-03-27 \(Europe\/Amsterdam\)\nTIME +KIND +WHAT +WAKES\n08:00 +in 12 min +prompt +Morning brief +assistant\n/,
    )
    expect(stdout).toMatch(/\n\nSun 2026-03-29 \(Europe\/Amsterdam\)\n/)
    for (const said of [
      sch,
      '✋ waiting until you write in Desk',
      'only if its check finds something',
      'asked by assistant',
      '1 wake left today',
      'the clock skips the named time that day',
    ])
      expect(stdout).toContain(said)
  })

  test('nothing says so, and more than is shown too', async () => {
    server.on('GET /v1/agenda', agenda())
    expect((await call('agenda')).stdout).toBe('Nothing wakes anybody in the next 24 h.\n')
    server.on('GET /v1/agenda', { body: { ...agenda(entry).body, truncated: true } })
    expect((await call('agenda')).stdout).toMatch(/There is more than is shown/)
  })

  test('--json prints the answer as it is', async () => {
    server.on('GET /v1/agenda', agenda(entry))
    expect(JSON.parse((await call('agenda', '--json')).stdout)).toEqual(agenda(entry).body)
  })

  test('a name cannot steer the terminal', async () => {
    server.on('GET /v1/agenda', agenda({ ...entry, name: 'x\u001b[2Jy' }))
    expect((await call('agenda')).stdout).not.toContain('\u001b[2J')
  })
})

describe('why', () => {
  const why = {
    schedule: sch,
    status: 'active',
    reason: null,
    last: [run],
    next: schedule.next,
    holds: [{ code: 'agent_left', detail: 'a run now would be skipped: agent left' }],
  }

  test('by id: the last ten, the next three, what would hold them', async () => {
    server.on(`GET /v1/schedules/${sch}`, { body: schedule }).on(`GET /v1/schedules/${sch}/why`, { body: why })
    const { code, stdout } = await call('why', sch)
    expect(code).toBe(0)
    expect(stdout).toContain('a run now would be skipped: agent left (agent_left)')
    expect(stdout).toContain('Fri 2026-03-27 08:00 +01:00')
    expect(stdout).toMatch(/slot +fired +ok/)
  })

  test('by name, of a schedule or a trigger', async () => {
    server
      .on('GET /v1/schedules', page({ ...schedule, id: 'sch_other', name: 'Other' }))
      .on('GET /v1/triggers', page({ id: sch, name: 'New mail' }))
      .on(`GET /v1/schedules/${sch}/why`, { body: { ...why, last: [] } })
    expect((await call('why', 'New mail')).stdout).toContain('No runs yet.')
    const none = await call('why', 'Nobody')
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is no schedule or trigger "Nobody"')])
  })

  test('two of one name are told apart by id', async () => {
    server.on('GET /v1/schedules', page(schedule, { ...schedule, id: ses })).on('GET /v1/triggers', page())
    const { code, stderr } = await call('why', 'Morning brief')
    expect([code, stderr]).toEqual([2, expect.stringContaining(`give the id: ${sch}, ${ses}`)])
  })
})
