import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../shared/api/app.ts'
import { type Attempt, attempts, call, openVictim, type Said, seen, type Victim } from './victim.ts'

/**
 * Every operation of the table, by everybody who has no business with it. `test/journeys/matrix.test.ts` tries who may do what to an agent;
 * this one holds for operations that are added later too, since nobody has to list them.
 */

let victim: Victim
let all: Attempt[]
beforeAll(async () => {
  victim = await openVictim()
  all = attempts(victim)
})
afterAll(() => victim.house.close())

const tried = (one: Attempt, headers: Record<string, string>): Promise<Said> =>
  call(victim.house, one.method, one.path, one.body, headers)

/** Names of operations that were answered otherwise than `fits` says. */
async function otherwise(
  ones: readonly Attempt[],
  headers: Record<string, string>,
  fits: (said: Said) => boolean,
): Promise<string[]> {
  const found: string[] = []
  for (const one of ones) {
    const said = await tried(one, headers)
    if (!fits(said)) found.push(`${one.name}: ${said.status} ${said.body?.code ?? ''} ${said.body?.detail ?? ''}`)
  }
  return found
}

const unchanged = async (act: () => Promise<void>): Promise<void> => {
  const before = await seen(victim)
  await act()
  expect(await seen(victim)).toEqual(before)
}

describe.each<[string, Record<string, string>]>([
  ['no key', { authorization: '' }],
  ['a key that was never made', { authorization: `Bearer rsp_${'A'.repeat(43)}` }],
  ['a key in another scheme', { authorization: 'Basic dmljdGltOnZpY3RpbQ==' }],
  ['an unsigned token', { authorization: `Bearer ${['{"alg":"none"}', '{"sub":"victim"}'].map(base64).join('.')}.` }],
  [
    'a cookie that was made up',
    { authorization: '', 'x-rouse-console': '1', cookie: `rouse-80=rsc_${'a'.repeat(43)}` },
  ],
])('with %s', (_, headers) => {
  test('every operation is refused, and nothing changes', async () => {
    await unchanged(async () => {
      const refused = (said: Said) =>
        said.status === 401 || (said.status === 403 && said.body.code === 'origin_not_allowed')
      expect(await otherwise(all, headers, refused)).toEqual([])
    })
    expect(all).toHaveLength(operations.length)
  })
})

describe.each([
  ['a person who shares nothing', false],
  ['an agent of such a person', true],
])('as %s', (_, isAgent) => {
  let headers: Record<string, string>
  beforeAll(async () => {
    const { house } = victim
    const key = await house.person('stranger')
    headers = { authorization: `Bearer ${key}` }
    if (!isAgent) return
    const agent = (await house.call('POST', '/v1/agents', { key, body: { name: 'scout' } })).body.id
    const session = (await house.call('POST', '/v1/sessions', { key, body: { agent } })).body.id
    const own = (await house.call('POST', `/v1/agents/${agent}/keys`, { key, body: {} })).body.key
    headers = { authorization: `Bearer ${own}`, 'x-rouse-session': session }
  })

  test('what names something of somebody else is as if it were not there, and nothing of theirs changes', async () => {
    const aimed = all.filter(({ isAimed, name }) => isAimed && !ownNames.has(name))
    expect(aimed.length).toBeGreaterThan(60)
    await unchanged(async () => {
      const refused = ({ status, body }: Said) =>
        status === 404 || (isAgent && status === 403 && body.code !== 'approval_needed')
      expect(await otherwise(aimed, headers, refused)).toEqual([])
    })
  })

  test('what names somebody else in a body or not at all changes nothing of theirs, and shows nothing of it', async () => {
    const plain = all.filter(({ isAimed, name }) => !isAimed || ownNames.has(name))
    await unchanged(async () => {
      for (const one of plain) {
        const { status, body } = await tried(one, headers)
        expect([one.name, status < 500]).toEqual([one.name, true])
        const text = JSON.stringify(body?.data ?? body)
        for (const id of Object.values(victim.ids))
          expect([one.name, status < 300 && text.includes(id)]).toEqual([one.name, false])
      }
    })
  })

  test('a session or a turn of somebody else is nowhere to act from', async () => {
    const borrowed = { ...headers, 'x-rouse-session': victim.session, 'x-rouse-turn': victim.ids.turn! }
    await unchanged(async () => {
      for (const one of all.filter(({ method }) => method !== 'GET')) {
        const { status } = await tried(one, borrowed)
        expect([one.name, status < 500]).toEqual([one.name, true])
      }
    })
  })
})

/** Each caller has documents, secrets and cards under names of their own: the same name is another thing. */
const ownNames = new Set([
  ...['putDocument', 'getDocument', 'removeDocument', 'putSecret', 'removeSecret', 'summariseGroup'],
])

test('the victim reads all of it: the paths that are tried are those of what is there', async () => {
  const reads = all.filter(({ method }) => method === 'GET')
  const fits = ({ status }: Said) => status === 200
  expect(reads.length).toBeGreaterThan(30)
  expect(await otherwise(reads, { authorization: `Bearer ${victim.key}` }, fits)).toEqual([])
})

describe('a key that a check was given', () => {
  test('reads, and is refused everything else, secrets and keys included', async () => {
    const { house, key, ids } = victim
    const { callerOf, putKey } = await import('../../shared/engine/keys.ts')
    const { newSecret, sha256 } = await import('../../shared/api/keys.ts')
    const { commit } = await import('../../shared/engine/store.ts')
    const owner = (await callerOf(house.world, sha256(key)))!
    const made = newSecret(house.world.ids, 'agent')
    const now = house.world.clock.now()
    const person = owner.kind === 'person' ? owner.person : ''
    const row = {
      id: `key_${house.world.ids.ulid(now)}`,
      person: null,
      agent: ids.agent!,
      owner: person,
      createdAt: now,
      reads: true,
    }
    await commit(house.world, putKey(row as never, made.sha256))
    const headers = { authorization: `Bearer ${made.key}`, 'x-rouse-session': victim.session }
    const writes = all.filter(({ method }) => method !== 'GET')
    await unchanged(async () => {
      expect(await otherwise(writes, headers, ({ body }) => body?.code === 'check_key')).toEqual([])
    })
    expect((await tried(all.find(({ name }) => name === 'listSecrets')!, headers)).status).toBe(403)
    expect((await tried(all.find(({ name }) => name === 'getSchedule')!, headers)).status).toBe(200)
  })
})

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}
