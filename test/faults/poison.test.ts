import { expect, it, vi } from 'vitest'
import { redrive } from '../../apps/cli/redrive.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { collecting } from '../cli/rouse.ts'
import { sdkClients } from './aws/clients.ts'
import { alarmsQueue } from './aws/memory-aws.ts'
import { Cloud, minute } from './cloud.ts'
import { rungIn } from './state.ts'

vi.mock('../../functions/world.ts', async () => (await import('./cloud.ts')).mockedWorld())

async function due(): Promise<Cloud> {
  const cloud = new Cloud()
  cloud.aws.queues.make('rouse-test-changes-dead')
  await cloud.bootstrap()
  const agent = (await cloud.ask('POST', '/v1/agents', { name: 'assistant' })).id
  const session = (await cloud.ask('POST', '/v1/sessions', { agent, title: 'Work', main: false })).id
  await cloud.ask('POST', '/v1/schedules', { name: 'Review', prompt: 'Look.', every: '1h', session })
  cloud.pass(59 * minute)
  await cloud.deliver(alarmsQueue)
  cloud.pass(minute)
  return cloud
}

it('a body that is not ours ends in the dead-letter queue as it came, and holds up nothing of its batch', async () => {
  const cloud = await due()
  cloud.aws.queues.send(cloud.aws.queues.named(alarmsQueue)!, '{"kind":"cron"}', 0)
  await cloud.deliver(alarmsQueue)
  expect([...rungIn(cloud)]).toHaveLength(1)
  for (let n = 0; n < 6; n++) {
    cloud.pass(2 * minute)
    await cloud.deliver(alarmsQueue)
  }
  expect(cloud.dead(alarmsQueue)).toEqual(['{"kind":"cron"}'])
  expect(cloud.said.filter((line) => line.includes('alarm could not be read'))).toHaveLength(5)
})

it('an alarm that met a store that was away five times is a letter that `rouse admin redrive` sends again', async () => {
  const cloud = await due()
  for (let n = 0; n < 5; n++) {
    await cloud.deliver(alarmsQueue, cloud.line({ at: 1, kind: 'busy' }))
    cloud.pass(2 * minute)
  }
  await cloud.deliver(alarmsQueue)
  expect(cloud.dead(alarmsQueue)).toHaveLength(1)
  expect([...rungIn(cloud)]).toEqual([])

  const stdout = collecting()
  const io = { stdout: stdout.stream, stderr: stdout.stream, stdin: process.stdin, env: {} }
  const line = cloud.line()
  expect(await redrive({ stack: 'Rouse-test' }, io, () => sdkClients(line.dispatch, new Patience()).sqs)).toBe(0)
  expect(stdout.text()).toMatch(/schedule +1 +sent/)
  await cloud.deliver(alarmsQueue)
  expect(cloud.dead(alarmsQueue)).toEqual([])
  expect([...rungIn(cloud)]).toHaveLength(1)
})
