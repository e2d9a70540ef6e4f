import { alarmsQueue, flowsQueue } from '../../test/faults/aws/memory-aws.ts'
import { Cloud, type Spent } from './cloud.ts'
import { over, plus } from './prices.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const start = Date.parse('2026-11-30T12:00:00Z')
/** A minute before the first of the daily wakes: then the Scheduler's entries come due. */
const early = Date.parse('2026-12-01T07:59:00Z')

/** What a day of one schedule comes to, each once, when everything is warm. */
export interface Daily {
  /** From the alarm to the message in the session's queue and the run in the ledger. */
  readonly wake: Spent
  /** What follows by a worker that listens to the queue: the bell, the claim, the end, the look whether there is more, the lease's alarm. */
  readonly turn: Spent
  /** A long poll of a queue in which nothing is. */
  readonly listen: Spent
  /** A claim that finds nothing. */
  readonly claimInVain: Spent
  readonly created: Spent
  /** A minute in which nothing is due. */
  readonly sweep: Spent
  /** GB-months that a day's wake and turn leave, until they expire. */
  readonly storedGbMonths: number
  /** Names of CloudWatch metrics that were written. */
  readonly metrics: readonly string[]
}

/** What else there is to be done in the cloud. */
export interface Others {
  /** A monitor's look at a tool. */
  readonly poll: Spent
  /** A step of a flow: one call of a tool, recorded before and after. */
  readonly flowStep: Spent
  /** A document changes that a monitor watches, until its message is in the queue; the put itself is the API's. */
  readonly change: Spent
}

export const others = async (): Promise<Others> => ({
  poll: await poll(),
  flowStep: await flowStep(),
  change: await change(),
})

async function opened(): Promise<{ readonly cloud: Cloud; readonly agent: string; readonly session: string }> {
  const cloud = new Cloud(start)
  await cloud.bootstrap()
  const agent: string = (await cloud.ask('POST', '/v1/agents', { name: 'scout' })).id
  const session: string = (await cloud.ask('POST', '/v1/sessions', { agent })).id
  return { cloud, agent, session }
}

const prompt = 'Look at what came in since yesterday, and say in three lines what needs an answer today.'
const answer =
  'Two letters need an answer: the bank asks for a signature by Friday, and Mia asks about Saturday. '.repeat(3)

/** @param count  so many schedules wake a session each at one moment; the third day is what is told, for one of them */
export async function daily(count: number): Promise<Daily> {
  const { cloud, agent, session } = await opened()
  const sessions = [session]
  while (sessions.length < count) sessions.push((await cloud.ask('POST', '/v1/sessions', { agent })).id)
  const schedule = { name: 'Morning', prompt, cron: '0 8 * * *', tz: 'UTC' }
  cloud.taken()
  for (const session of sessions) await cloud.ask('POST', '/v1/schedules', { ...schedule, session })
  const created = share(cloud.taken(), count)
  for (let n = 0; ; n += 1) {
    cloud.pass(early + n * day - cloud.time.now)
    const before = cloud.storedGbMonths()
    await cloud.deliver()
    cloud.pass(minute)
    await cloud.deliver()
    const wake = share(cloud.taken(), count)
    for (const session of sessions) {
      if (cloud.listen(session) === 0) throw new Error('expected a bell for each wake')
      const { turn } = await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
      await cloud.ask('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer })
      await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
    }
    cloud.pass(10 * minute)
    await cloud.deliver()
    const turn = share(cloud.taken(), count)
    if (n < 2) continue
    const storedGbMonths = (cloud.storedGbMonths() - before) / count
    await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
    const claimInVain = cloud.taken()
    cloud.listen(session)
    const listen = cloud.taken()
    await cloud.sweep()
    return {
      created,
      wake,
      turn,
      claimInVain,
      listen,
      sweep: cloud.taken(),
      storedGbMonths,
      metrics: [...cloud.metrics],
    }
  }
}

const rate = {
  description: 'The rate.',
  parameters: { type: 'object' },
  readOnly: true,
  steps: [{ http: { method: 'GET', url: 'https://bank.test/rate' } }],
}

/** Looks of a monitor that finds nothing new; the fourth is told. */
async function poll(): Promise<Spent> {
  const { cloud, agent, session } = await opened()
  await cloud.ask('PUT', `/v1/agents/${agent}/tools/rate`, rate)
  const watch = { tool: { name: 'rate', args: {}, every: '5m' } }
  await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell them.', watch, expiresIn: '7d' })
  for (let n = 0; n < 4; n += 1) {
    cloud.taken()
    cloud.pass(5 * minute)
    if ((await cloud.deliver(alarmsQueue)) === 0) throw new Error('expected a look every five minutes')
  }
  return cloud.taken()
}

/** Replays of a flow of six steps and of one of four: two steps are what is between them. */
async function flowStep(): Promise<Spent> {
  const { cloud, agent } = await opened()
  await cloud.ask('PUT', `/v1/agents/${agent}/tools/rate`, rate)
  const spent: Spent[] = []
  for (const [name, steps] of [
    ['warm', 2],
    ['four', 4],
    ['six', 6],
  ] as const) {
    const calls = Array.from({ length: steps }, () => ({
      tool: 'rate',
      args: {},
      status: 'ok',
      result: '{"rate":1.07}',
    }))
    const from: string[] = []
    for (let n = 0; n < 2; n += 1)
      from.push((await cloud.ask('POST', '/v1/traces', { agent, outcome: 'ok', calls })).id)
    await cloud.ask('POST', `/v1/agents/${agent}/flows`, { name, from, approve: true, overwrite: true })
    cloud.taken()
    await cloud.ask('POST', `/v1/agents/${agent}/flows/${name}/run`)
    await cloud.deliver(flowsQueue)
    spent.push(cloud.taken())
  }
  const [, four, six] = spent as [Spent, Spent, Spent]
  return share({ bill: plus(six.bill, four.bill, -1), requests: six.requests - four.requests }, 2)
}

/** A document that one monitor watches. */
async function change(): Promise<Spent> {
  const { cloud, session } = await opened()
  for (let n = 0; ; n += 1) {
    const watch = { document: { path: `builds/${n}.json` } }
    await cloud.ask('POST', '/v1/monitors', { session, note: 'Say how it went.', watch })
    await cloud.ask('PUT', `/v1/documents/builds/${n}.json`, { state: 'done' })
    cloud.taken()
    await cloud.stream()
    const spent = cloud.taken()
    if (cloud.listen(session) === 0) throw new Error('expected a bell for each change')
    if (n === 2) return spent
  }
}

const share = ({ bill, requests }: Spent, count: number): Spent => ({
  bill: over(bill, count),
  requests: requests / count,
})
