import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../apps/client/client.ts'
import { type AttachOptions, attach, type WorkerEvent } from '../../apps/worker/attach.ts'
import type { JobEnd, Work } from '../../apps/worker/jobs.ts'
import { agt, ses, session } from '../cli/examples.ts'
import { refusal } from '../cli/fake-rouse.ts'
import { FakeInbox } from './fake-inbox.ts'
import { FakeSqs } from './fake-sqs.ts'

let inbox: FakeInbox
let stop: AbortController
let halt: AbortController
let done: Promise<void>
const events: WorkerEvent[] = []
const warnings = () => events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []))
beforeEach(async () => {
  inbox = new FakeInbox()
  stop = new AbortController()
  halt = new AbortController()
  done = Promise.resolve()
  events.length = 0
  await inbox.rouse.up()
})
afterEach(async () => {
  stop.abort()
  halt.abort()
  await done.catch(() => null)
  await inbox.rouse.down()
})

const start = (o: Partial<AttachOptions> = {}) => {
  done = attach({
    client: createClient({ url: inbox.rouse.url, key: 'k' }),
    target: { session: ses },
    signal: stop.signal,
    halt: halt.signal,
    on: (event) => events.push(event),
    run: async () => ({ outcome: 'ok' }),
    work: async ({ script }) => ({ exit: 0, output: `ran ${script}` }),
    ...o,
  })
  return done
}

const jobClaims = () => inbox.rouse.to(`POST /v1/sessions/${ses}/claim`).filter(({ body }) => body.jobs === 'only')
const check = (id: string) => ({ id, kind: 'check', script: `${id}.sh` })

/** Work that ends when told, and tells how much of it runs at once. */
class HeldWork {
  readonly finish = new Map<string, (end: JobEnd) => void>()
  readonly work: Work = ({ id }, signal) =>
    new Promise((resolve) => {
      this.finish.set(id, resolve)
      signal.addEventListener('abort', () => resolve({ exit: 143, output: 'stopped' }))
    })
  end(id: string): void {
    this.finish.get(id)!({ exit: 0, output: id })
    this.finish.delete(id)
  }
}

describe('attach, with work for jobs', () => {
  test('S2-28 it says that it runs checks at the start, and that none are run at the end', async () => {
    start()
    await inbox.until(() => jobClaims().length === 1)
    stop.abort()
    await done
    expect(inbox.rouse.to(`PATCH /v1/sessions/${ses}`).map(({ body }) => body)).toEqual([
      { workerConnected: true, checks: true },
      { workerConnected: false, checks: false },
    ])
  })

  test('without work it says so, and no claim is for jobs', async () => {
    inbox.put('one')
    await start({ work: undefined, once: true })
    expect(inbox.rouse.to(`PATCH /v1/sessions/${ses}`)[0]?.body).toEqual({ workerConnected: true, checks: false })
    expect(jobClaims()).toEqual([])
  })

  test('a job is taken while a turn runs, and its end is told', async () => {
    let finish = () => {}
    inbox.put('one')
    start({ run: () => new Promise((resolve) => (finish = () => resolve({ outcome: 'ok' }))) })
    await inbox.until(() => events.some(({ kind }) => kind === 'started'))
    inbox.putJob(check('job_1'))
    expect(await inbox.jobEnd('job_1')).toEqual({ exit: 0, output: 'ran job_1.sh' })
    expect(inbox.ended.size).toBe(0)
    finish()
    await inbox.ends(1)
    expect(jobClaims()[0]?.body).toEqual({ wait: 20, jobs: 'only' })
    expect(events.find(({ kind }) => kind === 'job')).toMatchObject({ end: { exit: 0, output: 'ran job_1.sh' } })
  })

  test('a job that the claim for messages is given is run beside the next turn', async () => {
    const held = new HeldWork()
    let claims = 0
    inbox.rouse.on('POST /v1/agents/:id/claim', async ({ body, gone }) => {
      if (body.jobs === 'only') await new Promise((resolve) => gone.addEventListener('abort', resolve))
      claims += 1
      if (claims === 1) return { body: { job: { agent: agt, schedule: null, timeoutSeconds: 60, ...check('job_1') } } }
      const turn = { id: 'trn_1', session: ses, leaseUntil: '', mode: 'agent' }
      return { body: { turn, message: { id: 'msg_1', kind: 'user', text: 'hello' }, notes: [] } }
    })
    start({
      target: { agent: agt },
      once: true,
      work: held.work,
      run: async () => {
        await inbox.until(() => held.finish.has('job_1'))
        held.end('job_1')
        return { outcome: 'ok' }
      },
    })
    expect(await inbox.jobEnd('job_1')).toEqual({ exit: 0, output: 'job_1' })
    await done
  })

  test('four run at once; the fifth is left to others until a place is free', async () => {
    const held = new HeldWork()
    for (let n = 1; n <= 5; n += 1) inbox.putJob(check(`job_${n}`))
    start({ work: held.work })
    await inbox.until(() => held.finish.size === 4)
    expect(jobClaims()).toHaveLength(4)
    held.end('job_2')
    await inbox.until(() => held.finish.has('job_5'))
    for (const id of ['job_1', 'job_3', 'job_4', 'job_5']) held.end(id)
    await inbox.until(() => inbox.jobsEnded.size === 5)
  })

  test('told to stop, it takes no more, and what runs ends first', async () => {
    const held = new HeldWork()
    inbox.putJob(check('job_1'))
    start({ work: held.work })
    await inbox.until(() => held.finish.has('job_1'))
    stop.abort()
    inbox.putJob(check('job_2'))
    held.end('job_1')
    await done
    expect([...inbox.jobsEnded]).toEqual([['job_1', { exit: 0, output: 'job_1' }]])
  })

  test('told to stop at once, what runs is stopped, and its end is told', async () => {
    const held = new HeldWork()
    inbox.putJob(check('job_1'))
    start({ work: held.work })
    await inbox.until(() => held.finish.has('job_1'))
    stop.abort()
    halt.abort()
    await done
    expect([...inbox.jobsEnded]).toEqual([['job_1', { exit: 143, output: 'stopped' }]])
  })

  test('told to stop while a claim for jobs is open that the server would not see hung up, it runs what comes', async () => {
    inbox.put('one')
    start({ seesHangUp: false, once: true })
    await inbox.ends(1)
    await inbox.until(() => jobClaims().length === 1)
    inbox.putJob(check('job_1'))
    await done
    expect(inbox.jobsEnded.get('job_1')).toEqual({ exit: 0, output: 'ran job_1.sh' })
  })

  test('a session that was compacted is followed, also while a turn runs', async () => {
    const moved = `${ses.slice(0, -1)}9`
    const answered: string[] = []
    inbox.rouse.on('GET /v1/sessions/:id', { body: { ...session, state: 'archived', compactedInto: moved } })
    inbox.rouse.on('POST /v1/sessions/:id/claim', async ({ body, path, gone }) => {
      const isNew = path.includes(moved)
      if (body.jobs === 'only' && !isNew) return refusal(409, 'session_archived', 'compacted')
      if (body.jobs === 'only' && answered.length === 0) {
        answered.push(path)
        return { body: { job: { agent: agt, schedule: null, timeoutSeconds: 60, ...check('job_1') } } }
      }
      await new Promise((resolve) => gone.addEventListener('abort', resolve))
      return { status: 204 }
    })
    start()
    expect(await inbox.jobEnd('job_1')).toEqual({ exit: 0, output: 'ran job_1.sh' })
  })

  test("on a session's queue, where claims are rare, jobs are waited for all the same", async () => {
    const sqs = new FakeSqs()
    await sqs.up()
    inbox.rouse.on('POST /v1/sessions/:id/queue', () => ({ body: { queue: sqs.grant() } }))
    start()
    await inbox.until(() => sqs.isPolled)
    inbox.putJob(check('job_1'))
    expect(await inbox.jobEnd('job_1')).toEqual({ exit: 0, output: 'ran job_1.sh' })
    stop.abort()
    await done
    await sqs.down()
  })
})

