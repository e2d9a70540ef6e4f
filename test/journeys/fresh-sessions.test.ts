import { expect, test } from 'vitest'
import {
  agent,
  agentWithSession,
  create,
  end,
  fresh,
  instant,
  messages,
  moveBy,
  now,
  prompts,
  read,
  runs,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { type Json, onClock } from './node.ts'

onClock('runs in a session of their own', '2026-03-02T09:00:00Z', (rouse) => {
  /** Takes the next run of an agent, as its worker does. */
  const take = (agentId: string): Promise<Json> =>
    rouse.ok('POST', `/v1/agents/${agentId}/claim`, { leaseSeconds: 7200 })

  async function host(more: Json = {}): Promise<{ agent: Json; main: Json; made: Json }> {
    const made = await agent(rouse)
    const main = await session(rouse, made.id)
    const daily = await schedule(rouse, { agent: made.id, every: '10m', name: 'Morning brief', ...more })
    return { agent: made, main, made: daily }
  }

  test('S2-17 each run starts in a new session with no earlier chat', async () => {
    const { agent, main, made } = await host()
    await say(rouse, main.id, 'earlier chat')
    await end(rouse, (await turnOf(rouse, main.id)).turn.id, { answer: 'earlier answer' })
    const seen: string[] = []
    for (let n = 0; n < 2; n += 1) {
      await moveBy(rouse, '10m')
      const { turn, message } = await take(agent.id)
      expect(message.kind).toBe('schedule')
      expect(await rouse.ok('GET', `/v1/sessions/${turn.session}`)).toMatchObject({
        agent: agent.id,
        main: false,
        title: 'Morning brief',
        state: 'running',
      })
      expect((await messages(rouse, turn.session)).map(({ id }) => id)).toEqual([message.id])
      seen.push(turn.session)
      await end(rouse, turn.id)
      expect((await rouse.ok('GET', `/v1/sessions/${turn.session}`)).state).toBe('archived')
    }
    expect(new Set([...seen, main.id]).size).toBe(3)
    expect((await runs(rouse, made.id)).map((run) => run.session)).toEqual(seen)
    expect((await read(rouse, made.id)).status).toBe('active')
  })

  test('S2-18 when the run ends the main session gets a short note of what it did', async () => {
    const { agent, main } = await host()
    await moveBy(rouse, '10m')
    const { turn } = await take(agent.id)
    expect(await messages(rouse, main.id)).toEqual([])
    await end(rouse, turn.id, { answer: 'The whole brief, long.', summary: 'Wrote the brief: 3 items.' })
    const notes = (await messages(rouse, main.id)).filter(({ kind }) => kind === 'note')
    expect(notes).toHaveLength(1)
    expect(notes[0].text).toContain('Wrote the brief: 3 items.')
    // A note is never claimed; it comes along with the next turn.
    expect((await rouse.call('POST', `/v1/sessions/${main.id}/claim`, {})).status).toBe(204)
    await say(rouse, main.id, 'hello')
    const next = await turnOf(rouse, main.id)
    expect(next.message.text).toContain('hello')
    expect(next.notes.map(({ id }: Json) => id)).toEqual([notes[0].id])
  })

  test('a run in a session of its own that finds nothing to do posts nothing', async () => {
    const { agent, main } = await host()
    await moveBy(rouse, '10m')
    const { turn } = await take(agent.id)
    await end(rouse, turn.id, { outcome: 'nothing_to_do' })
    expect(await messages(rouse, main.id)).toEqual([])
    expect((await messages(rouse, turn.session)).map(({ kind }) => kind)).toEqual(['schedule'])
  })

  test('with a channel the answer and the note go there', async () => {
    const target = await agent(rouse)
    const main = await session(rouse, target.id)
    const channel = await session(rouse, target.id, { main: false, title: 'channel' })
    const body = { agent: target.id, every: '10m', channel: channel.id }
    const made = await schedule(rouse, body)
    expect(made.channel).toBe(channel.id)
    await moveBy(rouse, '10m')
    const { turn } = await take(target.id)
    await end(rouse, turn.id, { answer: 'The brief.', summary: 'Wrote it.' })
    const posted = (await messages(rouse, channel.id)).map(({ text }) => text).join('\n')
    expect(posted).toContain('The brief.')
    expect(posted).toContain('Wrote it.')
    expect(await messages(rouse, main.id)).toEqual([])
  })

  test('a channel that is not a session one can reach is refused', async () => {
    const target = await agent(rouse)
    await session(rouse, target.id)
    const channel = `ses_${'0'.repeat(26)}`
    const answer = await create(rouse, { agent: target.id, every: '10m', channel })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  })

  test('the default overlap of an agent target is skip: no run while one runs', async () => {
    const { agent, made } = await host()
    expect(made.overlap).toBe('skip')
    await moveBy(rouse, '10m')
    const { turn } = await take(agent.id)
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'skipped', message: null })
    await end(rouse, turn.id)
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'fired' })
  })

  test('overlap allow of an agent target runs beside the one that runs', async () => {
    const { agent, made } = await host({ overlap: 'allow' })
    await moveBy(rouse, '10m')
    const first = await take(agent.id)
    await moveBy(rouse, '10m')
    const second = await take(agent.id)
    expect(second.turn.session).not.toBe(first.turn.session)
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).toEqual(['fired', 'fired'])
    await end(rouse, first.turn.id)
    await end(rouse, second.turn.id)
  })

  test('the claim of an agent serves its plain sessions too', async () => {
    const { agent: who, session: where } = await agentWithSession(rouse)
    await say(rouse, where.id, 'hello')
    const taken = await take(who.id)
    expect([taken.turn.session, taken.message.kind]).toEqual([where.id, 'user'])
  })

  test('S2-20 when the agent has left the conversation the run posts nothing and gives no turn', async () => {
    const { session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    await rouse.ok('POST', `/v1/sessions/${where.id}/leave`, {})
    await moveBy(rouse, '10m')
    expect(await messages(rouse, where.id)).toEqual([])
    expect((await rouse.call('POST', `/v1/sessions/${where.id}/claim`, {})).status).toBe(204)
    const [run] = await runs(rouse, made.id)
    expect(run).toMatchObject({ message: null, turn: null })
    expect(run.outcome).not.toBe('fired')
    await rouse.ok('POST', `/v1/sessions/${where.id}/join`, {})
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'fired', missed: 0 })
    expect(await prompts(rouse, where.id)).toHaveLength(1)
  })

  test('S2-21 when the agent is deleted the run is recorded as skipped and the schedule stops', async () => {
    const { agent: gone, session: where } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: where.id, every: '10m', name: fresh('orphan') })
    expect((await rouse.call('DELETE', `/v1/agents/${gone.id}`)).status).toBe(204)
    await moveBy(rouse, '1h')
    expect(await runs(rouse, made.id)).toMatchObject([
      { nominalAt: instant(start, 10), outcome: 'skipped', reason: 'agent_deleted', message: null },
    ])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'ended', nextAt: null })
    expect((await rouse.call('GET', `/v1/agents/${gone.id}`)).status).toBe(404)
  })

  test('a schedule to an agent whose worker said it disconnected is missed, one never attached queues', async () => {
    const { agent, main, made } = await host()
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: false })
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'missed', reason: 'agent_not_connected' })
    await rouse.ok('PATCH', `/v1/sessions/${main.id}`, { workerConnected: null })
    await moveBy(rouse, '10m')
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'fired' })
    expect((await take(agent.id)).message.kind).toBe('schedule')
  })

  test('a schedule into a session queues, whoever listens', async () => {
    const { session: where } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${where.id}`, { workerConnected: false })
    const made = await schedule(rouse, { session: where.id, every: '10m' })
    await moveBy(rouse, '10m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await prompts(rouse, where.id)).toMatchObject([{ status: 'waiting' }])
  })
})
