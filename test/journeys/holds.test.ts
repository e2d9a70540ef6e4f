import { expect, test } from 'vitest'
import {
  actor,
  agentWithSession,
  all,
  claim,
  create,
  end,
  fresh,
  instant,
  inTurn,
  letAgentsUseSessions,
  messages,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import {
  act,
  asking,
  cardOf,
  desk,
  feed,
  heldRun,
  left,
  promptsMax,
  refusal,
  send,
  settle,
  spend,
  theCard,
} from './holding.ts'
import { type Json, onClock } from './node.ts'

onClock('prompts to other sessions are counted', '2026-03-02T09:00:00Z', (rouse) => {
  test('30 prompts pass, and the 31st is refused with a card that asks the person', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    const refused = await send(rouse, at)
    expect(refusal(refused)).toBe('403 approval_needed')
    expect(refused.body.card).toMatch(/^crd_[0-9A-Z]{26}$/)
    expect(refused.headers.get('content-type')).toContain('application/problem+json')
    // It is not kept: the agent sends it again.
    expect(await messages(rouse, at.sink.id)).toHaveLength(promptsMax)
    const card = await theCard(rouse, at.who.session.id)
    expect(card).toMatchObject({ id: refused.body.card, kind: 'approval', status: 'open', actions: ['allow', 'deny'] })
  })

  test('the person writing in the conversation begins the count anew, and nobody else does', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    await say(rouse, at.sink.id, 'elsewhere')
    const other = await actor(rouse)
    expect((await send(rouse, { ...at, who: other }, at.who.session)).status).toBe(201)
    await schedule(rouse, { session: at.who.session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    expect(refusal(await send(rouse, at))).toBe('403 approval_needed')
    await say(rouse, at.who.session.id, 'here')
    expect(await left(rouse, at)).toBe(promptsMax)
  })

  test('each conversation of an agent has a count of its own', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    const second = await session(rouse, at.who.agent.id, { main: false })
    const as = { key: at.who.key, headers: { 'x-rouse-session': second.id } }
    expect((await send(rouse, at, at.sink, as)).status).toBe(201)
    expect(refusal(await send(rouse, at))).toBe('403 approval_needed')
  })

  test('S0-22 a schedule for another session counts as a prompt sent there', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    const refused = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    expect(refusal(refused)).toBe('403 approval_needed')
    expect(refused.body.card).toBe((await theCard(rouse, at.who.session.id)).id)
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
    // One for fresh sessions of another agent goes elsewhere too.
    const { agent: other } = await agentWithSession(rouse)
    expect(refusal(await create(rouse, { agent: other.id, every: '5m' }, at.who.as))).toBe('403 approval_needed')
  })

  test('S0-24 a schedule for another session counts once when it is created', async () => {
    const at = await desk(rouse)
    for (let n = 0; n < 3; n += 1) await schedule(rouse, { session: at.target.id, every: '1h' }, at.who.as)
    expect(await left(rouse, at)).toBe(promptsMax - 3)
  })

  test('S0-25 it counts once more at every fire', async () => {
    const at = await desk(rouse)
    await schedule(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    for (let n = 0; n < 4; n += 1) {
      await moveBy(rouse, '5m')
      await end(rouse, (await turnOf(rouse, at.target.id)).turn.id)
    }
    expect(await left(rouse, at)).toBe(promptsMax - 5)
  })

  test('a time that is skipped since the prompt before it waits does not count', async () => {
    const at = await desk(rouse)
    await schedule(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await moveBy(rouse, '30m')
    expect(await left(rouse, at)).toBe(promptsMax - 2)
  })

  test('the fire that takes the last of the 30 goes out, and the one after it is held', async () => {
    const at = await desk(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await spend(rouse, at, promptsMax - 2)
    await moveBy(rouse, '5m')
    await end(rouse, (await turnOf(rouse, at.target.id)).turn.id)
    await moveBy(rouse, '5m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }, { outcome: 'held' }])
  })

  test('S0-31 a schedule for the own conversation does not count', async () => {
    const at = await desk(rouse)
    for (let n = 0; n < 3; n += 1) await schedule(rouse, { every: '5m' }, at.who.as)
    await schedule(rouse, { session: at.who.session.id, every: '5m' }, at.who.as)
    await moveBy(rouse, '5m')
    expect(await prompts(rouse, at.who.session.id)).toHaveLength(4)
    expect(await left(rouse, at)).toBe(promptsMax)
  })

  test('S0-32 a schedule for the own conversation is never held', async () => {
    const at = await desk(rouse)
    const before = await schedule(rouse, { every: '5m' }, at.who.as)
    await spend(rouse, at, promptsMax)
    expect(refusal(await send(rouse, at))).toBe('403 approval_needed')
    const after = await create(rouse, { every: '5m' }, at.who.as)
    expect(after.status).toBe(201)
    await moveBy(rouse, '5m')
    for (const { id } of [before, after.body]) {
      expect(await runs(rouse, id)).toMatchObject([{ outcome: 'fired' }])
      expect((await read(rouse, id)).waitingFor).toBeNull()
    }
  })

  test('what a person sends and schedules never counts and is never held', async () => {
    const at = await desk(rouse)
    for (let n = 0; n < promptsMax + 3; n += 1) await say(rouse, at.sink.id, `word ${n}`)
    const made = await schedule(rouse, { session: at.target.id, every: '5m' })
    await moveBy(rouse, '5m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await left(rouse, at)).toBe(promptsMax)
    expect(await create(rouse, { session: at.target.id, every: '5m' })).toMatchObject({ status: 201 })
    expect((await rouse.call('POST', `/v1/sessions/${at.sink.id}/messages`, { text: 'still' })).status).toBe(201)
  })

  test('a prompt that is refused for its hops is not counted, and asks nobody', async () => {
    const at = await desk(rouse)
    const [a, b] = [await actor(rouse), await actor(rouse)]
    await say(rouse, a.session.id, 'begin')
    await turnOf(rouse, a.session.id)
    await send(rouse, { ...at, who: a }, b.session)
    await turnOf(rouse, b.session.id)
    await send(rouse, { ...at, who: b }, at.who.session)
    const { turn } = await turnOf(rouse, at.who.session.id)
    for (let n = 0; n < promptsMax + 1; n += 1) expect(refusal(await send(rouse, at))).toBe('403 hop_limit')
    const made = await create(rouse, { session: at.target.id, every: '5m' }, inTurn(at.who, turn.id))
    expect(refusal(made)).toBe('403 hop_limit')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
    await end(rouse, turn.id)
    expect(await left(rouse, at)).toBe(promptsMax)
  })

  test('a create that is refused counts nothing', async () => {
    const at = await desk(rouse)
    for (const body of [{ every: '1m' }, { every: '5m', cron: '0 8 * * *' }, { at: '2020-01-01T00:00:00Z' }])
      expect((await create(rouse, { session: at.target.id, ...body }, at.who.as)).status).toBe(422)
    expect(await left(rouse, at)).toBe(promptsMax)
  })

  test('a bad input past the 30 is refused for what it is, and asks nobody', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    const refused = await create(rouse, { session: at.target.id, every: '1m' }, at.who.as)
    expect(refusal(refused)).toBe('422 schedule_interval_invalid')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
  })

  test('a call repeated under one Idempotency-Key counts once', async () => {
    const at = await desk(rouse)
    const as = { key: at.who.key, headers: { ...at.who.as.headers, 'idempotency-key': fresh('once') } }
    const [first, again] = [await send(rouse, at, at.sink, as), await send(rouse, at, at.sink, as)]
    expect(again.body.id).toBe(first.body.id)
    const key = { key: at.who.key, headers: { ...at.who.as.headers, 'idempotency-key': fresh('once') } }
    const body = { session: at.target.id, every: '1h' }
    expect((await create(rouse, body, key)).body.id).toBe((await create(rouse, body, key)).body.id)
    expect(await left(rouse, at)).toBe(promptsMax - 2)
  })

  test('an agent cannot clear its count by having its conversation compacted', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    const next = await rouse.ok('POST', `/v1/sessions/${at.who.session.id}/compact`, {})
    const as = { key: at.who.key, headers: { 'x-rouse-session': next.id } }
    expect(refusal(await send(rouse, at, at.sink, as))).toBe('403 approval_needed')
    await say(rouse, next.id, 'go on')
    expect((await send(rouse, at, at.sink, as)).status).toBe(201)
  })

  test('an edit that turns a schedule toward another session counts as one that is created there', async () => {
    const at = await desk(rouse)
    const own = await schedule(rouse, { every: '1h' }, at.who.as)
    await spend(rouse, at, promptsMax)
    const moved = await rouse.call('PATCH', `/v1/schedules/${own.id}`, { session: at.target.id }, at.who.as)
    expect(refusal(moved)).toBe('403 approval_needed')
    expect(await read(rouse, own.id)).toMatchObject({ session: at.who.session.id })
    await say(rouse, at.who.session.id, 'go on')
    await rouse.ok('PATCH', `/v1/schedules/${own.id}`, { session: at.target.id }, at.who.as)
    expect(await left(rouse, at)).toBe(promptsMax - 1)
  })
})

onClock('a fire past the 30 is held', '2026-03-02T09:00:00Z', (rouse) => {
  test('S0-26 beyond the number a fire becomes held, and the ledger says why', async () => {
    const { made, target, start } = await heldRun(rouse)
    const [run, ...more] = await runs(rouse, made.id)
    expect(more).toEqual([])
    expect(run).toMatchObject({
      trigger: 'slot',
      nominalAt: instant(start, 5),
      outcome: 'held',
      reason: expect.stringMatching(/^[a-z_]+$/),
      result: null,
      message: null,
      turn: null,
    })
    expect(await prompts(rouse, target.id)).toEqual([])
    expect(await claim(rouse, target.id)).toBeNull()
  })

  test('S0-27 the list says where to write', async () => {
    const { who, made, target } = await heldRun(rouse)
    const says = `waiting until you write in ${who.session.title}`
    expect((await read(rouse, made.id)).waitingFor).toBe(says)
    const [listed] = await all(rouse, `/v1/schedules?session=${target.id}`)
    expect(listed).toMatchObject({ id: made.id, status: 'active', waitingFor: says })
    await say(rouse, who.session.id, 'go on')
    expect((await read(rouse, made.id)).waitingFor).toBeNull()
  })

  test('why says what a held run waits for, until the word has come', async () => {
    const { made, who } = await heldRun(rouse)
    const holds = async () => (await rouse.ok('GET', `/v1/schedules/${made.id}/why`)).holds
    expect((await holds())[0]).toEqual({
      code: 'held',
      detail: `a run is held, waiting until you write in ${who.session.title}`,
    })
    await settle(rouse, (await theCard(rouse, who.session.id)).id, 'allow')
    expect((await holds()).map(({ code }: Json) => code)).not.toContain('held')
  })

  test('a name that would break out of the line does not', async () => {
    const { made } = await heldRun(rouse, {}, { title: 'Desk\r\nwith\tbreaks' })
    const { waitingFor } = await read(rouse, made.id)
    expect(waitingFor).toMatch(/^waiting until you write in Desk.*breaks$/)
  })

  test('while a run is held the times after it are skipped', async () => {
    const { who, made, start } = await heldRun(rouse)
    await moveTo(rouse, instant(start, 15))
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'held', nominalAt: instant(start, 5) },
      { outcome: 'skipped', reason: 'previous_held', nominalAt: instant(start, 10) },
      { outcome: 'skipped', reason: 'previous_held', nominalAt: instant(start, 15) },
    ])
    await say(rouse, who.session.id, 'go on')
    await moveTo(rouse, instant(start, 20))
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'skipped', reason: 'previous_waiting' })
  })

  for (const overlap of ['skip', 'allow', 'cancel'])
    test(`overlap ${overlap} makes no difference to a schedule whose run is held`, async () => {
      const { made, start } = await heldRun(rouse, { overlap })
      await moveTo(rouse, instant(start, 10))
      expect(await runs(rouse, made.id)).toMatchObject([
        { outcome: 'held' },
        { outcome: 'skipped', reason: 'previous_held' },
      ])
    })

  test('S0-28 a held run goes out as soon as the user writes in the conversation that created the schedule', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    await moveTo(rouse, instant(start, 7))
    await say(rouse, who.session.id, 'go on')
    // Before the call answers: the clock has not moved.
    const [run] = await runs(rouse, made.id)
    expect(run).toMatchObject({ trigger: 'slot', nominalAt: instant(start, 5), outcome: 'fired', reason: null })
    const [message] = await prompts(rouse, target.id)
    expect(message).toMatchObject({ id: run.message, status: 'waiting' })
    expect((await turnOf(rouse, target.id)).message.id).toBe(run.message)
  })

  test('it is the same row that goes out, once', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const [held] = await runs(rouse, made.id)
    await say(rouse, who.session.id, 'go on')
    await say(rouse, who.session.id, 'and on')
    const [run, ...more] = await runs(rouse, made.id)
    expect([run.id, more]).toEqual([held.id, []])
    await end(rouse, (await turnOf(rouse, target.id)).turn.id)
    await moveTo(rouse, instant(start, 9))
    expect(await prompts(rouse, target.id)).toHaveLength(1)
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', result: 'ok' }])
  })

  test('a held run that goes out counts then', async () => {
    const held = await heldRun(rouse)
    await say(rouse, held.who.session.id, 'go on')
    expect(await left(rouse, held)).toBe(promptsMax - 1)
  })

  test('it stays held when the user writes elsewhere', async () => {
    const { who, made, target, sink, start } = await heldRun(rouse)
    const second = await session(rouse, who.agent.id, { main: false })
    for (const { id } of [target, sink, second]) await say(rouse, id, 'go on')
    await moveTo(rouse, instant(start, 8))
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
  })

  test('it stays held when anybody but a person writes in the conversation', async () => {
    const { who, made, start } = await heldRun(rouse)
    const own = await schedule(rouse, { at: instant(start, 6) }, who.as)
    const other = await actor(rouse)
    await rouse.ok('POST', `/v1/sessions/${who.session.id}/messages`, { text: 'go on' }, other.as)
    await moveTo(rouse, instant(start, 8))
    expect(await runs(rouse, own.id)).toMatchObject([{ outcome: 'fired' }])
    await end(rouse, (await turnOf(rouse, who.session.id)).turn.id, { answer: 'done' })
    await moveTo(rouse, instant(start, 9))
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
  })

  test('S0-29 a held run goes out as soon as the user allows the card of the next prompt', async () => {
    const held = await heldRun(rouse)
    const refused = await send(rouse, held)
    expect(refusal(refused)).toBe('403 approval_needed')
    await settle(rouse, refused.body.card, 'allow')
    const [run] = await runs(rouse, held.made.id)
    expect(run).toMatchObject({ outcome: 'fired', reason: null })
    expect(await prompts(rouse, held.target.id)).toMatchObject([{ id: run.message, status: 'waiting' }])
    expect((await cardOf(rouse, refused.body.card)).status).toBe('allowed')
    expect(await left(rouse, held)).toBe(promptsMax - 1)
  })

  test('the held run itself asks on a card, which lets it go without any prompt of the agent', async () => {
    const { who, made, target } = await heldRun(rouse)
    const card = await theCard(rouse, who.session.id)
    expect(card.title).toContain(made.name)
    await settle(rouse, card.id, 'allow')
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('S0-30 a held run is looked at again every minute', async () => {
    const { who, made, target, start } = await heldRun(rouse, { every: '30m' })
    await moveTo(rouse, instant(start, 30))
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
    // The word comes while something else stands in the way, so that nothing but a look can let it go.
    await letAgentsUseSessions(rouse, false)
    await say(rouse, who.session.id, 'go on')
    await moveBy(rouse, '2m')
    expect(await prompts(rouse, target.id)).toEqual([])
    await letAgentsUseSessions(rouse)
    await moveBy(rouse, '1m')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  // The product lets go at once only where the count was not at zero: the held run waits for the next look.
  test('a word lets it go at once, also when the word before came while something stood in the way', async () => {
    const { who, target } = await heldRun(rouse)
    await letAgentsUseSessions(rouse, false)
    await say(rouse, who.session.id, 'go on')
    await letAgentsUseSessions(rouse)
    await say(rouse, who.session.id, 'go on, now')
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('several held runs leave in the order of their slots, not of their schedules', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const minutes = [9, 6, 8, 7]
    const made: Json[] = []
    for (const minute of minutes)
      made.push(await schedule(rouse, { session: at.target.id, at: instant(start, minute) }, at.who.as))
    await spend(rouse, at, promptsMax - minutes.length)
    await moveTo(rouse, instant(start, 12))
    for (const { id } of made) expect(await runs(rouse, id)).toMatchObject([{ outcome: 'held' }])
    await say(rouse, at.who.session.id, 'go on')
    const times: string[] = []
    for (const _ of minutes) {
      const { message, turn } = await turnOf(rouse, at.target.id)
      times.push(message.at)
      await end(rouse, turn.id)
    }
    expect(times).toEqual([6, 7, 8, 9].map((minute) => instant(start, minute)))
  })

  test('a held run that goes out stands in the inbox in the place of its slot', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const person = await schedule(rouse, { session: target.id, at: instant(start, 6) })
    await moveTo(rouse, instant(start, 7))
    await say(rouse, target.id, 'first')
    await say(rouse, who.session.id, 'go on')
    const order: string[] = []
    for (let n = 0; n < 3; n += 1) {
      const { message, turn } = await turnOf(rouse, target.id)
      order.push(message.kind === 'user' ? 'user' : message.text.includes(made.id) ? made.id : person.id)
      if (message.text.includes(made.id)) expect(message.at).toBe(instant(start, 5))
      await end(rouse, turn.id)
    }
    expect(order).toEqual(['user', made.id, person.id])
  })

  test('one card asks for a conversation, however much of it is held or refused', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const made = [5, 6, 7].map((minute) => ({ session: at.target.id, at: instant(start, minute) }))
    for (const body of made) await schedule(rouse, body, at.who.as)
    await spend(rouse, at, promptsMax - made.length)
    const refused = await send(rouse, at)
    await moveTo(rouse, instant(start, 10))
    const again = await send(rouse, at)
    expect(again.body.card).toBe(refused.body.card)
    const card = await theCard(rouse, at.who.session.id)
    expect(card.id).toBe(refused.body.card)
    await settle(rouse, card.id, 'allow')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
    expect(await prompts(rouse, at.target.id)).toHaveLength(3)
    // Another conversation asks on a card of its own.
    const other = await heldRun(rouse)
    expect((await theCard(rouse, other.who.session.id)).id).not.toBe(card.id)
  })

  test('Deny leaves the held run out, and the schedule goes on', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    await settle(rouse, (await theCard(rouse, who.session.id)).id, 'deny')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'skipped', reason: 'denied', message: null }])
    expect(await read(rouse, made.id)).toMatchObject({
      status: 'active',
      waitingFor: null,
      nextAt: instant(start, 10),
    })
    expect(await asking(rouse, who.session.id)).toEqual([])
    // The count is as it was: the next one is held, and asked for anew.
    await moveTo(rouse, instant(start, 10))
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({ outcome: 'held', nominalAt: instant(start, 10) })
    expect(await prompts(rouse, target.id)).toEqual([])
    await settle(rouse, (await theCard(rouse, who.session.id)).id, 'allow')
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'skipped', reason: 'denied' },
      { outcome: 'fired', nominalAt: instant(start, 10) },
    ])
  })

  test('Deny leaves out the one that it is about, and no other', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const [first, second] = [
      await schedule(rouse, { session: at.target.id, at: instant(start, 5), name: 'First' }, at.who.as),
      await schedule(rouse, { session: at.target.id, at: instant(start, 6), name: 'Second' }, at.who.as),
    ]
    await spend(rouse, at, promptsMax - 2)
    await moveTo(rouse, instant(start, 7))
    await send(rouse, at)
    const asked = await theCard(rouse, at.who.session.id)
    expect(asked.title).toContain('First')
    await settle(rouse, asked.id, 'deny')
    expect(await runs(rouse, first.id)).toMatchObject([{ outcome: 'skipped', reason: 'denied' }])
    expect(await runs(rouse, second.id)).toMatchObject([{ outcome: 'held' }])
    const card = await theCard(rouse, at.who.session.id)
    expect(card.title).toContain('Second')
    await settle(rouse, card.id, 'allow')
    expect(await prompts(rouse, at.target.id)).toHaveLength(1)
    expect(await runs(rouse, second.id)).toMatchObject([{ outcome: 'fired' }])
  })

  test('Deny leaves out the run that waits, also when the card was opened by one that has gone out since', async () => {
    const held = await heldRun(rouse)
    await say(rouse, held.who.session.id, 'go on')
    await end(rouse, (await turnOf(rouse, held.target.id)).turn.id)
    await spend(rouse, held, promptsMax - 1)
    await moveTo(rouse, instant(held.start, 10))
    const [, second] = await runs(rouse, held.made.id)
    expect(second.outcome).toBe('held')
    const card = await theCard(rouse, held.who.session.id)
    expect(card.run).toBe(second.id)
    await settle(rouse, card.id, 'deny')
    expect(await runs(rouse, held.made.id)).toMatchObject([
      { outcome: 'fired' },
      { outcome: 'skipped', reason: 'denied' },
    ])
    expect(await asking(rouse, held.who.session.id)).toEqual([])
  })

  test('Deny of a card that a prompt opened leaves out the run that is held since', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '5m', name: fresh('Held') }, at.who.as)
    await spend(rouse, at, promptsMax - 1)
    await send(rouse, at)
    await moveTo(rouse, instant(start, 5))
    const card = await theCard(rouse, at.who.session.id)
    expect(card.title).toContain(made.name)
    await settle(rouse, card.id, 'deny')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'skipped', reason: 'denied' }])
  })

  // The product counts no run by hand, so that an agent can send through one schedule as often as it likes.
  test('a run now by the agent counts as a prompt to another session', async () => {
    const at = await desk(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '1h' }, at.who.as)
    for (let n = 0; n < 3; n += 1) {
      await rouse.ok('POST', `/v1/schedules/${made.id}/run`, {}, at.who.as)
      await end(rouse, (await turnOf(rouse, at.target.id)).turn.id)
    }
    expect(await left(rouse, at)).toBe(promptsMax - 4)
  })

  // As above: past the 30, and in the modes ask and plan, it sends all the same.
  test('past the 30 a run now by the agent does not go out', async () => {
    const at = await desk(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '1h' }, at.who.as)
    await spend(rouse, at, promptsMax - 1)
    await rouse.call('POST', `/v1/schedules/${made.id}/run`, {}, at.who.as)
    expect(await prompts(rouse, at.target.id)).toEqual([])
  })

  test('Deny of a prompt leaves the count as it is', async () => {
    const at = await desk(rouse)
    await spend(rouse, at, promptsMax)
    await settle(rouse, (await send(rouse, at)).body.card, 'deny')
    const again = await send(rouse, at)
    expect(refusal(again)).toBe('403 approval_needed')
    expect(await theCard(rouse, at.who.session.id)).toMatchObject({ id: again.body.card, status: 'open' })
    expect(await messages(rouse, at.sink.id)).toHaveLength(promptsMax)
  })

  test('Deny of the only time of a schedule leaves it done', async () => {
    const { who, made, target, start } = await heldRun(rouse, { every: undefined, at: instant(await now(rouse), 5) })
    await settle(rouse, (await theCard(rouse, who.session.id)).id, 'deny')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'skipped', reason: 'denied' }])
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null, waitingFor: null })
    await say(rouse, who.session.id, 'go on')
    await moveTo(rouse, instant(start, 8))
    expect(await prompts(rouse, target.id)).toEqual([])
  })

  test('a schedule of one time that is held waits, and is done when it has gone out', async () => {
    const { who, made, target, start } = await heldRun(rouse, { every: undefined, at: instant(await now(rouse), 5) })
    await moveTo(rouse, instant(start, 65))
    expect(await read(rouse, made.id)).toMatchObject({ waitingFor: expect.stringContaining(who.session.title) })
    expect((await read(rouse, made.id)).status).not.toBe('done')
    expect(await all(rouse, `/v1/schedules?session=${target.id}&status=active`)).toHaveLength(1)
    await say(rouse, who.session.id, 'go on')
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null, waitingFor: null })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', nominalAt: instant(start, 5) }])
    expect((await turnOf(rouse, target.id)).message.at).toBe(instant(start, 5))
  })

  test('maxRuns counts a held run when it goes out, and not one that was denied', async () => {
    const { who, made, target, start } = await heldRun(rouse, { maxRuns: 1 })
    await settle(rouse, (await theCard(rouse, who.session.id)).id, 'deny')
    await moveTo(rouse, instant(start, 15))
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'skipped', reason: 'denied' },
      { outcome: 'held', nominalAt: instant(start, 10) },
      { outcome: 'skipped', reason: 'previous_held' },
    ])
    expect((await read(rouse, made.id)).status).toBe('active')
    await say(rouse, who.session.id, 'go on')
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
    await moveTo(rouse, instant(start, 30))
    expect(await runs(rouse, made.id)).toHaveLength(3)
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('a catch-up that is held goes out as one run for all the times it stands for', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await spend(rouse, at, promptsMax - 1)
    await moveTo(rouse, instant(start, 22), { down: true })
    const stretch = { trigger: 'catch_up', missedFrom: instant(start, 5), nominalAt: instant(start, 20), missed: 4 }
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held', ...stretch }])
    await say(rouse, at.who.session.id, 'go on')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', ...stretch }])
    expect(await prompts(rouse, at.target.id)).toHaveLength(1)
  })

  test('times missed while a run is held are one row that is skipped', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    await moveTo(rouse, instant(start, 28), { down: true })
    expect(await runs(rouse, made.id)).toMatchObject([
      { outcome: 'held', nominalAt: instant(start, 5) },
      { outcome: 'skipped', reason: 'previous_held', missedFrom: instant(start, 10), missed: 4 },
    ])
    await say(rouse, who.session.id, 'go on')
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('the last time before until that is held goes out after it all the same, and the schedule is done', async () => {
    const { who, made, target, start } = await heldRun(rouse, { until: instant(await now(rouse), 7) })
    await moveTo(rouse, instant(start, 30))
    expect((await read(rouse, made.id)).status).not.toBe('done')
    await say(rouse, who.session.id, 'go on')
    expect(await read(rouse, made.id)).toMatchObject({ status: 'done', nextAt: null })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', nominalAt: instant(start, 5) }])
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('while the agent has left the target nothing goes out, and it does when it is back', async () => {
    const { who, made, target } = await heldRun(rouse)
    await rouse.ok('POST', `/v1/sessions/${target.id}/leave`, {})
    await say(rouse, who.session.id, 'go on')
    await moveBy(rouse, '2m')
    expect(await messages(rouse, target.id)).toEqual([])
    await rouse.ok('POST', `/v1/sessions/${target.id}/join`, {})
    await moveBy(rouse, '1m')
    expect(await prompts(rouse, target.id)).toHaveLength(1)
    expect((await runs(rouse, made.id))[0]).toMatchObject({ outcome: 'fired' })
  })

  test('run now while a run is held is skipped like a repeat', async () => {
    const { made, target } = await heldRun(rouse)
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`, {})
    expect((await runs(rouse, made.id)).at(-1)).toMatchObject({
      trigger: 'manual',
      outcome: 'skipped',
      reason: 'previous_held',
    })
    expect(await prompts(rouse, target.id)).toEqual([])
  })

  test('a run in a session of its own is held too, and makes its session when it goes out', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    const { agent: other } = await agentWithSession(rouse)
    const made = await schedule(rouse, { agent: other.id, every: '5m', name: 'Brief' }, at.who.as)
    await spend(rouse, at, promptsMax - 1)
    await moveTo(rouse, instant(start, 5))
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
    const before = await all(rouse, `/v1/sessions?agent=${other.id}`)
    expect(before).toHaveLength(1)
    await say(rouse, at.who.session.id, 'go on')
    const { turn, message } = await rouse.ok('POST', `/v1/agents/${other.id}/claim`, { leaseSeconds: 7200 })
    expect(message.at).toBe(instant(start, 5))
    const [run] = await runs(rouse, made.id)
    expect(run).toMatchObject({ outcome: 'fired', session: turn.session, message: message.id })
    expect(await rouse.ok('GET', `/v1/sessions/${turn.session}`)).toMatchObject({ title: 'Brief', main: false })
  })

  test('the hops of a held run are those that its schedule was made with', async () => {
    const at = await desk(rouse)
    const first = await actor(rouse)
    await say(rouse, first.session.id, 'begin')
    await turnOf(rouse, first.session.id)
    expect((await send(rouse, { ...at, who: first }, at.who.session)).status).toBe(201)
    const { turn } = await turnOf(rouse, at.who.session.id)
    const start = await now(rouse)
    await schedule(rouse, { session: at.target.id, every: '5m' }, inTurn(at.who, turn.id))
    await spend(rouse, at, promptsMax - 1)
    await end(rouse, turn.id)
    await moveTo(rouse, instant(start, 5))
    await say(rouse, at.who.session.id, 'go on')
    expect((await prompts(rouse, at.target.id)).map(({ origin }) => origin.hops)).toEqual([2])
  })
})

onClock('what happens to a schedule whose run is held', '2026-03-02T09:00:00Z', (rouse) => {
  test('an edit keeps it held, and no time gets a second row', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const edited = await rouse.ok('PATCH', `/v1/schedules/${made.id}`, { prompt: 'Something else.', name: 'Other' })
    expect(edited).toMatchObject({ status: 'active', name: 'Other', waitingFor: expect.any(String) })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held', nominalAt: instant(start, 5) }])
    await say(rouse, who.session.id, 'go on')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', nominalAt: instant(start, 5) }])
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('an edit of its time keeps it held', async () => {
    const { who, made, start } = await heldRun(rouse)
    const edited = await rouse.ok('PATCH', `/v1/schedules/${made.id}`, { every: '1h' })
    expect(edited.waitingFor).toBe(`waiting until you write in ${who.session.title}`)
    await say(rouse, who.session.id, 'go on')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', nominalAt: instant(start, 5) }])
    expect((await read(rouse, made.id)).nextAt).toBe(edited.nextAt)
  })

  test('an edit to another session takes the held run along', async () => {
    const { who, made, target, sink } = await heldRun(rouse)
    await rouse.ok('PATCH', `/v1/schedules/${made.id}`, { session: sink.id })
    await say(rouse, who.session.id, 'go on')
    expect(await prompts(rouse, target.id)).toEqual([])
    expect((await prompts(rouse, sink.id)).map(({ text }) => text.includes(made.id))).toEqual([true])
    expect((await runs(rouse, made.id))[0]).toMatchObject({ outcome: 'fired', session: sink.id })
  })

  test('turned toward the conversation that created it, it is held no more', async () => {
    const held = await heldRun(rouse)
    await rouse.ok('PATCH', `/v1/schedules/${held.made.id}`, { session: held.who.session.id })
    await moveBy(rouse, '1m')
    expect(await runs(rouse, held.made.id)).toMatchObject([{ outcome: 'fired', session: held.who.session.id }])
    expect(refusal(await send(rouse, held))).toBe('403 approval_needed')
  })

  test('paused and resumed, the held run goes out once and no time has two rows', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const paused = await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    expect(paused).toMatchObject({ status: 'paused', nextAt: null })
    await moveTo(rouse, instant(start, 12))
    expect(await prompts(rouse, target.id)).toEqual([])
    await rouse.ok('POST', `/v1/schedules/${made.id}/resume`, {})
    await say(rouse, who.session.id, 'go on')
    await moveBy(rouse, '1m')
    const found = await runs(rouse, made.id)
    expect(new Set(found.map(({ nominalAt }) => nominalAt)).size).toBe(found.length)
    expect(found.filter(({ outcome }) => outcome === 'held')).toEqual([])
    expect(await prompts(rouse, target.id)).toHaveLength(found.filter(({ outcome }) => outcome === 'fired').length)
  })

  test('while it is paused nothing goes out', async () => {
    const { who, made, target } = await heldRun(rouse)
    await rouse.ok('POST', `/v1/schedules/${made.id}/pause`, {})
    await say(rouse, who.session.id, 'go on')
    await moveBy(rouse, '10m')
    expect(await prompts(rouse, target.id)).toEqual([])
    expect((await read(rouse, made.id)).status).toBe('paused')
  })

  test('deleted, it never goes out', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const card = await theCard(rouse, who.session.id)
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(204)
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).not.toContain('fired')
    const allowed = await act(rouse, card.id, 'allow')
    expect(allowed.status).toBeLessThan(500)
    await say(rouse, who.session.id, 'go on')
    await moveTo(rouse, instant(start, 12))
    expect(await messages(rouse, target.id)).toEqual([])
    expect((await runs(rouse, made.id)).map(({ outcome }) => outcome)).toEqual([expect.not.stringMatching('fired')])
  })

  test('a run that is over since its schedule was deleted is held no more', async () => {
    const { made } = await heldRun(rouse)
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`)
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'skipped', reason: expect.any(String) }])
  })

  for (const where of ['who', 'target'] as const)
    test(`it ends with the conversation that ${where === 'who' ? 'created it' : 'it fires in'}`, async () => {
      const held = await heldRun(rouse)
      const gone = where === 'who' ? held.who.session : held.target
      const left = where === 'who' ? held.target : held.who.session
      await rouse.ok('POST', `/v1/sessions/${gone.id}/archive`, {})
      expect(await read(rouse, held.made.id)).toMatchObject({ status: 'ended', nextAt: null, waitingFor: null })
      await say(rouse, left.id, 'go on')
      await moveBy(rouse, '10m')
      expect((await runs(rouse, held.made.id)).map(({ outcome }) => outcome)).toEqual(['skipped'])
      expect(await prompts(rouse, held.target.id)).toEqual([])
      expect(
        (await feed(rouse)).filter(({ kind, schedule: of }) => kind === 'incident' && of === held.made.id),
      ).toEqual([])
    })

  test('compacting the conversation that created it takes the hold along', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    const next = await rouse.ok('POST', `/v1/sessions/${who.session.id}/compact`, {})
    const shown = await read(rouse, made.id)
    expect(shown).toMatchObject({ createdIn: next.id, waitingFor: `waiting until you write in ${next.title}` })
    await moveTo(rouse, instant(start, 7))
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
    await say(rouse, next.id, 'go on')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', nominalAt: instant(start, 5) }])
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })

  test('the card of a conversation that was compacted since still lets it go', async () => {
    const { who, made } = await heldRun(rouse)
    const card = await theCard(rouse, who.session.id)
    await rouse.ok('POST', `/v1/sessions/${who.session.id}/compact`, {})
    await settle(rouse, card.id, 'allow')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
  })

  test('compacting the conversation it fires in takes the hold along', async () => {
    const { who, made, target } = await heldRun(rouse)
    const next = await rouse.ok('POST', `/v1/sessions/${target.id}/compact`, {})
    await say(rouse, who.session.id, 'go on')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired', session: next.id }])
    expect(await prompts(rouse, next.id)).toHaveLength(1)
  })

  test('a fork of the conversation that created it has a count of its own, and lets nothing go', async () => {
    const held = await heldRun(rouse)
    const fork = await rouse.ok('POST', `/v1/sessions/${held.who.session.id}/fork`, {})
    await say(rouse, fork.id, 'go on')
    await moveBy(rouse, '2m')
    expect(await runs(rouse, held.made.id)).toMatchObject([{ outcome: 'held' }])
    expect(await read(rouse, held.made.id)).toMatchObject({ createdIn: held.who.session.id })
    const as = { key: held.who.key, headers: { 'x-rouse-session': fork.id } }
    await spend(rouse, held, promptsMax, as)
    expect(refusal(await send(rouse, held, held.sink, as))).toBe('403 approval_needed')
  })

  test('a restart keeps it held, and lets it go after', async () => {
    const { who, made, target, start } = await heldRun(rouse)
    await rouse.stop('SIGKILL')
    await rouse.start({ clock: instant(start, 5) })
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
    await moveTo(rouse, instant(start, 7))
    await say(rouse, who.session.id, 'go on')
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })
})

