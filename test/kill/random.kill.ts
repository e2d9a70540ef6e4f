import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { type Json, RouseNode } from '../journeys/node.ts'
import { dice } from './dice.ts'
import { inParallel } from './herd.ts'

const kills = 200

/** A call with an idempotency key: repeated after each death until it is answered, as an honest client would. */
interface Wanted {
  readonly kind: 'send' | 'schedule'
  readonly key: string
  readonly session: string
  readonly at: string
  /** Its time had passed before the call got through, or too many wait there: then it may be there, and need not. */
  isRefused: boolean
  isAnswered: boolean
}

describe('a node killed with -9 under load, at random', () => {
  const node = new RouseNode()
  afterAll(() => node.remove())
  const start = () => node.start({ env: { ROUSE_RATE_LIMIT: 'off' } })

  it('loses nothing that was answered and doubles nothing, two hundred times over', async () => {
    const by = dice(20261130)
    await start()
    const agent = (await node.ok('POST', '/v1/agents', { name: 'assistant' })).id
    const sessions: string[] = []
    for (let i = 0; i < 24; i++) sessions.push((await node.ok('POST', '/v1/sessions', { agent })).id)
    const wanted: Wanted[] = []
    /** Turns whose end was answered. */
    const ended = new Set<string>()
    let deaths = 0
    let cutOff = 0

    const ask = async (want: Wanted): Promise<void> => {
      const headers = { 'idempotency-key': want.key }
      const { session, key } = want
      const answer =
        want.kind === 'send'
          ? await node.call('POST', `/v1/sessions/${session}/messages`, { text: key }, { headers })
          : await node.call('POST', '/v1/schedules', { name: key, session, prompt: key, at: want.at }, { headers })
      // The same call may still be under way in the store of the process before: then it is asked again.
      if (answer.status === 409 && answer.body.code === 'idempotency_in_flight') return
      want.isRefused = ['schedule_invalid', 'schedule_limit'].includes(answer.body.code)
      if (answer.status >= 300 && !want.isRefused)
        throw new Error(
          `${want.kind} answered ${answer.status} ${JSON.stringify(answer.body)}; the node said:\n${node.said.slice(-2000)}`,
        )
      want.isAnswered = true
    }

    const work = async (session: string): Promise<void> => {
      const claimed = await node.call('POST', `/v1/sessions/${session}/claim`, { wait: 0 })
      if (claimed.status !== 200) return
      const { turn, message } = claimed.body
      const end = await node.call('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: `did ${message.id}` })
      if (end.status < 300) ended.add(turn.id)
    }

    /** Goes on until the process dies under it. */
    const load = async (): Promise<void> => {
      for (;;) {
        const left = wanted.filter((want) => !want.isAnswered)
        const next = left[by.below(left.length || 1)]
        try {
          if (next !== undefined && by.below(2) === 0) await ask(next)
          else if (by.below(3) === 0) await work(sessions[by.below(sessions.length)]!)
          else {
            const kind = by.below(2) === 0 ? 'send' : 'schedule'
            const at = new Date(Date.now() + by.below(5000)).toISOString()
            const session = sessions[by.below(sessions.length)]!
            wanted.push({ kind, key: `w${wanted.length}`, session, at, isRefused: false, isAnswered: false })
          }
        } catch (error) {
          if (!(error instanceof TypeError)) throw error
          cutOff += 1
          return
        }
      }
    }

    while (deaths < kills) {
      const running = Promise.all(Array.from({ length: 6 }, load))
      await sleep(by.below(400))
      await node.stop('SIGKILL')
      await running
      deaths += 1
      await start()
    }
    // The rest without a death.
    const until = Date.now() + 120_000
    for (const want of wanted) {
      // A call that died with its process counts as under way for a minute.
      for (; !want.isAnswered && Date.now() < until; await sleep(want.isAnswered ? 0 : 500)) await ask(want)
    }
    expect(wanted.filter((want) => !want.isAnswered)).toEqual([])
    // Calls that were cut off are what this is about.
    expect(cutOff).toBeGreaterThan(kills)

    const everything = async () =>
      (await inParallel(sessions, 4, (session) => all(`/v1/sessions/${session}/messages`))).flat()
    const all = async (path: string): Promise<Json[]> => {
      const rows: Json[] = []
      for (let cursor = ''; ; ) {
        const page = await node.ok('GET', `${path}?limit=100${cursor}`)
        rows.push(...page.data)
        if (page.nextCursor === null) return rows
        cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
      }
    }
    const scheduled = wanted.filter(({ kind, isRefused }) => kind === 'schedule' && !isRefused).map(({ key }) => key)
    const refused = new Set(wanted.filter(({ isRefused }) => isRefused).map(({ key }) => key))
    for (let tries = 0; tries < 100; tries++) {
      const fired = (await everything()).filter((message) => message.kind === 'schedule')
      if (fired.length >= scheduled.length) break
      await sleep(200)
    }
    const messages = await everything()
    const texts = (kind: string) =>
      messages.filter((message) => message.kind === kind).map((message) => /w\d+$/.exec(message.text)![0])
    const sent = wanted.filter(({ kind }) => kind === 'send').map(({ key }) => key)
    expect(texts('user').sort()).toEqual([...sent].sort())
    const fired = texts('schedule')
    expect(new Set(fired).size).toBe(fired.length)
    expect(fired.filter((key) => !refused.has(key)).sort()).toEqual([...scheduled].sort())
    const schedules = (await all('/v1/schedules')).map(({ name }) => name)
    expect(schedules.filter((name) => scheduled.includes(name)).sort()).toEqual([...scheduled].sort())
    const answers = messages.filter((message) => message.kind === 'answer').map((message) => message.text)
    // One end, one answer; what was answered with an end is there.
    expect(new Set(answers).size).toBe(answers.length)
    expect(answers.length).toBeGreaterThanOrEqual(ended.size)
  }, 1_100_000)
})