describe('the end of a job', () => {
  test('is told again until the server has taken it', async () => {
    let tries = 0
    inbox.rouse.on('POST /v1/jobs/:id/end', () => {
      tries += 1
      return tries < 3 ? { status: 503 } : { body: {} }
    })
    inbox.putJob(check('job_1'))
    start()
    await inbox.until(() => tries === 3)
    stop.abort()
    await done
    expect(warnings()).toEqual([])
  })

  test('whose first answer was lost is found done at the second try', async () => {
    let tries = 0
    inbox.rouse.on('POST /v1/jobs/:id/end', () => {
      tries += 1
      return tries === 1 ? { status: 503 } : refusal(409, 'job_not_running', 'ended')
    })
    inbox.putJob(check('job_1'))
    start()
    await inbox.until(() => tries === 2)
    stop.abort()
    await done
    expect(warnings()).toEqual([])
  })

  test.each([
    [404, 'not_found'],
    [409, 'job_not_running'],
  ])('that is refused with %i %s is dropped with a warning, and the next job is taken', async (status, code) => {
    inbox.rouse.on('POST /v1/jobs/:id/end', ({ path }) =>
      path.includes('job_1') ? refusal(status, code, 'too late') : { body: {} },
    )
    inbox.putJob(check('job_1'))
    start()
    await inbox.until(() => warnings().length === 1)
    inbox.putJob(check('job_2'))
    await inbox.until(() => inbox.rouse.to('POST /v1/jobs/job_2/end').length === 1)
    expect(warnings()).toEqual([expect.stringMatching(/job job_1 .*too late/)])
  })

  test('with more output than the server takes is told with what an agent sees of it', async () => {
    inbox.rouse.on('POST /v1/jobs/:id/end', ({ body }) =>
      String(body.output).length > 8_000 ? refusal(413, 'body_too_large', 'too large') : { body: {} },
    )
    inbox.putJob(check('job_1'))
    start({ work: async () => ({ exit: 0, output: 'x'.repeat(50_000) }) })
    await inbox.until(() => inbox.rouse.to('POST /v1/jobs/job_1/end').length === 2)
    expect(inbox.rouse.to('POST /v1/jobs/job_1/end')[1]?.body).toEqual({ exit: 0, output: 'x'.repeat(8_000) })
  })
})

describe('claims for jobs that are refused', () => {
  test('by a server that knows none are told once, and messages are served on', async () => {
    inbox.rouse.on('POST /v1/sessions/:id/claim', async ({ body, gone }) => {
      if (body.jobs === 'only') return refusal(422, 'body_invalid', 'jobs: unknown')
      await new Promise((resolve) => gone.addEventListener('abort', resolve))
      return { status: 204 }
    })
    start()
    await inbox.until(() => warnings().length === 1)
    expect(warnings()).toEqual([expect.stringContaining('jobs: unknown')])
    expect(jobClaims()).toHaveLength(1)
  })

  test('answered at once with nothing are not made a hundred times a second', async () => {
    inbox.rouse.on('POST /v1/sessions/:id/claim', async ({ body, gone }) => {
      if (body.jobs === 'only') return { status: 204 }
      await new Promise((resolve) => gone.addEventListener('abort', resolve))
      return { status: 204 }
    })
    start()
    await inbox.until(() => jobClaims().length === 1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(jobClaims().length).toBeLessThan(5)
  })
})
