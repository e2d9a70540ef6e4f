import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { RouseNode } from '../journeys/node.ts'

const schedulesPerRound = 1000
const perSession = 20
const rounds = 20

/** A day of the standing clock per round, so that each round's schedules are due together. */
const dayOf = (round: number, time: string): string =>
  new Date(Date.UTC(2026, 4, 1 + round)).toISOString().replace('T00:00:00.000', `T${time}`)

interface Round {
  readonly sessions: readonly string[]
  readonly schedules: readonly string[]
}

async function inParallel<T, R>(items: readonly T[], width: number, each: (item: T) => Promise<R>): Promise<R[]> {
  const out: R[] = new Array(items.length)
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let i = next++; i < items.length; i = next++) out[i] = await each(items[i]!)
    }),
  )
  return out
}

async function armed(node: RouseNode, at: string): Promise<Round> {
  const agent = (await node.ok('POST', '/v1/agents', { name: `herd ${at}` })).id
  const blanks = Array.from({ length: schedulesPerRound / perSession }, (_, i) => i)
  const sessions = await inParallel(
    blanks,
    8,
    async () => (await node.ok('POST', '/v1/sessions', { agent })).id as string,
  )
  const places = sessions.flatMap((session) => Array.from({ length: perSession }, () => session))
  const schedules = await inParallel(
    places,
    16,
    async (session) =>
      (await node.ok('POST', '/v1/schedules', { name: 'herd', session, prompt: 'go', at })).id as string,
  )
  return { sessions, schedules }
}

interface Waiting {
  readonly id: string
  readonly origin: { readonly schedule: string; readonly run: string }
}

const waitingIn = async (node: RouseNode, round: Round): Promise<Waiting[]> =>
  (
    await inParallel(
      round.sessions,
      8,
      async (id) => (await node.ok('GET', `/v1/sessions/${id}/messages?limit=100`)).data,
    )
  ).flat()

/** What the ledgers and the inboxes must say when all is done: one fired row and one message for each schedule. */
async function expectAllOnce(node: RouseNode, round: Round): Promise<void> {
  const messages = await waitingIn(node, round)
  expect(messages.map((message) => message.origin.schedule).sort()).toEqual([...round.schedules].sort())
  expect(new Set(messages.map((message) => message.id)).size).toBe(schedulesPerRound)
  // Every ledger would be a thousand calls more a round; each twentieth stands for its session.
  const sampled = messages.filter((_, i) => i % perSession === 0)
  await inParallel(sampled, 8, async (message) => {
    const { data } = await node.ok('GET', `/v1/schedules/${message.origin.schedule}/runs`)
    expect(
      data.map((row: { id: string; outcome: string; message: string }) => [row.id, row.outcome, row.message]),
    ).toEqual([[message.origin.run, 'fired', message.id]])
  })
}

describe('a node killed with -9 while 1,000 schedules fire', () => {
  const node = new RouseNode()
  afterAll(() => node.remove())

  it('loses none and doubles none, twenty times over', async () => {
    let delayMs = 40
    let inTheMiddle = 0
    for (let round = 0; round < rounds; round++) {
      await node.start({ clock: dayOf(round, '08:00:00.000') })
      const herd = await armed(node, dayOf(round, '09:00:00.000'))
      const to = dayOf(round, '10:00:00.000')
      const move = node.call('POST', '/v1/clock', { to }).catch(() => null)
      await sleep(delayMs)
      await node.stop('SIGKILL')
      await move

      await node.start({ clock: to })
      const before = (await waitingIn(node, herd)).length
      // Aim at the middle of the herd: sooner when all had left, later when none had.
      if (before === schedulesPerRound) delayMs = Math.max(1, delayMs * 0.7)
      else if (before === 0) delayMs += 8
      else inTheMiddle += 1
      await node.ok('POST', '/v1/clock', { to })
      await expectAllOnce(node, herd)
      await node.stop('SIGKILL')
    }
    // Kills before the first or after the last prompt prove little.
    expect(inTheMiddle).toBeGreaterThanOrEqual(3)
  }, 240_000)

  it('goes on by itself when its own clock runs', async () => {
    const real = new RouseNode()
    try {
      await real.start()
      // All of them have to be there by then, on a busy machine too.
      const herd = await armed(real, new Date(Date.now() + 12_000).toISOString())
      for (;;) {
        if ((await waitingIn(real, herd)).length > 0) break
        await sleep(20)
      }
      await real.stop('SIGKILL')
      await real.start()
      for (let tries = 0; tries < 200; tries++) {
        if ((await waitingIn(real, herd)).length === schedulesPerRound) break
        await sleep(50)
      }
      await expectAllOnce(real, herd)
    } finally {
      await real.remove()
    }
  }, 60_000)
})
