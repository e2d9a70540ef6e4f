// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CEL in a tool's strings is written like that
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../shared/cel/index.ts'
import { limits } from '../../shared/domain/limits.ts'
import type { Step } from '../../shared/domain/tool.ts'
import { getDocument, putDocument } from '../../shared/engine/documents.ts'
import { type Agent, keys, read } from '../../shared/engine/store.ts'
import { callTool } from '../../shared/engine/tool-call.ts'
import type { Effects } from '../../shared/engine/tool-steps.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { OutboundRequest } from '../../shared/ports/world.ts'
import { answered } from './outside.ts'
import { inRoom, keyOf, newPerson, type Room, refusalOf } from './room.ts'
import { get, post, put, run } from './tooling.ts'

afterEach(() => vi.useRealTimers())

const json = { 'content-type': 'application/json; charset=utf-8' }
const says = (room: Room, body: Json, headers: Record<string, string> = json) => {
  room.outside.answer = () => answered(200, headers, JSON.stringify(body))
}
const sent = (room: Room, nth = 0) => room.outside.sent[nth] as OutboundRequest
const always = { ifMatch: null, ifNoneMatch: null }
const keep = (room: Room, path: string, body: Json) =>
  putDocument(room.call(), path, { type: 'json', media: 'application/json', text: JSON.stringify(body) }, always)
const owner = (room: Room) => (room.ann.kind === 'person' ? room.ann.person : '')
const noEffects: Effects = { arm: async () => null, onHost: async () => ({ failed: 'none' }) }

describe('an http step', () => {
  it('comes to status, headers and body, JSON parsed when it says that it is JSON', async () => {
    await inRoom(async (room) => {
      says(room, { rate: 1.5 })
      const end = await run(room, {})
      const body = { rate: 1.5 }
      expect(end).toEqual({ ok: true, output: body, steps: [{ status: 200, headers: json, body }] })
      says(room, { rate: 1.5 }, { 'content-type': 'text/plain' })
      expect(await run(room, {})).toMatchObject({ output: '{"rate":1.5}' })
      room.outside.answer = () => answered(200, json, '{"rate":')
      expect(await run(room, {})).toMatchObject({ output: '{"rate":' })
    })
  })

  it('says what its templates say, of the arguments and of the steps before', async () => {
    await inRoom(async (room) => {
      says(room, { id: 7, tags: ['a'] })
      const steps = [
        get('https://bank.test/${args.pair}?least=${args.least}', { headers: { 'x-trace': 'a-${args.least}' } }),
        post({
          of: '${steps[0].body.id}',
          tags: '${steps[0].body.tags}',
          text: 'no. ${steps[0].body.id}',
          not: '$${x}',
        }),
      ]
      await run(room, { steps }, { args: { pair: 'EURUSD', least: 2 } })
      expect(sent(room)).toMatchObject({ url: 'https://bank.test/EURUSD?least=2', headers: { 'x-trace': 'a-2' } })
      expect(JSON.parse(sent(room, 1).body!)).toEqual({ of: 7, tags: ['a'], text: 'no. 7', not: '${x}' })
      expect(sent(room, 1).headers['content-type']).toBe('application/json')
    })
  })

  it('a text goes out as text, and a type that is said wins', async () => {
    await inRoom(async (room) => {
      await run(room, { steps: [post('<a/>', { headers: { 'Content-Type': 'text/xml' } }), post('plain')] })
      expect(sent(room)).toMatchObject({ body: '<a/>', headers: { 'Content-Type': 'text/xml' } })
      expect(Object.keys(sent(room).headers).map((name) => name.toLowerCase())).toEqual([
        'idempotency-key',
        'content-type',
      ])
      expect(sent(room, 1)).toMatchObject({ body: 'plain', headers: { 'content-type': 'text/plain; charset=utf-8' } })
    })
  })

  it('carries an Idempotency-Key of run and step where it may change something, unless one is said', async () => {
    await inRoom(async (room) => {
      const own = { headers: { 'Idempotency-Key': 'mine' } }
      await run(room, { steps: [get(), post({}), post({}, own)] }, { runId: 'run_9' })
      const keysOf = (nth: number) =>
        Object.entries(sent(room, nth).headers).filter(([name]) => name.toLowerCase() === 'idempotency-key')
      expect(keysOf(0)).toEqual([])
      expect(keysOf(1)).toEqual([['idempotency-key', 'run_9:1']])
      expect(keysOf(2)).toEqual([['Idempotency-Key', 'mine']])
    })
  })

  it.each([
    [404, false],
    [408, true],
    [429, true],
    [500, true],
  ])('a status of %i fails it, and the steps after it are not taken', async (status, retry) => {
    await inRoom(async (room) => {
      room.outside.answer = (_request, nth) => answered(nth === 2 ? status : 200, json, '{"hidden":1}')
      const end = await run(room, { steps: [get(), get('https://bank.test/secret?q=hidden'), get()] })
      expect(end).toMatchObject({ ok: false, step: 1, error: `GET bank.test answered ${status}`, retry })
      expect(end.steps).toHaveLength(1)
      expect(room.outside.sent).toHaveLength(2)
    })
  })

  it('fails in the words of the way out, which name no path', async () => {
    await inRoom(async (room) => {
      room.outside.answer = () => ({ ok: false, reason: 'timeout', error: 'no answer within 10 s', retry: true })
      expect(await run(room, {})).toMatchObject({ ok: false, step: 0, error: 'no answer within 10 s', retry: true })
      expect(sent(room)).toMatchObject({ timeoutMs: expect.any(Number), bytesMax: 256 * 1024, rest: 'fail' })
      expect(sent(room).timeoutMs).toBeLessThanOrEqual(10_000)
    })
  })

  it('an answer that is nested without end is text, and no stack runs out', async () => {
    await inRoom(async (room) => {
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      room.outside.answer = () => answered(200, json, deep)
      expect(await run(room, {})).toMatchObject({ ok: true, output: deep })
    })
  })
})

