import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../apps/cli/main.ts'
import { createClient } from '../../apps/client/client.ts'
import { type AttachOptions, attach, type WorkerEvent } from '../../apps/worker/attach.ts'
import { agt, ses, session } from '../cli/examples.ts'
import { refusal } from '../cli/fake-rouse.ts'
import { collecting } from '../cli/rouse.ts'
import { FakeInbox } from './fake-inbox.ts'
import { FakeSqs } from './fake-sqs.ts'

let inbox: FakeInbox
let sqs: FakeSqs
let stop: AbortController
let done: Promise<void>
const events: WorkerEvent[] = []
const texts: string[] = []
beforeEach(async () => {
  inbox = new FakeInbox()
  sqs = new FakeSqs()
  stop = new AbortController()
  done = Promise.resolve()
  events.length = 0
  texts.length = 0
  await Promise.all([inbox.rouse.up(), sqs.up()])
  inbox.rouse.on('POST /v1/sessions/:id/queue', () => ({ body: { queue: sqs.grant() } }))
})
afterEach(async () => {
  stop.abort()
  await done.catch(() => null)
  await Promise.all([inbox.rouse.down(), sqs.down()])
})

const start = (o: Partial<AttachOptions> = {}) => {
  done = attach({
    client: createClient({ url: inbox.rouse.url, key: 'k' }),
    target: { session: ses },
    signal: stop.signal,
    on: (event) => events.push(event),
    async run({ message }) {
      texts.push(message.text)
      return { outcome: 'ok' }
    },
    ...o,
  })
  return done
}

const bell = { kind: 'message', session: ses, agent: agt, id: 'msg_1', message: { text: 'not read' } }
/** The message first, then its bell, as the engine does it. */
const send = (text: string) => {
  inbox.put(text)
  sqs.ring(bell)
}
const claims = (id = ses) => inbox.rouse.to(`POST /v1/sessions/${id}/claim`)
const waits = () => claims().map(({ body }) => body.wait ?? 0)
const grants = (id = ses) => inbox.rouse.to(`POST /v1/sessions/${id}/queue`)
const warnings = () => events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []))
const way = () => events.flatMap((event) => (event.kind === 'attached' ? [event.way] : []))
const polled = () => inbox.until(() => sqs.isPolled)

describe("attach, on a session's queue", () => {
  test('a bell rings, the message is claimed and worked on, and the bell is deleted', async () => {
    start()
    await polled()
    send('hello')
    await inbox.ends(1)
    await inbox.until(() => sqs.left === 0)
    expect([texts, way(), warnings()]).toEqual([['hello'], ['queue'], []])
    // One before it listened, one for the bell, one to see that nothing is left.
    await polled()
    expect(waits()).toEqual([0, 0, 0])
    expect(sqs.to('ReceiveMessage')[0]).toMatchObject({
      body: { QueueUrl: sqs.grant().url, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 },
      by: 'AKIAFAKE1',
    })
  })

  test('what waited before is taken without a bell, and nothing is received before the inbox is empty or while a turn runs', async () => {
    for (const text of ['one', 'two', 'three']) inbox.put(text)
    const receives: number[] = []
    start({
      async run({ message }) {
        texts.push(message.text)
        sqs.ring(bell)
        receives.push(sqs.to('ReceiveMessage').length)
        return { outcome: 'ok' }
      },
    })
    await inbox.until(() => sqs.to('DeleteMessageBatch').length === 1)
    expect(texts).toEqual(['one', 'two', 'three'])
    expect(receives).toEqual([0, 0, 0])
  })

  test('a lost bell costs no more than the time to the next look', async () => {
    start({ slowClaimMs: 300 })
    await polled()
    inbox.put('its bell is lost')
    await inbox.ends(1)
    expect(texts).toEqual(['its bell is lost'])
    expect(sqs.to('DeleteMessageBatch')).toEqual([])
  })

  test('bells that come twice, late or for nothing are answered by a claim, do no harm and are deleted', async () => {
    start()
    await polled()
    inbox.put('once')
    for (const envelope of [bell, bell, 'not JSON', 'null', '"text"']) sqs.ring(envelope)
    await inbox.until(() => sqs.left === 0 && sqs.isPolled)
    sqs.ring(bell)
    await inbox.until(() => sqs.left === 0 && sqs.isPolled)
    expect(texts).toEqual(['once'])
  })

  test('many bells lead to one claim for ten of them', async () => {
    for (let n = 0; n < 30; n += 1) sqs.ring(bell)
    start()
    await inbox.until(() => sqs.left === 0 && sqs.isPolled)
    expect(sqs.to('DeleteMessageBatch')).toHaveLength(3)
    expect(claims()).toHaveLength(4)
  })

  test('a bell whose deletion fails rings again and is deleted then', async () => {
    start()
    await polled()
    sqs.mayDelete = false
    send('hello')
    await inbox.until(() => texts.length === 1 && sqs.isPolled)
    expect(sqs.left).toBe(1)
    sqs.mayDelete = true
    sqs.unhide()
    await inbox.until(() => sqs.left === 0 && sqs.isPolled)
    expect([texts, warnings()]).toEqual([['hello'], []])
  })

  test('word of a cancelled turn that comes between turns is deleted and leads to no claim', async () => {
    start()
    await polled()
    const before = claims().length
    sqs.ring({ ...bell, kind: 'cancelled', id: 'trn_0', message: null })
    await inbox.until(() => sqs.left === 0 && sqs.isPolled)
    expect(claims()).toHaveLength(before)
  })

  test('told to stop while it listens, it stops at once', async () => {
    start({ seesHangUp: false })
    await polled()
    const since = performance.now()
    stop.abort()
    await done
    expect(performance.now() - since).toBeLessThan(1_000)
    await inbox.until(() => !sqs.isPolled)
    expect(warnings()).toEqual([])
  })

  test('with `once` it returns after the turn, its bell deleted', async () => {
    start({ once: true })
    await polled()
    send('hello')
    await done
    expect([texts, sqs.left]).toEqual([['hello'], 0])
  })
})

