import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  agentWithSession,
  all,
  claim,
  create,
  end,
  fresh,
  instant,
  moveBy,
  moveTo,
  now,
  prompts,
  read,
  runs,
  schedule,
  turnOf,
} from './actors.ts'
import { type Json, onClock } from './node.ts'
import { rouse as cli } from './program.ts'

const cases: Json[] = JSON.parse(readFileSync(new URL('./behaviour.json', import.meta.url), 'utf8'))

/** A case of the list, with its title. */
function named(id: string): { title: string; input: Json; expected: Json } {
  const one = cases.find((each) => each.id === id)
  return { title: `${one.symptom} (${id})`, input: one.input, expected: one.expected }
}

/** The numbers of 5 minutes, the smallest interval there is, stand for the smaller ones of a case. */
const smallest = '5m'

onClock('faults of other schedulers, one by one', '2022-11-10T03:30:00Z', (rouse) => {
  const hiccup = named('catchup-hiccup-is-not-missed')
  test(hiccup.title, async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: hiccup.input.cron, misfire: 'skip' })
    await moveTo(rouse, hiccup.input.looked_at, { down: true })
    const found = await runs(rouse, made.id)
    expect(found).toMatchObject([{ nominalAt: instant(hiccup.input.slot), outcome: 'fired', missed: 0 }])
    expect(await prompts(rouse, session.id)).toHaveLength(hiccup.expected.runs_for_slot)
  })

  const longer = named('overlap-lock-shorter-than-run')
  test(longer.title, async () => {
    const { lease_seconds, run_seconds, heartbeat_seconds } = longer.input
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 5) })
    await moveBy(rouse, '5m')
    const { turn } = await claim(rouse, session.id, { leaseSeconds: lease_seconds })
    for (let second = 0; second < run_seconds; second += heartbeat_seconds) {
      await moveBy(rouse, `PT${heartbeat_seconds}S`)
      await rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})
      if (second % 300 === 0) expect(await claim(rouse, session.id)).toBeNull()
    }
    await end(rouse, turn.id)
    expect(await runs(rouse, made.id)).toMatchObject([{ turn: turn.id, result: 'ok' }])
    expect(await claim(rouse, session.id)).toBeNull()
  })

  const edit = named('store-invalid-edit-on-disabled')
  test(edit.title, async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: edit.input.before.every_seconds / 60 })
    const path = `/v1/schedules/${made.id}`
    const paused = await rouse.ok('POST', `${path}/pause`, {})
    const refused = await rouse.call('PATCH', path, edit.input.calls[0].edit)
    expect([refused.status, refused.body.code]).toEqual([422, edit.expected.results[0].error])
    expect(await read(rouse, made.id)).toEqual(paused)
    const resumed = await rouse.ok('POST', `${path}/resume`, {})
    expect(resumed).toMatchObject({ status: 'active', every: made.every, cron: null })
  })

  const repeated = named('store-create-idempotent')
  test(repeated.title, async () => {
    const { session } = await agentWithSession(rouse)
    const key = fresh(repeated.input.idempotency_key)
    const made = []
    for (let n = 0; n < repeated.input.creates; n += 1) {
      const headers = { 'idempotency-key': key }
      const answer = await create(rouse, { session: session.id, every: smallest }, { headers })
      expect(answer.status).toBe(201)
      made.push(answer.body)
      await moveBy(rouse, '1m')
    }
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(repeated.expected.schedules)
    await moveBy(rouse, '1m')
    expect((await runs(rouse, made[0].id)).map(({ nominalAt }) => nominalAt)).toEqual([made[0].nextAt])
  })

  const recreated = named('store-delete-then-recreate')
  test(recreated.title, async () => {
    const { session } = await agentWithSession(rouse)
    const at = instant(await now(rouse), 5)
    const body = { session: session.id, at, every: smallest, name: 'the same name' }
    const first = await schedule(rouse, body)
    await moveTo(rouse, at)
    await end(rouse, (await turnOf(rouse, session.id)).turn.id)
    await rouse.ok('DELETE', `/v1/schedules/${first.id}`)
    await moveBy(rouse, 'PT30S')
    const again = await schedule(rouse, { ...body, at: instant(at, 5) })
    expect(again.id).not.toBe(first.id)
    await moveTo(rouse, instant(at, 5))
    expect(await runs(rouse, again.id)).toMatchObject([{ nominalAt: instant(at, 5), outcome: 'fired' }])
    expect(await claim(rouse, session.id)).not.toBeNull()
  })

  const stale = named('store-stale-rows-collapse')
  test(stale.title, async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: smallest })
    await moveBy(rouse, `${stale.input.past_due_slots * 5 + 2}m`, { down: true })
    const found = await runs(rouse, made.id)
    expect(found).toMatchObject([{ trigger: 'catch_up', outcome: 'fired', missed: stale.input.past_due_slots }])
    expect(found).toHaveLength(stale.expected.runs)
    expect(found[0].missed - 1).toBe(stale.expected.closed_as_missed)
  })

  const deleted = named('api-deleted-stays-deleted')
  test(deleted.title, async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: smallest })
    await moveBy(rouse, '5m')
    expect(await prompts(rouse, session.id)).toMatchObject([{ status: 'waiting' }])
    await moveBy(rouse, 'PT30S')
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`)
    expect(await prompts(rouse, session.id)).toMatchObject([{ status: 'dropped' }])
    expect(await claim(rouse, session.id)).toBeNull()
    await moveBy(rouse, '1h')
    expect(await claim(rouse, session.id)).toBeNull()
    expect((await rouse.ok('GET', `/v1/sessions/${session.id}`)).waiting).toBe(0)
  })

  const zone = named('api-zone-required')
  test(zone.title, async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, ...zone.input.create })
    expect(made.tz).toBe(zone.expected.stored_tz)
    expect(made.next).toHaveLength(zone.expected.echo)
    for (const { at, local } of made.next) {
      expect(at).toMatch(/T13:00:00\.000Z$/)
      expect(local).toMatch(/T13:00:00\+00:00\[UTC\]$/)
    }
  })

  const oneShot = named('overlap-at-terminal-any-status')
  test(oneShot.title, async () => {
    const made = []
    const at = instant(oneShot.input.at)
    await moveTo(rouse, instant(at, -60))
    for (const misfire of ['once', 'skip']) {
      const { session } = await agentWithSession(rouse)
      made.push({ session, one: await schedule(rouse, { session: session.id, at, misfire }) })
    }
    await moveTo(rouse, instant(at, 30), { down: true })
    await end(rouse, (await turnOf(rouse, made[0]!.session.id)).turn.id, { outcome: 'failed' })
    await moveBy(rouse, '2d')
    for (const { session, one } of made) {
      const after = await read(rouse, one.id)
      expect(after.nextAt).toBeNull()
      expect(after.status).not.toBe('active')
      expect(await runs(rouse, one.id)).toHaveLength(1)
      expect(await claim(rouse, session.id)).toBeNull()
    }
    expect((await read(rouse, made[0]!.one.id)).status).toBe('done')
  })

  const stuck = named('overlap-stuck-marker-live')
  test(stuck.title, async () => {
    const started = instant(stuck.input.run_started)
    await moveTo(rouse, instant(started, -5))
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, at: started, every: '10m', overlap: 'skip' })
    await moveTo(rouse, started)
    const { turn } = await claim(rouse, session.id, {
      leaseSeconds: stuck.input.limit_seconds + stuck.input.grace_seconds,
    })
    expect(turn.leaseUntil).toBe(instant(stuck.expected.lease_free_at))
    await moveTo(rouse, stuck.expected.next_run_at)
    expect(await runs(rouse, made.id)).toMatchObject([
      { nominalAt: started, outcome: 'fired', result: 'unknown' },
      {
        nominalAt: instant(stuck.expected.skipped[0]),
        outcome: 'skipped',
        reason: expect.stringMatching(/^previous_/),
      },
      { nominalAt: instant(stuck.expected.next_run_at), outcome: 'fired', result: null },
    ])
    expect(await claim(rouse, session.id)).not.toBeNull()
  })

  const manual = named('api-manual-run-keeps-schedule')
  test(manual.title, async () => {
    await moveTo(rouse, instant(manual.input.manual_at, -60))
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: manual.input.cron, tz: manual.input.tz })
    expect(made.nextAt).toBe(instant(manual.expected.next))
    await moveTo(rouse, manual.input.manual_at)
    await rouse.ok('POST', `/v1/schedules/${made.id}/run`)
    expect(await runs(rouse, made.id)).toMatchObject([
      { trigger: manual.expected.why, at: instant(manual.expected.run_at), outcome: 'fired' },
    ])
    expect((await read(rouse, made.id)).nextAt).toBe(instant(manual.expected.next))
  })

  const flag = named('cli-zone-flag-reaches-at')
  test(flag.title, async () => {
    await moveTo(rouse, '2026-05-01T00:00:00Z')
    const { session } = await agentWithSession(rouse)
    const [, , ...when] = flag.input.argv
    const said = await cli(rouse, ['schedule', 'add', 'zoned', '--prompt', 'x', '--session', session.id, ...when])
    expect([said.code, said.stderr]).toEqual([0, ''])
    const [made] = await all(rouse, `/v1/schedules?session=${session.id}`)
    expect(made.nextAt).toBe(instant(flag.expected.stored_at))
  })

  test('an option of the command that has no effect is an error, never ignored', async () => {
    const { session } = await agentWithSession(rouse)
    const add = ['schedule', 'add', 'no effect', '--prompt', 'x', '--session', session.id]
    const said = await cli(rouse, [...add, '--cron', '0 8 * * *', '--dtstart', '2026-06-01T08:00'])
    expect(said.code).not.toBe(0)
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
  })
})
