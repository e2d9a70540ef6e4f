import { describe, expect, it } from 'vitest'
import { onAlarms } from '../../shared/engine/alarm.ts'
import { deliverDue, deliverNamed } from '../../shared/engine/deliver-due.ts'
import { listDeliveries, retryDelivery } from '../../shared/engine/deliveries.ts'
import { drain, drainWakes, nextDue } from '../../shared/engine/drain.ts'
import { endTurn } from '../../shared/engine/turns.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { AlarmKey, World } from '../../shared/ports/world.ts'
import { crashing, interrupted } from './between.ts'
import { done, ended, failing, hook, running, sentOf, shown, statuses } from './deliver-room.ts'
import { messagesOf } from './ledger.ts'
import { answered } from './outside.ts'
import { addSchedule, addSession, claim, end, hour, inRoom, minute, refusalOf, second, start } from './room.ts'

describe('tries', () => {
  it('go on until it arrives, under one id', async () => {
    await inRoom(async (room) => {
      room.outside.answer = (_, nth) => (nth < 3 ? answered(500) : answered(204))
      const id = await ended(room)
      await room.move(room.now() + hour / 2)
      expect(sentOf(room)).toHaveLength(3)
      expect(new Set(sentOf(room).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect((await shown(room, id))[0]!.sending).toEqual({
        to: hook,
        status: 'sent',
        tries: 3,
        nextAt: null,
        error: null,
      })
    })
  })

  it('end as a dead letter, which goes when asked', async () => {
    await inRoom(async (room) => {
      room.outside.answer = () => answered(503)
      const id = await ended(room)
      const run = (await addSchedule(room, { at: '2026-05-01T00:00' })).cursor.item.id
      await room.move(room.now() + 100 * hour)
      const [view] = (await shown(room, id)).slice(-1)
      expect(view!.sending).toMatchObject({
        status: 'dead',
        tries: 8,
        nextAt: null,
        error: 'hooks.example.com answered 503',
      })
      expect(await shown(room, run)).toEqual([])
      room.outside.answer = () => answered(200)
      const before = room.outside.sent.length
      await retryDelivery(room.call(), id, view!.id)
      await room.settle()
      expect(room.outside.sent.length).toBe(before + 1)
      expect(sentOf(room).at(-1)!.headers['webhook-id']).toBe(view!.id)
      expect(await refusalOf(retryDelivery(room.call(), id, view!.id))).toBe('delivery_sent')
    })
  })

  it('a refusal is final', async () => {
    await inRoom(async (room) => {
      room.outside.answer = () => answered(410)
      const id = await ended(room)
      await room.move(room.now() + 30 * minute)
      expect(room.outside.sent).toHaveLength(1)
      expect(await statuses(room, id)).toEqual(['dead'])
    })
  })

  it('each target goes its own way', async () => {
    await inRoom(async (room) => {
      const other = 'webhook:https://other.example.com/'
      room.outside.answer = (request) => ('url' in request && request.url.includes('other') ? failing() : answered(200))
      const id = await ended(room, [other, hook, 'feed:'])
      await room.settle()
      expect(await statuses(room, id)).toEqual(['waiting', 'sent', 'sent'])
      await room.move(room.now() + 5.9 * second)
      await room.move(room.now() + minute)
      expect(sentOf(room).filter(({ url }) => url.includes('hooks'))).toHaveLength(1)
      expect(sentOf(room).filter(({ url }) => url.includes('other'))).toHaveLength(3)
    })
  })

  it('the list pages through all of them, newest first, each once', async () => {
    await inRoom(async (room) => {
      const { id } = await running(room, [hook, 'feed:', 'feed:a'])
      await room.move(room.now() + hour)
      for (let n = 0; n < 3; n++) {
        await room.move(start + (n + 2) * hour)
        await end(room, await claim(room))
      }
      await room.settle()
      const whole = await shown(room, id)
      const seen: string[] = []
      let before: string | null = null
      do {
        const page: Awaited<ReturnType<typeof listDeliveries>> = await listDeliveries(room.call(), id, {
          limit: 2,
          before,
        })
        seen.push(...page.items.map((view) => view.id))
        before = page.next
      } while (before !== null)
      expect(seen).toEqual(whole.map((view) => view.id))
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.length).toBeGreaterThanOrEqual(9)
      expect([...whole].sort((a, b) => b.at - a.at)).toEqual(whole)
    })
  })
})

describe('whatever dies', () => {
  it('right after the end of the turn: the sweep sends', async () => {
    await inRoom(async (room) => {
      const { id, claimed } = await running(room)
      const dying = crashing(room, 1, 'after')
      await endTurn(room.call({ world: dying.world }), claimed!.turn!.id, done()).catch(() => {})
      expect(dying.crashed()).toBe(true)
      await room.settle()
      expect(room.outside.sent).toHaveLength(1)
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })

  it('before the end is committed: nothing is sent until it is', async () => {
    await inRoom(async (room) => {
      const { id, claimed } = await running(room)
      const dying = crashing(room, 1, 'before')
      await endTurn(room.call({ world: dying.world }), claimed!.turn!.id, done()).catch(() => {})
      await room.settle()
      expect(await shown(room, id)).toEqual([])
      await end(room, claimed)
      await room.settle()
      expect(room.outside.sent).toHaveLength(1)
    })
  })

  for (const [what, nth, when, sent] of [
    ['before a try is begun', 1, 'before', 1],
    ['after it is begun, before it leaves', 1, 'after', 1],
    ['after it left, before it is recorded', 2, 'before', 2],
    ['after it is recorded', 2, 'after', 1],
  ] as const)
    it(`${what}: it arrives, the note and the card once`, async () => {
      await inRoom(async (room) => {
        const other = await addSession(room)
        const id = await ended(room, [hook, `session:${other}`, 'feed:'])
        await room.table.catchUp()
        const dying = crashing(room, nth, when)
        await deliverDue(dying.world, room.now())
        expect(dying.crashed()).toBe(true)
        await room.move(room.now() + 2 * minute)
        expect(sentOf(room)).toHaveLength(sent)
        expect(new Set(sentOf(room).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
        expect(await statuses(room, id)).toEqual(['sent', 'sent', 'sent'])
        expect(await messagesOf(room, other.slice(4), 'W#')).toHaveLength(1)
        expect(room.errors).toEqual([])
      })
    })

  it('two senders at once send it once', async () => {
    await inRoom(async (room) => {
      const id = await ended(room, [hook, 'feed:'])
      await room.table.catchUp()
      const worlds = Array.from({ length: 8 }, () => room.through((inner) => inner))
      await Promise.all(worlds.map((world) => deliverDue(world, room.now())))
      expect(room.outside.sent).toHaveLength(1)
      expect(await statuses(room, id)).toEqual(['sent', 'sent'])
    })
  })

  it('a retry that is asked for meanwhile is not lost, nor is what the try brought', async () => {
    await inRoom(async (room) => {
      room.outside.answer = (_, nth) => (nth === 1 ? answered(410) : answered(200))
      const id = await ended(room, [hook])
      await room.settle()
      const [view] = await shown(room, id)
      const meanwhile = interrupted(room, 1, async () => await retryDelivery(room.call(), id, view!.id))
      await retryDelivery(room.call({ world: meanwhile }), id, view!.id)
      await room.settle()
      expect(room.outside.sent).toHaveLength(2)
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })

  it('a row that cannot be read stops neither the clock nor the others', async () => {
    await inRoom(async (room) => {
      const id = await ended(room)
      const broken: [string, string] = [`S#${id.slice(4)}`, 'V#00000000000000000000000000']
      await room.table.commit(
        [{ put: broken, item: { run: 'x' }, expect: 'absent', index: { deliveries: ['0', room.now()] } }],
        'broken',
      )
      await room.settle()
      await room.settle()
      expect(room.errors).toEqual([expect.stringContaining('delivery set aside')])
      expect(room.outside.sent).toHaveLength(1)
      expect(await nextDue(room.world)).toBeGreaterThan(room.now())
    })
  })

  it('a store that is away leaves it due', async () => {
    await inRoom(async (room) => {
      const id = await ended(room)
      const away = room.through(
        (inner) => ({ ...inner, find: async () => Promise.reject(new Unavailable('away')) }) as never,
      )
      expect(await deliverDue(away, room.now())).toBe(0)
      expect(await statuses(room, id)).toEqual(['waiting'])
    })
  })
})

describe('apart from wakes', () => {
  it('a slow receiver holds up no wake, and no more than so many go at once', async () => {
    await inRoom(async (room) => {
      let open = 0
      let most = 0
      let release = (): void => {}
      const released = new Promise<void>((done) => {
        release = done
      })
      room.outside.answer = async () => {
        most = Math.max(most, ++open)
        await released
        open -= 1
        return answered(200)
      }
      for (let n = 0; n < 40; n++) {
        const session = await addSession(room)
        await addSchedule(room, { session, at: '2026-03-01T01:00', deliver: [hook] })
        await room.move(room.now())
      }
      await room.move(start + hour)
      for (const { queue } of [...room.rings]) {
        const claimed = await claim(room, queue)
        if (claimed !== null) await end(room, claimed)
      }
      await room.table.catchUp()
      const sending = deliverDue(room.world, room.now())
      const late = (await addSchedule(room, { every: '1h' })).cursor.item.id
      room.jump(start + 2 * hour)
      await room.table.catchUp()
      await drainWakes(room.world, room.now())
      expect((await claim(room))?.message.origin.schedule).toBe(late)
      expect(most).toBeLessThanOrEqual(32)
      release()
      await sending
      expect(room.outside.sent).toHaveLength(40)
      expect(most).toBe(32)
    })
  })

  it('tries are begun within the time that a drain has', async () => {
    await inRoom(async (room) => {
      await ended(room)
      await room.table.catchUp()
      await drain(room.world, room.now(), -1)
      expect(room.outside.sent).toEqual([])
      await drain(room.world, room.now())
      expect(room.outside.sent).toHaveLength(1)
    })
  })

  it('an alarm names what it sends; early, late, twice or for nothing does no harm', async () => {
    await inRoom(async (room) => {
      const set: { key: AlarmKey; at: number }[] = []
      const world: World = { ...room.world, alarms: { set: async (key, at) => void set.push({ key, at }) } }
      const { id, claimed } = await running(room)
      room.outside.answer = (_, nth) => (nth === 1 ? answered(500) : answered(200))
      await endTurn(room.call({ world }), claimed!.turn!.id, done())
      const [alarm] = set.filter(({ key }) => key.kind === 'delivery')
      expect(alarm).toMatchObject({ at: room.now() })
      expect(alarm!.key.id).toMatch(/^\w{26}\.\w{26}$/)
      await onAlarms(world, [alarm!.key, alarm!.key], room.now())
      expect(room.outside.sent).toHaveLength(1)
      // Early: it is set anew for the time that the try waits for.
      await onAlarms(world, [alarm!.key], room.now())
      const nextAt = (await shown(room, id))[0]!.sending.nextAt!
      expect(set.slice(-2).map(({ at }) => at)).toEqual([nextAt, nextAt])
      room.jump(nextAt)
      await onAlarms(world, [alarm!.key], room.now())
      await deliverNamed(world, ['x', `${'0'.repeat(26)}.${'0'.repeat(26)}`])
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })
})
