import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../shared/api/keys.ts'
import type { Key } from '../../shared/ports/table.ts'
import { call, type Json, openVictim, type Said, type Victim } from './victim.ts'

let victim: Victim
let other: string
beforeAll(async () => {
  victim = await openVictim()
  other = await victim.house.person('other')
})
afterAll(() => victim.house.close())

const as = (key: string, method: string, path: string, body?: Json, more: Record<string, string> = {}): Promise<Said> =>
  call(victim.house, method, path, body, { authorization: `Bearer ${key}`, ...more })

/** What the store is asked for while `act` runs. */
async function asked(act: () => Promise<unknown>): Promise<Key[]> {
  const { table } = victim.house.world
  const found: Key[] = []
  const { get } = table
  table.get = async (keys) => {
    found.push(...keys)
    return await get.call(table, keys)
  }
  await act()
  table.get = get
  return found
}

describe('a guess at a key', () => {
  test('is one at 256 bits, with nothing in it that follows from another', async () => {
    const keys = await Promise.all(
      Array.from(
        { length: 50 },
        async () => (await as(victim.key, 'POST', `/v1/agents/${victim.ids.agent}/keys`, {})).body.key,
      ),
    )
    for (const key of keys) expect(key).toMatch(/^rsa_[\w-]{43,}$/)
    expect(new Set(keys.map((key) => key.slice(4, 10))).size).toBe(50)
    // Each of its characters is another one in another key about as often as chance has it.
    const same = keys.slice(1).flatMap((key, i) => [...key.slice(4)].filter((c, n) => c === keys[i]![n + 4]))
    expect(same.length).toBeLessThan((49 * 43 * 6) / 64)
  })

  test('is looked up by its SHA-256: how much of it is right shows nowhere, not even in the time that it takes', async () => {
    const near = [...Array(5).keys()].map((n) => {
      const at = victim.key.length - 1 - n * 8
      return victim.key.slice(0, at) + (victim.key[at] === 'A' ? 'B' : 'A') + victim.key.slice(at + 1)
    })
    for (const guess of [...near, 'rsp_', 'x', `${victim.key} `.trim().toUpperCase()]) {
      const looked = await asked(async () => expect((await as(guess, 'GET', '/v1/keys')).status).toBe(401))
      expect(looked.map(([pk]) => pk)).toEqual([`K#${sha256(guess)}`])
    }
  })

  test('is answered alike, whether the key never was, was revoked, or is of an agent that is gone', async () => {
    const { body: revoked } = await as(victim.key, 'POST', `/v1/agents/${victim.ids.agent}/keys`, {})
    await as(victim.key, 'DELETE', `/v1/keys/${revoked.id}`)
    const gone = (await as(victim.key, 'POST', '/v1/agents', { name: 'gone' })).body.id
    const { body: orphan } = await as(victim.key, 'POST', `/v1/agents/${gone}/keys`, {})
    await as(victim.key, 'DELETE', `/v1/agents/${gone}`)
    const said = await Promise.all(
      [revoked.key, orphan.key, `rsp_${'A'.repeat(43)}`].map((key) => as(key, 'GET', '/v1/keys')),
    )
    expect(said[1]).toEqual(said[0])
    expect(said[2]).toEqual(said[0])
    expect(said[0]!.status).toBe(401)
  })

  test.each(['lower case', 'blanks', 'a second one', 'in the address', 'in a cookie', 'in a body'])(
    'that is right is taken in its header alone: %s',
    async (how) => {
      const { key } = victim
      const by: Record<string, () => Promise<Said>> = {
        'lower case': () => as(key.toLowerCase(), 'GET', '/v1/keys'),
        blanks: () => as(`${key} x`, 'GET', '/v1/keys'),
        'a second one': () => as(`x, Bearer ${key}`, 'GET', '/v1/keys'),
        'in the address': () =>
          call(victim.house, 'GET', `/v1/keys?key=${key}&authorization=Bearer%20${key}`, undefined, {}),
        'in a cookie': () =>
          call(victim.house, 'GET', '/v1/keys', undefined, { cookie: `rouse-80=${key}`, 'x-rouse-console': '1' }),
        'in a body': () => call(victim.house, 'POST', '/v1/agents', { name: 'x', key }, {}),
      }
      expect((await by[how]!()).status).toBe(401)
    },
  )

  test('a name that is not there and one that may not be seen are the same answer, but for the name', async () => {
    const answer = async (id: string) =>
      JSON.stringify(await as(other, 'GET', `/v1/schedules/${id}`)).replaceAll(id, '…')
    expect(await answer(victim.ids.schedule!)).toBe(await answer('sch_01KJQZ8M00000000000000000A'))
  })
})