describe('attach, when its credentials end', () => {
  test('they are renewed before they expire', async () => {
    inbox.rouse.on('POST /v1/sessions/:id/queue', () => ({ body: { queue: sqs.grant({ lifeMs: 4 * 60_000 }) } }))
    start({ slowClaimMs: 300 })
    await inbox.until(() => sqs.to('ReceiveMessage').some(({ by }) => by === 'AKIAFAKE2'))
    send('hello')
    await inbox.ends(1)
    expect(warnings()).toEqual([])
  })

  test('fresh ones last: a short look is no reason to ask for more', async () => {
    start({ slowClaimMs: 300 })
    await inbox.until(() => sqs.to('ReceiveMessage').length >= 3)
    expect(grants()).toHaveLength(1)
  })

  test('after an ExpiredToken new ones are asked for, and no message is lost in between', async () => {
    start()
    await polled()
    sqs.ring({ ...bell, kind: 'cancelled' })
    sqs.expire()
    inbox.put('came in between')
    await inbox.ends(1)
    await polled()
    send('hello')
    await inbox.ends(2)
    expect(texts).toEqual(['came in between', 'hello'])
    expect(sqs.to('ReceiveMessage').at(-1)?.by).toBe('AKIAFAKE2')
    expect([grants().length, warnings()]).toEqual([2, []])
  })

  test('credentials that never hold are given up after the third, with one warning that quotes nothing of them', async () => {
    inbox.rouse.on('POST /v1/sessions/:id/queue', () => ({ body: { queue: sqs.grant({ holds: false }) } }))
    start({ queueRetryMs: 50 })
    for (const text of ['one', 'two', 'three']) {
      await inbox.until(() => waits().at(-1) === 20)
      // The next try is due when the open claim has ended.
      await new Promise((resolve) => setTimeout(resolve, 500))
      inbox.put(text)
      await inbox.until(() => texts.at(-1) === text)
    }
    expect(grants().length).toBeGreaterThanOrEqual(4)
    expect(texts).toEqual(['one', 'two', 'three'])
    expect(warnings()).toEqual([expect.stringContaining('(ExpiredToken)')])
    expect(JSON.stringify(events)).not.toMatch(/secret-|token-|AKIAFAKE/)
  })
})

describe('attach, without a queue', () => {
  test.each([
    ['an embedded node', { body: { queue: null } }],
    ['an older server', refusal(404, 'not_found', 'no such path')],
    ['an older server that knows the path', refusal(405, 'method_not_allowed', 'no')],
  ])('%s: claims with wait, without a word', async (_, answer) => {
    inbox.rouse.on('POST /v1/sessions/:id/queue', answer)
    start()
    await inbox.until(() => claims().length === 1)
    inbox.put('hello')
    await inbox.until(() => claims().length === 2)
    expect(waits()).toEqual([20, 20])
    expect([way(), warnings(), grants().length]).toEqual([['claims'], [], 1])
  })

  test('an agent is served by claims with wait; no queue is asked for', async () => {
    inbox.rouse.on('POST /v1/agents/:id/queue', () => ({ body: { queue: sqs.grant() } }))
    inbox.put('hello')
    await start({ target: { agent: agt }, once: true })
    expect(inbox.rouse.to(`POST /v1/agents/${agt}/claim`)[0]?.body).toMatchObject({ wait: 20 })
    expect([way(), inbox.rouse.to(`POST /v1/agents/${agt}/queue`)]).toEqual([['claims'], []])
  })

  test('a server that could not give its queue is said once, and asked again later', async () => {
    let asked = 0
    inbox.rouse.on('POST /v1/sessions/:id/queue', () => {
      asked += 1
      return asked < 3 ? refusal(503, 'unavailable', 'no queue now') : { body: { queue: sqs.grant() } }
    })
    start({ queueRetryMs: 20 })
    for (const text of ['one', 'two', 'three']) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      send(text)
    }
    await polled()
    expect([way(), warnings()]).toEqual([['claims'], [expect.stringContaining('(unavailable)')]])
    expect(texts).toEqual(['one', 'two', 'three'])
  })

  test('SQS goes away: claims with wait and one warning; when it is back, it is heard again', async () => {
    // Looks often, so that it does not matter in which moment a message comes.
    start({ queueRetryMs: 100, slowClaimMs: 500 })
    await polled()
    await sqs.down()
    await inbox.until(() => waits().includes(20))
    inbox.put('without a bell')
    await inbox.ends(1)
    // Tried again while it is still away, and nothing is said about that.
    await new Promise((resolve) => setTimeout(resolve, 300))
    inbox.put('again without')
    await inbox.ends(2)
    await inbox.until(() => waits().at(-1) === 20)
    await sqs.up()
    await new Promise((resolve) => setTimeout(resolve, 600))
    inbox.put('ends the open claim')
    await polled()
    send('heard')
    await inbox.ends(4)
    expect(texts).toEqual(['without a bell', 'again without', 'ends the open claim', 'heard'])
    expect(warnings()).toEqual([expect.stringMatching(/\((ECONNREFUSED|ECONNRESET)\)/)])
  })
})

