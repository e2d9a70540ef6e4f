import { expect, test } from 'vitest'
import { actor, claim, inTurn, letAgentsUseSessions, moveBy, prompts, say, schedule } from './actors.ts'
import { onClock } from './node.ts'

onClock('repeated work that is asked for in chat', '2026-11-02T08:00:00Z', (rouse) => {
  test('S2-79 an agent that is asked for repeated work makes the schedule in the turn that the message began, and it wakes it there', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    await say(rouse, who.session.id, 'Look at the queue every hour from now on, please.')
    const { turn } = await claim(rouse, who.session.id, {}, who.as)
    const made = await schedule(
      rouse,
      { name: 'Queue', prompt: 'Look at the queue.', every: '1h' },
      inTurn(who, turn.id),
    )
    expect(made).toMatchObject({ session: who.session.id, createdIn: who.session.id, createdBy: who.agent.owner })
    await rouse.ok('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: 'I will.' }, who.as)
    await moveBy(rouse, '1h')
    expect((await prompts(rouse, who.session.id)).map(({ text }) => text.split('\n').at(-1))).toEqual([
      'Look at the queue.',
    ])
  })
})
