import type { Message } from '../../apps/client/shapes.ts'
import { agt, ses, session } from '../cli/examples.ts'
import { type Answer, type Call, FakeRouse, refusal } from '../cli/fake-rouse.ts'

/**
 * One session's inbox and turns behind the worker's calls: claims and heartbeats wait as the real ones do, and a
 * turn that ended is not running any more.
 */
export class FakeInbox {
  readonly rouse = new FakeRouse()
  /** Bodies of `end`, by turn. */
  readonly ended = new Map<string, Record<string, unknown>>()
  /** Bodies of a job's `end`, by job. */
  readonly jobsEnded = new Map<string, { exit: number; output: string }>()
  private readonly waiting: Message[] = []
  private readonly jobs: object[] = []
  private readonly running = new Map<string, { cancelled: boolean; steer: Message[] }>()
  private listeners: (() => void)[] = []
  private count = 0
  notes: Message[] = []

  constructor() {
    this.rouse
      .on('GET /v1/sessions/:id', { body: session })
      .on('PATCH /v1/sessions/:id', { body: session })
      .on('GET /v1/agents/:id', { body: { id: agt, name: 'assistant', mainSession: ses } })
      .on('POST /v1/sessions/:id/claim', (call) => this.claim(call))
      .on('POST /v1/agents/:id/claim', (call) => this.claim(call))
      .on('POST /v1/turns/:id/heartbeat', (call) => this.heartbeat(call))
      .on('POST /v1/turns/:id/cancel', { status: 204 })
      .on('POST /v1/turns/:id/end', (call) => this.end(call))
      .on('POST /v1/jobs/:id/end', (call) => this.endJob(call))
  }

  put(text: string, more: Partial<Message> = {}): void {
    this.waiting.push(message(text, more))
    this.changed()
  }

  /** Hands a job out with the next claim for jobs alone. */
  putJob(job: { readonly id: string } & Record<string, unknown>): void {
    this.jobs.push({ agent: agt, schedule: null, timeoutSeconds: 60, ...job })
    this.changed()
  }

  /** @returns how the job ended, once it has */
  async jobEnd(id: string): Promise<{ exit: number; output: string }> {
    await this.until(() => this.jobsEnded.has(id))
    return this.jobsEnded.get(id)!
  }

  /** Hands a message out with the next heartbeat of the turn. */
  steer(turn: string, text: string, more: Partial<Message> = {}): void {
    this.running.get(turn)?.steer.push(message(text, more))
    this.changed()
  }

  cancel(turn: string): void {
    this.running.get(turn)!.cancelled = true
    this.changed()
  }

  /** The turn ends without the worker: its lease ran out. */
  lapse(turn: string): void {
    this.running.delete(turn)
    this.changed()
  }

  /** @returns the bodies of the first `n` ends, once they are there */
  async ends(n: number): Promise<Record<string, unknown>[]> {
    await this.until(() => this.ended.size >= n)
    return [...this.ended.values()].slice(0, n)
  }

  /** @returns the running turn, once there is one */
  async turn(): Promise<string> {
    await this.until(() => this.running.size > 0)
    return [...this.running.keys()][0]!
  }

  /** Resolves when something holds, looked at after each change and, for what happens outside, every few milliseconds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.change(20)
  }

  private async claim(call: Call): Promise<Answer> {
    if (call.body.jobs === 'only') return this.claimJob(call)
    if (this.waiting.length === 0) await this.change(waitMsOf(call))
    // A caller who has hung up is handed nothing.
    if (call.gone.aborted) return { status: 204 }
    const next = this.waiting.shift()
    if (next === undefined) return { status: 204 }
    this.count += 1
    const id = `trn_${this.count}`
    this.running.set(id, { cancelled: false, steer: [] })
    this.changed()
    const turn = { id, session: ses, leaseUntil: '2026-03-27T07:00:00.000Z', mode: 'plan' }
    return { body: { turn, message: next, notes: this.notes.splice(0) } }
  }

  private async claimJob(call: Call): Promise<Answer> {
    // Messages come and go in the meantime.
    for (const until = performance.now() + waitMsOf(call); this.jobs.length === 0; ) {
      const left = until - performance.now()
      if (left <= 0 || call.gone.aborted) return { status: 204 }
      await this.change(left)
    }
    return call.gone.aborted ? { status: 204 } : { body: { job: this.jobs.shift() } }
  }

  private endJob(call: Call): Answer {
    this.jobsEnded.set(idIn(call), call.body as { exit: number; output: string })
    this.changed()
    return { body: {} }
  }

  private async heartbeat(call: Call): Promise<Answer> {
    const id = idIn(call)
    const has = () => this.running.get(id)?.cancelled !== false || this.running.get(id)!.steer.length > 0
    if (!has()) await this.change(waitMsOf(call))
    const turn = this.running.get(id)
    if (turn === undefined) return refusal(409, 'turn_not_running', `turn ${id} is not running`)
    return { body: { leaseUntil: '2026-03-27T07:00:00.000Z', cancelled: turn.cancelled, steer: turn.steer.splice(0) } }
  }

  private end(call: Call): Answer {
    const id = idIn(call)
    if (!this.running.delete(id)) return refusal(409, 'turn_not_running', `turn ${id} is not running`)
    this.ended.set(id, call.body)
    this.changed()
    return { body: { trace: null } }
  }

  private change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.listeners.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  private changed(): void {
    const { listeners } = this
    this.listeners = []
    for (const listener of listeners) listener()
  }
}

export const message = (text: string, more: Partial<Message> = {}): Message => ({
  id: 'msg_1',
  kind: 'user',
  text,
  origin: { schedule: null, run: null },
  status: 'taken',
  replyTo: null,
  at: '2026-03-27T06:48:00.000Z',
  ...more,
})

const waitMsOf = (call: Call): number => Number(call.body.wait ?? 0) * 1000
const idIn = (call: Call): string => call.path.split('/')[3]!
