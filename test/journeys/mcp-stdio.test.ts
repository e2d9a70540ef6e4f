import { expect, test } from 'vitest'
import { actor, agentWithSession, fresh, letAgentsUseSessions, messages, moveTo, read, turnOf } from './actors.ts'
import { lines, overStdio } from './mcp-talk.ts'
import { onClock, type RouseNode } from './node.ts'
import { begunActor, nextTick } from './ticking.ts'

const env = (rouse: RouseNode, key: string, more: Record<string, string> = {}): Record<string, string> => ({
  ROUSE_URL: rouse.url,
  ROUSE_KEY: key,
  TZ: 'America/St_Johns',
  ...more,
})

onClock('MCP over stdio: rouse mcp', '2026-03-02T09:00:00Z', (rouse) => {
  test.each(lines)('every tool does what its operation does, on the line of %s', async (line) => {
    await letAgentsUseSessions(rouse)
    const [who, other] = [await begunActor(rouse), await agentWithSession(rouse)]
    const mcp = await overStdio(env(rouse, who.key, { ROUSE_SESSION: who.session.id }), line)
    expect(await mcp.tools()).toContain('sleep')
    const made = await mcp.ok('schedule', { name: fresh('x'), prompt: 'x', every: '1h', idempotencyKey: fresh('k') })
    expect(made).toEqual(await read(rouse, made.id))
    expect(made.createdIn).toBe(who.session.id)
    expect((await mcp.ok('list_schedules', { session: who.session.id })).data).toEqual([made])
    expect((await mcp.ok('preview_schedule', { every: '1h', count: 1 })).next).toHaveLength(1)
    await mcp.ok('unschedule', { id: made.id })
    const armed = await mcp.ok('create_monitor', { note: 'x', watch: { time: { in: '1h' } } })
    expect((await mcp.ok('list_monitors', { status: 'armed' })).data).toMatchObject([{ id: armed.id }])
    await mcp.ok('cancel_monitor', { id: armed.id })
    const path = fresh('notes/ä?#%')
    await mcp.ok('put_document', { path, body: '\ufeffHello.', contentType: 'text/markdown' })
    expect(await mcp.ok('get_document', { path })).toEqual({
      path,
      version: 1,
      contentType: 'text/markdown',
      body: '\ufeffHello.',
    })
    await mcp.ok('send', { session: other.session.id, text: 'Over stdio.' })
    expect(await messages(rouse, other.session.id)).toMatchObject([{ text: 'Over stdio.' }])
    expect((await mcp.ok('post_card', { title: 'Over stdio' })).id).toMatch(/^crd_/)
    const { turn } = await nextTick(rouse, who.session.id)
    const slept = await mcp.ok('sleep', { seconds: 10 })
    expect(slept).toMatchObject({ asked: 10, seconds: 30, turn: turn.id })
    await moveTo(rouse, slept.wakesAt)
    expect((await turnOf(rouse, who.session.id)).message.kind).toBe('tick')
    await mcp.close()
  })

  test('a turn that is over is refused with turn_not_running: ROUSE_TURN is the fence', async () => {
    const who = await begunActor(rouse)
    const { turn } = await nextTick(rouse, who.session.id)
    await rouse.ok('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok' })
    const mcp = await overStdio(env(rouse, who.key, { ROUSE_SESSION: who.session.id, ROUSE_TURN: turn.id }))
    for (const [tool, args] of [
      ['sleep', { seconds: 60 }],
      ['create_monitor', { note: 'x', watch: { time: { in: '1h' } } }],
    ] as const)
      expect([tool, (await mcp.call(tool, args)).data.code]).toEqual([tool, 'turn_not_running'])
    await mcp.close()
  })

  test('a key that does not hold is said with every call, and the tools are listed all the same', async () => {
    const mcp = await overStdio(env(rouse, 'rsa_nobody'))
    expect(await mcp.tools()).toHaveLength(11)
    const said = await mcp.call('list_schedules')
    expect([said.error, said.data.code]).toEqual([true, 'unauthorized'])
    await mcp.close()
  })

  test('S3-7 an agent whose ticks are off is listed no sleep', async () => {
    const who = await begunActor(rouse, { enabled: false })
    const mcp = await overStdio(env(rouse, who.key, { ROUSE_SESSION: who.session.id }))
    expect(await mcp.tools()).not.toContain('sleep')
    expect((await mcp.call('sleep', { seconds: 60 })).data.code).toBe('ticks_off')
    await mcp.close()
  })

  test('where no Rouse answers it starts, and says so with every call until one does', async () => {
    const who = await actor(rouse)
    const mcp = await overStdio({ ...env(rouse, who.key), ROUSE_URL: 'http://127.0.0.1:9' })
    const said = await mcp.call('list_schedules')
    expect([said.error, said.data.code]).toEqual([true, 'unreachable'])
    expect(said.text).toContain('no answer from http://127.0.0.1:9')
    expect(said.text).not.toContain(who.key)
    await mcp.close()
  })
})
