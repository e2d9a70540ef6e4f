import { copyFile, cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  all,
  claim,
  create,
  end,
  instant,
  letAgentsUseSessions,
  messages,
  moveBy,
  now,
  prompts,
  read,
  runs,
  say,
  schedule,
  turnOf,
} from './actors.ts'
import { rouseProgram } from './bundle.ts'
import { withOwnNodes } from './node.ts'

const clock = '2026-03-02T09:00:00Z'

withOwnNodes('restarts', (make) => {
  test('S0-2 schedules keep running after Rouse restarts', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '30m' })
    await moveBy(rouse, '30m')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await rouse.stop()
    await rouse.start({ clock: instant(clock, 45) })
    expect(await read(rouse, made.id)).toMatchObject({ status: 'active', nextAt: instant(clock, 60) })
    await moveBy(rouse, '15m')
    expect(await runs(rouse, made.id)).toMatchObject([
      { nominalAt: instant(clock, 30), outcome: 'fired', result: 'ok' },
      { nominalAt: instant(clock, 60), outcome: 'fired', missed: 0 },
    ])
    expect(await claim(rouse, session.id)).not.toBeNull()
  })

  test('S0-3 schedules keep running after Rouse is updated', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '30m' })
    await rouse.stop()
    // The newer program lies in another folder, as after an install of the next version.
    const old = await rouseProgram()
    const folder = await mkdtemp(join(dirname(dirname(old)), 'updated-'))
    await cp(dirname(old), join(folder, 'dist'), { recursive: true })
    await copyFile(join(dirname(dirname(old)), 'package.json'), join(folder, 'package.json'))
    try {
      await rouse.start({ clock: instant(clock, 10), program: join(folder, 'dist', 'rouse.js') })
      await moveBy(rouse, '20m')
      expect(await runs(rouse, made.id)).toMatchObject([{ nominalAt: instant(clock, 30), outcome: 'fired', missed: 0 }])
      expect(await prompts(rouse, session.id)).toHaveLength(1)
    } finally {
      await rouse.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('S0-5 a schedule that was answered is in the database, also when Rouse is killed at once', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *', tz: 'Europe/Amsterdam' })
    await rouse.stop('SIGKILL')
    expect((await readdir(rouse.dir)).filter((name) => name.includes('.db')).length).toBeGreaterThan(0)
    await rouse.start({ clock })
    expect(await read(rouse, made.id)).toEqual(made)
  })

  test('S0-9 a schedule lives in the deployment that runs its session', async () => {
    const [here, there] = [make(), make()]
    await Promise.all([here.start({ clock }), there.start({ clock })])
    const { session } = await agentWithSession(here)
    const made = await schedule(here, { session: session.id, every: '5m' })
    expect(await all(there, '/v1/schedules')).toEqual([])
    expect((await there.call('GET', `/v1/schedules/${made.id}`)).status).toBe(404)
    await moveBy(there, '5m')
    expect(await prompts(here, session.id)).toEqual([])
    await moveBy(here, '5m')
    expect(await prompts(here, session.id)).toHaveLength(1)
  })

  test('S0-10 an agent creates no schedule for a session of another deployment, which keeps its own', async () => {
    const [here, there] = [make(), make()]
    await Promise.all([here.start({ clock }), there.start({ clock })])
    await letAgentsUseSessions(here)
    const who = await actor(here)
    const foreign = await agentWithSession(there)
    const kept = await schedule(there, { session: foreign.session.id, every: '1h' })
    for (const target of [{ session: foreign.session.id }, { agent: foreign.agent.id }]) {
      const answer = await create(here, { ...target, every: '5m' }, who.as)
      expect([403, 404]).toContain(answer.status)
    }
    const keyed = await create(there, { session: foreign.session.id, every: '5m' }, who.as)
    expect([keyed.status, keyed.body.code]).toEqual([401, 'unauthorized'])
    expect(await all(here, '/v1/schedules')).toEqual([])
    expect((await all(there, '/v1/schedules')).map(({ id }) => id)).toEqual([kept.id])
  })

  test('a restart keeps everything, the running turn, its lease and the key included', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { agent, session } = await agentWithSession(rouse)
    const { session: second } = await agentWithSession(rouse)
    await say(rouse, session.id, 'first')
    await say(rouse, session.id, 'second')
    const made = await schedule(rouse, { session: second.id, every: '10m' })
    await moveBy(rouse, '10m')
    const { turn } = await claim(rouse, session.id, { leaseSeconds: 1800 })
    const paths = [
      `/v1/agents/${agent.id}`,
      `/v1/sessions/${session.id}`,
      `/v1/sessions/${session.id}/messages`,
      `/v1/sessions/${second.id}/messages`,
      `/v1/schedules/${made.id}`,
      `/v1/schedules/${made.id}/runs`,
      '/v1/settings',
      '/v1/clock',
    ]
    const before = await Promise.all(paths.map((path) => rouse.ok('GET', path)))
    const key = rouse.key
    await rouse.stop()
    await rouse.start({ clock: instant(clock, 10) })
    expect(rouse.key).toBe(key)
    expect(await Promise.all(paths.map((path) => rouse.ok('GET', path)))).toEqual(before)
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})).cancelled).toBe(false)
    await end(rouse, turn.id, { answer: 'done' })
    expect((await turnOf(rouse, session.id)).message.text).toContain('second')
    expect((await messages(rouse, session.id)).filter((one) => one.kind === 'answer')).toHaveLength(1)
    expect(await now(rouse)).toBe(instant(clock, 10))
  })

  test('SIGTERM ends a node within 5 seconds, also while a claim is held', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await agentWithSession(rouse)
    const held = rouse.call('POST', `/v1/sessions/${session.id}/claim`, { wait: 20 }).catch(() => null)
    await rouse.ok('GET', '/healthz')
    const { ms, code } = await rouse.stop('SIGTERM')
    expect(ms).toBeLessThan(5_000)
    expect(code).toBe(0)
    const answer = await held
    if (answer !== null) expect(answer.status).toBe(204)
  })

  test('a made-up time after a real restart comes once, and not again after the next one', async () => {
    const rouse = make()
    await rouse.start({ clock })
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '30m' })
    await rouse.stop('SIGKILL')
    for (const minutes of [100, 101, 102]) {
      await rouse.start({ clock: instant(clock, minutes) })
      await rouse.ok('POST', '/v1/clock', { by: '1s' })
      await rouse.stop('SIGKILL')
    }
    await rouse.start({ clock: instant(clock, 103) })
    expect(await runs(rouse, made.id)).toMatchObject([
      { trigger: 'catch_up', missed: 3, nominalAt: instant(clock, 90) },
    ])
    expect(await prompts(rouse, session.id)).toHaveLength(1)
  })
})
