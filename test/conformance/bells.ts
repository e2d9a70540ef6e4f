import { expect } from 'vitest'
import type { Envelope } from '../../shared/ports/world.ts'
import type { Case } from './suite.ts'

const message = () => ({ text: 'Zürich 😀', at: 1 })

const envelope = (session: string, id: string): Envelope => ({
  kind: 'message',
  session,
  agent: 'agt_1',
  id,
  message,
})

export const bellCases: readonly Case[] = [
  {
    title: 'every ring is heard at least once, whole, on its own queue',
    async run({ bell, hear }, fresh) {
      const [one, other] = [fresh('ses'), fresh('ses')]
      const [hearingOne, hearingOther] = [await hear(one), await hear(other)]
      const ids = ['msg_1', 'msg_2', 'msg_3']
      for (const id of ids) await bell.ring(one, envelope(one, id))
      await bell.ring(other, envelope(other, 'msg_4'))
      // At least once and in no order: duplicates may come, so it takes what comes until all were heard.
      const heard = new Map<string, Envelope>()
      while (heard.size < ids.length) {
        const next = await hearingOne.next()
        heard.set(next.id, next)
      }
      expect([...heard.keys()].sort()).toEqual(ids)
      const { message: said, ...first } = heard.get('msg_1')!
      expect(first).toEqual({ kind: 'message', session: one, agent: 'agt_1', id: 'msg_1' })
      expect(said()).toEqual(message())
      expect((await hearingOther.next()).id).toBe('msg_4')
    },
  },
  {
    title: 'a queue nobody hears can be rung',
    run: ({ bell }, fresh) => bell.ring(fresh('ses'), envelope('ses_1', 'msg_1')),
  },
  {
    title: 'an alarm calls at or after its time, an overdue one too, and setting it twice is harmless',
    async run({ alarms, clock, nextAlarm }) {
      const soon = clock.now() + 50
      const called = nextAlarm()
      await alarms.set({ kind: 'schedule', id: 'sch_1' }, soon)
      await alarms.set({ kind: 'schedule', id: 'sch_1' }, soon)
      expect(await called).toBeGreaterThanOrEqual(soon)
      const past = clock.now() - 60_000
      const calledAgain = nextAlarm()
      await alarms.set({ kind: 'turn', id: 'trn_1' }, past)
      expect(await calledAgain).toBeGreaterThanOrEqual(past)
    },
  },
  {
    title: 'a ulid has 26 characters, the time it was given, and sorts after the one before it',
    async run({ ids }) {
      const at = Date.UTC(2026, 10, 30)
      const made = Array.from({ length: 500 }, () => ids.ulid(at))
      expect(made).toEqual(made.toSorted())
      expect(new Set(made).size).toBe(500)
      expect(ids.ulid(at + 1) > made.at(-1)!).toBe(true)
      for (const time of [at, at - 5, at + 5]) {
        const ulid = ids.ulid(time)
        expect(ulid).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
        const digits = [...ulid.slice(0, 10)].map((c) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(c))
        expect(digits.reduce((sum, digit) => sum * 32 + digit, 0)).toBe(time)
      }
    },
  },
  {
    title: 'a secret holds 256 bits in letters and digits, and no two are alike',
    async run({ ids }) {
      const secrets = Array.from({ length: 500 }, () => ids.secret())
      for (const secret of secrets) expect(secret).toMatch(/^[0-9A-Za-z_-]{43,}$/)
      expect(new Set(secrets).size).toBe(500)
    },
  },
]