describe('an Idempotency-Key', () => {
  const with_ = (key: string) => ({ 'idempotency-key': key })
  const agents = async (key: string): Promise<string[]> =>
    (await as(key, 'GET', '/v1/agents?limit=100')).body.data.map(({ name }: Json) => name)

  test('of somebody else shows nothing of their answer, and does not stand in the way', async () => {
    const made = await as(victim.key, 'POST', '/v1/agents', { name: 'first' }, with_('same'))
    const theirs = await as(other, 'POST', '/v1/agents', { name: 'first' }, with_('same'))
    expect([made.status, theirs.status]).toEqual([201, 201])
    expect(theirs.body.id).not.toBe(made.body.id)
    const ofAgent = await as(victim.agentKey, 'POST', '/v1/feed', { title: 'first' }, with_('same'))
    expect(ofAgent.body.id).not.toBe(made.body.id)
  })

  test.each<[string, string, string, Json]>([
    ['another body', 'POST', '/v1/agents', { name: 'again' }],
    ['another path', 'POST', '/v1/feed', { title: 'again' }],
    ['another object', 'POST', '/v1/calendar-tokens', {}],
  ])('used again with %s is refused, and makes nothing', async (what, method, path, body) => {
    const key = `again ${what}`
    expect((await as(victim.key, 'POST', '/v1/agents', { name: `twice ${what}` }, with_(key))).status).toBe(201)
    const before = await agents(victim.key)
    const said = await as(victim.key, method, path, body, with_(key))
    expect(said.body.code).toBe('idempotency_mismatch')
    expect(await agents(victim.key)).toEqual(before)
  })

  test('of a key that was revoked is answered no more', async () => {
    const { body } = await as(victim.key, 'POST', `/v1/agents/${victim.ids.agent}/keys`, {})
    const headers = { ...with_('mine'), 'x-rouse-session': victim.session }
    expect((await as(body.key, 'POST', '/v1/feed', { title: 'x' }, headers)).status).toBe(201)
    await as(victim.key, 'DELETE', `/v1/keys/${body.id}`)
    expect((await as(body.key, 'POST', '/v1/feed', { title: 'x' }, headers)).status).toBe(401)
  })

  test('does not show a secret a second time, and nothing stored holds it', async () => {
    const path = `/v1/agents/${victim.ids.agent}/keys`
    const first = await as(victim.key, 'POST', path, {}, with_('key'))
    const again = await as(victim.key, 'POST', path, {}, with_('key'))
    expect([first.status, again.body.code]).toEqual([201, 'secret_shown_once'])
    expect(JSON.stringify(again)).not.toContain(first.body.key)
  })

  test('aims at no id: what it makes is named after its caller too, by a way that cannot be gone back', async () => {
    const [mine, theirs] = await Promise.all(
      [victim.key, other].map(
        async (key) => (await as(key, 'POST', '/v1/feed', { title: 'x' }, with_('aimed'))).body.id,
      ),
    )
    expect(mine.slice(-16)).not.toBe(theirs.slice(-16))
  })

  test('many calls at once with one key and different bodies make one thing', async () => {
    const said = await Promise.all(
      Array.from({ length: 20 }, (_, n) => as(victim.key, 'POST', '/v1/agents', { name: `race ${n}` }, with_('race'))),
    )
    expect(said.filter(({ status }) => status === 201)).toHaveLength(1)
    expect((await agents(victim.key)).filter((name) => name.startsWith('race '))).toHaveLength(1)
  })
})