describe('a document step', () => {
  it('reads and writes the documents of the principal', async () => {
    await inRoom(async (room) => {
      await keep(room, 'plan', { n: 1 })
      const steps: Step[] = [
        { document: { get: 'pl${args.rest}' } },
        { document: { put: 'next', body: { n: '${steps[0].body.n + 1}' } } },
        { document: { put: 'words', body: 'n is ${steps[0].body.n}' } },
      ]
      const end = await run(room, { steps }, { args: { rest: 'an' } })
      expect(end.steps).toEqual([
        { path: 'plan', version: 1, body: { n: 1 } },
        { path: 'next', version: 1, body: { n: 2 } },
        { path: 'words', version: 1, body: 'n is 1' },
      ])
      expect(end).toMatchObject({ output: 'n is 1' })
      expect(await getDocument(room.call(), 'next')).toMatchObject({ media: 'application/json', text: '{"n":2}' })
      expect(await getDocument(room.call(), 'words')).toMatchObject({ media: 'text/plain', text: 'n is 1' })
    })
  })

  it('those of another principal are other ones, also where nobody called', async () => {
    await inRoom(async (room) => {
      await keep(room, 'plan', { n: 1 })
      const other = await newPerson(room)
      const person = other.kind === 'person' ? other.person : ''
      const steps: Step[] = [{ document: { get: 'plan' } }]
      expect(await run(room, { steps }, { principal: person, call: null })).toMatchObject({ ok: false, step: 0 })
      expect(await run(room, { steps }, { call: null })).toMatchObject({ ok: true, output: { n: 1 } })
    })
  })

  it('one that is missing fails it, as does a path that is none', async () => {
    await inRoom(async (room) => {
      const tried = async (step: Step) => await run(room, { steps: [step] }, { args: { none: null } })
      expect(await tried({ document: { get: 'no/where' } })).toMatchObject({
        ok: false,
        error: 'there is no document no/where that this key can see',
      })
      expect(await tried({ document: { put: 'a//b', body: 1 } })).toMatchObject({ ok: false, step: 0 })
      expect(await tried({ document: { get: '${args.none}' } })).toMatchObject({ error: 'get: expected a path' })
    })
  })

  it('a store that is away is no fault of the step', async () => {
    await inRoom(async (room) => {
      await keep(room, 'plan', 1)
      const away = room.through((inner) => ({
        get: (all) =>
          all.some(([pk]) => pk.startsWith('D#')) ? Promise.reject(new Unavailable('away')) : inner.get(all),
        list: (...o) => inner.list(...o),
        find: (...o) => inner.find(...o),
        commit: (...o) => inner.commit(...o),
      }))
      const call = room.call({ world: away })
      await expect(run(room, { steps: [{ document: { get: 'plan' } }] }, { world: away, call })).rejects.toThrow('away')
    })
  })
})

