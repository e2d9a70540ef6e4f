import { expect, test } from 'vitest'
import {
  agent,
  agentWithSession,
  all,
  claim,
  end,
  instant,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { onClock } from './node.ts'

onClock('what can be done with a schedule', '2026-03-02T09:00:00Z', (rouse) => {
  test('S2-43 runs, run now, edit, pause, resume and delete are there for each schedule', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    const path = `/v1/schedules/${made.id}`
    const seen = []
    for (const [method, suffix, body] of [
      ['GET', '/runs', undefined],
      ['POST', '/run', undefined],
      ['PATCH', '', { name: 'Edited' }],
      ['POST', '/pause', { reason: 'holiday' }],
      ['POST', '/resume', {}],
      ['DELETE', '', undefined],
    ] as const)
      seen.push((await rouse.call(method, path + suffix, body)).status)
    expect(seen).toEqual([200, 202, 200, 200, 200, 204])
  })

  test('S2-44 runs lists every run with time and result, newest first', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    const outcomes = ['ok', 'nothing_to_do', 'blocked', 'failed']
    for (const outcome of outcomes) {
      await moveBy(rouse, '10m')
      await end(rouse, (await turnOf(rouse, session.id)).turn.id, { outcome })
    }
    await moveBy(rouse, '20m')
    const { data } = await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)
    expect(data.map(({ at, outcome, result }: Record<string, string>) => [at, outcome, result])).toEqual([
      [instant(start, 60), 'skipped', null],
      [instant(start, 50), 'fired', null],
      [instant(start, 40), 'fired', 'failed'],
      [instant(start, 30), 'fired', 'blocked'],
      [instant(start, 20), 'fired', 'nothing_to_do'],
      [instant(start, 10), 'fired', 'ok'],
    ])
  })

  test('S2-45 pause clears the next run', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    const paused = await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, { reason: 'holiday' })
    expect(paused).toMatchObject({ id: made.id, status: 'paused', nextAt: null, next: [] })
    expect(await read(rouse, made.id)).toMatchObject({ status: 'paused', nextAt: null })
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).scheduled.nextAt).toBeNull()
    await moveBy(rouse, '1h')
    expect(await prompts(rouse, session.id)).toEqual([])
  })

  test('S2-46 resume computes the next run from now', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 * * * *' })
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    await moveBy(rouse, '150m')
    const resumed = await rouse.ok('POST', `/v1/schedules/${made.id}/resume`, {})
    const hour = 3_600_000
    const next = new Date((Math.floor(Date.parse(await now(rouse)) / hour) + 1) * hour).toISOString()
    expect(resumed).toMatchObject({ status: 'active', nextAt: next })
    await moveTo(rouse, next)
    expect((await runs(rouse, made.id)).filter(({ outcome }) => outcome === 'fired')).toMatchObject([
      { nominalAt: next, missed: 0 },
    ])
  })

  test('S2-47 resume does not catch up the paused times', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await moveBy(rouse, '10m')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    await moveBy(rouse, '35m')
    await moveBy(rouse, '60m', { down: true })
    const resumed = await rouse.ok('POST', `/v1/schedules/${made.id}/resume`, {})
    expect(resumed.nextAt).toBe(instant(start, 110))
    await moveBy(rouse, '4m')
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await runs(rouse, made.id)).map(({ nominalAt }) => nominalAt)).toEqual([instant(start, 10)])
    await moveBy(rouse, '1m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({
      trigger: 'slot',
      missed: 0,
      nominalAt: instant(start, 110),
    })
  })

  test('S2-48 edit changes name, prompt, time, zone and conversation', async () => {
    const { agent, session: first } = await agentWithSession(rouse)
    const second = await session(rouse, agent.id, { main: false })
    const made = await schedule(rouse, { session: first.id, cron: '0 8 * * *', tz: 'UTC' })
    const edit = (body: object) => rouse.ok('PATCH', `/v1/schedules/${made.id}`, body)
    expect(await edit({ name: 'Evening brief' })).toMatchObject({
      name: 'Evening brief',
      prompt: made.prompt,
      tz: 'UTC',
    })
    expect(await edit({ prompt: 'Sum up.' })).toMatchObject({
      prompt: 'Sum up.',
      name: 'Evening brief',
      cron: '0 8 * * *',
    })
    expect((await edit({ cron: '0 20 * * *' })).nextAt).toMatch(/T20:00:00\.000Z$/)
    const moved = await edit({ tz: 'Asia/Tokyo' })
    expect(moved).toMatchObject({ tz: 'Asia/Tokyo', cron: '0 20 * * *' })
    expect(moved.nextAt).toMatch(/T11:00:00\.000Z$/)
    expect(await edit({ session: second.id })).toMatchObject({ session: second.id, status: 'active' })
    await moveTo(rouse, moved.nextAt)
    expect(await prompts(rouse, first.id)).toEqual([])
    const [message] = await prompts(rouse, second.id)
    expect(message.text).toMatch(/Scheduled run: Evening brief\nSum up\.$/)
  })

  test('S2-49 a paused schedule stays paused after an edit', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    for (const body of [
      { name: 'other' },
      { every: '15m' },
      { cron: '0 8 * * *', every: null },
      { tz: 'Asia/Tokyo' },
    ]) {
      const edited = await rouse.ok('PATCH', `/v1/schedules/${made.id}`, body)
      expect(edited).toMatchObject({ status: 'paused', nextAt: null })
    }
    await moveBy(rouse, '2d')
    expect(await prompts(rouse, session.id)).toEqual([])
  })

  test('S2-50 a finished one-time schedule runs again when it gets a future time', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    const again = instant(await now(rouse), 30)
    const edited = await rouse.ok('PATCH', `/v1/schedules/${made.id}`, { at: again })
    expect(edited).toMatchObject({ status: 'active', nextAt: again })
    await moveBy(rouse, '30m')
    expect(await claim(rouse, session.id)).not.toBeNull()
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).toEqual(['fired', 'fired'])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
  })

  test('S2-51 delete removes it, and it never runs again', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(204)
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(404)
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    for (const path of ['/run', '/pause', '/resume'])
      expect((await rouse.call('POST', `/v1/schedules/${made.id}${path}`, {})).status).toBe(404)
    await moveBy(rouse, '2h')
    await moveBy(rouse, '2h', { down: true })
    expect(await prompts(rouse, session.id)).toEqual([])
  })

  test('S2-65 run now does not move the next fire', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    await moveBy(rouse, '20m')
    const answer = await rouse.call('POST', `/v1/schedules/${made.id}/run`)
    expect([answer.status, answer.body.run]).toEqual([202, expect.stringMatching(/^run_/)])
    expect((await read(rouse, made.id)).nextAt).toBe(made.nextAt)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await moveBy(rouse, '40m')
    expect(await runs(rouse, made.id)).toMatchObject([
      { id: answer.body.run, trigger: 'manual', at: instant(start, 20), outcome: 'fired', result: 'ok' },
      { trigger: 'slot', nominalAt: instant(start, 60), at: instant(start, 60), outcome: 'fired' },
    ])
  })

  test('run now is skipped too while the previous prompt still waits', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h' })
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`)
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`)
    expect(await prompts(rouse, session.id)).toHaveLength(1)
    expect((await runs(rouse, made.id)).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['fired', null],
      ['skipped', 'previous_waiting'],
    ])
  })

  test('a schedule can be moved from a session to an agent and back', async () => {
    const target = await agent(rouse)
    const where = await session(rouse, target.id)
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    const fresh = await rouse.ok('PATCH', `/v1/schedules/${made.id}`, { agent: target.id, session: null })
    expect(fresh).toMatchObject({ agent: target.id, session: null })
    await moveBy(rouse, '10m')
    expect(await prompts(rouse, where.id)).toEqual([])
    expect((await runs(rouse, made.id))[0].session).not.toBe(where.id)
  })
})
