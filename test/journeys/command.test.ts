import { expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  all,
  fresh,
  letAgentsUseSessions,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  schedule,
  session,
} from './actors.ts'
import { onClock } from './node.ts'
import { rouse as cli, type Said } from './program.ts'

onClock('the command rouse schedule', '2026-10-19T09:00:00Z', (rouse) => {
  const brief = ['Morning brief', '--prompt', 'What is new?', '--cron', '0 8 * * 1-5', '--tz', 'Europe/Amsterdam']
  const add = (sessionId: string, more: string[]) =>
    cli(rouse, ['schedule', 'add', fresh('x'), '--prompt', 'p', '--session', sessionId, ...more])
  const of = (sessionId: string) => all(rouse, `/v1/schedules?session=${sessionId}`)

  function accepted(said: Said): Said {
    expect([said.code, said.stderr]).toEqual([0, ''])
    return said
  }

  test('S2-56 people and agents use the same command, each with its own key', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const other = await actor(rouse)
    accepted(await cli(rouse, ['schedule', 'add', ...brief, '--session', who.session.id]))
    accepted(await cli(rouse, ['schedule', 'add', ...brief], { key: other.key }))
    const [byPerson] = await of(who.session.id)
    const byAgent = await all(rouse, `/v1/schedules?agent=${other.agent.id}`)
    expect(byPerson).toMatchObject({ name: 'Morning brief', createdBy: who.agent.owner })
    expect(byAgent).toMatchObject([{ name: 'Morning brief', createdBy: other.agent.owner }])
    const listed = accepted(await cli(rouse, ['schedule', 'list', '--json'], { key: other.key }))
    expect(listed.stdout).toContain(byAgent[0].id)
    expect(listed.stdout).not.toContain(byPerson.id)
  })

  test('S2-57 exactly one of --cron, --rrule, --at and --every, but --at combines with --every', async () => {
    const { session } = await agentWithSession(rouse)
    const one = { cron: '0 8 * * *', rrule: 'FREQ=DAILY', at: '2026-11-02T09:00', every: '2h' }
    const flags = (names: readonly (keyof typeof one)[]) => names.flatMap((name) => [`--${name}`, one[name]])
    const tried = [
      [],
      ['cron', 'rrule'],
      ['cron', 'at'],
      ['cron', 'every'],
      ['rrule', 'at'],
      ['rrule', 'every'],
    ] as const
    const refused = await Promise.all(tried.map((names) => add(session.id, flags(names))))
    for (const [n, { code, stderr }] of refused.entries()) {
      expect([tried[n], code]).not.toEqual([tried[n], 0])
      expect(stderr).not.toBe('')
    }
    expect(await of(session.id)).toEqual([])
    const good = [['cron'], ['rrule'], ['at'], ['every'], ['at', 'every']] as const
    for (const said of await Promise.all(good.map((names) => add(session.id, flags(names))))) accepted(said)
    expect(await of(session.id)).toHaveLength(5)
  })

  test('S2-58 without --tz the zone is UTC', async () => {
    const { session } = await agentWithSession(rouse)
    accepted(await add(session.id, ['--cron', '0 8 * * *']))
    accepted(await add(session.id, ['--at', '2026-11-02T09:00']))
    const made = await of(session.id)
    expect(made.map(({ tz }) => tz)).toEqual(['UTC', 'UTC'])
    expect(made.map(({ nextAt }) => nextAt).sort()).toEqual(['2026-10-20T08:00:00.000Z', '2026-11-02T09:00:00.000Z'])
  })

  test('S2-59 a brief on weekdays in a zone is added', async () => {
    const { session } = await agentWithSession(rouse)
    const said = accepted(await cli(rouse, ['schedule', 'add', ...brief, '--session', session.id]))
    const [made] = await of(session.id)
    expect(made).toMatchObject({
      name: 'Morning brief',
      prompt: 'What is new?',
      cron: '0 8 * * 1-5',
      tz: 'Europe/Amsterdam',
      nextAt: '2026-10-20T06:00:00.000Z',
    })
    expect(said.stdout).toContain(made.id)
    await moveTo(rouse, '2026-10-20T06:00:00Z')
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })

  test('S2-60 a reminder at a time in a zone, with a channel, is added', async () => {
    const { agent, session: main } = await agentWithSession(rouse)
    const channel = await session(rouse, agent.id, { main: false })
    const when = ['--at', '2026-11-02T09:00', '--tz', 'Europe/Amsterdam', '--channel', channel.id]
    const argv = ['schedule', 'add', 'Renewal reminder', '--prompt', 'Renew.', ...when, '--agent', agent.name]
    accepted(await cli(rouse, argv))
    const [made] = await all(rouse, `/v1/schedules?agent=${agent.id}`)
    expect(made).toMatchObject({ name: 'Renewal reminder', channel: channel.id, nextAt: '2026-11-02T08:00:00.000Z' })
    expect(main.id).not.toBe(channel.id)
  })

  test('S2-61 schedule list lists them', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', name: fresh('listed') })
    const { stdout } = accepted(await cli(rouse, ['schedule', 'list']))
    expect(stdout).toContain(made.id)
    expect(stdout).toContain(made.name)
    expect(stdout).toContain('UTC')
    const json = accepted(await cli(rouse, ['schedule', 'list', '--json']))
    expect(JSON.parse(json.stdout).data.map(({ id }: { id: string }) => id)).toContain(made.id)
  })

  test('S2-62 schedule pause, resume, edit and remove do what they say', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz: 'Asia/Tokyo' })
    accepted(await cli(rouse, ['schedule', 'pause', made.id]))
    expect(await read(rouse, made.id)).toMatchObject({ status: 'paused', nextAt: null })
    accepted(await cli(rouse, ['schedule', 'resume', made.id]))
    expect(await read(rouse, made.id)).toMatchObject({ status: 'active', nextAt: made.nextAt })
    accepted(await cli(rouse, ['schedule', 'edit', made.id, '--cron', '30 9 * * *']))
    const edited = await read(rouse, made.id)
    expect(edited).toMatchObject({ cron: '30 9 * * *', tz: 'Asia/Tokyo', name: made.name, prompt: made.prompt })
    expect(edited.nextAt).toMatch(/T00:30:00\.000Z$/)
    accepted(await cli(rouse, ['schedule', 'remove', made.id]))
    expect(await of(session.id)).toEqual([])
    expect((await cli(rouse, ['schedule', 'remove', made.id])).code).not.toBe(0)
  })

  test('S2-63 schedule runs lists the runs with their time and result', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await moveBy(rouse, '20m')
    const { stdout } = accepted(await cli(rouse, ['schedule', 'runs', made.id]))
    expect(stdout).toMatch(/fired/)
    expect(stdout).toMatch(/skipped/)
    const json = JSON.parse(accepted(await cli(rouse, ['schedule', 'runs', made.id, '--json'])).stdout)
    expect(json.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['skipped', 'fired'])
  })

  test('S2-64 schedule run runs once, at once', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '2h' })
    accepted(await cli(rouse, ['schedule', 'run', made.id]))
    expect(await runs(rouse, made.id)).toMatchObject([{ trigger: 'manual', outcome: 'fired', at: await now(rouse) }])
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect((await read(rouse, made.id)).nextAt).toBe(made.nextAt)
  })

  test('what the API refuses ends the command with another code than 0 and says why', async () => {
    const { session } = await agentWithSession(rouse)
    const said = await add(session.id, ['--cron', '*/5 * * * *'])
    expect(said.code).not.toBe(0)
    expect(said.stderr).toMatch(/30 minutes/)
    expect(said.stderr).toMatch(/trigger/)
    expect(said.stdout).toBe('')
    expect(await of(session.id)).toEqual([])
  })
})
