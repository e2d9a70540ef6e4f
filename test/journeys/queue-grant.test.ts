import { expect, test } from 'vitest'
import { actor, agentWithSession, fresh } from './actors.ts'
import { anywhere, type CallOptions, onClock } from './node.ts'

const clock = '2026-03-02T09:00:00Z'

onClock('the queue of a session, where one process does it all', clock, (rouse) => {
  test('an embedded node has none to listen to, for a session as for an agent', async () => {
    const { agent, session } = await agentWithSession(rouse)
    for (const path of [`/v1/sessions/${session.id}/queue`, `/v1/agents/${agent.id}/queue`])
      for (const body of [undefined, {}]) {
        const answer = await rouse.call('POST', path, body)
        expect([answer.status, answer.body]).toEqual([200, { queue: null }])
      }
  })
})

anywhere('who is granted a queue', (rouse) => {
  const ask = async (path: string, o: CallOptions = {}) => {
    const { status, body } = await rouse.call('POST', `${path}/queue`, undefined, o)
    return [status, body.code]
  }

  test('unknown and foreign sessions and agents are not found', async () => {
    const stranger = await rouse.ok('POST', '/v1/people', { name: fresh('person') })
    const { agent, session } = await agentWithSession(rouse)
    const nobodys = '0'.repeat(26)
    for (const path of [`/v1/sessions/ses_${nobodys}`, `/v1/agents/agt_${nobodys}`, '/v1/sessions/x', '/v1/agents/x'])
      expect([path, ...(await ask(path))]).toEqual([path, 404, 'not_found'])
    for (const path of [`/v1/sessions/${session.id}`, `/v1/agents/${agent.id}`])
      expect([path, ...(await ask(path, { key: stranger.key }))]).toEqual([path, 404, 'not_found'])
  })

  test('a session that was archived or compacted has none any more', async () => {
    const [archived, compacted] = [await agentWithSession(rouse), await agentWithSession(rouse)]
    await rouse.ok('POST', `/v1/sessions/${archived.session.id}/archive`)
    const next = await rouse.ok('POST', `/v1/sessions/${compacted.session.id}/compact`, {})
    for (const { session } of [archived, compacted])
      expect(await ask(`/v1/sessions/${session.id}`)).toEqual([409, 'session_archived'])
    expect(await ask(`/v1/sessions/${next.id}`)).toEqual([200, undefined])
  })

  test('the key of an agent gets the queues of its own agent, and of no other', async () => {
    const [own, other] = [await actor(rouse), await actor(rouse)]
    for (const path of [`/v1/sessions/${own.session.id}`, `/v1/agents/${own.agent.id}`])
      expect(await ask(path, { key: own.key })).toEqual([200, undefined])
    for (const path of [`/v1/sessions/${other.session.id}`, `/v1/agents/${other.agent.id}`])
      expect([path, ...(await ask(path, { key: own.key }))]).toEqual([path, 404, 'not_found'])
  })

  test('without a key nothing is granted', async () => {
    const { session } = await agentWithSession(rouse)
    expect(await ask(`/v1/sessions/${session.id}`, { key: null })).toEqual([401, 'unauthorized'])
  })
})
