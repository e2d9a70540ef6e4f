import { expect, test } from 'vitest'
import {
  type Actor,
  actor,
  agentWithSession,
  all,
  create,
  instant,
  letAgentsUseSessions,
  moveBy,
  now,
  prompts,
  read,
  runs,
  schedule,
} from './actors.ts'
import { type Json, onClock, type RouseNode } from './node.ts'

/** An agent's schedule toward another session, and one of a person there beside it. */
async function toward(rouse: RouseNode): Promise<{ who: Actor; target: Json; made: Json; beside: Json }> {
  await letAgentsUseSessions(rouse)
  const who = await actor(rouse)
  const { session: target } = await agentWithSession(rouse)
  const made = await schedule(rouse, { session: target.id, every: '5m' }, who.as)
  const beside = await schedule(rouse, { session: target.id, every: '5m' })
  return { who, target, made, beside }
}

onClock('how a schedule ends', '2026-03-02T09:00:00Z', (rouse) => {
  test('S0-4 the agent creates a schedule over HTTP and ends it', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const answer = await create(rouse, { every: '5m' }, who.as)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ session: who.session.id, status: 'active', createdIn: who.session.id })
    expect(await all(rouse, `/v1/schedules?session=${who.session.id}`, who.as)).toHaveLength(1)
    expect((await rouse.call('DELETE', `/v1/schedules/${answer.body.id}`, undefined, who.as)).status).toBe(204)
    await moveBy(rouse, '1h')
    expect(await prompts(rouse, who.session.id)).toEqual([])
  })

  test('S0-52 it ends when the agent unschedules it', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const made = await schedule(rouse, { every: '5m' }, who.as)
    await moveBy(rouse, '4m')
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`, undefined, who.as)).status).toBe(204)
    await moveBy(rouse, '1h')
    expect(await prompts(rouse, who.session.id)).toEqual([])
    expect(await all(rouse, `/v1/schedules?session=${who.session.id}&status=active`)).toEqual([])
  })

  test('S0-53 it ends when the user cancels it', async () => {
    const { target, made, beside } = await toward(rouse)
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(204)
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(404)
    await moveBy(rouse, '5m')
    const fired = await prompts(rouse, target.id)
    expect(fired).toHaveLength(1)
    expect(fired[0].text).toContain(beside.id)
  })

  test('S0-54 it ends when the session it fires in is archived', async () => {
    const { target, made, beside } = await toward(rouse)
    await rouse.ok('POST', `/v1/sessions/${target.id}/archive`)
    for (const one of [made, beside])
      expect(await read(rouse, one.id)).toMatchObject({
        status: 'ended',
        endedReason: expect.any(String),
        nextAt: null,
      })
    await moveBy(rouse, '1h')
    expect(await runs(rouse, made.id)).toEqual([])
    expect(await prompts(rouse, target.id)).toEqual([])
  })

  test('S0-55 it ends when the session it fires in is deleted', async () => {
    const { target, made } = await toward(rouse)
    await rouse.ok('DELETE', `/v1/sessions/${target.id}`)
    expect((await rouse.call('GET', `/v1/sessions/${target.id}`)).status).toBe(404)
    const left = await rouse.call('GET', `/v1/schedules/${made.id}`)
    if (left.status === 200) expect(left.body).toMatchObject({ status: 'ended', nextAt: null })
    else expect(left.status).toBe(404)
    expect((await all(rouse, '/v1/schedules?status=active')).map(({ id }) => id)).not.toContain(made.id)
    await moveBy(rouse, '1h')
    expect((await rouse.call('GET', `/v1/sessions/${target.id}/messages`)).status).toBe(404)
  })

  test('S0-56 it ends when the conversation that created it is archived', async () => {
    const { who, target, made, beside } = await toward(rouse)
    await rouse.ok('POST', `/v1/sessions/${who.session.id}/archive`)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'ended', endedReason: expect.any(String), nextAt: null })
    expect(await read(rouse, beside.id)).toMatchObject({ status: 'active', endedReason: null })
    await moveBy(rouse, '5m')
    const fired = await prompts(rouse, target.id)
    expect(fired).toHaveLength(1)
    expect(fired[0].text).toContain(beside.id)
  })

  test('S0-57 it ends when the conversation that created it is deleted', async () => {
    const { who, target, made, beside } = await toward(rouse)
    await rouse.ok('DELETE', `/v1/sessions/${who.session.id}`)
    expect((await all(rouse, '/v1/schedules?status=active')).map(({ id }) => id)).not.toContain(made.id)
    await moveBy(rouse, '5m')
    const fired = await prompts(rouse, target.id)
    expect(fired).toHaveLength(1)
    expect(fired[0].text).toContain(beside.id)
  })

  test('S0-58 compacting a session moves the schedules that fire in it to the new conversation', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '10m' })
    const next = await rouse.ok('POST', `/v1/sessions/${session.id}/compact`, {})
    expect(next.id).not.toBe(session.id)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'active', session: next.id, nextAt: made.nextAt })
    expect(await rouse.ok('GET', `/v1/sessions/${session.id}`)).toMatchObject({
      state: 'archived',
      compactedInto: next.id,
      scheduled: { count: 0, nextAt: null },
    })
    expect((await rouse.ok('GET', `/v1/sessions/${next.id}`)).scheduled).toEqual({ count: 1, nextAt: made.nextAt })
    await moveBy(rouse, '10m')
    expect(await prompts(rouse, next.id)).toHaveLength(1)
    expect((await runs(rouse, made.id))[0].session).toBe(next.id)
  })

  test('S0-59 compacting a session moves the schedules it created too', async () => {
    const { who, target, made } = await toward(rouse)
    const next = await rouse.ok('POST', `/v1/sessions/${who.session.id}/compact`, {})
    expect(await read(rouse, made.id)).toMatchObject({ status: 'active', createdIn: next.id, session: target.id })
    expect((await all(rouse, `/v1/schedules?createdIn=${next.id}`)).map(({ id }) => id)).toEqual([made.id])
    await moveBy(rouse, '5m')
    const fired = (await prompts(rouse, target.id)).find(({ text }) => text.includes(made.id))
    expect(fired.text.split('\n')[0]).toContain(next.id)
    await rouse.ok('POST', `/v1/sessions/${next.id}/archive`)
    expect(await read(rouse, made.id)).toMatchObject({ status: 'ended' })
  })

  test('an ended schedule can no longer be edited, paused or resumed', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '5m' })
    await rouse.ok('POST', `/v1/sessions/${session.id}/archive`)
    const calls = [
      ['PATCH', '', { name: 'other' }],
      ['POST', '/pause', {}],
      ['POST', '/resume', {}],
    ] as const
    for (const [method, path, body] of calls) {
      const answer = await rouse.call(method, `/v1/schedules/${made.id}${path}`, body)
      expect([path, answer.status, answer.body.code]).toEqual([path, 409, 'schedule_ended'])
    }
    expect(await read(rouse, made.id)).toMatchObject({ status: 'ended', name: 'Nightly review' })
  })

  test('a message of a deleted schedule that still waits is dropped', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`)
    expect((await rouse.call('POST', `/v1/sessions/${session.id}/claim`, {})).status).toBe(204)
  })
})