describe('lambda, mcp, monitor and host steps', () => {
  it('hand over what their templates say; the answer is JSON when it parses', async () => {
    await inRoom(async (room) => {
      room.outside.says = (call) => ({ ok: true, text: 'arn' in call ? '{"started":true}' : 'it is done' })
      const steps: Step[] = [
        { lambda: { arn: 'arn:aws:lambda:${args.region}:1:function:x', payload: { n: '${args.n}' } } },
        {
          mcp: {
            url: 'https://mcp.test/${args.n}',
            tool: 'look',
            args: { was: '${steps[0]}' },
            headers: { k: '${args.n}' },
          },
        },
      ]
      const end = await run(room, { steps }, { args: { region: 'eu', n: 3 } })
      expect(end).toMatchObject({ ok: true, output: 'it is done', steps: [{ started: true }, 'it is done'] })
      expect(room.outside.called).toMatchObject([
        { arn: 'arn:aws:lambda:eu:1:function:x', payload: '{"n":3}' },
        { url: 'https://mcp.test/3', tool: 'look', args: { was: { started: true } }, headers: { k: '3' } },
      ])
    })
  })

  it('what the others say of a failure is the error of the step', async () => {
    await inRoom(async (room) => {
      room.outside.says = () => ({ ok: false, reason: 'failed', error: 'the function failed (Unhandled)', retry: true })
      const steps: Step[] = [{ lambda: { arn: '${args.arn}', payload: {} } }]
      expect(await run(room, { steps }, { args: { arn: 'arn:x' } })).toMatchObject({
        ok: false,
        error: 'the function failed (Unhandled)',
        retry: true,
      })
    })
  })

  it('S4-8 a monitor is armed in the session that the call comes from, on what the step before has started', async () => {
    await inRoom(async (room) => {
      says(room, { build: 7 })
      const armed: unknown[] = []
      const effects: Effects = { ...noEffects, arm: async (_call, input) => armed.push(input) && { id: 'mon_1' } }
      const monitor = {
        note: 'Build ${steps[0].body.build} is over.',
        watch: { document: { path: 'builds/${steps[0].body.build}' } },
      }
      const call = room.call({ session: room.session })
      const end = await run(room, { steps: [post({}), { monitor }] }, { call, effects })
      expect(end).toMatchObject({ ok: true, output: { id: 'mon_1' } })
      expect(armed).toEqual([
        { session: room.session, note: 'Build 7 is over.', watch: { document: { path: 'builds/7' } } },
      ])
    })
  })

  it('a host step takes what is left of the time, and comes to the output of the tool', async () => {
    await inRoom(async (room) => {
      const asked: unknown[] = []
      const onHost: Effects['onHost'] = async (_world, o) => {
        asked.push(o)
        return { exit: 0, output: '{"lines":3}' }
      }
      const steps: Step[] = [{ host: { tool: 'count', args: { file: '${args.file}' } } }]
      const end = await run(room, { steps }, { args: { file: 'a' }, effects: { ...noEffects, onHost } })
      expect(end).toMatchObject({ ok: true, output: { lines: 3 } })
      expect(asked).toMatchObject([{ tool: 'count', args: { file: 'a' }, session: room.session, timeoutSeconds: 24 }])
    })
  })

  it.each([
    [{ exit: 2, output: 'no such\nfile\n' }, 'count failed on the host: no such file'],
    [{ failed: 'no worker of the agent has taken it' }, 'no worker of the agent has taken it'],
  ])('a host step that comes to %j fails', async (ended, error) => {
    await inRoom(async (room) => {
      const effects: Effects = { ...noEffects, onHost: async () => ended }
      const steps: Step[] = [{ host: { tool: 'count', args: {} } }]
      expect(await run(room, { steps }, { effects })).toMatchObject({ ok: false, step: 0, error })
    })
  })

  it('without a call nothing is armed and no host is sent work', async () => {
    await inRoom(async (room) => {
      for (const step of [{ monitor: { note: 'x' } }, { host: { tool: 'x', args: {} } }] as Step[])
        expect(await run(room, { steps: [step] }, { call: null })).toMatchObject({
          ok: false,
          error: expect.stringContaining('only where somebody calls the tool'),
        })
    })
  })
})

describe('the output', () => {
  it('is CEL over arguments and steps', async () => {
    await inRoom(async (room) => {
      says(room, { rates: { EUR: 1.5 } })
      const input = { output: '{"rate": steps[0].body.rates[args.of], "ok": steps[0].status == 200}' }
      expect(await run(room, input, { args: { of: 'EUR' } })).toMatchObject({ output: { rate: 1.5, ok: true } })
    })
  })

  it('one that does not hold fails at "output", with the steps that were taken', async () => {
    await inRoom(async (room) => {
      says(room, {})
      const end = await run(room, { output: 'steps[0].body.rate' })
      expect(end).toMatchObject({ ok: false, step: 'output', retry: false, steps: [{ status: 200 }] })
    })
  })
})

