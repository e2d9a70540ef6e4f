import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../apps/client/client.ts'
import { type AttachOptions, attach, type WorkerEvent } from '../../apps/worker/attach.ts'
import { agt, ses, session } from '../cli/examples.ts'
import { refusal } from '../cli/fake-rouse.ts'
import { FakeInbox, message } from './fake-inbox.ts'

let inbox: FakeInbox
let stop: AbortController
beforeEach(async () => {
  inbox = new FakeInbox()
  stop = new AbortController()
  await inbox.rouse.up()
})
afterEach(() => inbox.rouse.down())

const events: WorkerEvent[] = []
const kinds = () => events.map(({ kind }) => kind)
beforeEach(() => {
  events.length = 0
})

/** Resolves when a turn is in the hands of `run`; `inbox.turn()` alone means that the claim has been answered. */
const begun = () => inbox.until(() => kinds().includes('started'))

const start = (o: Pick<AttachOptions, 'run'> & Partial<AttachOptions>) =>
  attach({
    client: createClient({ url: inbox.rouse.url, key: 'k' }),
    target: { session: ses },
    signal: stop.signal,
    on: (event) => events.push(event),
    ...o,
  })

const told = () => inbox.rouse.to(`PATCH /v1/sessions/${ses}`).map(({ body }) => body.workerConnected)

