import { beforeAll, expect, test } from 'vitest'
import { agentWithSession, all, claim, end, fresh, read, runs, say, schedule } from '../journeys/actors.ts'
import { type Json, RouseNode } from '../journeys/node.ts'
import { deployOlder, upgradeOlder } from './deploy.ts'

const rouse = new RouseNode()

beforeAll(async () => {
  const { url, key } = await deployOlder()
  rouse.url = url
  rouse.key = key
})

test('an upgrade of a stack that runs, with new indexes and another setting, loses nothing and goes on', async () => {
  const { agent, session } = await agentWithSession(rouse, { title: 'Work' })
  const daily = await schedule(rouse, { session: session.id, cron: '30 8 * * *', tz: 'Europe/Amsterdam' })
  const soon = await schedule(rouse, { session: session.id, every: '1h', deliver: ['feed:'] })
  const path = fresh('notes')
  const long = 'é'.repeat(100_000)
  await rouse.ok('PUT', `/v1/documents/${path}`, { text: long })
  await rouse.ok('PUT', '/v1/secrets/TOKEN', { value: 'hush' })
  await rouse.ok('POST', '/v1/monitors', { session: session.id, note: 'Tell.', watch: { document: { path } } })
  await say(rouse, session.id, 'Good morning.')
  const { turn } = await claim(rouse, session.id)
  const ended = await end(rouse, turn.id, { answer: 'Done.', toolCalls: [{ tool: 'shell', args: {}, status: 'ok' }] })
  await rouse.ok('POST', `/v1/schedules/${soon.id}/run`)
  await say(rouse, session.id, 'One that waits.')
  const before = await seen()

  const said = await upgradeOlder()
  // Two indexes of one table are more than DynamoDB makes at once.
  expect(said).toMatch(/upgrade: first of all SchedulesTable\w+: make schedulesBy/)

  expect(await seen()).toEqual(before)
  expect(await rouse.ok('GET', `/v1/documents/${path}`)).toEqual({ text: long })
  expect((await rouse.ok('GET', '/v1/secrets')).data).toMatchObject([{ name: 'TOKEN' }])
  expect((await rouse.ok('GET', '/v1/monitors')).data).toMatchObject([{ status: 'armed' }])
  expect(await rouse.ok('GET', `/v1/traces/${ended.trace}`)).toMatchObject({ outcome: 'ok' })
  // By indexes that were not there when these were written.
  expect((await all(rouse, '/v1/schedules')).map(({ id }) => id)).toEqual([soon.id, daily.id])
  expect((await all(rouse, `/v1/schedules?agent=${agent.id}`)).map(({ id }) => id)).toEqual([soon.id, daily.id])
  expect((await all(rouse, '/v1/agents')).map(({ id }) => id)).toEqual([agent.id])

  const texts: string[] = []
  for (let taken = await claim(rouse, session.id); taken !== null; taken = await claim(rouse, session.id)) {
    texts.push(taken.message.kind)
    await end(rouse, taken.turn.id)
  }
  expect(texts.sort()).toEqual(['schedule', 'user'])
  expect(await runs(rouse, soon.id)).toMatchObject([{ trigger: 'manual', outcome: 'fired', result: 'ok' }])

  /** What there is, without indexes that the older version has not got. */
  async function seen(): Promise<Json> {
    return [
      await read(rouse, daily.id),
      await read(rouse, soon.id),
      await rouse.ok('GET', `/v1/agents/${agent.id}`),
      await rouse.ok('GET', `/v1/sessions/${session.id}`),
      (await rouse.ok('GET', `/v1/sessions/${session.id}/messages`)).data,
      (await rouse.ok('GET', '/v1/settings')) as Json,
    ]
  }
}, 900_000)
