import { arrivals, Cloud } from './cloud.ts'
import type { Journey, Place } from './journeys.ts'
import type { FaultKind } from './line.ts'
import { rungIn, stateOf } from './state.ts'

/** A journey brought to right before its invocation, as often as one likes. */
export interface Trial {
  /** What was sent by the invocation that met no fault, in order. */
  readonly requests: readonly string[]
  /**
   * Every request of the invocation meets each of these faults, one at a time.
   *
   * @returns how many faults there were, and a text for each that made a difference in the end
   */
  faults(kinds: readonly FaultKind[]): Promise<Found>
  /** The invocation comes in other ways than once and in order. */
  arrivals(): Promise<Found>
}

export interface Found {
  readonly tried: number
  readonly wrong: readonly string[]
}

export async function trialOf({ prepare, act, ends, rings = false }: Journey): Promise<Trial> {
  const cloud = new Cloud()
  const place = await begun(cloud)
  const prepared = await prepare(cloud, place)
  const back = cloud.kept()
  const clean = cloud.line()
  await act(cloud, clean, place, prepared)
  await cloud.settle()
  // A bell is given up when SQS has no room for it for ten seconds: what waits stands in the inbox.
  const found = (isBusy: boolean) => [...stateOf(cloud), ...(rings && !isBusy ? rungIn(cloud) : [])]
  const expected = { quiet: found(true), loud: found(false) }

  /** @returns what is wrong in the end, or null */
  async function played(kind: FaultKind | null): Promise<string | null> {
    try {
      await cloud.settle()
    } catch (error) {
      return String(error)
    }
    const state = found(kind === 'busy')
    if (ends?.(cloud, state)) return null
    return difference(kind === 'busy' ? expected.quiet : expected.loud, state, cloud)
  }

  return {
    requests: clean.sent,
    async faults(kinds) {
      const wrong: string[] = []
      let tried = 0
      for (const kind of kinds)
        for (let at = 1; ; at++) {
          back()
          const line = cloud.line({ at, kind })
          await act(cloud, line, place, prepared)
          if (line.sent.length < at) break
          if (line.struck === null) continue
          tried += 1
          const fault = await played(kind)
          if (fault !== null) wrong.push(`${kind} at ${at}, ${line.struck}: ${fault}`)
        }
      return { tried, wrong }
    },
    async arrivals() {
      const wrong: string[] = []
      for (const arrival of arrivals) {
        back()
        await cloud.arriving(arrival, () => act(cloud, cloud.line(), place, prepared))
        const fault = await played(null)
        if (fault !== null) wrong.push(`${arrival}: ${fault}`)
      }
      return { tried: arrivals.length, wrong }
    },
  }
}

async function begun(cloud: Cloud): Promise<Place> {
  await cloud.bootstrap()
  const agent = (await cloud.ask('POST', '/v1/agents', { name: 'assistant' })).id
  const session = (await cloud.ask('POST', '/v1/sessions', { agent, title: 'Work', main: false })).id
  return { agent, session }
}

function difference(expected: readonly string[], found: readonly string[], cloud: Cloud): string | null {
  const [less, more] = [without(expected, found), without(found, expected)]
  if (less.length === 0 && more.length === 0) return null
  const said = cloud.said.filter((line) => !line.startsWith('info'))
  return ['', ...less.map((l) => `- ${l}`), ...more.map((l) => `+ ${l}`), ...said.map((l) => `  said: ${l}`)].join(
    '\n  ',
  )
}

/** What is in `all` and not, or not as often, in `those`. */
function without(all: readonly string[], those: readonly string[]): string[] {
  const left = [...those]
  return all.filter((line) => {
    const place = left.indexOf(line)
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
}
