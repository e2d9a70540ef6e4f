import { expect, test } from 'vitest'
import { agentWithSession, end, instant, moveBy, now, read, schedule, turnOf } from './actors.ts'
import { onClock } from './node.ts'

onClock('what sessions and schedules show', '2026-03-02T09:00:00Z', (rouse) => {
  test('a conversation shows how many schedules it has and when the next one comes', async () => {
    const { session } = await agentWithSession(rouse)
    const start = await now(rouse)
    const first = await schedule(rouse, { session: session.id, at: instant(start, 20) })
    await schedule(rouse, { session: session.id, every: '1h' })
    const shown = async () => (await rouse.ok('GET', `/v1/sessions/${session.id}`)).scheduled
    expect(await shown()).toEqual({ count: 2, nextAt: instant(start, 20) })
    await rouse.ok('POST', `/v1/schedules/${first.id}/pause`, {})
    expect((await shown()).nextAt).toBe(instant(start, 60))
    await rouse.ok('DELETE', `/v1/schedules/${first.id}`)
    expect(await shown()).toEqual({ count: 1, nextAt: instant(start, 60) })
  })

  test('a session in which a schedule fires shows the badge scheduled in the list', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const badges = async () => (await rouse.ok('GET', `/v1/sessions?agent=${agent.id}`)).data[0].badges
    expect(await badges()).toEqual([])
    await schedule(rouse, { session: session.id, every: '1h' })
    await moveBy(rouse, '1h')
    expect(await badges()).toEqual(['scheduled'])
  })

  test('a schedule counts how its runs went', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    for (const outcome of ['ok', 'failed']) {
      await moveBy(rouse, '10m')
      await end(rouse, (await turnOf(rouse, session.id)).turn.id, { outcome })
    }
    await moveBy(rouse, '20m')
    expect((await read(rouse, made.id)).counts).toMatchObject({ fired: 3, skipped: 1, ok: 1, failed: 1 })
  })

  test('why says what the schedule waits for', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    const why = await rouse.call('GET', `/v1/schedules/${made.id}/why`)
    expect(why.status).toBe(200)
  })

  test('a preview stores nothing, and answers the times of a rule that would be refused', async () => {
    const before = (await rouse.ok('GET', '/v1/schedules?limit=100')).data
    const body = { cron: '*/5 * * * *', count: 2, from: '2026-03-02T10:00:00Z' }
    const told = await rouse.ok('POST', '/v1/schedules/preview', body)
    expect(told.next.map((time: { at: string }) => time.at)).toEqual([
      '2026-03-02T10:05:00.000Z',
      '2026-03-02T10:10:00.000Z',
    ])
    expect(told.refusal).toEqual({ code: 'schedule_too_frequent', detail: expect.any(String) })
    const good = await rouse.ok('POST', '/v1/schedules/preview', { cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' })
    expect(good.refusal).toBeNull()
    expect(good.next).toHaveLength(3)
    expect(good.inWords).toMatch(/\S/)
    expect((await rouse.ok('GET', '/v1/schedules?limit=100')).data).toEqual(before)
    const ends = await rouse.ok('POST', '/v1/schedules/preview', { at: '2026-11-02T09:00', count: 5 })
    expect(ends.next).toHaveLength(1)
  })
})
