import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actor, agent, all, fresh, moveBy, now } from './actors.ts'
import { type Json, onClock, type RouseNode, withOwnNodes } from './node.ts'

const person = (rouse: RouseNode, more: Json = {}): Promise<Json> =>
  rouse.ok('POST', '/v1/people', { name: fresh('person'), ...more })
const works = async (rouse: RouseNode, key: string): Promise<boolean> =>
  (await rouse.call('GET', '/v1/agents', undefined, { key })).status === 200
const noKey = `key_${'0'.repeat(26)}`

/** A use is written beside the call, so it shows a moment later. */
async function used(rouse: RouseNode, path: string, id: string, o: Json = {}): Promise<string | null> {
  await rouse.ok('GET', '/v1/settings')
  return (await all(rouse, path, o)).find((key) => key.id === id)?.lastUsedAt ?? null
}

onClock('keys', '2026-03-02T09:00:00Z', (rouse) => {
  test('the prefix tells keys of people from keys of agents, and 256 random bits follow', async () => {
    const [one, two] = [await person(rouse), await person(rouse)]
    const who = await actor(rouse)
    expect(one.key).toMatch(/^rsp_[0-9A-Za-z]{43}$/)
    expect(who.key).toMatch(/^rsa_[0-9A-Za-z]{43}$/)
    expect(one.key).not.toBe(two.key)
    expect(rouse.key).toMatch(/^rsp_/)
  })

  test('lists show what keys begin with and when, and never a key', async () => {
    const made = await person(rouse)
    const o = { key: made.key }
    const mine = await agent(rouse, {}, o)
    const first = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    const second = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    const keys = await all(rouse, `/v1/agents/${mine.id}/keys`, o)
    const at = await now(rouse)
    const shown = ({ id, key }: Json) => ({
      id,
      prefix: key.slice(0, 8),
      createdAt: at,
      lastUsedAt: null,
      expiresAt: null,
    })
    expect(keys).toHaveLength(2)
    expect(keys).toEqual(expect.arrayContaining([shown(first), shown(second)]))
    const own = await all(rouse, '/v1/keys', o)
    expect(own.map(({ prefix, expiresAt }) => [prefix, expiresAt])).toEqual([[made.key.slice(0, 8), null]])
    expect(JSON.stringify([keys, own])).not.toMatch(/rs[ap]_[0-9A-Za-z]{10}/)
  })

  test('lists are paged, newest first', async () => {
    const o = { key: (await person(rouse)).key }
    const mine = await agent(rouse, {}, o)
    const made: string[] = []
    for (let i = 0; i < 7; i++) {
      made.unshift((await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)).id)
      await moveBy(rouse, 'PT1M')
    }
    await rouse.ok('DELETE', `/v1/keys/${made[3]}`, undefined, o)
    const left = made.filter((_, i) => i !== 3)
    const first = await rouse.ok('GET', `/v1/agents/${mine.id}/keys?limit=2`, undefined, o)
    expect(first.data.map(({ id }: Json) => id)).toEqual(left.slice(0, 2))
    const second = await rouse.ok('GET', `/v1/agents/${mine.id}/keys?limit=2&cursor=${first.nextCursor}`, undefined, o)
    expect(second.data.map(({ id }: Json) => id)).toEqual(left.slice(2, 4))
    const third = await rouse.ok('GET', `/v1/agents/${mine.id}/keys?limit=2&cursor=${second.nextCursor}`, undefined, o)
    expect([third.data.map(({ id }: Json) => id), third.nextCursor]).toEqual([left.slice(4), null])
  })

  test('a use is noted once an hour', async () => {
    const o = { key: (await person(rouse)).key }
    const mine = await agent(rouse, {}, o)
    const { id, key } = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    const path = `/v1/agents/${mine.id}/keys`
    expect(await used(rouse, path, id, o)).toBeNull()
    const first = await now(rouse)
    expect(await works(rouse, key)).toBe(true)
    expect(await used(rouse, path, id, o)).toBe(first)
    await moveBy(rouse, 'PT30M')
    expect(await works(rouse, key)).toBe(true)
    expect(await used(rouse, path, id, o)).toBe(first)
    await moveBy(rouse, 'PT31M')
    expect(await works(rouse, key)).toBe(true)
    expect(await used(rouse, path, id, o)).toBe(await now(rouse))
  })

  test('a rotated key works on for the grace time, the new one acts for the same agent', async () => {
    const o = { key: (await person(rouse)).key }
    const mine = await agent(rouse, {}, o)
    const old = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    const next = await rouse.ok('POST', `/v1/keys/${old.id}/rotate`, { graceSeconds: 600 }, o)
    expect(next.key).toMatch(/^rsa_/)
    expect([await works(rouse, old.key), await works(rouse, next.key)]).toEqual([true, true])
    const seen = await rouse.ok('GET', '/v1/agents', undefined, { key: next.key })
    expect(seen.data.map(({ id }: Json) => id)).toEqual([mine.id])
    await moveBy(rouse, 'PT9M')
    expect(await works(rouse, old.key)).toBe(true)
    await moveBy(rouse, 'PT2M')
    expect([await works(rouse, old.key), await works(rouse, next.key)]).toEqual([false, true])
    expect((await all(rouse, `/v1/agents/${mine.id}/keys`, o)).map(({ id }) => id)).toEqual([next.id])
    expect((await rouse.call('POST', `/v1/keys/${old.id}/rotate`, {}, o)).status).toBe(404)
  })

  test('unless said the grace time is an hour; 0 ends the old key at once; a day is the most', async () => {
    const me = await person(rouse)
    const [{ id }] = (await all(rouse, '/v1/keys', { key: me.key })) as [Json]
    const second = await rouse.ok('POST', `/v1/keys/${id}/rotate`, undefined, { key: me.key })
    await moveBy(rouse, 'PT59M')
    expect(await works(rouse, me.key)).toBe(true)
    await moveBy(rouse, 'PT1M')
    expect(await works(rouse, me.key)).toBe(false)
    const third = await rouse.ok('POST', `/v1/keys/${second.id}/rotate`, { graceSeconds: 0 }, { key: second.key })
    expect([await works(rouse, second.key), await works(rouse, third.key)]).toEqual([false, true])
    for (const graceSeconds of [86_401, -1, 1.5]) {
      const refused = await rouse.call('POST', `/v1/keys/${third.id}/rotate`, { graceSeconds }, { key: third.key })
      expect([refused.status, refused.body.code]).toEqual([422, 'body_invalid'])
    }
  })

  test('a key that was rotated once holds no longer for being rotated again, and can be revoked meanwhile', async () => {
    const o = { key: (await person(rouse)).key }
    const mine = await agent(rouse, {}, o)
    const old = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, o)
    await rouse.ok('POST', `/v1/keys/${old.id}/rotate`, { graceSeconds: 60 }, o)
    await rouse.ok('POST', `/v1/keys/${old.id}/rotate`, { graceSeconds: 86_400 }, o)
    const shown = (await all(rouse, `/v1/agents/${mine.id}/keys`, o)).find(({ id }) => id === old.id)
    expect(Date.parse(shown?.expiresAt) - Date.parse(await now(rouse))).toBe(60_000)
    expect((await rouse.call('DELETE', `/v1/keys/${old.id}`, undefined, o)).status).toBe(204)
    expect(await works(rouse, old.key)).toBe(false)
  })

  test('a key of somebody else is not there, whoever asks', async () => {
    const [mine, theirs] = [await person(rouse), await person(rouse)]
    const [{ id }] = (await all(rouse, '/v1/keys', { key: theirs.key })) as [Json]
    for (const key of [mine.key, rouse.key])
      for (const asked of [id, noKey, 'nonsense']) {
        expect((await rouse.call('POST', `/v1/keys/${asked}/rotate`, {}, { key })).status).toBe(404)
        expect((await rouse.call('DELETE', `/v1/keys/${asked}`, undefined, { key })).status).toBe(404)
      }
    expect(await works(rouse, theirs.key)).toBe(true)
  })

  test('a secret that was shown once is not shown to a repeat', async () => {
    const o = { key: (await person(rouse)).key }
    const mine = await agent(rouse, {}, o)
    const headers = { 'idempotency-key': fresh('once') }
    const old = await rouse.ok('POST', `/v1/agents/${mine.id}/keys`, {}, { ...o, headers })
    const again = await rouse.call('POST', `/v1/agents/${mine.id}/keys`, {}, { ...o, headers })
    expect([again.status, again.body.code]).toEqual([409, 'secret_shown_once'])
    const rotating = { 'idempotency-key': fresh('once') }
    const next = await rouse.ok('POST', `/v1/keys/${old.id}/rotate`, { graceSeconds: 0 }, { ...o, headers: rotating })
    const twice = await rouse.call(
      'POST',
      `/v1/keys/${old.id}/rotate`,
      { graceSeconds: 0 },
      { ...o, headers: rotating },
    )
    expect([twice.status, twice.body.code]).toEqual([409, 'secret_shown_once'])
    expect((await all(rouse, `/v1/agents/${mine.id}/keys`, o)).map(({ id }) => id)).toEqual([next.id])
  })
})

withOwnNodes('the first key of a node', (make) => {
  test('is no key any more once it was revoked, also after the next start: the same person gets another', async () => {
    const node = make()
    await node.start()
    const first = node.key
    const mine = await agent(node)
    const [{ id }] = (await all(node, '/v1/keys')) as [Json]
    expect((await node.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    await node.stop()
    await node.start()
    expect(node.key).not.toBe(first)
    expect((await node.call('GET', '/v1/agents', undefined, { key: first })).status).toBe(401)
    expect((await node.ok('GET', '/v1/agents')).data.map((a: Json) => a.id)).toEqual([mine.id])
    const kept = node.key
    await node.stop()
    await node.start()
    expect(node.key).toBe(kept)
  })

  test('no file of the node holds a key, but the one that is there to be read', async () => {
    const node = make()
    await node.start()
    const { key } = await actor(node)
    await node.stop()
    for (const file of readdirSync(node.dir)) {
      const text = readFileSync(join(node.dir, file)).toString('latin1')
      expect([file, text.includes(key)]).toEqual([file, false])
      expect([file, text.includes(node.key)]).toEqual([file, file === 'credentials.json'])
    }
    expect(existsSync(join(node.dir, 'rouse.db'))).toBe(true)
  })
})