onClock('what a conversation shows of the schedules it has and created', '2026-03-02T09:00:00Z', (rouse) => {
  const shown = async (id: string) => (await rouse.ok('GET', `/v1/sessions/${id}`)).scheduled

  test('S0-46 a conversation counts the schedules that fire in it and those it created', async () => {
    const at = await desk(rouse)
    await schedule(rouse, { session: at.target.id, every: '1h' }, at.who.as)
    await schedule(rouse, { every: '1h' }, at.who.as)
    await schedule(rouse, { session: at.who.session.id, every: '1h' })
    const count = async ({ id }: Json) => (await shown(id)).count
    expect([await count(at.who.session), await count(at.target), await count(at.sink)]).toEqual([3, 1, 0])
  })

  test('S0-47 with the next time of them', async () => {
    const at = await desk(rouse)
    const start = await now(rouse)
    expect((await shown(at.who.session.id)).nextAt).toBeNull()
    await schedule(rouse, { every: '1h' }, at.who.as)
    await schedule(rouse, { session: at.target.id, every: '20m' }, at.who.as)
    expect((await shown(at.who.session.id)).nextAt).toBe(instant(start, 20))
    expect((await shown(at.target.id)).nextAt).toBe(instant(start, 20))
  })

  test('S0-48 the list has both kinds', async () => {
    const at = await desk(rouse)
    const made = await schedule(rouse, { session: at.target.id, every: '1h' }, at.who.as)
    const fires = await schedule(rouse, { session: at.who.session.id, every: '1h' })
    const listed = async (query: string) => (await all(rouse, `/v1/schedules?${query}`)).map(({ id }) => id)
    expect(await listed(`createdIn=${at.who.session.id}`)).toEqual([made.id])
    expect(await listed(`session=${at.who.session.id}`)).toEqual([fires.id])
  })

  test('S0-49 each of them can be cancelled, one whose run is held too', async () => {
    const { made, who, target } = await heldRun(rouse)
    expect((await rouse.call('DELETE', `/v1/schedules/${made.id}`)).status).toBe(204)
    expect([(await shown(who.session.id)).count, (await shown(target.id)).count]).toEqual([0, 0])
  })

  test('S0-50 a session in which a schedule fires shows it in the list', async () => {
    const at = await desk(rouse)
    const badges = async (agentId: string) => (await all(rouse, `/v1/sessions?agent=${agentId}`))[0].badges
    expect(await badges(at.target.agent)).toEqual([])
    await schedule(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await moveBy(rouse, '5m')
    expect(await badges(at.target.agent)).toEqual(['scheduled'])
    expect(await badges(at.who.agent.id)).toEqual([])
  })
})

onClock('in the modes ask and plan a person is asked each time', '2026-03-02T09:00:00Z', (rouse) => {
  for (const mode of ['ask', 'plan']) {
    test(`mode ${mode}: every prompt to another session asks, and Allow lets one pass`, async () => {
      const at = await desk(rouse, { mode })
      for (let n = 0; n < 2; n += 1) {
        const refused = await send(rouse, at)
        expect(refusal(refused)).toBe('403 approval_needed')
        expect((await theCard(rouse, at.who.session.id)).id).toBe(refused.body.card)
        expect(await messages(rouse, at.sink.id)).toHaveLength(n)
        await settle(rouse, refused.body.card, 'allow')
        expect((await send(rouse, at)).status).toBe(201)
      }
      const denied = await send(rouse, at)
      await settle(rouse, denied.body.card, 'deny')
      expect(refusal(await send(rouse, at))).toBe('403 approval_needed')
    })

    test(`S0-23 mode ${mode}: a schedule for another session is made when a person allows it`, async () => {
      const at = await desk(rouse, { mode })
      const start = await now(rouse)
      const body = { session: at.target.id, every: '10m', name: fresh('Asked') }
      const asked = await create(rouse, body, at.who.as)
      expect([asked.status, asked.body]).toEqual([202, { card: expect.stringMatching(/^crd_/) }])
      const card = await cardOf(rouse, asked.body.card)
      expect(card).toMatchObject({ kind: 'approval', status: 'open', actions: ['allow', 'deny'] })
      expect(card.title).toContain(body.name)
      await moveTo(rouse, instant(start, 3))
      expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
      await settle(rouse, card.id, 'allow')
      const [made, ...more] = await all(rouse, `/v1/schedules?session=${at.target.id}`)
      expect(more).toEqual([])
      expect(made).toMatchObject({
        ...body,
        status: 'active',
        createdIn: at.who.session.id,
        createdBy: at.who.agent.owner,
        nextAt: instant(start, 13),
        waitingFor: null,
      })
      await moveTo(rouse, instant(start, 13))
      const [message] = await prompts(rouse, at.target.id)
      expect(message.text.split('\n')[0]).toContain(at.who.session.id)
    })
  }

  test('the mode of the conversation that creates counts, not that of the target', async () => {
    const at = await desk(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${at.target.id}`, { mode: 'ask' })
    expect((await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)).status).toBe(201)
    expect((await send(rouse, at, at.target)).status).toBe(201)
  })

  test('mode autopilot asks no sooner than mode agent', async () => {
    const at = await desk(rouse, { mode: 'autopilot' })
    expect((await create(rouse, { session: at.target.id, every: '1h' }, at.who.as)).status).toBe(201)
    expect(await left(rouse, at)).toBe(promptsMax - 1)
  })

  test('a schedule for the own conversation is made without a word', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    expect((await create(rouse, { every: '5m' }, at.who.as)).status).toBe(201)
    expect(await asking(rouse, at.who.session.id)).toEqual([])
  })

  test('a schedule for fresh sessions of another agent asks too', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const { agent: other } = await agentWithSession(rouse)
    const asked = await create(rouse, { agent: other.id, every: '5m' }, at.who.as)
    expect(asked.status).toBe(202)
    await settle(rouse, asked.body.card, 'allow')
    expect(await all(rouse, `/v1/schedules?agent=${other.id}`)).toMatchObject([{ createdIn: at.who.session.id }])
  })

  test('an allowed schedule is as if the agent had made it in its turn, origin and hops included', async () => {
    const at = await desk(rouse)
    const first = await actor(rouse)
    await say(rouse, first.session.id, 'begin')
    await turnOf(rouse, first.session.id)
    await send(rouse, { ...at, who: first }, at.who.session)
    const { turn } = await turnOf(rouse, at.who.session.id)
    const start = await now(rouse)
    const twin = await schedule(rouse, { session: at.target.id, at: instant(start, 5) }, inTurn(at.who, turn.id))
    await rouse.ok('PATCH', `/v1/sessions/${at.who.session.id}`, { mode: 'ask' })
    const asked = await create(rouse, { session: at.target.id, at: instant(start, 5) }, inTurn(at.who, turn.id))
    expect(asked.status).toBe(202)
    // Allowed when the turn is long over, and a person's turn runs.
    await end(rouse, turn.id)
    await say(rouse, at.who.session.id, 'something else')
    await turnOf(rouse, at.who.session.id)
    await settle(rouse, asked.body.card, 'allow')
    await moveTo(rouse, instant(start, 5))
    const found = await prompts(rouse, at.target.id)
    expect(found).toHaveLength(2)
    const of = (is: boolean) => {
      const { schedule: _, run: __, ...origin } = found.find(({ text }) => text.includes(twin.id) === is).origin
      return origin
    }
    expect(of(false)).toEqual(of(true))
    expect(of(false)).toMatchObject({ hops: 2 })
  })

  test('Deny makes no schedule', async () => {
    const at = await desk(rouse, { mode: 'plan' })
    const asked = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await settle(rouse, asked.body.card, 'deny')
    expect(await cardOf(rouse, asked.body.card)).toMatchObject({ status: 'denied', actions: [] })
    await moveBy(rouse, '10m')
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
    expect((await act(rouse, asked.body.card, 'allow')).status).toBe(409)
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
  })

  test('the word of the person in the conversation makes no schedule: only Allow does', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const asked = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await say(rouse, at.who.session.id, 'hello')
    await moveBy(rouse, '2m')
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
    expect((await cardOf(rouse, asked.body.card)).status).toBe('open')
    expect(refusal(await send(rouse, at))).toBe('403 approval_needed')
  })

  test('Allow of a held run lets no prompt pass that nobody was asked for', async () => {
    const held = await heldRun(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${held.who.session.id}`, { mode: 'ask' })
    await settle(rouse, (await theCard(rouse, held.who.session.id)).id, 'allow')
    expect(await runs(rouse, held.made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(refusal(await send(rouse, held))).toBe('403 approval_needed')
  })

  test('Allow of a prompt lets the held run go too', async () => {
    const held = await heldRun(rouse)
    await rouse.ok('PATCH', `/v1/sessions/${held.who.session.id}`, { mode: 'ask' })
    await settle(rouse, (await send(rouse, held)).body.card, 'allow')
    expect(await runs(rouse, held.made.id)).toMatchObject([{ outcome: 'fired' }])
    expect((await send(rouse, held)).status).toBe(201)
  })

  test('what can be refused at once is, and asks nobody', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const bad: [Json, string][] = [
      [{ every: '1m' }, '422 schedule_interval_invalid'],
      [{ cron: '*/5 * * * *' }, '422 schedule_too_frequent'],
      [{ cron: 'nonsense' }, '422 schedule_invalid'],
      [{ at: '2020-01-01T00:00:00Z' }, '422 schedule_invalid'],
      [{ every: '5m', at: instant(await now(rouse), 9), cron: '0 8 * * *' }, '422 schedule_invalid'],
      [{ every: '5m', tz: 'Mars/Olympus' }, '422 schedule_invalid'],
      [{ every: '5m', colour: 'red' }, '422 body_invalid'],
      [{ every: '5m', name: '' }, '422 body_invalid'],
      [{ every: '5m', session: `ses_${'0'.repeat(26)}` }, '403 schedule_agent_not_allowed'],
    ]
    for (const [body, expected] of bad)
      expect([body, refusal(await create(rouse, { session: at.target.id, ...body }, at.who.as))]).toEqual([
        body,
        expected,
      ])
    await letAgentsUseSessions(rouse, false)
    const off = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    expect(refusal(off)).toBe('403 agent_sessions_off')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
  })

  // The product asks the person for it, and refuses what she then allows.
  test('the 21st is refused at once, and asks nobody', async () => {
    const at = await desk(rouse)
    for (let n = 0; n < 20; n += 1) await schedule(rouse, { session: at.target.id, every: '1h' })
    await rouse.ok('PATCH', `/v1/sessions/${at.who.session.id}`, { mode: 'ask' })
    const refused = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    expect(refusal(refused)).toBe('409 schedule_limit')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
  })

  test('past the hop limit it is refused at once, and asks nobody', async () => {
    const at = await desk(rouse)
    const [a, b] = [await actor(rouse), await actor(rouse)]
    await say(rouse, a.session.id, 'begin')
    await turnOf(rouse, a.session.id)
    await send(rouse, { ...at, who: a }, b.session)
    await turnOf(rouse, b.session.id)
    await send(rouse, { ...at, who: b }, at.who.session)
    const { turn } = await turnOf(rouse, at.who.session.id)
    await rouse.ok('PATCH', `/v1/sessions/${at.who.session.id}`, { mode: 'ask' })
    const made = await create(rouse, { session: at.target.id, every: '5m' }, inTurn(at.who, turn.id))
    expect(refusal(made)).toBe('403 hop_limit')
    expect(refusal(await send(rouse, at, at.sink, inTurn(at.who, turn.id)))).toBe('403 hop_limit')
    expect(await asking(rouse, at.who.session.id)).toEqual([])
  })

  test('an edit that turns a schedule toward another session does not go by without a word', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const own = await schedule(rouse, { every: '1h' }, at.who.as)
    const moved = await rouse.call('PATCH', `/v1/schedules/${own.id}`, { session: at.target.id }, at.who.as)
    expect([202, 403]).toContain(moved.status)
    expect(await read(rouse, own.id)).toMatchObject({ session: at.who.session.id })
  })

  test('one call under one Idempotency-Key asks once, and is made once', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const as = { key: at.who.key, headers: { ...at.who.as.headers, 'idempotency-key': fresh('asked') } }
    const body = { session: at.target.id, every: '5m' }
    const [first, again] = [await create(rouse, body, as), await create(rouse, body, as)]
    expect([again.status, again.body]).toEqual([202, first.body])
    expect(await asking(rouse, at.who.session.id)).toHaveLength(1)
    const both = await Promise.all([act(rouse, first.body.card, 'allow'), act(rouse, first.body.card, 'allow')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toHaveLength(1)
  })

  test('what stands in the way when it is allowed is said, and the card stays open', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const asked = await create(rouse, { session: at.target.id, at: instant(await now(rouse), 5) }, at.who.as)
    await moveBy(rouse, '6m')
    expect(refusal(await act(rouse, asked.body.card, 'allow'))).toBe('422 schedule_invalid')
    expect((await cardOf(rouse, asked.body.card)).status).toBe('open')
    expect(await all(rouse, `/v1/schedules?session=${at.target.id}`)).toEqual([])
    await settle(rouse, asked.body.card, 'deny')
  })

  test('a fire of a schedule that was allowed is not asked for again, until it is past the 30', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    const asked = await create(rouse, { session: at.target.id, every: '5m' }, at.who.as)
    await settle(rouse, asked.body.card, 'allow')
    const [made] = await all(rouse, `/v1/schedules?session=${at.target.id}`)
    for (let n = 0; n < promptsMax; n += 1) {
      await moveBy(rouse, '5m')
      await end(rouse, (await turnOf(rouse, at.target.id)).turn.id)
    }
    await moveBy(rouse, '5m')
    const found = await runs(rouse, made.id)
    expect(found.slice(0, promptsMax - 1).map(({ outcome }) => outcome)).toEqual(Array(promptsMax - 1).fill('fired'))
    expect(found.at(-1).outcome).toBe('held')
  })
})

