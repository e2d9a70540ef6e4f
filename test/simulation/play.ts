import { parseInstant } from '../../shared/time/index.ts'
import { Actors } from './actors.ts'
import { Books } from './books.ts'
import { gather } from './cast.ts'
import { Deeds } from './deeds.ts'
import type { FaultAt } from './faults.ts'
import { type Plain, plainOf } from './pair.ts'
import { Rest } from './rest.ts'
import { Rules } from './rules.ts'
import { Simulation } from './simulation.ts'
import type { History } from './steps.ts'
import { timed } from './table.ts'

/** Each end of a backfill's run brings the next, and each step of a flow the one behind it. */
const roundsMost = 300

export interface Played {
  /** What must not be; empty: everything held. */
  readonly found: readonly string[]
  readonly faults: readonly FaultAt[]
  readonly counts: ReadonlyMap<string, number>
  readonly events: number
  /** The schedules that nobody touched, as they were when the last step was done. */
  readonly plain: ReadonlyMap<string, Plain>
}

/** Plays a history to its end, and looks whether everything held, on the way and at rest. */
export async function play(history: History, only: readonly FaultAt[] | null = null): Promise<Played> {
  const start = parseInstant(history.start)!
  const simulation = new Simulation({ ...history, start, only })
  const books = new Books()
  const rules = new Rules(
    books,
    () => simulation.clocksApartMs,
    (what) => simulation.say(what),
  )
  simulation.table.onCommit = (changes) => {
    const process = simulation.committing!
    rules.see(books.read(changes, process.now(), process.since))
    simulation.streamed(changes)
  }
  return await simulation.controlled(async () => {
    simulation.committing = simulation.processes[0]!
    const cast = await gather(simulation.processes[0]!.world, start)
    const actors = new Actors(simulation, cast)
    const deeds = new Deeds(actors, books)
    simulation.faults.isOn = true
    simulation.sweeping()
    for (const step of history.steps) {
      await simulation.until(start + step.at)
      if (simulation.found.length > 0) break
      if (step.do === 'down') {
        await simulation.down((step.picks[0]! % 300) * 60_000)
        continue
      }
      void deeds.take(step)
      await simulation.until(simulation.now)
    }
    if (simulation.found.length === 0) await rest(simulation, actors, new Rest(simulation, books, rules))
    const { found, faults, events } = simulation
    const plain = plainOf(books, deeds.plain, start + (history.steps.at(-1)?.at ?? 0))
    return { found, faults: faults.happened, counts: actors.counts, events, plain }
  })
}

/** Nothing goes wrong any more and nobody does anything: what was due is done. Then workers come back, and what waited is worked on. */
async function rest(simulation: Simulation, actors: Actors, rest: Rest): Promise<void> {
  const { faults, outside, processes } = simulation
  faults.isOn = false
  outside.isCalm = true
  actors.isOff = true
  for (const process of processes) process.restart()
  // What is on its way comes, slow calls included; then the sweeps.
  await simulation.until(simulation.now + 150_000)
  await settled(simulation)
  rest.check()
  if (simulation.found.length > 0) return
  await emptied(simulation, actors)
  await settled(simulation)
  rest.check()
}

/** Sweeps until one finds nothing more: what it does may make something else due. */
async function settled(simulation: Simulation): Promise<void> {
  for (let sweeps = 0; sweeps < 300; sweeps++) {
    simulation.table.catchUp()
    if (sweeps > 1 && simulation.table.earliest(timed) > simulation.now) return
    void simulation.sweep(`rest ${sweeps} ${simulation.now}`)
    // Where flows have a function of their own, the sweep only wakes it.
    await simulation.until(simulation.now + 3_000)
  }
}

/** Whoever may be served is, until nothing is handed out. */
async function emptied(simulation: Simulation, actors: Actors): Promise<void> {
  const { table } = simulation
  for (let round = 0; round < roundsMost; round++) {
    let served = 0
    table.catchUp()
    const serving = actors.serveAll(`rest ${round}`).then((count) => (served = count))
    await simulation.until(simulation.now + 500)
    await serving
    if (served === 0) return
    await settled(simulation)
  }
  simulation.say('at rest: the inbox never becomes empty')
}