describe('attach, when the queue goes with its session', () => {
  const moved = `${ses.slice(0, -1)}9`

  test('a session that was compacted is followed to its new queue', async () => {
    let isCompacted = false
    start()
    await polled()
    inbox.rouse.on('POST /v1/sessions/:id/claim', ({ path }) => {
      if (path.includes(ses)) return refusal(409, 'session_archived', 'compacted')
      return { status: 204 }
    })
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, state: 'archived', compactedInto: moved } })
    inbox.rouse.on('POST /v1/sessions/:id/queue', ({ path }) => {
      if (path.includes(ses)) return refusal(409, 'session_archived', 'compacted')
      isCompacted = true
      sqs.isThere = true
      return { body: { queue: sqs.grant() } }
    })
    sqs.vanish()
    await inbox.until(() => isCompacted && sqs.isPolled)
    expect(events.at(-1)).toEqual({ kind: 'moved', session: moved })
    expect(sqs.calls.at(-1)?.by).toBe('AKIAFAKE2')
    expect([claims(moved).length, warnings()]).toEqual([1, []])
  })

  test('a session compacted before the worker came is followed to its queue, too', async () => {
    inbox.rouse.on('POST /v1/sessions/:id/claim', ({ path }) =>
      path.includes(ses) ? refusal(409, 'session_archived', 'compacted') : { status: 204 },
    )
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, state: 'archived', compactedInto: moved } })
    inbox.rouse.on('POST /v1/sessions/:id/queue', ({ path }) =>
      path.includes(ses) ? refusal(409, 'session_archived', 'compacted') : { body: { queue: sqs.grant() } },
    )
    start()
    await polled()
    expect(grants(moved)).toHaveLength(1)
  })

  test('a session that was archived ends the worker', async () => {
    start()
    await polled()
    inbox.rouse.on('POST /v1/sessions/:id/claim', refusal(409, 'session_archived', 'archived'))
    sqs.vanish()
    await expect(done).rejects.toMatchObject({ code: 'session_archived' })
  })

  test('a queue that was made this moment is given a second to be known', async () => {
    sqs.isThere = false
    start()
    await inbox.until(() => grants().length === 2)
    await new Promise((resolve) => setTimeout(resolve, 500))
    sqs.isThere = true
    await polled()
    expect([way(), grants().length, warnings()]).toEqual([['queue'], 3, []])
  })

  test('a queue that vanished though its session lives is asked for once more', async () => {
    start()
    await polled()
    inbox.rouse.on('POST /v1/sessions/:id/queue', () => {
      sqs.isThere = true
      return { body: { queue: sqs.grant() } }
    })
    sqs.vanish()
    await inbox.until(() => grants().length === 2 && sqs.isPolled)
    send('hello')
    await inbox.ends(1)
    expect(warnings()).toEqual([])
  })
})

test('rouse attach says that it listens on the queue, and the command finds nothing of its credentials', async () => {
  const [stdout, stderr] = [collecting(), collecting()]
  const env = { PATH: process.env.PATH, ROUSE_URL: inbox.rouse.url, ROUSE_KEY: 'k' }
  const io = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin: Readable.from([]),
    env,
    signals: new EventEmitter(),
  }
  const ended = run(['attach', ses, '--once', '--', process.execPath, '-e', 'console.log(process.env)'], io)
  await polled()
  send('hello')
  expect(await ended).toBe(0)
  expect(stderr.text()).toContain(`attached to ${ses} · listens on its SQS queue, Ctrl-C stops`)
  expect(stdout.text()).toContain('ROUSE_SESSION')
  expect(stdout.text() + stderr.text()).not.toMatch(/secret-|token-|AKIAFAKE|AWS_/)
})
