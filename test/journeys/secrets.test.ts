import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { actor, fresh } from './actors.ts'
import { anywhere, type Json, type RouseNode, withOwnNodes } from './node.ts'

const person = (rouse: RouseNode): Promise<Json> => rouse.ok('POST', '/v1/people', { name: fresh('person') })
const names = async (rouse: RouseNode, o: Json, query = ''): Promise<string[]> =>
  (await rouse.ok('GET', `/v1/secrets${query}`, undefined, o)).data.map(({ name }: Json) => name)

anywhere('secrets', (rouse) => {
  test('S2-16 are kept per person: one puts, changes, lists and removes his own and sees nobody else’s', async () => {
    const [ann, bob] = [{ key: (await person(rouse)).key }, { key: (await person(rouse)).key }]
    for (const name of ['github', 'AWS_KEY', 'a.b-c'])
      expect((await rouse.call('PUT', `/v1/secrets/${name}`, { value: `of ${name}` }, ann)).status).toBe(204)
    expect((await rouse.call('PUT', '/v1/secrets/github', { value: 'another' }, ann)).status).toBe(204)
    expect(await names(rouse, ann)).toEqual(['AWS_KEY', 'a.b-c', 'github'])
    expect(await names(rouse, bob)).toEqual([])
    expect((await rouse.call('DELETE', '/v1/secrets/github', undefined, bob)).status).toBe(404)
    expect((await rouse.call('DELETE', '/v1/secrets/github', undefined, ann)).status).toBe(204)
    expect((await rouse.call('DELETE', '/v1/secrets/github', undefined, ann)).status).toBe(404)
    expect(await names(rouse, ann)).toEqual(['AWS_KEY', 'a.b-c'])
  })

  test('lists are paged, in order', async () => {
    const o = { key: (await person(rouse)).key }
    for (const name of ['c', 'a', 'b']) await rouse.ok('PUT', `/v1/secrets/${name}`, { value: 'x' }, o)
    const page = await rouse.ok('GET', '/v1/secrets?limit=2', undefined, o)
    expect(page.data).toEqual([{ name: 'a' }, { name: 'b' }])
    expect(await names(rouse, o, `?cursor=${page.nextCursor}`)).toEqual(['c'])
  })

  test('an agent has none and sees none', async () => {
    const who = await actor(rouse)
    for (const [method, path, body] of [
      ['PUT', '/v1/secrets/x', { value: 'y' }],
      ['GET', '/v1/secrets', undefined],
      ['DELETE', '/v1/secrets/x', undefined],
    ] as const) {
      const answer = await rouse.call(method, path, body, who.as)
      expect([method, answer.status, answer.body.code]).toEqual([method, 403, 'person_only'])
    }
  })

  test('names and values have bounds, and what is refused is not repeated in the answer', async () => {
    const o = { key: (await person(rouse)).key }
    const secret = 'hunter2hunter2'
    const put = async (name: string, value: unknown) => {
      const answer = await rouse.call('PUT', `/v1/secrets/${name}`, { value }, o)
      expect(JSON.stringify(answer.body)).not.toContain(secret)
      return [answer.status, answer.body?.code]
    }
    const bad = [422, 'body_invalid']
    expect(await put('x'.repeat(101), secret)).toEqual(bad)
    expect(await put('a%20b', secret)).toEqual(bad)
    expect(await put('%C3%A9', secret)).toEqual(bad)
    expect(await put('ok', '')).toEqual(bad)
    expect(await put('ok', [secret])).toEqual(bad)
    expect(await put('ok', secret.padEnd(4097, 'x'))).toEqual(bad)
    expect(await put('ok', 'é'.repeat(2049))).toEqual(bad)
    expect(await put('ok', '\ud800')).toEqual(bad)
    expect(await names(rouse, o)).toEqual([])
    expect((await put('x'.repeat(100), 'é'.repeat(2048)))[0]).toBe(204)
    const broken = await rouse.call('PUT', '/v1/secrets/ok', undefined, { ...o, raw: `{"value": ${secret}}` })
    expect([broken.status, JSON.stringify(broken.body).includes(secret.slice(0, 5))]).toEqual([400, false])
  })
})

withOwnNodes('a secret', (make) => {
  test('stands in one file of the node, and in no log, answer or audit row', async () => {
    const node = make()
    await node.start()
    const value = 'open-sesame-8713'
    await node.ok('PUT', '/v1/secrets/door', { value }, { headers: { 'idempotency-key': 'k' } })
    const audit = await node.ok('GET', '/v1/audit')
    expect(audit.data[0]).toMatchObject({ operation: 'putSecret', targets: ['door'], status: 204 })
    expect(JSON.stringify(audit)).not.toContain(value)
    await node.stop()
    const holding = readdirSync(node.dir).filter((file) =>
      readFileSync(join(node.dir, file)).toString('latin1').includes(value),
    )
    expect([holding, node.said.includes(value)]).toEqual([['secrets.json'], false])
  })
})
