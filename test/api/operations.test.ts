import { describe, expect, it } from 'vitest'
import { operations } from '../../shared/api/app.ts'
import { inHouse } from './in-house.ts'

const posts = operations.filter(({ method }) => method === 'post')
/** POSTs that create nothing: repeated, they find it done, or hand out what is next. */
const creatingNothing = [
  /^(pause|resume|park|archive|leave|join|cancel|preview)/,
  /^(claim|heartbeat|end|grantQueue|retryDelivery)/,
  /^moveClock$/,
]

describe('the table of operations', () => {
  it('every POST honours Idempotency-Key, but those that are known to create nothing', () => {
    for (const { name, statuses, creates } of posts.filter((op) => !op.creates)) {
      expect([name, creates, statuses.includes(201)]).toEqual([name, false, false])
      expect(
        creatingNothing.some((shape) => shape.test(name)),
        name,
      ).toBe(true)
    }
  })

  it('what answers a secret keeps it for no repeat', () => {
    const shown = ['createKey', 'rotateKey', 'createPerson', 'putSecret']
    expect(operations.filter(({ secret }) => secret).map(({ name }) => name)).toEqual(expect.arrayContaining(shown))
  })

  it('all but reading, messages and turns is audited', () => {
    const not = operations.filter(({ method, audited }) => method !== 'get' && !audited).map(({ name }) => name)
    expect(not.toSorted()).toEqual(
      [
        'claimAgent',
        'claimSession',
        'endJob',
        'endTurn',
        'grantQueueOfAgent',
        'grantQueueOfSession',
        'heartbeat',
        'previewSchedule',
        'sendMessage',
      ].toSorted(),
    )
    expect(operations.filter(({ method, audited }) => method === 'get' && audited)).toEqual([])
  })

  it('names are unique', () => {
    const names = operations.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  })
})

describe('a creating call that a crash cut off after its commit', () => {
  /** Without its answer, as it stands after a crash, and old enough to be taken over. */
  async function cutOff(house: Awaited<ReturnType<typeof inHouse>>, key: string): Promise<void> {
    const { table } = house.world
    const mine = (await house.call('GET', '/v1/keys', { key })).body.data.map(({ id }: { id: string }) => id)
    for (const id of mine) {
      const { items } = await table.list(`I#${id.slice(4)}`)
      for (const { key, item, version } of items)
        await table.commit([{ put: key, item: { ...item, answer: null }, expect: version }], `cut ${key}`)
    }
  }

  it('makes one key or person when it is repeated, and the secret that is shown works', async () => {
    const house = await inHouse({})
    const key = await house.person('ann')
    const admin = await house.keyOf(house.owner)
    const agent = (await house.call('POST', '/v1/agents', { key, body: { name: 'a' } })).body.id
    const calls = [
      [key, `/v1/agents/${agent}/keys`, {}],
      [admin, '/v1/people', { name: 'bob' }],
    ] as const
    for (const [by, path, body] of calls) {
      const o = { key: by, body, headers: { 'idempotency-key': 'k' } }
      const first = await house.call('POST', path, o)
      await cutOff(house, by)
      house.move(61_000)
      const again = await house.call('POST', path, o)
      expect([again.status, again.body.id]).toEqual([201, first.body.id])
      expect(again.body.key).not.toBe(first.body.key)
      expect((await house.call('GET', '/v1/agents', { key: again.body.key })).status).toBe(200)
      expect((await house.call('GET', '/v1/agents', { key: first.body.key })).status).toBe(401)
    }
    expect((await house.call('GET', `/v1/agents/${agent}/keys`, { key })).body.data).toHaveLength(1)
    await house.close()
  })

  it('rotates once when it is repeated, also without a grace time', async () => {
    const house = await inHouse({})
    const key = await house.person('ann')
    const agent = (await house.call('POST', '/v1/agents', { key, body: { name: 'a' } })).body.id
    const old = (await house.call('POST', `/v1/agents/${agent}/keys`, { key, body: {} })).body
    const o = { key, body: { graceSeconds: 0 }, headers: { 'idempotency-key': 'k' } }
    const first = await house.call('POST', `/v1/keys/${old.id}/rotate`, o)
    await cutOff(house, key)
    house.move(61_000)
    const again = await house.call('POST', `/v1/keys/${old.id}/rotate`, o)
    expect([again.status, again.body.id]).toEqual([201, first.body.id])
    const listed = (await house.call('GET', `/v1/agents/${agent}/keys`, { key })).body.data
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([again.body.id])
    expect((await house.call('GET', '/v1/agents', { key: again.body.key })).status).toBe(200)
    await house.close()
  })
})

describe('what is written beside a call', () => {
  it('does not fail it: an audit row that cannot be written is logged', async () => {
    const house = await inHouse({})
    const { table } = house.world
    const commit = table.commit.bind(table)
    table.commit = async (ops, token) => {
      if (ops.some((op) => 'put' in op && op.put[0].startsWith('U#'))) throw new Error('no room')
      await commit(ops, token)
    }
    const made = await house.call('POST', '/v1/agents', { body: { name: 'a' } })
    expect(made.status).toBe(201)
    expect(house.logged).toContain('audit row not written')
    await house.close()
  })

  it('nor does the last use of a key', async () => {
    const house = await inHouse({})
    const { table } = house.world
    const commit = table.commit.bind(table)
    table.commit = async (ops, token) => {
      if (ops.some((op) => 'patch' in op && op.patch[0].startsWith('K#'))) throw new Error('no room')
      await commit(ops, token)
    }
    expect((await house.call('GET', '/v1/agents')).status).toBe(200)
    expect(house.logged).toContain('key use not noted')
    await house.close()
  })

  it('a key that was made before there were lists works, and is listed from its first use on', async () => {
    const house = await inHouse({})
    const { table, ids } = house.world
    const sha256 = 'a'.repeat(64)
    const id = `key_${ids.ulid(house.world.clock.now())}`
    const row = { id, person: house.owner, agent: null, owner: house.owner, createdAt: 0 }
    await table.commit(
      [
        { put: [`K#${sha256}`, 'A'], item: row, expect: 'absent' },
        { put: [`O#${id.slice(4)}`, 'A'], item: { sha256 }, expect: 'absent' },
      ],
      'old',
    )
    const { callerOf } = await import('../../shared/engine/keys.ts')
    expect(await callerOf(house.world, sha256)).toMatchObject({ key: id, person: house.owner })
    const { data } = (await house.call('GET', '/v1/keys')).body
    expect(data.find((key: { id: string }) => key.id === id)).toMatchObject({
      prefix: null,
      lastUsedAt: expect.any(String),
    })
    await house.close()
  })
})
