import { random } from './chance.ts'

/**
 * What somebody does, and when. Plain numbers that pick among what there is at that moment, so that a history can be kept, repeated, and
 * made shorter: a step that is left out changes no other.
 */
export interface Step {
  /** Its place in the history as it was drawn. */
  readonly n: number
  /** Ms after the start. */
  readonly at: number
  readonly do: Deed
  readonly picks: readonly number[]
}

export type Deed = keyof typeof weights

/** How often each is done, of all that is done. */
const weights = {
  create: 14,
  createByAgent: 7,
  createPlain: 5,
  createFlow: 3,
  createTrigger: 4,
  fill: 0.4,
  edit: 9,
  pause: 4,
  resume: 5,
  remove: 2,
  run: 5,
  backfill: 2,
  send: 9,
  sendByAgent: 6,
  sendMany: 1.2,
  claim: 5,
  claimFresh: 3,
  beat: 3,
  end: 3,
  cancel: 2,
  editSession: 6,
  work: 5,
  leave: 3,
  compact: 3,
  fork: 1,
  archive: 1,
  deleteSession: 0.6,
  openSession: 2,
  arm: 9,
  armMany: 0.5,
  disarm: 2,
  document: 12,
  removeDocument: 2,
  changeTool: 0.7,
  runFlow: 3,
  card: 6,
  park: 1,
  setting: 1.5,
  budget: 2,
  editAgent: 2,
  deleteAgent: 0.25,
  stranger: 3,
  both: 4,
  down: 1.2,
  restart: 2,
  back: 0.7,
} as const

export interface History {
  readonly seed: number
  readonly start: string
  readonly cloud: boolean
  readonly shards: number
  readonly skewMs: number
  readonly faultRate: number
  readonly steps: readonly Step[]
}

/** Days on which clocks change somewhere, and one on which none does. */
const starts = [
  '2026-03-28T12:00:00Z',
  '2026-03-07T22:00:00Z',
  '2026-10-24T14:00:00Z',
  '2026-04-04T04:00:00Z',
  '2026-09-05T20:00:00Z',
  '2026-06-09T20:00:00Z',
  '2026-12-31T10:00:00Z',
]

const stepsLeast = 200
const picksPerStep = 8

/** Draws a history: what kind of deployment, and what people, agents and workers do in it. */
export function drawn(seed: number): History {
  const chance = random(seed)
  const pick = <T>(of: readonly T[]): T => of[chance.upTo(of.length)]!
  const deeds = Object.entries(weights) as [Deed, number][]
  // Each history does some things more than others.
  const weighed = deeds.map(([deed, weight]) => [deed, weight * pick([0.2, 1, 1, 1, 4])] as const)
  const whole = weighed.reduce((sum, [, weight]) => sum + weight, 0)
  const start = pick(starts)
  const cloud = chance.one(2)
  const meanMs = pick([60_000, 100_000, 150_000, 240_000])
  const steps: Step[] = []
  let at = 1_000
  for (let n = 0; n < stepsLeast + chance.upTo(41); n++) {
    at += Math.min(chance.around(meanMs), 4 * 3_600_000)
    let roll = (chance.upTo(1_000_000) / 1_000_000) * whole
    const drawnOf = (): Deed => {
      for (const [deed, weight] of weighed) {
        roll -= weight
        if (roll < 0) return deed
      }
      return 'create'
    }
    const deed = n < 8 ? 'create' : drawnOf()
    const picks = Array.from({ length: picksPerStep }, () => chance.upTo(1_000))
    steps.push({ n, at, do: deed, picks })
  }
  return {
    seed,
    start,
    cloud,
    shards: cloud ? pick([1, 2, 4]) : 1,
    skewMs: cloud ? pick([0, 0, 400]) : 0,
    faultRate: pick([0, 0.003, 0.01, 0.03]),
    steps,
  }
}
