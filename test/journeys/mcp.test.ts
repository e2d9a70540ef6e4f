import { expect, test } from 'vitest'
import { waitingInstructions } from '../../shared/domain/instructions.ts'
import { actor, agentWithSession, all, fresh, letAgentsUseSessions, messages, moveBy, read, turnOf } from './actors.ts'
import { checkedSchedule, checker, theJob } from './checking.ts'
import { asActor, lines, overHttp } from './mcp-talk.ts'
import { onClock } from './node.ts'

const without = (names: readonly string[], ...out: string[]) => names.filter((name) => !out.includes(name))

/** In the order in which they are listed. */
const names = [
  'schedule',
  'unschedule',
  'list_schedules',
  'preview_schedule',
  'create_monitor',
  'cancel_monitor',
  'list_monitors',
  'sleep',
  'send',
  'put_document',
  'get_document',
  'post_card',
]

onClock('MCP over HTTP', '2026-03-02T09:00:00Z', (rouse) => {
  test.each(lines)('every tool does what its operation does, on the line of %s', async (line) => {
    await letAgentsUseSessions(rouse)
    const [who, other] = [await actor(rouse), await agentWithSession(rouse)]
    const mcp = await asActor(rouse, who, { line })
    expect(await mcp.tools()).toEqual(names)

    const name = fresh('Morning brief')
    const made = await mcp.ok('schedule', { name, prompt: 'Write it.', cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' })
    expect(made).toEqual(await read(rouse, made.id))
    expect(made).toMatchObject({ session: who.session.id, createdIn: who.session.id, agent: who.agent.id })
    const listed = await mcp.call('list_schedules', { session: who.session.id })
    expect(listed.data).toEqual(await rouse.ok('GET', `/v1/schedules?session=${who.session.id}`))
    expect(listed.text).toContain(`${made.id} "${name}" active`)
    const shown = await mcp.call('preview_schedule', { cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam', count: 2 })
    expect(shown.data.next.map(({ at }: { at: string }) => at)).toEqual([
      '2026-03-03T07:00:00.000Z',
      '2026-03-04T07:00:00.000Z',
    ])
    expect(shown.text).toContain('2026-03-03T08:00:00+01:00[Europe/Amsterdam]')
    await mcp.ok('unschedule', { id: made.id })
    expect((await rouse.call('GET', `/v1/schedules/${made.id}`)).status).toBe(404)

    const path = fresh('builds')
    const armed = await mcp.call('create_monitor', { note: 'Say how it went.', watch: { document: { path } } })
    expect(armed.text).toContain(`Armed ${armed.data.id} on the document ${path}`)
    expect((await mcp.call('list_monitors', { status: 'armed' })).text).toContain(armed.data.id)
    await mcp.ok('cancel_monitor', { id: armed.data.id })
    expect((await rouse.ok('GET', `/v1/monitors/${armed.data.id}`)).status).toBe('cancelled')

    expect(await mcp.ok('put_document', { path, body: { state: 'done' }, ifVersion: 0 })).toMatchObject({ version: 1 })
    const kept = await mcp.call('get_document', { path })
    expect(kept).toEqual({
      error: false,
      text: '{"state":"done"}',
      data: { path, version: 1, contentType: 'application/json', body: { state: 'done' } },
    })
    await mcp.ok('put_document', { path, body: '# Done\n', contentType: 'text/markdown', ifVersion: 1 })
    expect((await mcp.call('get_document', { path })).data).toMatchObject({ version: 2, body: '# Done\n' })

    const sent = await mcp.ok('send', { session: other.session.id, text: 'Please check the totals.' })
    expect(await messages(rouse, other.session.id)).toMatchObject([
      { id: sent.id, kind: 'agent', text: 'Please check the totals.', origin: { session: who.session.id } },
    ])
    const card = await mcp.ok('post_card', { title: 'The lease waits', label: 'decide' })
    expect(await rouse.ok('GET', `/v1/feed/${card.id}`)).toMatchObject({ title: 'The lease waits', label: 'decide' })
    await mcp.close()
  })

  test('S4-7 create_monitor arms a monitor: the document wakes the session with the note', async () => {
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const path = fresh('builds')
    const armed = await mcp.ok('create_monitor', {
      note: 'Say how build 42 went.',
      watch: { document: { path } },
      when: "doc.state == 'done'",
    })
    expect(armed).toMatchObject({ status: 'armed', session: who.session.id })
    await mcp.ok('put_document', { path, body: { state: 'running' } })
    expect(await messages(rouse, who.session.id)).toEqual([])
    await mcp.ok('put_document', { path, body: { state: 'done' } })
    const { message } = await turnOf(rouse, who.session.id)
    expect([message.kind, message.text]).toEqual(['monitor', expect.stringContaining('Say how build 42 went.')])
    await mcp.close()
  })

  test('S4-8 a registered tool whose last step arms a monitor is fine, and list_monitors shows what it armed', async () => {
    const who = await actor(rouse)
    const path = fresh('job')
    await rouse.ok('PUT', `/v1/agents/${who.agent.id}/tools/begin`, {
      description: 'Begins.',
      parameters: {},
      readOnly: false,
      steps: [
        { document: { put: path, body: { state: 'begun' } } },
        { monitor: { note: 'Say it is done.', watch: { document: { path } } } },
      ],
    })
    await rouse.ok('POST', `/v1/agents/${who.agent.id}/tools/begin/call`, { args: {} }, who.as)
    const mcp = await asActor(rouse, who)
    const { data } = await mcp.ok('list_monitors', { session: who.session.id })
    expect(data).toMatchObject([{ status: 'armed', note: 'Say it is done.', watch: { document: { path } } }])
    await mcp.close()
  })

  test('S4-9 create_monitor tells the agent to say that the work has started, and that the result comes by itself', async () => {
    const mcp = await overHttp(rouse)
    const { tools } = await mcp.client.listTools()
    const description = tools.find(({ name }) => name === 'create_monitor')?.description
    expect(description).toMatch(
      /tell the user at once that the work has started and that the result comes by itself, and end your turn/,
    )
    await mcp.close()
  })

  test('S4-10 it tells it never to promise that it keeps checking', async () => {
    const mcp = await overHttp(rouse)
    const { tools } = await mcp.client.listTools()
    expect(tools.find(({ name }) => name === 'create_monitor')?.description).toMatch(/Never promise to keep checking/)
    expect(mcp.client.getInstructions()).toMatch(/Never promise to keep checking/)
    await mcp.close()
  })

  test.each(lines)("S4-17 the server's instructions say how to answer an event, on the line of %s", async (line) => {
    const mcp = await overHttp(rouse, { line })
    expect(mcp.client.getInstructions()).toContain(waitingInstructions)
    const { tools } = await mcp.client.listTools()
    const description = tools.find(({ name }) => name === 'create_monitor')?.description
    expect(description).toMatch(/Do exactly what its note says and answer as if you were giving the news/)
    expect(description).toMatch(/without a word of monitors, events or reminders/)
    await mcp.close()
  })

  test('S4-28 a condition that does not compile is refused with monitor_invalid and the place, and nothing is armed', async () => {
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const said = await mcp.call('create_monitor', { note: 'x', watch: { document: { path: 'd' } }, when: 'dok.a ==' })
    expect([said.error, said.data.code]).toEqual([true, 'monitor_invalid'])
    expect(said.text).toMatch(/^monitor_invalid: .*\n(- when: .*\n)?Mend it and call again; nothing was armed\.$/)
    expect((await mcp.ok('list_monitors', { session: who.session.id })).data).toEqual([])
    await mcp.close()
  })

  test('S4-46 cancel_monitor ends a monitor that is no longer needed', async () => {
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const armed = await mcp.ok('create_monitor', { note: 'Remind them.', watch: { time: { in: '1h' } } })
    await mcp.ok('cancel_monitor', { id: armed.id })
    await moveBy(rouse, '2h')
    expect(await messages(rouse, who.session.id)).toEqual([])
    const again = await mcp.call('cancel_monitor', { id: armed.id })
    expect([again.error, again.data.code]).toEqual([true, 'not_found'])
    await mcp.close()
  })

  test('S0-4 the agent creates a schedule with the tool schedule and ends it with unschedule', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const { id } = await mcp.ok('schedule', { name: 'Tea', prompt: 'Is it ready?', every: '30m' })
    await moveBy(rouse, '30m')
    expect((await messages(rouse, who.session.id)).filter(({ kind }) => kind === 'schedule')).toHaveLength(1)
    await mcp.ok('unschedule', { id })
    await moveBy(rouse, '2h')
    expect((await messages(rouse, who.session.id)).filter(({ kind }) => kind === 'schedule')).toHaveLength(1)
    await mcp.close()
  })

  test('a creating call that is repeated under its key makes one thing; under another body it is refused', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const args = { name: 'Once', prompt: 'x', every: '1h', idempotencyKey: fresh('k') }
    const first = await mcp.ok('schedule', args)
    // Another order is the same call.
    expect(await mcp.ok('schedule', Object.fromEntries(Object.entries(args).reverse()))).toEqual(first)
    const other = await mcp.call('schedule', { ...args, every: '2h' })
    expect([other.error, other.data.code]).toEqual([true, 'idempotency_mismatch'])
    expect((await mcp.ok('list_schedules', { session: who.session.id })).data).toHaveLength(1)
    for (const [tool, given] of [
      ['create_monitor', { note: 'x', watch: { time: { in: '1h' } } }],
      ['post_card', { title: 'x' }],
      ['send', { session: who.session.id, text: 'x' }],
    ] as const) {
      const keyed = { ...given, idempotencyKey: fresh('k') }
      expect((await mcp.ok(tool, keyed)).id, tool).toBe((await mcp.ok(tool, keyed)).id)
    }
    await mcp.close()
  })

  test("an agent's key sees and reaches its own agent's things only", async () => {
    await letAgentsUseSessions(rouse)
    const stranger = { key: (await rouse.ok('POST', '/v1/people', { name: fresh('person') })).key }
    const theirs = await rouse.ok('POST', '/v1/agents', { name: fresh('theirs') }, stranger)
    const there = await rouse.ok('POST', '/v1/sessions', { agent: theirs.id }, stranger)
    const hidden = await rouse.ok(
      'POST',
      '/v1/schedules',
      { name: 'x', prompt: 'x', session: there.id, every: '1h' },
      stranger,
    )
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const codeOf = async (tool: string, args: object) => (await mcp.call(tool, args)).data.code
    expect(await codeOf('unschedule', { id: hidden.id })).toBe('not_found')
    expect(await codeOf('send', { session: there.id, text: 'x' })).toBe('not_found')
    expect(await codeOf('create_monitor', { session: there.id, note: 'x', watch: { time: { in: '1h' } } })).toBe(
      'not_found',
    )
    expect(await codeOf('schedule', { name: 'x', prompt: 'x', agent: theirs.id, every: '1h' })).toBe(
      'schedule_agent_not_allowed',
    )
    expect((await mcp.ok('list_schedules')).data.map(({ id }: { id: string }) => id)).not.toContain(hidden.id)
    // Without its session the key still speaks for its agent.
    const alone = await overHttp(rouse, { key: who.key })
    expect(await alone.tools()).toEqual(without(names, 'sleep'))
    expect(await alone.ok('schedule', { name: 'x', prompt: 'x', every: '1h' })).toMatchObject({ agent: who.agent.id })
    await Promise.all([mcp.close(), alone.close()])
  })

  test("a session that is not the agent's own answers not_found with every call, and is listed no sleep", async () => {
    const [who, other] = [await actor(rouse), await actor(rouse)]
    const mcp = await overHttp(rouse, { key: who.key, session: other.session.id })
    expect(await mcp.tools()).toEqual(without(names, 'sleep'))
    for (const [tool, args] of [
      ['create_monitor', { note: 'x', watch: { time: { in: '1h' } } }],
      ['sleep', { seconds: 60 }],
      ['send', { session: who.session.id, text: 'x' }],
    ] as const)
      expect([tool, (await mcp.call(tool, args)).data.code]).toEqual([tool, 'not_found'])
    await mcp.close()
  })

  test("a person's key works too: it names session or agent in the arguments", async () => {
    const { agent, session } = await agentWithSession(rouse)
    const mcp = await overHttp(rouse)
    const made = await mcp.ok('schedule', { name: 'x', prompt: 'x', agent: agent.id, every: '1h' })
    expect(made).toMatchObject({ agent: agent.id, session: null, createdIn: null })
    await mcp.ok('send', { session: session.id, text: 'Good morning.' })
    expect(await messages(rouse, session.id)).toMatchObject([{ kind: 'user', text: 'Good morning.' }])
    await mcp.close()
  })

  test('where agents may not use sessions, schedule and send say agent_sessions_off and what to do', async () => {
    await letAgentsUseSessions(rouse, false)
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    for (const [tool, args] of [
      ['schedule', { name: 'x', prompt: 'x', every: '1h' }],
      ['send', { session: who.session.id, text: 'x' }],
    ] as const) {
      const said = await mcp.call(tool, args)
      expect([tool, said.error, said.data.code, said.data.status]).toEqual([tool, true, 'agent_sessions_off', 403])
      expect(said.text).toContain('Only a person can turn it on: tell the user')
    }
    await letAgentsUseSessions(rouse)
    await mcp.close()
  })

  test('in a session of mode ask a schedule for another session waits for a person, and the answer says so', async () => {
    await letAgentsUseSessions(rouse)
    const [who, other] = [await actor(rouse, { mode: 'ask' }), await agentWithSession(rouse)]
    const mcp = await asActor(rouse, who)
    const asked = await mcp.call('schedule', { name: 'x', prompt: 'x', session: other.session.id, every: '1h' })
    expect([asked.error, Object.keys(asked.data)]).toEqual([false, ['card']])
    expect(asked.text).toContain(`a person is asked first, with card ${asked.data.card}`)
    const refused = await mcp.call('send', { session: other.session.id, text: 'x' })
    expect([refused.error, refused.data.code]).toEqual([true, 'approval_needed'])
    expect(refused.data.card).toMatch(/^crd_/)
    await mcp.close()
  })

  test('S2-26 the key of a check reads over MCP, and is refused what changes anything', async () => {
    const who = await checker(rouse)
    await checkedSchedule(rouse, who)
    await moveBy(rouse, '10m')
    const { key } = await theJob(rouse, who)
    const mcp = await overHttp(rouse, { key, session: who.session.id })
    await mcp.ok('list_schedules')
    await mcp.ok('list_monitors')
    for (const [tool, args] of [
      ['schedule', { name: 'x', prompt: 'x', every: '1h' }],
      ['create_monitor', { note: 'x', watch: { time: { in: '1h' } } }],
      ['send', { session: who.session.id, text: 'x' }],
      ['put_document', { path: 'x', body: 'x' }],
      ['post_card', { title: 'x' }],
      ['preview_schedule', { every: '1h' }],
      ['unschedule', { id: 'sch_x' }],
    ] as const)
      expect([tool, (await mcp.call(tool, args)).data.code]).toEqual([tool, 'check_key'])
    await mcp.close()
  })

  test('what a tool does stands in the audit trail under its operation, with the session it came from', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    const mcp = await asActor(rouse, who)
    const made = await mcp.ok('schedule', { name: 'x', prompt: 'x', every: '1h' })
    await mcp.ok('unschedule', { id: made.id })
    const trail = await all(rouse, '/v1/audit')
    const mine = trail
      .filter(({ targets }) => targets.includes(made.id))
      .map(({ operation, by }) => [operation, by.session])
    expect(mine).toEqual([
      ['removeSchedule', who.session.id],
      ['createSchedule', who.session.id],
    ])
    await mcp.close()
  })

  test('a tool that is not there is a fault of the call, not a refusal', async () => {
    const mcp = await overHttp(rouse)
    await expect(mcp.client.callTool({ name: 'run_flow', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    await mcp.close()
  })
})
