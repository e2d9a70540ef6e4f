import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actor, instant, moveBy, moveTo, now, say, schedule, turnOf } from './actors.ts'
import { asActor, lines, overHttp, overStdio } from './mcp-talk.ts'
import { onClock, type RouseNode } from './node.ts'
import { after, begunActor, nextTick, patchAgent } from './ticking.ts'

const clock = '2026-03-02T09:00:00Z'

onClock('sleep over MCP', clock, (rouse) => {
  test('S3-7 where ticks are off the list has no sleep, the call is refused with ticks_off, and the turn goes on', async () => {
    const who = await begunActor(rouse, { enabled: false })
    await say(rouse, who.session.id, 'and now?')
    const { turn } = await turnOf(rouse, who.session.id)
    const mcp = await asActor(rouse, who, { turn: turn.id })
    expect(await mcp.tools()).not.toContain('sleep')
    const said = await mcp.call('sleep', { seconds: 600 })
    expect([said.error, said.data.code]).toEqual([true, 'ticks_off'])
    expect(said.text).toMatch(/^ticks_off: ticks are off in session .* \(disabled\)/)
    expect((await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).state).toBe('running')
    // Turned on, it is there.
    await patchAgent(rouse, who.agent.id, { enabled: true })
    expect(await mcp.tools()).toContain('sleep')
    await mcp.close()
  })

  test('S3-7 without a session nothing can sleep: not listed, and refused with ticks_off', async () => {
    const who = await begunActor(rouse)
    for (const key of [who.key, rouse.key]) {
      const mcp = await overHttp(rouse, { key })
      expect(await mcp.tools()).not.toContain('sleep')
      expect((await mcp.call('sleep', { seconds: 600 })).data.code).toBe('ticks_off')
      await mcp.close()
    }
  })

  test.each(lines)('S3-37 sleep ends the current turn and schedules the next wake, on the line of %s', async (line) => {
    const who = await begunActor(rouse)
    const { turn } = await nextTick(rouse, who.session.id)
    const mcp = await asActor(rouse, who, { turn: turn.id, line })
    const at = await now(rouse)
    const said = await mcp.call('sleep', { seconds: 900, reason: 'the build runs' })
    expect(said.data).toEqual({
      asked: 900,
      seconds: 900,
      wakesAt: after(at, 900),
      waitingFor: null,
      session: who.session.id,
      turn: turn.id,
    })
    expect(said.text).toContain(`wakes in 900 s, at ${after(at, 900)}`)
    expect((await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).turn).toBeNull()
    await moveTo(rouse, after(at, 900))
    expect((await turnOf(rouse, who.session.id)).message.kind).toBe('tick')
    await mcp.close()
  })

  test('without X-Rouse-Turn it ends the turn that the session runs', async () => {
    const who = await begunActor(rouse)
    const { turn } = await nextTick(rouse, who.session.id)
    const mcp = await asActor(rouse, who)
    expect(await mcp.ok('sleep', { seconds: 600 })).toMatchObject({ turn: turn.id })
    await mcp.close()
  })

  test('S3-38 the seconds are held within the bounds of the agent, and the answer says when it wakes', async () => {
    const who = await begunActor(rouse, { minSleepSeconds: 120, maxSleepSeconds: 1800 })
    for (const [asked, seconds] of [
      [1, 120],
      [86_400, 1800],
    ] as const) {
      await nextTick(rouse, who.session.id)
      const mcp = await asActor(rouse, who)
      const at = await now(rouse)
      const said = await mcp.call('sleep', { seconds: asked })
      expect(said.data).toMatchObject({ asked, seconds, wakesAt: after(at, seconds) })
      expect(said.text).toContain(`(asked for ${asked} s; the agent has bounds)`)
      await mcp.close()
    }
  })

  test('S3-39 asking for 10 seconds becomes 30', async () => {
    const who = await begunActor(rouse)
    await nextTick(rouse, who.session.id)
    const mcp = await asActor(rouse, who)
    expect(await mcp.ok('sleep', { seconds: 10 })).toMatchObject({ asked: 10, seconds: 30 })
    await mcp.close()
  })

  test('S3-40 the tool asks to sleep at least 300 seconds unless something outside is about to happen', async () => {
    const who = await begunActor(rouse)
    const mcp = await asActor(rouse, who)
    const { tools } = await mcp.client.listTools()
    expect(tools.find(({ name }) => name === 'sleep')?.description).toMatch(
      /at least 300 seconds unless something outside is about to happen: .*one model call/,
    )
    await mcp.close()
  })

  test('with no turn running, or another than the one that is named, it says turn_not_running', async () => {
    const [who, other] = [await begunActor(rouse), await begunActor(rouse)]
    const idle = await asActor(rouse, who)
    expect((await idle.call('sleep', { seconds: 600 })).data.code).toBe('turn_not_running')
    const { turn } = await nextTick(rouse, other.session.id)
    const wrong = await asActor(rouse, who, { turn: turn.id })
    expect((await wrong.call('sleep', { seconds: 600 })).data.code).toBe('turn_not_running')
    expect((await rouse.ok('GET', `/v1/sessions/${other.session.id}`)).turn.id).toBe(turn.id)
    await Promise.all([idle.close(), wrong.close()])
  })

  test('where nobody has written yet nothing wakes the session by itself, and the answer says so', async () => {
    const who = await actor(rouse)
    await schedule(rouse, { session: who.session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    await turnOf(rouse, who.session.id)
    const mcp = await asActor(rouse, who)
    const said = await mcp.call('sleep', { seconds: 600 })
    expect(said.data).toMatchObject({ asked: 600, seconds: null, wakesAt: null, waitingFor: 'no_input' })
    expect(said.text).toContain('nothing will wake this session by itself (no_input)')
    await mcp.close()
  })

  test('S3-37 inside a turn of `rouse attach` it is the worker that ends the turn: rouse mcp leaves word for it', async () => {
    const who = await begunActor(rouse)
    const { turn } = await nextTick(rouse, who.session.id)
    const dir = await mkdtemp(join(tmpdir(), 'rouse-mcp-'))
    const env = { ...environment(rouse, who.key), ROUSE_SESSION: who.session.id, ROUSE_TURN: turn.id }
    const mcp = await overStdio({ ...env, ROUSE_SLEEP: join(dir, 'sleep.json') })
    expect(await mcp.tools()).toContain('sleep')
    const said = await mcp.call('sleep', { seconds: 1200, reason: 'the build runs' })
    expect(said.text).toBe('Asked for 1200 s of sleep; it begins when this turn ends. End it now.')
    expect(JSON.parse(await readFile(join(dir, 'sleep.json'), 'utf8'))).toEqual({
      seconds: 1200,
      reason: 'the build runs',
    })
    expect((await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).turn.id).toBe(turn.id)
    await mcp.close()
    await rm(dir, { recursive: true })
  })
})

const environment = (rouse: RouseNode, key: string): Record<string, string> => ({
  ROUSE_URL: rouse.url,
  ROUSE_KEY: key,
  TZ: 'America/St_Johns',
})
