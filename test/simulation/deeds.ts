import type { Caller } from '../../shared/domain/access.ts'
import { deleteAgent, editAgent, editSettings } from '../../shared/engine/agents.ts'
import { setOwnBudget } from '../../shared/engine/budget-calls.ts'
import type { Call } from '../../shared/engine/call.ts'
import { putDocument, removeDocument } from '../../shared/engine/documents.ts'
import { actOnCard } from '../../shared/engine/feed.ts'
import { listCards } from '../../shared/engine/feed-list.ts'
import { runFlow } from '../../shared/engine/flow-runs.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { armMonitor, cancelMonitor } from '../../shared/engine/monitors.ts'
import { backfill, runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule, resumeSchedule } from '../../shared/engine/schedule-edit.ts'
import { removeSchedule, requestSchedule, type ScheduleInput } from '../../shared/engine/schedules.ts'
import {
  archiveSession,
  compactSession,
  createSession,
  deleteSession,
  editSession,
  forkSession,
  type SessionPatch,
  setLeft,
} from '../../shared/engine/sessions.ts'
import { parkTicks } from '../../shared/engine/tick-calls.ts'
import { putTool } from '../../shared/engine/tools.ts'
import { createTrigger } from '../../shared/engine/triggers.ts'
import { cancelTurn, heartbeat } from '../../shared/engine/turns.ts'
import type { Actors } from './actors.ts'
import type { Books } from './books.ts'
import { type CastAgent, type Seat, tool } from './cast.ts'
import { checkOf, monitorOf, type Pick, patchOf, paths, policyOf, timeOf, triggerOf } from './inputs.ts'
import type { Deed, Step } from './steps.ts'

const always = { ifMatch: null, ifNoneMatch: null }
const everything = { group: null, label: null, status: null }
const deedsInBoth = [
  'edit',
  'pause',
  'resume',
  'remove',
  'run',
  'send',
  'claim',
  'claimFresh',
  'archive',
  'compact',
  'create',
  'document',
  'arm',
  'backfill',
  'leave',
  'card',
] as const

/** Does what steps say, by the engine's calls as the API makes them. */
export class Deeds {
  readonly #actors: Actors
  readonly #books: Books
  /** Schedules that nobody touches: their slots are the same whatever goes wrong. */
  readonly plain = new Set<string>()

  constructor(actors: Actors, books: Books) {
    this.#actors = actors
    this.#books = books
    actors.meanwhile = (call) => this.#inTurn(call)
  }

  async take(step: Step): Promise<void> {
    await this.#do(step.do, `step ${step.n}`, pickOf(this.#actors, step))
  }

