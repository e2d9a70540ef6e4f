import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { editAgent } from '../../shared/engine/agents.ts'
import { deliverDue } from '../../shared/engine/deliver-due.ts'
import { listDeliveries, retryDelivery } from '../../shared/engine/deliveries.ts'
import { editSchedule } from '../../shared/engine/schedule-edit.ts'
import { removeSchedule } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession } from '../../shared/engine/sessions.ts'
import { keys, read } from '../../shared/engine/store.ts'
import type { World } from '../../shared/ports/world.ts'
import { ann, ended, hook, personOf, running, secret, sentOf, shown, statuses } from './deliver-room.ts'
import { messagesOf } from './ledger.ts'
import { answered } from './outside.ts'
import {
  addSchedule,
  addSession,
  claim,
  claimFresh,
  end,
  hour,
  inRoom,
  minute,
  newPerson,
  type Room,
  refusalOf,
  second,
  start,
} from './room.ts'

describe('what is delivered', () => {
  for (const outcome of ['ok', 'failed', 'blocked'] as const)
    it(`a turn that ends ${outcome}`, async () => {
      await inRoom(async (room) => {
        const id = await ended(room, [hook], { outcome, summary: 'Short.' })
        await room.settle()
        const [request] = sentOf(room)
        expect(request).toMatchObject({ method: 'POST', url: 'https://hooks.example.com/x?token=hidden' })
        expect(JSON.parse(request!.body!)).toMatchObject({
          type: 'run.ended',
          timestamp: new Date(start + hour).toISOString(),
          data: {
            schedule: id,
            name: 'Review',
            outcome: 'fired',
            result: outcome,
            summary: 'Short.',
            answer: 'All is well.',
          },
        })
        expect(await statuses(room, id)).toEqual(['sent'])
      })
    })

  it('a turn whose lease runs out is told as unknown', async () => {
    await inRoom(async (room) => {
      const { id } = await running(room)
      await room.move(room.now() + 10 * minute)
      expect(JSON.parse(sentOf(room)[0]!.body!).data).toMatchObject({ result: 'unknown', answer: null })
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })

  it('nothing to do: nothing is delivered, nothing is written', async () => {
    await inRoom(async (room) => {
      const id = await ended(room, [hook, 'feed:'], { outcome: 'nothing_to_do', answer: 'Nothing.' })
      await room.settle()
      expect(room.outside.sent).toEqual([])
      expect(await shown(room, id)).toEqual([])
    })
  })

  it('a schedule that was deleted while its turn ran tells nobody', async () => {
    await inRoom(async (room) => {
      const { id, claimed } = await running(room)
      await removeSchedule(room.call(), id)
      await end(room, claimed)
      await room.settle()
      expect(room.outside.sent).toEqual([])
    })
  })

  it('an edit changes where, null clears', async () => {
    await inRoom(async (room) => {
      const { id, claimed } = await running(room)
      await editSchedule(room.call(), id, { deliver: ['feed:'] }, null)
      const kept = await editSchedule(room.call(), id, { name: 'Other' }, null)
      expect(kept.definition.deliver).toEqual(['feed:'])
      const cleared = await editSchedule(room.call(), id, { deliver: null }, null)
      expect(cleared.definition.deliver).toEqual([])
      await end(room, claimed)
      await room.settle()
      expect(await shown(room, id)).toEqual([])
    })
  })

  it("a fresh session's run tells it too, with its own answer", async () => {
    await inRoom(async (room) => {
      const id = (await addSchedule(room, { agent: room.agent, deliver: [hook] })).cursor.item.id
      await room.move(start + hour)
      await end(room, await claimFresh(room), { answer: 'Fresh.' })
      await room.settle()
      expect(JSON.parse(sentOf(room)[0]!.body!).data.answer).toBe('Fresh.')
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })
})

describe('a webhook', () => {
  it("is signed as Standard Webhooks says, under the principal's secret", async () => {
    await inRoom(async (room) => {
      await room.world.secrets.put(ann(room), 'WEBHOOK_SECRET', secret)
      const id = await ended(room)
      await room.settle()
      const { headers, body } = sentOf(room)[0]!
      const { id: delivery } = (await shown(room, id))[0]!
      expect(headers).toMatchObject({
        'webhook-id': delivery,
        'webhook-timestamp': String(room.now() / 1000),
        'content-type': 'application/json',
      })
      expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(delivery, new Date(room.now()), body!))
    })
  })

  it('without a secret it goes unsigned', async () => {
    await inRoom(async (room) => {
      await ended(room)
      await room.settle()
      expect(sentOf(room)[0]!.headers).not.toHaveProperty('webhook-signature')
    })
  })

  it('with a secret that cannot be one it does not go', async () => {
    await inRoom(async (room) => {
      await room.world.secrets.put(ann(room), 'WEBHOOK_SECRET', 'ümlaut')
      const id = await ended(room)
      await room.settle()
      expect(room.outside.sent).toEqual([])
      expect((await shown(room, id))[0]!.sending).toMatchObject({
        status: 'dead',
        error: expect.stringContaining('whsec_'),
      })
    })
  })

  it('secrets that cannot be read now are read later', async () => {
    await inRoom(async (room) => {
      const id = await ended(room)
      const away: World = {
        ...room.world,
        secrets: { ...room.world.secrets, get: async () => Promise.reject(new Error(secret)) },
      }
      await room.table.catchUp()
      await deliverDue(away, room.now())
      expect((await shown(room, id))[0]!.sending).toMatchObject({
        status: 'waiting',
        error: 'the secret WEBHOOK_SECRET could not be read',
      })
      await room.move(room.now() + minute)
      expect(await statuses(room, id)).toEqual(['sent'])
      expect(room.said.join()).not.toContain('whsec_')
    })
  })
})

describe('Telegram', () => {
  const token = '123456:very-hidden-token'
  const put = (room: Room) => room.world.secrets.put(ann(room), 'TELEGRAM_BOT_TOKEN', token)

  it('gets one text of at most 4,096 characters', async () => {
    await inRoom(async (room) => {
      await put(room)
      await ended(room, ['telegram:42'], { answer: 'word '.repeat(3_000) })
      await room.settle()
      const [request] = sentOf(room)
      expect(request!.url).toBe(`https://telegram.test/bot${token}/sendMessage`)
      const body = JSON.parse(request!.body!)
      expect(body.chat_id).toBe(42)
      expect(body.text).toMatch(/^Scheduled run: Review \(ok\)\n\nword .*word …$/s)
      expect(body.text.length).toBeLessThanOrEqual(4_096)
      expect(room.outside.sent).toHaveLength(1)
    })
  })

  it('says when to come again, and is obeyed', async () => {
    await inRoom(async (room) => {
      await put(room)
      const busy = JSON.stringify({ ok: false, description: 'Too Many Requests', parameters: { retry_after: 90 } })
      room.outside.answer = (_, nth) => (nth === 1 ? answered(429, {}, busy) : answered(200))
      const id = await ended(room, ['telegram:42'])
      await room.settle()
      expect((await shown(room, id))[0]!.sending).toMatchObject({
        nextAt: room.now() + 90 * second,
        error: 'Telegram answered 429: Too Many Requests',
      })
      await room.move(room.now() + 89 * second)
      expect(room.outside.sent).toHaveLength(1)
      await room.move(room.now() + second)
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })

  it('the token is in no error and no log, whatever is answered', async () => {
    await inRoom(async (room) => {
      await put(room)
      room.outside.answer = () => answered(404, {}, JSON.stringify({ description: `no bot${token}` }))
      const id = await ended(room, ['telegram:42'])
      await room.settle()
      expect((await shown(room, id))[0]!.sending).toMatchObject({ status: 'dead', error: 'Telegram answered 404' })
      expect(room.said.join()).toContain('delivery given up')
      expect(room.said.join()).not.toContain('hidden')
    })
  })

  it('without a token it is a dead letter that says what to do, and goes when there is one', async () => {
    await inRoom(async (room) => {
      const id = await ended(room, ['telegram:42'])
      await room.settle()
      const [view] = await shown(room, id)
      expect(view!.sending).toMatchObject({ status: 'dead', error: expect.stringContaining('TELEGRAM_BOT_TOKEN') })
      await put(room)
      expect((await retryDelivery(room.call(), id, view!.id)).sending).toMatchObject({ status: 'waiting', tries: 0 })
      await room.settle()
      expect(await statuses(room, id)).toEqual(['sent'])
    })
  })
})

describe('SNS, sessions and the feed', () => {
  it('a topic gets the event, named and in order', async () => {
    await inRoom(async (room) => {
      const topic = 'arn:aws:sns:eu-west-1:123456789012:runs.fifo'
      const id = await ended(room, [`sns:${topic}`])
      await room.settle()
      const [view] = await shown(room, id)
      expect(room.outside.sent).toEqual([
        { topic, id: view!.id, group: id, body: expect.stringContaining('All is well.') },
      ])
    })
  })

  it('a session gets a note, once, also when it was compacted since', async () => {
    await inRoom(async (room) => {
      const other = await addSession(room, { title: 'Other' })
      const { id, claimed } = await running(room, [`session:${other}`, 'feed:briefs'])
      const to = await compactSession(room.call(), other)
      await end(room, claimed, { answer: 'All is well.' })
      await room.settle()
      await room.settle()
      expect(await statuses(room, id)).toEqual(['sent', 'sent'])
      const conv = to.head.conv
      expect(await messagesOf(room, conv, 'W#')).toMatchObject([
        { kind: 'note', text: 'Scheduled run: Review (ok)\n\nAll is well.', automated: true, status: 'waiting' },
      ])
    })
  })

  it('a session of an agent that the principal cannot talk to any more gets nothing', async () => {
    await inRoom(async (room) => {
      const bob = await newPerson(room)
      await editAgent(room.call(), room.agent, { sharedWith: [personOf(bob)] })
      const other = await addSession(room)
      const id = (
        await addSchedule(
          { ...room, call: (over) => room.call({ caller: bob, ...over }) },
          { deliver: [`session:${other}`] },
        )
      ).cursor.item.id
      await room.move(start + hour)
      const claimed = await claim(room)
      await editAgent(room.call(), room.agent, { sharedWith: [] })
      await end(room, claimed)
      await room.settle()
      expect((await shown(room, id))[0]!.sending).toMatchObject({ status: 'dead', tries: 1 })
      expect(await messagesOf(room, other.slice(4), 'W#')).toEqual([])
    })
  })

  it('an archived session gets nothing', async () => {
    await inRoom(async (room) => {
      const other = await addSession(room)
      const { id, claimed } = await running(room, [`session:${other}`])
      await archiveSession(room.call(), other)
      await end(room, claimed)
      await room.settle()
      expect((await shown(room, id))[0]!.sending).toMatchObject({
        status: 'dead',
        error: expect.stringContaining('gone'),
      })
    })
  })

  it("the feed of the schedule's person gets a card", async () => {
    await inRoom(async (room) => {
      const id = await ended(room, ['feed:briefs'], { summary: 'Short.' })
      await room.settle()
      const [view] = await shown(room, id)
      const person = ann(room)
      expect((await read(room.world, keys.card(person, `crd_${view!.id.slice(4)}`)))!.item).toMatchObject({
        kind: 'post',
        title: 'Scheduled run: Review (ok)',
        body: 'Short.\n\nAll is well.',
        group: 'briefs',
        schedule: id,
        status: 'open',
      })
    })
  })

  it('what cannot be reached is refused when it is written down', async () => {
    await inRoom(async (room) => {
      const bob = await newPerson(room)
      for (const deliver of [
        ['webhook:http://127.0.0.1/'],
        ['session:ses_01JD0000000000000000000002'],
        ['telegram:x'],
      ]) {
        expect(await refusalOf(addSchedule(room, { deliver })), deliver[0]).toBe('body_invalid')
        const { cursor } = await addSchedule(room, { at: '2026-05-01T00:00' })
        expect(await refusalOf(editSchedule(room.call(), cursor.item.id, { deliver }, null))).toBe('body_invalid')
      }
      const id = await ended(room)
      const [view] = await shown(room, id)
      expect(await refusalOf(listDeliveries(room.call({ caller: bob }), id, { limit: 1, before: null }))).toBe(
        'not_found',
      )
      expect(await refusalOf(retryDelivery(room.call({ caller: bob }), id, view!.id))).toBe('not_found')
      expect(await refusalOf(retryDelivery(room.call(), id, 'dlv_01JD0000000000000000000002'))).toBe('not_found')
      expect(await refusalOf(retryDelivery(room.call(), id, 'x'))).toBe('not_found')
    })
  })
})