describe('secrets', () => {
  const secret = 'sesame-open-1234'
  const withSecrets = async (act: (room: Room) => Promise<void>) =>
    await inRoom(async (room) => {
      await room.world.secrets.put(owner(room), 'KEY', secret)
      await room.world.secrets.put(owner(room), 'bank.key-2', 'other-secret')
      await act(room)
    })
  const authorized = (text: string) => get('https://bank.test', { headers: { authorization: text } })

  it('are those of the principal, by either way of naming them, and only those that are named are read', async () => {
    await withSecrets(async (room) => {
      const read: string[] = []
      const world = {
        ...room.world,
        secrets: {
          ...room.world.secrets,
          get: (person: string, name: string) => {
            read.push(name)
            return room.world.secrets.get(person, name)
          },
        },
      }
      const steps = [authorized('Bearer ${secrets.KEY}'), authorized('${secrets["bank.key-2"]}')]
      expect(await run(room, { steps }, { world })).toMatchObject({ ok: true })
      expect(sent(room, 0).headers.authorization).toBe(`Bearer ${secret}`)
      expect(sent(room, 1).headers.authorization).toBe('other-secret')
      expect(read).toEqual(['KEY', 'bank.key-2'])
    })
  })

  it('those of another person are other ones, and one that is missing fails the step by its name', async () => {
    await withSecrets(async (room) => {
      const other = await newPerson(room)
      const person = other.kind === 'person' ? other.person : ''
      const steps = [get(), authorized('Bearer ${secrets.KEY}')]
      const end = await run(room, { steps }, { principal: person, call: room.call({ caller: other }) })
      expect(end).toMatchObject({ ok: false, step: 1, error: expect.stringContaining('there is no secret KEY') })
      expect(room.outside.sent).toHaveLength(1)
    })
  })

  it('an agent uses those of its owner', async () => {
    await withSecrets(async (room) => {
      const agent = (await read<Agent>(room.world, keys.agent(room.agent)))!.item
      await put(room, 'a', { steps: [authorized('${secrets.KEY}')] })
      await callTool(room.call({ caller: keyOf(agent) }), { agent: agent.id, name: 'a', args: {} }, noEffects)
      expect(sent(room).headers.authorization).toBe(secret)
    })
  })

  it.each<[string, (text: string) => string]>([
    ['as it is', (text) => text],
    ['in an address', (text) => encodeURIComponent(text)],
    ['in base64', (text) => Buffer.from(text).toString('base64')],
    ['in hex', (text) => Buffer.from(text).toString('hex')],
    ['in JSON inside a text', (text) => JSON.stringify({ text })],
  ])('that an answer repeats, %s, are taken out of it: in values, names and headers', async (_how, form) => {
    await inRoom(async (room) => {
      const hard = 'a "quoted" & secret/+\\ä'
      await room.world.secrets.put(owner(room), 'KEY', hard)
      room.outside.answer = () =>
        answered(200, { ...json, 'x-echo': `is ${form(hard)}` }, JSON.stringify({ [form(hard)]: [`x${form(hard)}y`] }))
      const end = await run(room, { steps: [authorized('${secrets.KEY}'), get()] })
      expect(JSON.stringify(end.steps[0])).toContain('[secret KEY]')
      expect(JSON.stringify(end.steps[0])).not.toContain(JSON.stringify(form(hard)).slice(1, -1))
      expect(end.steps[0]).toMatchObject({ status: 200 })
    })
  })

  it('that a later answer repeats are taken out of that too', async () => {
    await withSecrets(async (room) => {
      room.outside.answer = (_request, nth) => answered(200, {}, nth === 1 ? 'in' : `you said ${secret}`)
      const steps = [post({ password: '${secrets.KEY}' }), get()]
      expect(await run(room, { steps })).toMatchObject({ output: 'you said [secret KEY]' })
    })
  })

  it('that are in the error of a step are taken out of it', async () => {
    await withSecrets(async (room) => {
      room.outside.says = () => ({
        ok: false,
        reason: 'failed',
        error: `the MCP tool t failed: bad ${secret}`,
        retry: false,
      })
      const steps: Step[] = [{ mcp: { url: 'https://mcp.test', tool: 't', args: { key: '${secrets.KEY}' } } }]
      expect(await run(room, { steps })).toMatchObject({ error: 'the MCP tool t failed: bad [secret KEY]' })
    })
  })

  it('are not quoted by an expression that they do not fit', async () => {
    await withSecrets(async (room) => {
      const end = await run(room, { steps: [authorized('${int(secrets.KEY)}')] })
      expect(end).toMatchObject({ ok: false, step: 0 })
      expect(JSON.stringify(end)).not.toContain('sesame')
    })
  })

  it('that cannot be read now fail the step, which may do better later', async () => {
    await inRoom(async (room) => {
      const secrets = { ...room.world.secrets, get: () => Promise.reject(new Error(`no ${secret}`)) }
      const world = { ...room.world, secrets }
      const end = await run(room, { steps: [authorized('${secrets.KEY}')] }, { world })
      expect(end).toEqual({ ok: false, step: 0, error: 'the secret KEY could not be read', retry: true, steps: [] })
    })
  })

  it('are nowhere in what is stored and logged, whatever becomes of the call', async () => {
    await withSecrets(async (room) => {
      room.outside.answer = () => answered(200, json, JSON.stringify({ echo: secret }))
      const write: Step = { document: { put: 'kept', body: { said: '${steps[0].body.echo}' } } }
      await put(room, 'a', { steps: [authorized('${secrets.KEY}'), write] })
      const answer = await callTool(room.call(), { agent: room.agent, name: 'a', args: {} }, noEffects)
      expect(answer.output).toEqual({ said: '[secret KEY]' })
      room.outside.answer = () => answered(500, json, secret)
      const failing = callTool(room.call(), { agent: room.agent, name: 'a', args: {} }, noEffects)
      expect(await refusalOf(failing)).toBe('tool_failed')
      const everything = JSON.stringify([room.said, await all(room), answer])
      expect(everything).toContain('[secret KEY]')
      expect(everything).not.toContain(secret)
    })
  })
})

