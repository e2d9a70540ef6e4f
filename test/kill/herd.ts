import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RouseNode } from '../journeys/node.ts'

export const schedulesPerRound = 1000
const perSession = 20

/** A day of the standing clock per round, so that each round's schedules are due together. */
const dayOf = (round: number, time: string): string =>
  new Date(Date.UTC(2026, 4, 1 + round)).toISOString().replace('T00:00:00.000', `T${time}`)

export interface Round {
  readonly sessions: readonly string[]
  readonly schedules: readonly string[]
}

export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  each: (item: T) => Promise<R>,
): Promise<R[]> {
  const out: R[] = new Array(items.length)
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let i = next++; i < items.length; i = next++) out[i] = await each(items[i]!)
    }),
  )
  return out
}

export async function armed(node: RouseNode, at: string): Promise<Round> {
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

export const waitingIn = async (node: RouseNode, round: Round): Promise<Waiting[]> =>
  (
    await inParallel(
      round.sessions,
      8,
      async (id) => (await node.ok('GET', `/v1/sessions/${id}/messages?limit=100`)).data,
    )
  ).flat()

/** What the ledgers and the inboxes must say when all is done: one fired row and one message for each schedule. */
export async function expectAllOnce(node: RouseNode, round: Round): Promise<void> {
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

/**
 * Kills a node in the middle of a herd, starts it again and looks, so many times over.
 *
 * @returns how many kills came after the first prompt and before the last one: the others prove little
 */
export async function killedInHerds(node: RouseNode, rounds: number): Promise<number> {
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
  return inTheMiddle
}