onClock('who acts on a card that asks', '2026-03-02T09:00:00Z', (rouse) => {
  test('agents neither see nor act on an approval card, their own included', async () => {
    const held = await heldRun(rouse)
    const card = await theCard(rouse, held.who.session.id)
    const other = await actor(rouse)
    for (const as of [held.who.as, { key: held.who.key }, other.as]) {
      const listed = await rouse.ok('GET', '/v1/feed?limit=100', undefined, as)
      expect(listed.data.filter(({ kind }: Json) => kind === 'approval')).toEqual([])
      expect(JSON.stringify(listed)).not.toContain(card.id)
      expect(listed.labels?.decide).toBeUndefined()
      expect(await all(rouse, '/v1/feed?label=decide', as)).toEqual([])
      for (const action of ['allow', 'deny', 'dismiss', 'run-now', 'stop'])
        expect([403, 404]).toContain((await act(rouse, card.id, action, as)).status)
      expect((await rouse.call('GET', `/v1/feed/${card.id}`, undefined, as)).status).toBe(404)
    }
    expect((await cardOf(rouse, card.id)).status).toBe('open')
    expect(await runs(rouse, held.made.id)).toMatchObject([{ outcome: 'held' }])
  })

  test('another person, an admin too, neither sees nor acts on it', async () => {
    const owner = await rouse.ok('POST', '/v1/people', { name: fresh('owner') })
    const admin = await rouse.ok('POST', '/v1/people', { name: fresh('admin'), admin: true })
    await letAgentsUseSessions(rouse)
    const as = { key: owner.key }
    const agent = await rouse.ok('POST', '/v1/agents', { name: fresh('agent') }, as)
    const own = await rouse.ok('POST', '/v1/sessions', { agent: agent.id, mode: 'ask' }, as)
    const target = await rouse.ok('POST', '/v1/sessions', { agent: agent.id, main: false }, as)
    const { key } = await rouse.ok('POST', `/v1/agents/${agent.id}/keys`, {}, as)
    const asked = await create(
      rouse,
      { session: target.id, every: '5m' },
      { key, headers: { 'x-rouse-session': own.id } },
    )
    expect(asked.status).toBe(202)
    for (const o of [{}, { key: admin.key }]) {
      expect((await rouse.call('GET', `/v1/feed/${asked.body.card}`, undefined, o)).status).toBe(404)
      expect((await act(rouse, asked.body.card, 'allow', o)).status).toBe(404)
      expect(JSON.stringify(await feed(rouse, o))).not.toContain(asked.body.card)
    }
    expect((await feed(rouse, as)).map(({ id }) => id)).toEqual([asked.body.card])
    expect((await act(rouse, asked.body.card, 'allow', as)).status).toBe(200)
  })

  test('a card is settled once', async () => {
    const { who } = await heldRun(rouse)
    const { id } = await theCard(rouse, who.session.id)
    await settle(rouse, id, 'allow')
    for (const action of ['allow', 'deny', 'run-now', 'stop', 'dismiss'])
      expect((await act(rouse, id, action)).status).toBe(409)
    expect((await cardOf(rouse, id)).status).toBe('allowed')
  })

  test('an approval takes Allow and Deny, and nothing else', async () => {
    const { who, made } = await heldRun(rouse)
    const { id } = await theCard(rouse, who.session.id)
    for (const action of ['run-now', 'stop', 'dismiss']) {
      const answer = await act(rouse, id, action)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    }
    expect((await cardOf(rouse, id)).status).toBe('open')
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'held' }])
  })

  test('a turn that the held message would be, approves nothing', async () => {
    const { who } = await heldRun(rouse)
    const { id } = await theCard(rouse, who.session.id)
    await rouse.ok('POST', `/v1/sessions/${who.session.id}/messages`, { text: 'allow' }, (await actor(rouse)).as)
    await end(rouse, (await turnOf(rouse, who.session.id)).turn.id, { answer: 'allow' })
    expect((await cardOf(rouse, id)).status).toBe('open')
  })
})