const all = async (room: Room) =>
  await Promise.all(
    [`L#${room.agent.slice(4)}`, `D#${owner(room).slice(4)}`, `U#${owner(room).slice(4)}`].map((pk) =>
      room.table.list(pk),
    ),
  )

describe('a call', () => {
  it('is refused without a step taken when the arguments do not fit', async () => {
    await inRoom(async (room) => {
      await put(room, 'a', { parameters: { type: 'object', required: ['of'] } })
      const call = (args: unknown) => callTool(room.call(), { agent: room.agent, name: 'a', args }, noEffects)
      expect(await refusalOf(call({}))).toBe('args_invalid')
      expect(await refusalOf(call(JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)))).toBe('args_invalid')
      expect(room.outside.sent).toEqual([])
      expect(await refusalOf(call({ of: 1 }))).toBe('done')
    })
  })

  it('that fails names the step, and stands in the trail: what its steps did before has been done', async () => {
    await inRoom(async (room) => {
      room.outside.answer = (_request, nth) => answered(nth === 1 ? 200 : 404)
      await put(room, 'a', { steps: [post({}), get()] })
      const failing = callTool(room.call(), { agent: room.agent, name: 'a', args: {} }, noEffects)
      await expect(failing).rejects.toMatchObject({
        code: 'tool_failed',
        detail: 'steps.1: GET bank.test answered 404',
        errors: [{ path: 'steps.1', message: 'GET bank.test answered 404' }],
      })
      const { items } = await room.table.list(`U#${owner(room).slice(4)}`)
      expect(items.map(({ item }) => item)).toMatchObject([
        { operation: 'callTool', targets: [room.agent, 'a'], status: 422 },
      ])
    })
  })

  it('shows only the size of a result that would not fit into the answer, and refuses an output that would not', async () => {
    await inRoom(async (room) => {
      const large = 'x'.repeat(200_000)
      room.outside.answer = () => answered(200, {}, large)
      await put(room, 'a', { steps: [get(), get()] })
      const call = () => callTool(room.call(), { agent: room.agent, name: 'a', args: {} }, noEffects)
      const answer = await call()
      expect(answer.output).toBe(large)
      expect(answer.steps).toMatchObject([{ clipped: true, bytes: expect.any(Number) }, { clipped: true }])
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(answer)))).toBeLessThan(limits.toolCallAnswerBytesMax)
      room.outside.answer = () => answered(200, {}, '"'.repeat(200_000))
      await expect(call()).rejects.toMatchObject({ code: 'tool_failed', errors: [{ path: 'output' }] })
    })
  })

  it('ends when its time is over, before the next step', async () => {
    await inRoom(async (room) => {
      room.outside.answer = async () => {
        await new Promise((done) => setTimeout(done, 60))
        return answered(200)
      }
      const end = await run(room, { steps: [get(), get(), get()] }, { timeoutMs: 50 })
      expect(end).toMatchObject({ ok: false, step: 1, retry: true, error: expect.stringContaining('time') })
      expect(room.outside.sent).toHaveLength(1)
      expect(sent(room).timeoutMs).toBeLessThanOrEqual(50)
    })
  })
})