describe('attach, as a library', () => {
  test('each message is one turn, in order, and its outcome is reported as it is', async () => {
    const texts: string[] = []
    for (const text of ['one', 'two']) inbox.put(text)
    const done = start({
      async run({ message }) {
        texts.push(message.text)
        return { outcome: 'ok', answer: `did ${message.text}`, tokens: 12, sleep: { seconds: 60 } }
      },
    })
    const ends = await inbox.ends(2)
    stop.abort()
    await done
    expect(texts).toEqual(['one', 'two'])
    expect(ends[1]).toEqual({ outcome: 'ok', answer: 'did two', tokens: 12, sleep: { seconds: 60 } })
    expect(inbox.rouse.to(`POST /v1/sessions/${ses}/claim`)[0]?.body).toEqual({ wait: 20, leaseSeconds: 120 })
  })

  test('it says that a worker listens at the start, and that none does at the end', async () => {
    const done = start({ run: async () => ({ outcome: 'ok' }) })
    await inbox.until(() => kinds().includes('attached'))
    expect(told()).toEqual([true])
    stop.abort()
    await done
    expect(told()).toEqual([true, false])
  })

  test("an agent's worker claims for all its sessions, and tells its main one whether it listens", async () => {
    inbox.put('hello')
    await start({ target: { agent: agt }, once: true, run: async () => ({ outcome: 'ok' }) })
    expect(inbox.rouse.to(`POST /v1/agents/${agt}/claim`)).toHaveLength(1)
    expect(told()).toEqual([true, false])
  })

  test('what the callback throws ends the turn as failed, and the next message is taken', async () => {
    inbox.put('one')
    inbox.put('two')
    const done = start({
      async run({ message }) {
        if (message.text === 'one') throw new Error('out of memory')
        return { outcome: 'nothing_to_do' }
      },
    })
    const ends = await inbox.ends(2)
    stop.abort()
    await done
    expect(ends).toEqual([
      { outcome: 'failed', summary: "the agent's code threw: out of memory" },
      { outcome: 'nothing_to_do' },
    ])
  })

  test('a cancelled turn stops the work and ends as failed', async () => {
    inbox.put('one')
    const done = start({
      once: true,
      run: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: 'ok', answer: 'half' }))),
    })
    inbox.cancel(await inbox.turn())
    expect(await inbox.ends(1)).toEqual([{ outcome: 'failed', summary: 'cancelled' }])
    await done
    expect(events.at(-1)).toMatchObject({ kind: 'ended', fate: 'cancelled' })
  })

  test('a lost turn stops the work, is not ended, and the worker goes on', async () => {
    inbox.put('one')
    const done = start({
      async run({ message, signal }) {
        if (message.text === 'one') await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { outcome: 'ok' }
      },
    })
    inbox.lapse(await inbox.turn())
    inbox.put('two')
    await inbox.ends(1)
    stop.abort()
    await done
    expect([...inbox.ended.keys()]).toEqual(['trn_2'])
    expect(events.filter(({ kind }) => kind === 'ended')).toMatchObject([{ fate: 'lost' }, { fate: 'finished' }])
  })

  test('told to stop, it works on the running turn to its end and takes no other', async () => {
    inbox.put('one')
    let finish = () => {}
    const done = start({ run: () => new Promise((resolve) => (finish = () => resolve({ outcome: 'ok' }))) })
    await begun()
    inbox.put('two')
    stop.abort()
    finish()
    await done
    expect([...inbox.ended.entries()]).toEqual([['trn_1', { outcome: 'ok' }]])
  })

  const openClaim = () => inbox.until(() => inbox.rouse.to(`POST /v1/sessions/${ses}/claim`).length === 1)

  test('told to stop while a claim is open, it serves what the claim hands out: a message is handed out once', async () => {
    const done = start({ seesHangUp: false, run: async () => ({ outcome: 'ok' }) })
    await openClaim()
    stop.abort()
    inbox.put('late')
    await done
    expect(inbox.ended.size).toBe(1)
  })

  test('told to stop at once, it cuts the open claim off', async () => {
    const halt = new AbortController()
    const done = start({ seesHangUp: false, halt: halt.signal, run: async () => ({ outcome: 'ok' }) })
    await openClaim()
    stop.abort()
    halt.abort()
    await done
    expect(told()).toEqual([true, false])
  })

  test('a server on this machine sees the claim hung up, so that one is cut off at the first word', async () => {
    const done = start({ run: async () => ({ outcome: 'ok' }) })
    await openClaim()
    stop.abort()
    await done
    expect(told()).toEqual([true, false])
  })

  test('S3-43 told to stop at once, it cancels the running turn as a person would, and ends it as failed', async () => {
    inbox.put('tick', { kind: 'tick' })
    const halt = new AbortController()
    const done = start({
      halt: halt.signal,
      run: ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: 'ok', answer: 'half' }))),
    })
    await begun()
    stop.abort()
    halt.abort()
    await done
    expect(inbox.rouse.to('POST /v1/turns/trn_1/cancel')).toHaveLength(1)
    expect(inbox.ended.get('trn_1')).toEqual({ outcome: 'failed', summary: 'stopped by hand in the worker' })
  })

  test('a server that is away is waited for, at the start and in between', async () => {
    await inbox.rouse.down()
    const done = start({ run: async () => ({ outcome: 'ok' }) })
    await inbox.until(() => kinds().includes('away'))
    await inbox.rouse.up()
    inbox.put('one')
    await inbox.ends(1)
    await inbox.rouse.down()
    await inbox.until(() => kinds().filter((kind) => kind === 'away').length === 2)
    await inbox.rouse.up()
    inbox.put('two')
    await inbox.ends(2)
    stop.abort()
    await done
    expect(kinds().filter((kind) => ['away', 'back'].includes(kind))).toEqual(['away', 'back', 'away', 'back'])
  })

  test('the server restarts while a turn runs: the work goes on, and its end is delivered when the server is back', async () => {
    inbox.put('one')
    let finish = () => {}
    let isStopped = false
    const done = start({
      once: true,
      run: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => (isStopped = true))
          finish = () => resolve({ outcome: 'ok', answer: 'late, but here' })
        }),
    })
    await begun()
    await inbox.rouse.down()
    await inbox.until(() => kinds().includes('away'))
    finish()
    await inbox.rouse.up()
    await done
    expect(isStopped).toBe(false)
    expect(inbox.ended.get('trn_1')).toEqual({ outcome: 'ok', answer: 'late, but here' })
  })

  test('an end whose answer got lost is found done at the second try', async () => {
    inbox.put('one')
    let tries = 0
    inbox.rouse.on('POST /v1/turns/:id/end', () => {
      tries += 1
      return tries === 1 ? { status: 503 } : refusal(409, 'turn_not_running', 'ended')
    })
    await start({ once: true, run: async () => ({ outcome: 'ok' }) })
    expect(events.at(-1)).toMatchObject({ kind: 'ended', fate: 'finished' })
  })

  test('an end that the server finds unfit is said to have failed, so that the session is free', async () => {
    inbox.put('one')
    const bodies: unknown[] = []
    inbox.rouse.on('POST /v1/turns/:id/end', ({ body }) => {
      bodies.push(body)
      return body.outcome === 'ok'
        ? refusal(422, 'body_invalid', 'tokens: expected a number')
        : { body: { trace: null } }
    })
    await start({ once: true, run: async () => ({ outcome: 'ok', tokens: -1 }) })
    expect(bodies).toEqual([
      { outcome: 'ok', tokens: -1 },
      { outcome: 'failed', summary: 'the end of the turn was refused: tokens: expected a number' },
    ])
  })

  test.each([
    [401, 'unauthorized'],
    [404, 'not_found'],
    [409, 'session_archived'],
  ])('a claim refused with %i %s ends the worker', async (status, code) => {
    inbox.rouse.on('POST /v1/sessions/:id/claim', refusal(status, code, 'no'))
    await expect(start({ run: async () => ({ outcome: 'ok' }) })).rejects.toMatchObject({ status, code })
  })

  test('a key that is revoked while a turn runs stops the work and ends the worker', async () => {
    inbox.put('one')
    inbox.rouse.on('POST /v1/turns/:id/heartbeat', refusal(401, 'unauthorized', 'this key does not hold any more'))
    let isStopped = false
    const done = start({
      async run({ signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        isStopped = true
        return { outcome: 'ok' }
      },
    })
    await expect(done).rejects.toMatchObject({ status: 401 })
    expect(isStopped).toBe(true)
  })

  test('a session that was compacted is followed to the new one', async () => {
    const moved = `${ses.slice(0, -1)}9`
    inbox.rouse.on('POST /v1/sessions/:id/claim', async ({ path }) => {
      if (path.includes(ses)) return refusal(409, 'session_archived', 'archived')
      stop.abort()
      return { status: 204 }
    })
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, state: 'archived', compactedInto: moved } })
    await start({ run: async () => ({ outcome: 'ok' }) })
    expect(events.at(-1)).toEqual({ kind: 'moved', session: moved })
    expect(inbox.rouse.to(`PATCH /v1/sessions/${moved}`).map(({ body }) => body.workerConnected)).toEqual([false])
  })

  test('a worker that may not say that it listens works all the same', async () => {
    inbox.rouse.on('PATCH /v1/sessions/:id', refusal(403, 'person_only', 'only a person may'))
    inbox.put('one')
    await start({ once: true, run: async () => ({ outcome: 'ok' }) })
    expect(kinds()).toEqual(['warning', 'attached', 'started', 'ended'])
  })

  test('a check that comes although this worker runs none is answered, not left to its lease', async () => {
    let claims = 0
    inbox.rouse.on('POST /v1/sessions/:id/claim', () => {
      claims += 1
      if (claims === 1) return { body: { job: { id: 'job_1', kind: 'check' } } }
      stop.abort()
      return { status: 204 }
    })
    inbox.rouse.on('POST /v1/jobs/:id/end', { body: {} })
    await start({ run: async () => ({ outcome: 'ok' }) })
    expect(inbox.rouse.to('POST /v1/jobs/job_1/end')[0]?.body).toMatchObject({ exit: 126 })
  })

  test('S0-40 with steer, what comes while the turn runs reaches it; what comes too late is worked on in the same turn', async () => {
    inbox.put('one')
    const seen: string[] = []
    const done = start({
      once: true,
      steer: true,
      async run({ message, steering, signal }) {
        seen.push(message.text)
        if (message.text === 'one') {
          seen.push((await steering.next(signal))!.text)
          inbox.steer('trn_1', 'three')
          // Works on without looking, until the message is there.
          await inbox.until(() => inbox.rouse.to('POST /v1/turns/trn_1/heartbeat').length >= 3)
        }
        return { outcome: 'ok', answer: `did ${message.text}` }
      },
    })
    inbox.steer(await inbox.turn(), 'two')
    const ends = await inbox.ends(1)
    await done
    expect(seen).toEqual(['one', 'two', 'three'])
    expect(ends).toEqual([{ outcome: 'ok', answer: 'did one\n\ndid three' }])
    expect(inbox.rouse.to(`POST /v1/sessions/${ses}/claim`)[0]?.body).toMatchObject({ steer: true })
  })
  test('with steer, a session where a turn of another worker runs is claimed without, so as not to take its messages', async () => {
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, state: 'running' } })
    inbox.put('one')
    await start({ once: true, steer: true, run: async () => ({ outcome: 'ok' }) })
    expect(inbox.rouse.to(`POST /v1/sessions/${ses}/claim`)[0]?.body).not.toHaveProperty('steer')
  })

  test('a message that steers a turn of another worker is worked on all the same, with a warning', async () => {
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, turn: { id: 'trn_other', leaseUntil: '' } } })
    inbox.rouse.on('POST /v1/sessions/:id/claim', {
      body: { turn: null, message: message('turn left'), notes: [] },
    })
    const seen: unknown[] = []
    await start({
      steer: true,
      async run({ turn, message: { text } }) {
        seen.push([turn.id, text])
        stop.abort()
        return { outcome: 'ok' }
      },
    })
    expect(seen).toEqual([['trn_other', 'turn left']])
    expect(kinds()).toEqual(['attached', 'warning'])
    expect(inbox.rouse.to('POST /v1/turns/trn_other/end')).toEqual([])
  })
})
