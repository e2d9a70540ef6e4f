import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  CreateScheduleCommand,
  GetScheduleCommand,
  type GetScheduleCommandOutput,
  SchedulerClient,
} from '@aws-sdk/client-scheduler'
import {
  GetQueueAttributesCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../apps/client/client.ts'
import { attach, type WorkerEvent } from '../../apps/worker/attach.ts'
import { agentWithSession, claim, end, fresh, read, runs, say, schedule } from '../journeys/actors.ts'
import { type Json, RouseNode } from '../journeys/node.ts'
import { type DeployedRouse, deployRouse } from './deploy.ts'
import { openDoorway } from './doorway.ts'
import { disableRule, invoke } from './services.ts'

const sqs = new SQSClient({})
const scheduler = new SchedulerClient({})
const rouse = new RouseNode()
let deployed: DeployedRouse

beforeAll(async () => {
  deployed = await deployRouse()
  // The sweep is called where a test wants it: a lost alarm must not be found before it is seen to be lost.
  await disableRule(deployed.everyMinute)
  rouse.url = deployed.url
  rouse.key = deployed.key
})

describe('the first key', () => {
  test('is made once: a second bootstrap says when it was done, and makes none', async () => {
    const { code, said } = await deployed.bootstrapAgain()
    expect(code).toBe(1)
    expect(said).toContain('Rouse-dev was bootstrapped before')
    expect(said).not.toContain('ROUSE_KEY')
  })

  test('is that of an admin', async () => {
    const person = await rouse.ok('POST', '/v1/people', { name: fresh('person') })
    expect(person.key).toMatch(/^\w{40,}$/)
  })
})

describe('a schedule through API Gateway, the Scheduler and the queues', () => {
  test("a prompt a few seconds ahead lies in its session's queue, a worker claims and ends the turn, and the ledger tells it", async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: ahead(4) })
    const [bell] = await bellsOf(session.id)
    expect(bell).toMatchObject({ kind: 'message', session: session.id })
    expect(bell.message.text).toContain('Review the night.')
    const claimed = await claim(rouse, session.id)
    expect(claimed.message.id).toBe(bell.id)
    await end(rouse, claimed.turn.id, { answer: 'All quiet.' })
    expect(await runs(rouse, made.id)).toMatchObject([{ trigger: 'slot', outcome: 'fired', result: 'ok' }])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
  })

  test('a daily one has an entry in the Scheduler: once, in UTC, a minute early, to the alarms queue, gone when it is done', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '30 8 * * *', tz: 'Europe/Amsterdam' })
    const at = Date.parse(made.nextAt)
    expect(made.nextTimes ?? made.next).toHaveLength(3)
    const entry = await entryOf(made)
    expect(entry).toMatchObject({
      GroupName: 'rouse-dev',
      ScheduleExpression: `at(${new Date(at - 60_000).toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
    })
    expect(entry?.Target?.Arn).toBe(deployed.alarmsQueueArn)
    expect(JSON.parse(entry!.Target!.Input!)).toEqual({ kind: 'schedule', id: made.id, at })
  })

  test('what the Scheduler sends to the alarms queue is looked at', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: ahead(3) })
    await loseAlarms()
    await enter(made, ahead(4))
    expect(await bellsOf(session.id)).toMatchObject([{ kind: 'message' }])
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
  })

  test('an alarm that comes early waits out the rest in the queue, and fires at its time', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: ahead(25) })
    await loseAlarms()
    await enter(made, ahead(0))
    await bellsOf(session.id, 45)
    const [run] = await runs(rouse, made.id)
    const lateMs = Date.parse(run.at) - Date.parse(made.nextAt)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(5_000)
  })

  test('an interval fires and is armed for its next time', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: ahead(3), every: '30m' })
    await bellsOf(session.id)
    const after = await read(rouse, made.id)
    expect(Date.parse(after.nextAt) - Date.parse(made.nextAt)).toBe(30 * 60_000)
    expect(JSON.parse((await entryOf(after))!.Target!.Input!)).toMatchObject({
      id: made.id,
      at: Date.parse(after.nextAt),
    })
  })

  test('an interval of five minutes waits in the alarms queue alone', async () => {
    const { session } = await agentWithSession(rouse)
    await loseAlarms()
    const made = await schedule(rouse, { session: session.id, at: ahead(3), every: '5m' })
    await bellsOf(session.id)
    const after = await read(rouse, made.id)
    expect(Date.parse(after.nextAt) - Date.parse(made.nextAt)).toBe(5 * 60_000)
    expect(await entryOf(after)).toBeNull()
    expect((await alarms()).delayed).toBe(1)
  })

  test('a daily one fires and is armed for tomorrow', async () => {
    const { session } = await agentWithSession(rouse)
    const soon = new Date(Date.now() + 63_000)
    const made = await schedule(rouse, {
      session: session.id,
      cron: `${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *`,
    })
    await bellsOf(session.id, 90)
    const after = await read(rouse, made.id)
    expect(Date.parse(after.nextAt) - Date.parse(made.nextAt)).toBe(86_400_000)
    expect(await entryOf(after)).not.toBeNull()
  })
})

describe('an alarm on its way', () => {
  test('does nothing for a schedule that was paused, put off or removed meanwhile', async () => {
    const at = ahead(6)
    const all = await Promise.all([1, 2, 3].map(() => agentWithSession(rouse)))
    const [paused, putOff, removed] = await Promise.all(
      all.map(({ session }) => schedule(rouse, { session: session.id, at })),
    )
    await rouse.ok('POST', `/v1/schedules/${paused.id}/pause`, {})
    const edited = await rouse.ok('PATCH', `/v1/schedules/${putOff.id}`, { at: ahead(86_400) })
    await rouse.ok('DELETE', `/v1/schedules/${removed.id}`)
    await until(() => Date.now() > Date.parse(at) + 3_000)
    await until(async () => (await alarms()).waiting === 0)
    expect(await runs(rouse, paused.id)).toEqual([])
    expect(await runs(rouse, putOff.id)).toEqual([])
    expect(await read(rouse, paused.id)).toMatchObject({ status: 'paused' })
    expect(await read(rouse, putOff.id)).toMatchObject({ status: 'active', nextAt: edited.nextAt })
    expect(await entryOf(edited)).not.toBeNull()
    for (const { session } of all) {
      expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(0)
      expect(await bellsOf(session.id, 0)).toEqual([])
    }
  })

  test('that is lost is found by the sweep', async () => {
    const { session } = await agentWithSession(rouse)
    const at = ahead(3)
    const made = await schedule(rouse, { session: session.id, at })
    await loseAlarms()
    await until(() => Date.now() > Date.parse(at) + 2_000)
    expect(await runs(rouse, made.id)).toEqual([])
    expect(await invoke(deployed.sweep, {})).toEqual({ looked: 1 })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await bellsOf(session.id)).toHaveLength(1)
    expect(await invoke(deployed.sweep, {})).toEqual({ looked: 0 })
  })

  test('that is delivered twice gives one run, and rings for nothing else', async () => {
    const { session } = await agentWithSession(rouse)
    const at = ahead(4)
    const made = await schedule(rouse, { session: session.id, at })
    for (const seconds of [3, 4, 6]) await alarm(made, { at, seconds })
    await until(() => Date.now() > Date.parse(at) + 5_000)
    expect(await runs(rouse, made.id)).toHaveLength(1)
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(1)
    // One that comes again rings again while the prompt waits, since whoever looked first may have died before it rang: for that prompt alone.
    const rung = (await bellsOf(session.id)).map((bell) => `${bell.kind} ${bell.id}`)
    expect(new Set(rung).size).toBe(1)
    await until(async () => (await alarms()).waiting === 0)
  })
})

describe('the queue of a session', () => {
  test('is read from outside with credentials that the API hands out', async () => {
    const { session } = await agentWithSession(rouse)
    const { queue } = await rouse.ok('POST', `/v1/sessions/${session.id}/queue`, {})
    expect(queue.url).toMatch(new RegExp(`/rouse-dev-session-${session.id}$`))
    expect(Date.parse(queue.expiresAt) - Date.now()).toBeGreaterThan(50 * 60_000)
    const said = await say(rouse, session.id, 'Good morning.')
    const outside = new SQSClient({
      region: queue.region,
      endpoint: queue.endpoint,
      credentials: queue.credentials,
    })
    const { Messages } = await outside.send(new ReceiveMessageCommand({ QueueUrl: queue.url, WaitTimeSeconds: 10 }))
    expect(Messages!.map(({ Body }) => JSON.parse(Body!).id)).toEqual([said.id])
  })

  test('is what an attached worker listens to: it hears the bell of a schedule and answers', async () => {
    const { session } = await agentWithSession(rouse)
    const stop = new AbortController()
    const events: WorkerEvent[] = []
    let heard = () => {}
    const listening = new Promise<void>((resolve) => {
      heard = resolve
    })
    const working = attach({
      client: createClient({ url: rouse.url, key: rouse.key }),
      target: { session: session.id },
      // A bell that is not heard would be found by the slow claim; here it would come too late to pass for one.
      slowClaimMs: 600_000,
      once: true,
      signal: stop.signal,
      on: (event) => {
        events.push(event)
        if (event.kind === 'attached') heard()
      },
      run: async ({ message }) => ({ outcome: 'ok', answer: `I read: ${message.text.split('\n').at(-1)}` }),
    })
    try {
      await listening
      const made = await schedule(rouse, { session: session.id, at: ahead(5) })
      await working
      expect(events.find(({ kind }) => kind === 'attached')).toMatchObject({ way: 'queue' })
      expect(events.filter(({ kind }) => kind === 'warning')).toEqual([])
      expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', result: 'ok' }])
    } finally {
      stop.abort()
      await working
    }
  })

  test('goes with its session', async () => {
    const { session } = await agentWithSession(rouse)
    await rouse.ok('POST', `/v1/sessions/${session.id}/queue`, {})
    await rouse.ok('POST', `/v1/sessions/${session.id}/archive`)
    await expect(received(session.id, 0)).rejects.toThrow(/does not exist/)
  })
})

describe('what happens reaches whoever waits for it, and no sweep is needed', () => {
  const heard = async (session: string, kind: string): Promise<Json | null> =>
    (await rouse.ok('GET', `/v1/sessions/${session}/messages?limit=100`)).data.find((m: Json) => m.kind === kind) ??
    null

  test("a document's change reaches a monitor and a trigger by the table's stream", async () => {
    const [watching, followed] = [await agentWithSession(rouse), await agentWithSession(rouse)]
    const path = fresh('builds/one')
    const made = await rouse.ok('POST', '/v1/monitors', {
      session: watching.session.id,
      note: 'Say how it went.',
      watch: { document: { path } },
      when: 'doc.n > 1',
    })
    const trigger = await rouse.ok('POST', '/v1/triggers', {
      name: 'Builds',
      session: followed.session.id,
      prompt: 'Read it.',
      on: { document: { path } },
      when: 'doc.n > 1',
    })
    await rouse.ok('PUT', `/v1/documents/${path}`, { n: 1 })
    await rouse.ok('PUT', `/v1/documents/${path}`, { n: 2 })
    await until(async () => (await heard(watching.session.id, 'monitor')) !== null, 120)
    await until(async () => (await heard(followed.session.id, 'schedule')) !== null, 120)
    expect(await rouse.ok('GET', `/v1/monitors/${made.id}`)).toMatchObject({ status: 'fired' })
    expect((await rouse.ok('GET', `/v1/triggers/${trigger.id}/runs`)).data).toMatchObject([
      { trigger: 'event', outcome: 'fired' },
    ])
  })

  test('a time watch comes by its alarm, a check by a tool is run by it, and an idle session ticks after its delay', async () => {
    const { agent, session } = await agentWithSession(rouse)
    await rouse.ok('PATCH', `/v1/agents/${agent.id}`, { proactive: { tickSeconds: 5 } })
    const path = fresh('calls')
    await rouse.ok('PUT', `/v1/documents/${path}`, { calls: 3 })
    await rouse.ok('PUT', `/v1/agents/${agent.id}/tools/calls`, {
      description: 'Reads the calls.',
      parameters: { type: 'object' },
      readOnly: true,
      steps: [{ document: { get: path } }],
    })
    await rouse.ok('POST', '/v1/monitors', { session: session.id, note: 'Now.', watch: { time: { in: 'PT4S' } } })
    const checked = await schedule(rouse, { session: session.id, at: ahead(4), check: { tool: 'calls' } })
    await until(async () => (await heard(session.id, 'monitor')) !== null, 120)
    await until(async () => (await runs(rouse, checked.id))[0]?.outcome === 'fired', 120)
    expect((await heard(session.id, 'schedule'))?.text).toContain('"calls": 3')
    await rouse.ok('DELETE', `/v1/schedules/${checked.id}`)
    for (let given = await claim(rouse, session.id); given !== null; given = await claim(rouse, session.id))
      await end(rouse, given.turn.id)
    await say(rouse, session.id, 'hello')
    await end(rouse, (await claim(rouse, session.id)).turn.id)
    await until(async () => (await heard(session.id, 'tick')) !== null, 120)
    await rouse.ok('POST', `/v1/sessions/${session.id}/ticks/park`)
  })
})

describe('a flow', () => {
  test('is replayed step by step by its own function, on a schedule too, and the sweep finds a step whose message was lost', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const path = fresh('notes')
    await rouse.ok('PUT', `/v1/agents/${agent.id}/tools/note`, {
      description: 'Keeps a note.',
      parameters: { type: 'object' },
      readOnly: false,
      steps: [{ document: { put: `\${args.path}`, body: `\${args.text}` } }],
    })
    const toolCalls = ['one', 'two', 'three'].map((text) => ({ tool: 'note', args: { path, text }, status: 'ok' }))
    const from: string[] = []
    for (let n = 0; n < 2; n += 1) {
      await say(rouse, session.id, 'do it')
      from.push((await end(rouse, (await claim(rouse, session.id)).turn.id, { toolCalls })).trace)
    }
    await rouse.ok('POST', `/v1/agents/${agent.id}/flows`, { name: 'notes', from, approve: true })
    const over = async (id: string) => {
      await until(async () => (await rouse.ok('GET', `/v1/flow-runs/${id}`)).status !== 'running', 120)
      return await rouse.ok('GET', `/v1/flow-runs/${id}`)
    }
    const begin = async () => (await rouse.ok('POST', `/v1/agents/${agent.id}/flows/notes/run`)).flowRun.id
    expect(await over(await begin())).toMatchObject({ status: 'ok', step: 3, reason: null })
    expect((await rouse.call('GET', `/v1/documents/${path}`)).body).toBe('three')

    const made = await rouse.ok('POST', '/v1/schedules', {
      name: 'Notes',
      flow: 'notes',
      agent: agent.id,
      at: ahead(4),
    })
    await until(async () => (await runs(rouse, made.id)).some((run) => run.result !== null), 120)
    const [run] = await runs(rouse, made.id)
    expect(run).toMatchObject({ outcome: 'fired', result: 'ok', message: null })
    expect(await over(run.flowRun)).toMatchObject({ status: 'ok', schedule: made.id, trace: run.trace })

    const QueueUrl = deployed.alarmsQueueUrl.replace('rouse-dev-alarms', 'rouse-dev-flows')
    const id = await begin()
    await sqs.send(new PurgeQueueCommand({ QueueUrl }))
    await until(async () => {
      await invoke(deployed.sweep, {})
      return (await rouse.ok('GET', `/v1/flow-runs/${id}`)).status !== 'running'
    }, 120)
    expect(await over(id)).toMatchObject({ status: 'ok' })
  })
})

describe('the HTTP journeys', () => {
  let doorway: Awaited<ReturnType<typeof openDoorway>>
  beforeAll(async () => {
    doorway = await openDoorway(deployed.url, 12)
  })
  afterAll(() => doorway?.close())

  test('are those of the embedded node, and pass', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const argv = ['node_modules/vitest/vitest.mjs', 'run', 'test/journeys', '--testTimeout=120000', '--reporter=json']
    const child = spawn(process.execPath, argv, {
      cwd: root,
      env: { ...process.env, ROUSE_TEST_URL: doorway.url, ROUSE_TEST_KEY: deployed.key },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let told = ''
    child.stdout.on('data', (chunk) => {
      told += chunk
    })
    await once(child, 'close')
    const report = JSON.parse(told.slice(told.indexOf('{')))
    const failed = report.testResults
      .flatMap((file: Json) => file.assertionResults)
      .filter((one: Json) => one.status === 'failed')
      .map((one: Json) => `${one.fullName}: ${one.failureMessages[0]?.split('\n')[0]}`)
    console.log(`journeys against the deployed stack: ${report.numPassedTests} passed, ${failed.length} failed`)
    expect(failed).toEqual([])
    expect(report.numPassedTests).toBeGreaterThan(100)
  }, 600_000)
})

test.each(['alarms', 'flows'])('after all that nothing lies in the dead-letter queue of %s', async (name) => {
  const QueueUrl = deployed.alarmsQueueUrl.replace('rouse-dev-alarms', `rouse-dev-${name}-dead`)
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }))
  expect(Messages ?? []).toEqual([])
})

/** An instant so many seconds from now, to the millisecond. */
const ahead = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

async function until(isSo: () => boolean | Promise<boolean>, seconds = 30): Promise<void> {
  for (const stop = Date.now() + seconds * 1000; !(await isSo()); await sleep(200))
    if (Date.now() > stop) throw new Error(`did not come about within ${seconds} s`)
}

/** What rang for a session, each once. Waits up to `seconds` for the first. */
async function bellsOf(session: string, seconds = 30): Promise<Json[]> {
  for (const stop = Date.now() + seconds * 1000; ; await sleep(200)) {
    const found = await received(session, 1).catch((error) => {
      // A queue is made with its first bell.
      if (/does not exist/.test(error.message)) return []
      throw error
    })
    if (found.length > 0) return found.map(({ Body }) => JSON.parse(Body!))
    if (Date.now() >= stop) return []
  }
}

async function received(session: string, seconds: number): Promise<Message[]> {
  const QueueUrl = deployed.alarmsQueueUrl.replace('rouse-dev-alarms', `rouse-dev-session-${session}`)
  const command = new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: seconds, MaxNumberOfMessages: 10 })
  return (await sqs.send(command)).Messages ?? []
}

/** The Scheduler's entry for the next time of a schedule, or null. */
async function entryOf({ id, nextAt }: Json): Promise<GetScheduleCommandOutput | null> {
  const Name = `${id}-${Math.ceil(Date.parse(nextAt) / 1000)}`
  return await scheduler.send(new GetScheduleCommand({ GroupName: 'rouse-dev', Name })).catch((error) => {
    if (error.name === 'ResourceNotFoundException') return null
    throw error
  })
}

/** An entry as the alarm clock makes it, but for its time: the emulator's Scheduler looks every ten seconds. */
async function enter({ id, nextAt }: Json, at: string): Promise<void> {
  await scheduler.send(
    new CreateScheduleCommand({
      Name: `${id}-by-hand`,
      GroupName: 'rouse-dev',
      ScheduleExpression: `at(${at.slice(0, 19)})`,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: {
        Arn: deployed.alarmsQueueArn,
        RoleArn: 'arn:aws:iam::000000000000:role/unused',
        Input: JSON.stringify({ kind: 'schedule', id, at: Date.parse(nextAt) }),
      },
    }),
  )
}

async function alarm({ id }: Json, o: { readonly at: string; readonly seconds: number }): Promise<void> {
  const MessageBody = JSON.stringify({ kind: 'schedule', id, at: Date.parse(o.at) })
  await sqs.send(new SendMessageCommand({ QueueUrl: deployed.alarmsQueueUrl, MessageBody, DelaySeconds: o.seconds }))
}

/** Everything that waits in the alarms queue is gone, as if it had never come. */
async function loseAlarms(): Promise<void> {
  await sqs.send(new PurgeQueueCommand({ QueueUrl: deployed.alarmsQueueUrl }))
}

async function alarms(): Promise<{ readonly delayed: number; readonly waiting: number }> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deployed.alarmsQueueUrl, AttributeNames: ['All'] }),
  )
  return {
    delayed: Number(Attributes?.ApproximateNumberOfMessagesDelayed),
    waiting:
      Number(Attributes?.ApproximateNumberOfMessages) + Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
  }
}
