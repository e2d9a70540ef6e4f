import type { Caller } from '../../shared/domain/access.ts'
import { derivedUlid } from '../../shared/domain/ids.ts'
import type { Call } from '../../shared/engine/call.ts'
import { claimJobOfAgent, endJob } from '../../shared/engine/job-claims.ts'
import { type Claimed, claimAgent, claimSession, endTurn, heartbeat } from '../../shared/engine/turns.ts'
import { type Cast, type CastAgent, callAs, type Seat } from './cast.ts'
import { type Ended, meant, type Process } from './process.ts'
import type { Simulation } from './simulation.ts'

/** A turn that somebody works on. */
export interface AtWork {
  readonly id: string
  readonly agent: CastAgent
  readonly session: string
}

/** More never waits in one place. */
const handedOutMost = 2_000

/** Who calls in a simulated world, and the workers that its bells wake. */
export class Actors {
  readonly simulation: Simulation
  readonly cast: Cast
  readonly turns: AtWork[] = []
  readonly #heard = new Map<string, { readonly at: number; readonly times: number }>()
  /** Who was handed each message. */
  readonly #handed = new Map<string, string>()
  /** Refusals by their code, and calls that came through: whether a workload means something. */
  readonly counts = new Map<string, number>()
  /** What a worker does besides, while it has a turn. */
  meanwhile: (call: Call) => Promise<void> = async () => {}
  isOff = false

  constructor(simulation: Simulation, cast: Cast) {
    this.simulation = simulation
    this.cast = cast
    simulation.onRing = (queue, { kind }) => {
      if (kind !== 'cancelled') this.#hear(queue, kind)
    }
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /**
   * A call of the API, made again under its key when nobody answered or the store was away, as clients do.
   *
   * @returns what it answered; null: it was refused, or given up
   */
  async call<T>(
    name: string,
    caller: Caller,
    act: (call: Call) => Promise<T>,
    more: Partial<Call> = {},
    on: Process = this.simulation.process(name),
  ): Promise<T | null> {
    const { simulation } = this
    const first = on.now()
    for (let tries = 0; ; tries++) {
      let made = 0
      const newId: Call['newId'] = (prefix) =>
        `${prefix}_${derivedUlid(first, `${simulation.options.seed} ${name} ${made++}`)}`
      const process = tries === 0 ? on : simulation.process(name, tries)
      const ended = await process.run(name, (world) =>
        act(callAs(world, caller, process.now(), { newId, repeatable: tries > 0, ...more })),
      )
      if (ended.how === 'done') return ended.value
      if (this.#isRefused(ended)) return null
      this.judge(ended, name)
      if (tries >= 3 || simulation.dice('again', name, tries) < 0.25) {
        this.count('given up')
        return null
      }
      await this.later(2_000 + simulation.dice('later', name, tries) * 30_000)
    }
  }

  #isRefused(ended: Ended<unknown>): boolean {
    if (ended.how !== 'failed' || ended.error.name !== 'Refused') return false
    this.count(`refused ${(ended.error as unknown as { code: string }).code}`)
    return true
  }

  /** Only what was made to fail may. */
  judge(ended: Ended<unknown>, name: string): void {
    if (ended.how === 'failed' && !ended.error.message.includes(meant))
      this.simulation.say(`${name} failed: ${ended.error.stack}`)
  }

  later(ms: number): Promise<void> {
    const { simulation } = this
    return new Promise((resolve) => simulation.queue.add(simulation.now + Math.ceil(ms), resolve))
  }

  /** Some rings are lost, and some workers sleep. */
  #hear(queue: string, kind: string): void {
    const { dice, now } = this.simulation
    // What rings twice at once is heard twice.
    const heard = (this.#heard.get(queue)?.at === now ? this.#heard.get(queue)!.times : 0) + 1
    this.#heard.set(queue, { at: now, times: heard })
    const name = `${queue} ${now} ${heard}`
    if (this.isOff || dice('deaf', name) < 0.05) return
    const seat = this.cast.seats.find(({ id }) => id === queue)
    const agent = seat?.agent ?? this.cast.agents.find(({ id }) => id === queue)
    if (agent === undefined) return
    const roll = dice('hears', name)
    const ms = roll < 0.85 ? roll * 20_000 : roll * 1_500_000
    void this.later(ms).then(async () => {
      if (kind === 'job') await this.takeJob(agent, name)
      else await this.serve(seat ?? agent, name)
    })
  }

  /** Claims and works, until nothing is handed out. */
  async serve(place: Seat | CastAgent, name: string): Promise<void> {
    if (this.isOff) return
    const agent = 'agent' in place ? place.agent : place
    const isSteered = this.simulation.dice('steer', name) < 0.2
    const claimed = await this.call(`claim ${name}`, agent.key, (call) =>
      'agent' in place
        ? claimSession(call, place.id, { steer: isSteered, leaseSeconds: 120 })
        : claimAgent(call, place.id, {}),
    )
    if (claimed === null) return
    const turn = this.took(claimed, agent)
    if (turn !== null) await this.#work(turn, claimed.message.id, place)
  }

  /** Notes what was handed out: nothing is, twice. */
  took(claimed: Claimed, agent: CastAgent): AtWork | null {
    this.handedOut(claimed.message.id, claimed.turn?.id ?? 'steered')
    if (claimed.turn === null) return null
    const turn = { id: claimed.turn.id, agent, session: claimed.turn.session }
    this.turns.push(turn)
    return turn
  }

  handedOut(message: string, turn: string): void {
    this.count('handed out')
    const before = this.#handed.get(message)
    if (before !== undefined) this.simulation.say(`message ${message} was handed out twice: to ${before} and ${turn}`)
    this.#handed.set(message, turn)
  }

  async #work(turn: AtWork, message: string, place: Seat | CastAgent): Promise<void> {
    const { dice } = this.simulation
    const fate = dice('fate', message)
    // One in fifteen is never heard of again: its lease runs out.
    if (fate < 0.07) return this.count('died')
    await this.later(dice('takes', message) ** 3 * 150_000)
    if (dice('beats', message) < 0.2) {
      const beat = await this.call(`beat ${message}`, turn.agent.key, (call) => heartbeat(call, turn.id))
      for (const { id } of beat?.steer ?? []) this.handedOut(id, turn.id)
      await this.later(dice('takes more', message) * 60_000)
    }
    if (dice('acts', message) < 0.3)
      await this.call(`acts ${message}`, turn.agent.key, async (call) => await this.meanwhile(call), {
        session: turn.session,
        turn: turn.id,
      })
    await this.end(turn, message)
    await this.later(500)
    await this.serve(place, `${message} next`)
  }

