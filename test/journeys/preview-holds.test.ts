import { expect, test } from 'vitest'
import { actor, fresh, letAgentsUseSessions, session } from './actors.ts'
import { onClock, type RouseNode } from './node.ts'

onClock('what a preview says of holds', '2026-11-02T08:00:00Z', (rouse) => {
  const notes = async (who: { key: string; session: { id: string } }, to: object) =>
    (await rouse.ok('POST', '/v1/schedules/preview', { cron: '0 9 * * *', ...to }, asAgent(who))).notes as string[]
  const asAgent = (who: { key: string; session: { id: string } }) => ({
    key: who.key,
    headers: { 'x-rouse-session': who.session.id },
  })
  const desk = async (at: RouseNode) => {
    await letAgentsUseSessions(at)
    const who = await actor(at)
    return { who, other: await session(at, who.agent.id, { title: fresh('other') }) }
  }

  test('an agent reads how many of its 30 prompts are sent, and once they are that its fires would be held', async () => {
    const { who, other } = await desk(rouse)
    expect((await notes(who, { session: other.id }))[0]).toMatch(/counts toward the 30 prompts .*: 0 are sent/)
    for (let n = 0; n < 30; n += 1)
      await rouse.ok('POST', `/v1/sessions/${other.id}/messages`, { text: `no ${n}` }, asAgent(who))
    expect((await notes(who, { session: other.id }))[0]).toMatch(/would be held, waiting until you write in /)
  })

  test('for its own conversation, and for a person, there is nothing to say', async () => {
    const { who, other } = await desk(rouse)
    expect(await notes(who, { session: who.session.id })).toEqual([])
    expect(await notes(who, {})).toEqual([])
    const own = await rouse.ok('POST', '/v1/schedules/preview', { cron: '0 9 * * *', session: other.id })
    expect(own.notes).toEqual([])
  })

  test('in mode ask it says that a person is asked first', async () => {
    const { who, other } = await desk(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${who.session.id}`, { mode: 'ask' })
    expect((await notes(who, { session: other.id }))[0]).toMatch(/in mode "ask": a person allows/)
  })
})