  async #do(deed: Deed, name: string, pick: Pick): Promise<void> {
    const actors = this.#actors
    const { simulation, cast } = actors
    const seat = cast.seats[pick(cast.seats.length)]!
    const { agent } = seat
    const caller = agent.users[pick(agent.users.length)]!
    const now = simulation.now
    const as = <T>(who: Caller, act: (call: Call) => Promise<T>, more: Partial<Call> = {}): Promise<T | null> =>
      actors.call(name, who, act, more)
    const acting = { session: seat.id }
    const named = { name: `Walk ${name}`, prompt: 'Look.' }
    const schedule = (): string => nth([...this.#books.cursors.keys()], pick)
    switch (deed) {
      case 'create': {
        const target = pick(4) === 0 ? { agent: agent.id } : { session: seat.id }
        const channel = pick(5) === 0 ? { channel: other(cast.seats, seat, pick).id } : {}
        const input = {
          ...named,
          ...target,
          ...channel,
          ...timeOf(pick, now),
          ...policyOf(pick, now),
          ...checkOf(pick),
        }
        return void (await as(caller, (call) => requestSchedule(call, input)))
      }
      case 'createPlain': {
        // Fresh sessions stand in nobody's way, and nothing else is to be asked.
        const input: ScheduleInput = { ...named, agent: agent.id, overlap: 'allow', ...timeOf(pick, now) }
        const made = await as(agent.owner, (call) => requestSchedule(call, input))
        if (made !== null && 'made' in made) this.plain.add(made.made.cursor.item.id)
        return
      }
      case 'createByAgent': {
        const to = pick(3) === 0 ? seat : other(cast.seats, seat, pick)
        const input = { ...named, session: to.id, ...timeOf(pick, now), ...policyOf(pick, now) }
        return void (await as(agent.key, (call) => requestSchedule(call, input), acting))
      }
      case 'createFlow': {
        const flow = ['shopping', 'mixed'][pick(2)]!
        const every = ['1m', '5m', '20m', '1h'][pick(4)]!
        const overlap = (['skip', 'buffer', 'allow', 'cancel'] as const)[pick(4)]!
        const input = { name: named.name, flow, agent: cast.agents[0]!.id, every, overlap, maxRuns: pick(12) + 1 }
        return void (await as(cast.agents[0]!.owner, (call) => requestSchedule(call, input)))
      }
      case 'createTrigger': {
        const target = pick(3) === 0 ? { agent: agent.id } : { session: seat.id }
        const input = { ...triggerOf(pick, now), ...target }
        const hook = () => ({ token: name, sha256: name, secret: name })
        return void (await as(agent.owner, (call) => createTrigger(call, input, hook)))
      }
      case 'fill': {
        // More than fit, at once.
        const from = other(cast.seats, seat, pick)
        await Promise.all(
          Array.from({ length: 24 }, (_, n) =>
            actors.call(
              `${name} ${n}`,
              pick(2) === 0 ? caller : from.agent.key,
              (call) => requestSchedule(call, { ...named, session: seat.id, cron: '0 9 1 * *' }),
              { session: from.id },
            ),
          ),
        )
        return
      }
      case 'edit': {
        const moved = [{}, {}, {}, { session: seat.id }, { agent: agent.id }][pick(5)]!
        const patch = { ...patchOf(pick, now), ...moved }
        const id = this.#touched(schedule())
        return void (await as(this.#userOf(id), (call) => editSchedule(call, id, patch, null)))
      }
      case 'pause':
      case 'resume':
      case 'run':
      case 'remove': {
        const id = this.#touched(schedule())
        const act = {
          pause: (call: Call) => pauseSchedule(call, id, null),
          resume: (call: Call) => resumeSchedule(call, id),
          run: (call: Call) => runNow(call, id),
          remove: (call: Call) => removeSchedule(call, id),
        }[deed]
        return void (await as<unknown>(this.#userOf(id), act))
      }
      case 'backfill': {
        const id = this.#touched(schedule())
        const from = new Date(now - (pick(6) + 1) * 3_600_000).toISOString()
        return void (await as(this.#userOf(id), (call) =>
          backfill(call, id, { from, to: new Date(call.now).toISOString() }),
        ))
      }
      case 'send':
        return void (await as(caller, (call) => sendMessage(call, seat.id, 'a word')))
      case 'sendByAgent': {
        const to = other(cast.seats, seat, pick)
        return void (await as(agent.key, (call) => sendMessage(call, to.id, 'a prompt'), pick(6) === 0 ? {} : acting))
      }
      case 'sendMany': {
        const to = other(cast.seats, seat, pick)
        await Promise.all(
          Array.from({ length: 33 }, (_, n) =>
            actors.call(`${name} ${n}`, agent.key, (call) => sendMessage(call, to.id, 'a prompt'), acting),
          ),
        )
        return
      }
      case 'claim':
        return await actors.serve(seat, name)
      case 'claimFresh':
        return await actors.serve(agent, name)
      case 'beat':
      case 'end':
      case 'cancel': {
        const turn = actors.turns[pick(Math.max(1, actors.turns.length))]
        if (turn === undefined) return
        if (deed === 'end') return await actors.end(turn, name)
        if (deed === 'cancel') return void (await as(turn.agent.owner, (call) => cancelTurn(call, turn.id)))
        const beat = await as(turn.agent.key, (call) => heartbeat(call, turn.id))
        for (const { id } of beat?.steer ?? []) actors.handedOut(id, turn.id)
        return
      }
      case 'editSession': {
        const patch = (
          [
            { mode: 'ask' },
            { mode: 'agent' },
            { permission: 'manual' },
            { permission: 'auto' },
            { goal: 'ship' },
            { pendingRequests: 1 },
            { compacting: true },
            { paused: true },
          ] as SessionPatch[]
        )[pick(8)]!
        return void (await as(agent.owner, (call) => editSession(call, seat.id, patch)))
      }
      case 'work': {
        // Back to work: whatever stood in the way is taken out of it.
        const patch = {
          paused: false,
          compacting: false,
          goal: null,
          pendingRequests: 0,
          workerConnected: pick(5) > 0,
          checks: pick(6) > 0,
          mode: 'agent' as const,
        }
        await actors.call(`${name} joins`, agent.owner, (call) => setLeft(call, seat.id, false))
        return void (await as(agent.owner, (call) => editSession(call, seat.id, patch)))
      }
      case 'leave':
        return void (await as(agent.owner, (call) => setLeft(call, seat.id, pick(2) === 0)))
      case 'compact': {
        const next = await as(caller, (call) => compactSession(call, seat.id))
        if (next !== null) seat.id = next.row.id
        return
      }
      case 'fork': {
        const made = await as(caller, (call) => forkSession(call, seat.id))
        if (made !== null) cast.seats.push({ id: made.row.id, agent })
        return
      }
      case 'archive':
      case 'deleteSession': {
        // The first of each agent stays, so that a history does not end with it.
        if (cast.seats.indexOf(seat) < 2 * cast.agents.length && cast.seats.indexOf(seat) % 2 === 0) return
        const close = async (call: Call): Promise<void> => {
          if (deed === 'archive') await archiveSession(call, seat.id)
          else await deleteSession(call, seat.id)
        }
        await as(caller, close)
        const opened = await actors.call(`${name} opens`, agent.owner, (call) =>
          createSession(call, { agent: agent.id, main: false }),
        )
        if (opened !== null) cast.seats.push({ id: opened.row.id, agent })
        return
      }
      case 'openSession': {
        const parent = pick(2) === 0 ? seat.id : null
        const made = await as(pick(2) === 0 ? caller : agent.key, (call) =>
          createSession(call, { agent: agent.id, main: false, parent }),
        )
        if (made !== null) cast.seats.push({ id: made.row.id, agent })
        return
      }
      case 'arm': {
        const input = { ...monitorOf(pick, now), session: seat.id }
        const byAgent = pick(2) === 0
        return void (await as(
          byAgent ? agent.key : agent.owner,
          (call) => armMonitor(call, input),
          byAgent ? acting : {},
        ))
      }
      case 'armMany': {
        // More than fit, and more than may fire in a day.
        const path = paths[pick(2)]!
        for (let round = 0; round < 2; round++) {
          await Promise.all(
            Array.from({ length: 13 }, (_, n) =>
              actors.call(`${name} ${round} ${n}`, agent.owner, (call) =>
                armMonitor(call, { session: seat.id, note: 'x', watch: { document: { path } }, expiresIn: '7d' }),
              ),
            ),
          )
          await this.#put(agent.owner, path, `${name} ${round}`, pick)
        }
        return
      }
      case 'disarm': {
        const id = nth([...this.#books.monitors.keys()], pick)
        return void (await as(this.#agentOf(this.#books.monitors.get(id)?.agent).owner, (call) =>
          cancelMonitor(call, id),
        ))
      }
      case 'document':
        return await this.#put(caller, paths[pick(paths.length)]!, name, pick)
      case 'removeDocument':
        return void (await as(caller, (call) => removeDocument(call, paths[pick(paths.length)]!, always)))
      case 'changeTool': {
        const changed =
          pick(2) === 0 ? tool('GET', true, String(pick(3))) : { ...tool('GET', true), description: 'Other words.' }
        return void (await as(agent.owner, (call) => putTool(call, agent.id, 'rate', changed)))
      }
      case 'runFlow':
        return void (await as(cast.agents[0]!.owner, (call) =>
          runFlow(call, cast.agents[0]!.id, ['shopping', 'mixed'][pick(2)]!),
        ))
      case 'card':
        return await this.#actOnCard(agent.owner, name, pick)
      case 'park':
        return void (await as(caller, (call) => parkTicks(call, seat.id)))
      case 'setting':
        return void (await as(caller, (call) => editSettings(call, { agentSessions: pick(4) > 0 })))
      case 'budget': {
        const most = [null, 3, 9, 30][pick(4)]!
        return void (await as(agent.owner, (call) => setOwnBudget(call, { wakesPerDay: most })))
      }
      case 'editAgent': {
        const patch = [
          { budget: { wakesPerDay: 6 } },
          { budget: {} },
          { proactive: { enabled: false } },
          { proactive: {} },
          { autoApprove: ['rate'] },
          { autoApprove: ['rate', 'buy', 'shell'] },
        ][pick(6)]!
        return void (await as(agent.owner, (call) => editAgent(call, agent.id, patch as never)))
      }
      case 'deleteAgent':
        // The first one stays.
        if (agent === cast.agents[0]) return
        return void (await as(agent.owner, (call) => deleteAgent(call, agent.id)))
      case 'stranger':
        return await this.#stranger(seat, name, pick, schedule)
      case 'both': {
        const two = [0, 1].map((n) => [deedsInBoth[pick(deedsInBoth.length)]!, `${name} ${n}`] as const)
        await Promise.all(two.map(([one, its]) => this.#do(one, its, pick)))
        return
      }
      case 'restart':
        return simulation.process(name).restart()
      case 'back':
        return simulation.setBack((pick(25) + 1) * 1_000)
      case 'down':
        // Done by whoever plays the history: no time passes in a step.
        return
    }
  }

  async #put(who: Caller, path: string, name: string, pick: Pick): Promise<void> {
    const body = bodyOf(name, pick)
    await this.#actors.call(`${name} puts`, who, (call) => putDocument(call, path, body, always))
  }

  async #actOnCard(who: Caller, name: string, pick: Pick): Promise<void> {
    const page = await this.#actors.call(`${name} looks`, who, (call) =>
      listCards(call, everything, { limit: 50, after: null }),
    )
    const open = page?.items.filter(({ card }) => card.status === 'open') ?? []
    const found = open[pick(Math.max(1, open.length))]?.card
    if (found === undefined) return
    const actions = {
      approval: ['allow', 'deny'],
      incident: ['run-now', 'dismiss'],
      notice: ['dismiss'],
      post: ['dismiss'],
    } as const
    const of = actions[found.kind]
    const action = of[pick(of.length)]!
    const acted = await this.#actors.call(name, who, (call) => actOnCard(call, found.id, action))
    if (acted !== null) this.#actors.count(action)
  }

  /** Nothing of somebody else's agent answers to a stranger, admins included. */
  async #stranger(seat: Seat, name: string, pick: Pick, schedule: () => string): Promise<void> {
    const { strangers } = this.#actors.cast
    const who = strangers[pick(strangers.length)]!
    const id = schedule()
    const acts: readonly ((call: Call) => Promise<unknown>)[] = [
      (call) => sendMessage(call, seat.id, 'hello'),
      (call) => requestSchedule(call, { name: 'x', prompt: 'x', session: seat.id, every: '1h' }),
      (call) => pauseSchedule(call, id, null),
      (call) => removeSchedule(call, id),
      (call) => runNow(call, id),
      (call) => archiveSession(call, seat.id),
      (call) => armMonitor(call, { session: seat.id, note: 'x', watch: { time: { in: '1h' } } }),
    ]
    const act = acts[pick(acts.length)]!
    const done = await this.#actors.call(name, who, async (call) => {
      await act(call)
      return true
    })
    if (done === true) this.#actors.simulation.say(`${name}: a stranger was let in: ${act}`)
  }

  /** What an agent does while it has a turn. */
  async #inTurn(call: Call): Promise<void> {
    const { simulation, cast } = this.#actors
    let rolls = 0
    const pick: Pick = (upTo) => Math.floor(simulation.dice('in turn', call.turn!, rolls++) * upTo)
    const to = cast.seats[pick(cast.seats.length)]!
    const now = call.now
    switch (pick(4)) {
      case 0:
        return void (await sendMessage(call, to.id, 'a prompt'))
      case 1:
        return void (await requestSchedule(call, {
          name: 'Later',
          prompt: 'Look.',
          session: to.id,
          ...timeOf(pick, now),
          ...policyOf(pick, now),
        }))
      case 2:
        return void (await armMonitor(call, { ...monitorOf(pick, now), session: call.session! }))
      default:
        return void (await putDocument(call, paths[pick(paths.length)]!, bodyOf(call.turn!, pick), always))
    }
  }

  #touched(id: string): string {
    this.plain.delete(id)
    return id
  }

  #userOf(schedule: string): Caller {
    return this.#agentOf(this.#books.cursors.get(schedule)?.agent).owner
  }

  #agentOf(id: string | undefined): CastAgent {
    const { agents } = this.#actors.cast
    return agents.find((agent) => agent.id === id) ?? agents[0]!
  }
}

const bodyOf = (by: string, pick: Pick) => ({
  type: 'json' as const,
  media: 'application/json',
  text: JSON.stringify({ value: pick(10), by }),
})

const nth = (all: readonly string[], pick: Pick): string => all[pick(Math.max(1, all.length))] ?? ''
const other = (seats: readonly Seat[], not: Seat, pick: Pick): Seat => {
  const rest = seats.filter((seat) => seat !== not)
  return rest[pick(rest.length)]!
}

/** The step's own numbers, then what follows from its place. */
function pickOf(actors: Actors, { n, picks }: Step): Pick {
  let used = 0
  return (upTo) => {
    const nth = used++
    const number = picks[nth] ?? Math.floor(actors.simulation.dice('pick', n, nth) * 1_000)
    return number % Math.max(1, upTo)
  }
}
