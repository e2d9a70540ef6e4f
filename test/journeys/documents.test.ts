import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import { actor, all, fresh, turnOf } from './actors.ts'
import { type Answer, anywhere, type CallOptions, type Json, onClock, type RouseNode } from './node.ts'

const text = 'text/plain'
const put = (rouse: RouseNode, path: string, raw: string | Uint8Array, type = text, o: CallOptions = {}) =>
  rouse.call('PUT', `/v1/documents/${path}`, undefined, { ...o, raw, headers: { 'content-type': type, ...o.headers } })
const get = (rouse: RouseNode, path: string, o: CallOptions = {}) =>
  rouse.call('GET', `/v1/documents/${path}`, undefined, o)
const told = (answer: Answer): [number, string] => [answer.status, answer.body?.code]

/** As bytes came: the journeys' own call reads JSON. */
async function bytesAt(rouse: RouseNode, path: string): Promise<[string, Buffer]> {
  const answer = await fetch(`${rouse.url}/v1/documents/${path}`, { headers: { authorization: `Bearer ${rouse.key}` } })
  return [answer.headers.get('content-type') ?? '', Buffer.from(await answer.arrayBuffer())]
}

anywhere('documents', (rouse) => {
  const person = async (): Promise<CallOptions> => ({
    key: (await rouse.ok('POST', '/v1/people', { name: fresh('person') })).key,
  })

  test('JSON and text come back byte by byte, under the content type they were put with', async () => {
    const at = fresh('kept')
    for (const [type, words, shown] of [
      ['application/json', '{ "b": 1.50,\n "a": [null, "\\ud800"] }', 'application/json'],
      ['application/vnd.x+json', '"only a string"', 'application/json'],
      ['text/markdown; charset=UTF-8', '# Grüße, 日本 😀 \u0000\r\n', 'text/markdown; charset=utf-8'],
      ['text/plain', '', 'text/plain; charset=utf-8'],
      ['text/plain', '\ufeffmarked', 'text/plain; charset=utf-8'],
    ] as const) {
      expect((await put(rouse, `${at}/d`, words, type)).status, words).toBe(200)
      expect(await bytesAt(rouse, `${at}/d`)).toEqual([shown, Buffer.from(words)])
    }
    expect(told(await put(rouse, `${at}/d`, '{', 'application/json'))).toEqual([400, 'json_invalid'])
    for (const type of ['application/octet-stream', 'image/png', 'text/', 'text/plain; charset=latin1'])
      expect(told(await put(rouse, `${at}/d`, 'x', type)), type).toEqual([415, 'media_type'])
  })

  test('versions count the writes, and the head says what there is', async () => {
    const path = `${fresh('ver')}/日本 語.md`
    const at = encodeURIComponent(path)
    const first = await put(rouse, at, 'één', 'text/markdown')
    expect(first.body).toEqual({ path, version: 1, updatedAt: expect.any(String) })
    expect((await put(rouse, at.replace('%2F', '/'), 'two')).body.version).toBe(2)
    const read = await get(rouse, at)
    expect([read.body, read.headers.get('etag')]).toEqual(['two', '"2"'])
    const meta = await get(rouse, `${at}?meta=true`)
    expect(meta.body).toMatchObject({ path, version: 2, type: 'text', bytes: 3, contentType: 'text/plain' })
    expect((await rouse.call('DELETE', `/v1/documents/${at}`)).status).toBe(204)
    expect(told(await rouse.call('DELETE', `/v1/documents/${at}`))).toEqual([404, 'not_found'])
    expect(told(await get(rouse, at))).toEqual([404, 'not_found'])
    expect((await put(rouse, at, 'three')).body.version).toBe(3)
  })

  test('If-Match and If-None-Match: of ten at once one wins', async () => {
    const at = fresh('race')
    const when = (headers: Record<string, string>) => (_: unknown, i: number) =>
      put(rouse, at, `writer ${i}`, text, { headers })
    const ten = async (headers: Record<string, string>): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 10 }, when(headers)))).map(({ status }) => status).sort()
    const oneWon = [200, ...Array(9).fill(412)]
    expect(await ten({ 'if-match': '*' })).toEqual(Array(10).fill(412))
    expect(await ten({ 'if-none-match': '*' })).toEqual(oneWon)
    expect(await ten({ 'if-match': '"1"' })).toEqual(oneWon)
    expect(await ten({})).toEqual(Array(10).fill(200))
    expect((await get(rouse, at)).headers.get('etag')).toBe('"12"')
    const remove = (match: string) =>
      rouse.call('DELETE', `/v1/documents/${at}`, undefined, { headers: { 'if-match': match } })
    expect(told(await remove('"11"'))).toEqual([412, 'precondition_failed'])
    expect((await remove('"12"')).status).toBe(204)
  })

  test('300 KB fit, whatever they hold, and a byte more does not', async () => {
    const at = fresh('size')
    for (const unit of ['x', '"', '\u0001', '€']) {
      const fits = unit.repeat(Math.floor((300 * 1024) / Buffer.byteLength(unit)))
      expect((await put(rouse, at, fits)).status).toBe(200)
      expect((await get(rouse, at)).body === fits, unit).toBe(true)
    }
    expect(told(await put(rouse, at, 'x'.repeat(300 * 1024 + 1)))).toEqual([413, 'body_too_large'])
  })

  test('a path that is none is refused when it is put, and names nothing when it is read', async () => {
    // Not "..": API Gateway hands it over decoded, and a URL resolves it before we see it (pathFault has its own test).
    for (const path of ['%2Fa', 'a%2F', 'a%2F%2Fb', 'a%00', 'a%E2%80%AEb', 'x'.repeat(501)]) {
      expect(told(await put(rouse, path, 'x')), path).toEqual([422, 'body_invalid'])
      expect(told(await get(rouse, path)), path).toEqual([404, 'not_found'])
    }
  })

  test('a list is paged in the order of the paths, and a cursor that is none is refused', async () => {
    const who = await person()
    for (const path of ['b/2', 'a', 'b/1', 'b/10', 'c']) await put(rouse, path, path, text, who)
    const paths = (page: Json): string[] => page.map(({ path }: Json) => path)
    expect(paths(await all(rouse, '/v1/documents', who))).toEqual(['a', 'b/1', 'b/10', 'b/2', 'c'])
    const first = await rouse.ok('GET', '/v1/documents?prefix=b/&limit=2', undefined, who)
    expect(first.data[0]).toEqual({ path: 'b/1', version: 1, updatedAt: expect.any(String), type: 'text', bytes: 3 })
    const next = `/v1/documents?prefix=b/&limit=2&cursor=${first.nextCursor}`
    const second = await rouse.ok('GET', next, undefined, who)
    expect([...paths(first.data), ...paths(second.data), second.nextCursor]).toEqual(['b/1', 'b/10', 'b/2', null])
    for (const query of ['cursor=%20', 'limit=0', 'prefix=x&more=1', `prefix=${'x'.repeat(501)}`])
      expect((await rouse.call('GET', `/v1/documents?${query}`, undefined, who)).status, query).toBeGreaterThanOrEqual(
        400,
      )
  })

  test("an agent's key reads and writes its owner's; nobody else sees them, and a turn that is over writes nothing", async () => {
    const at = fresh('shared')
    const scout = await actor(rouse)
    expect((await put(rouse, at, 'from the agent', text, scout.as)).status).toBe(200)
    expect((await get(rouse, at)).body).toBe('from the agent')
    expect((await get(rouse, `${at}?meta=true`)).body.by).toBe(scout.agent.id)
    const stranger = await person()
    expect(told(await get(rouse, at, stranger))).toEqual([404, 'not_found'])
    expect((await put(rouse, at, 'another', text, stranger)).body.version).toBe(1)
    expect((await get(rouse, at, scout.as)).body).toBe('from the agent')
    await rouse.ok('POST', `/v1/sessions/${scout.session.id}/messages`, { text: 'go' })
    const turn = (await turnOf(rouse, scout.session.id)).turn.id
    await rouse.ok('POST', `/v1/turns/${turn}/end`, { outcome: 'ok' })
    const late = { ...scout.as, headers: { ...scout.as.headers, 'x-rouse-turn': turn } }
    expect(told(await put(rouse, at, 'too late', text, late))).toEqual([409, 'turn_not_running'])
    const trail = await rouse.ok('GET', '/v1/audit?limit=100')
    const row = trail.data.find(({ targets }: Json) => targets.includes(at))
    expect(row).toMatchObject({ operation: 'putDocument', by: { kind: 'agent', id: scout.agent.id } })
  })

  test('rouse doc puts, gets, lists and removes', async () => {
    const io = { env: { ROUSE_URL: rouse.url, ROUSE_KEY: rouse.key } }
    const at = fresh('cli')
    const dir = await mkdtemp(join(tmpdir(), 'rouse-doc-'))
    const file = join(dir, 'd.json')
    await writeFile(file, '{ "a": 1.0 }\n')
    expect((await command(['doc', 'put', `${at}/a.json`, file], io)).stdout).toBe(`Kept ${at}/a.json, version 1.\n`)
    const piped = await command(['doc', 'put', `${at}/b.md`, '-'], { ...io, stdin: '# Grüße\n\n' })
    expect(piped.code).toBe(0)
    expect((await command(['doc', 'get', `${at}/a.json`], io)).stdout).toBe('{ "a": 1.0 }\n')
    // Without an ending of its own it is what the file is; what only looks like JSON is text, and that is said.
    await command(['doc', 'put', `${at}/c`, file], io)
    expect((await rouse.call('GET', `/v1/documents/${at}/c`)).headers.get('content-type')).toBe('application/json')
    const text = await command(['doc', 'put', `${at}/d`], { ...io, stdin: '{"a":1}' })
    expect(text.stdout).toContain('It is kept as text: with --type application/json conditions can look into it.')
    expect((await command(['doc', 'get', `${at}/b.md`], io)).stdout).toBe('# Grüße\n\n')
    expect((await get(rouse, `${at}/b.md`)).headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    const changed = await command(['doc', 'put', `${at}/b.md`, file, '--if-match', '7'], io)
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('precondition_failed')])
    const listed = (await command(['doc', 'list', `${at}/`], io)).stdout
    expect(listed).toMatch(new RegExp(`${at}/a.json +1 +json +13 .*\n${at}/b.md +1 +text`))
    expect((await command(['doc', 'rm', `${at}/a.json`], io)).code).toBe(0)
    expect((await command(['doc', 'get', `${at}/a.json`], io)).code).toBe(1)
    await rm(dir, { recursive: true })
  })
})

// A gateway in front has made text of the bytes before Rouse sees them.
onClock('documents, byte by byte', '2026-03-02T08:00:00Z', (rouse) => {
  test('bytes that are no UTF-8 are refused, and nothing is kept', async () => {
    const path = fresh('broken')
    expect(told(await put(rouse, path, new Uint8Array([0xff, 0x41])))).toEqual([422, 'body_invalid'])
    expect((await rouse.call('GET', `/v1/documents/${path}`)).status).toBe(404)
  })
})