  /** Everybody claims and ends what they got, until nothing is handed out. @returns how much was */
  async serveAll(name: string): Promise<number> {
    let served = 0
    for (const turn of [...this.turns]) await this.end(turn, `${name} ${turn.id}`)
    for (const place of [...this.cast.seats, ...this.cast.agents]) {
      const agent = 'agent' in place ? place.agent : place
      for (let nth = 0; nth < handedOutMost; nth++) {
        const claimed = await this.call(`${name} ${place.id} ${nth}`, agent.key, (call) =>
          'agent' in place ? claimSession(call, place.id, {}) : claimAgent(call, place.id, {}),
        )
        if (claimed === null) break
        served += 1
        const turn = this.took(claimed, agent)
        if (turn !== null) await this.end(turn, claimed.message.id)
      }
      if ('agent' in place) continue
      for (let nth = 0; await this.takeJob(agent, `${name} ${place.id} ${nth}`); nth++) served += 1
    }
    return served
  }

  async end(turn: AtWork, name: string): Promise<void> {
    const { dice } = this.simulation
    const roll = dice('ends', name)
    const outcome = roll < 0.65 ? 'ok' : roll < 0.8 ? 'failed' : roll < 0.93 ? 'nothing_to_do' : 'blocked'
    const sleeps = dice('sleeps', name) < 0.3
    const tokens = Math.floor(dice('tokens', name) * 4_000)
    const ending = (sleep: boolean) => ({
      outcome,
      answer: roll < 0.5 ? 'Done.' : null,
      summary: null,
      tokens,
      usd: null,
      toolCalls: [],
      sleep: sleep ? { seconds: Math.floor(roll * 4_000), reason: null } : null,
    })
    await this.call(`end ${name}`, turn.agent.key, async (call) => {
      await endTurn(call, turn.id, ending(sleeps) as never).catch(async (error) => {
        if ((error as { code?: string }).code !== 'ticks_off') throw error
        await endTurn(call, turn.id, ending(false) as never)
      })
    })
    const at = this.turns.indexOf(turn)
    if (at >= 0) this.turns.splice(at, 1)
  }

  /** A job of the agent's machine: a check's script, or a step of a flow. */
  async takeJob(agent: CastAgent, name: string): Promise<boolean> {
    const secret = () => ({ key: name, prefix: 'k', sha256: this.simulation.ids.secret() })
    const handed = await this.call(`job ${name}`, agent.key, (call) => claimJobOfAgent(call, agent.id, secret as never))
    if (handed === null) return false
    const { dice } = this.simulation
    const { id } = handed.job
    this.count('jobs')
    if (!this.isOff && dice('job dies', id) < 0.1) return true
    if (!this.isOff) await this.later(dice('job takes', id) * 50_000)
    const roll = dice('job ends', id)
    const result = { exit: roll < 0.2 ? 1 : 0, output: roll < 0.6 ? 'something' : '' }
    await this.call(`job end ${id}`, agent.key, (call) => endJob(call, id, result))
    return true
  }
}