onClock('many at once', '2026-03-02T09:00:00Z', (rouse) => {
  test('of 200 parallel sends exactly 30 pass', async () => {
    const at = await desk(rouse)
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(rouse, at)))
    const count = (what: string) => answers.filter((answer) => refusal(answer) === what).length
    expect([count('201'), count('403 approval_needed')]).toEqual([promptsMax, 200 - promptsMax])
    expect(new Set(answers.flatMap(({ body }) => body.card ?? [])).size).toBe(1)
    expect(await messages(rouse, at.sink.id)).toHaveLength(promptsMax)
    await theCard(rouse, at.who.session.id)
  })

  test('parallel fires with parallel sends are exactly 30 together', async () => {
    const at = await desk(rouse)
    const { session: second } = await agentWithSession(rouse)
    const start = await now(rouse)
    const made: Json[] = []
    for (let n = 0; n < 20; n += 1) {
      const body = { session: n % 2 ? at.target.id : second.id, at: instant(start, 5) }
      made.push(await schedule(rouse, body, at.who.as))
    }
    const sends = Array.from({ length: 30 }, () => send(rouse, at))
    const [, ...answers] = await Promise.all([moveTo(rouse, instant(start, 5)), ...sends])
    const passed = answers.filter(({ status }) => status === 201).length
    const outcomes = (await Promise.all(made.map(({ id }) => runs(rouse, id)))).flat().map(({ outcome }) => outcome)
    expect(outcomes).toHaveLength(20)
    const fired = outcomes.filter((outcome) => outcome === 'fired').length
    expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(20 - fired)
    expect(made.length + fired + passed).toBe(promptsMax)
    const put = [...(await prompts(rouse, at.target.id)), ...(await prompts(rouse, second.id))]
    expect(put).toHaveLength(fired)
    expect(await messages(rouse, at.sink.id)).toHaveLength(passed)
    // What was held goes out in one go, and no slot goes out twice.
    await say(rouse, at.who.session.id, 'go on')
    const after = (await Promise.all(made.map(({ id }) => runs(rouse, id)))).flat()
    expect(after.map(({ outcome }) => outcome)).toEqual(Array(20).fill('fired'))
    expect(await left(rouse, at)).toBe(promptsMax - (20 - fired))
  })

  test('parallel creates with parallel sends are exactly 30 together', async () => {
    const at = await desk(rouse)
    const creates = Array.from({ length: 20 }, () => create(rouse, { session: at.target.id, every: '1h' }, at.who.as))
    const sends = Array.from({ length: 40 }, () => send(rouse, at))
    const answers = await Promise.all([...creates, ...sends])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(promptsMax)
    expect(new Set(answers.map(refusal))).toEqual(new Set(['201', '403 approval_needed']))
  })

  test('in mode ask one Allow lets exactly one of many sends pass', async () => {
    const at = await desk(rouse, { mode: 'ask' })
    await settle(rouse, (await send(rouse, at)).body.card, 'allow')
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(rouse, at)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => refusal(answer) === '403 approval_needed')).toHaveLength(19)
  })

  test('many words and Allows at once let a held run go once', async () => {
    const { who, made, target } = await heldRun(rouse)
    const { id } = await theCard(rouse, who.session.id)
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => act(rouse, id, 'allow')),
      ...Array.from({ length: 5 }, () =>
        rouse.call('POST', `/v1/sessions/${who.session.id}/messages`, { text: 'go on' }),
      ),
      moveBy(rouse, '1m').then(() => ({ status: 200 })),
    ])
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
    expect(answers.slice(0, 5).filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await runs(rouse, made.id)).toMatchObject([{ outcome: 'fired' }])
    expect(await prompts(rouse, target.id)).toHaveLength(1)
  })
})
