// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CEL in a tool's strings is written like that
import { describe, expect, it } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { onlyReadsDocuments, type Step } from '../../shared/domain/tool.ts'
import { armMonitor, viewMonitor } from '../../shared/engine/monitors.ts'
import { type Agent, keys, read } from '../../shared/engine/store.ts'
import { assertArguments } from '../../shared/engine/tool-args.ts'
import { readTool } from '../../shared/engine/tool-rows.ts'
import { getTool, listTools, putTool, removeTool, type ToolInput } from '../../shared/engine/tools.ts'
import { inRoom, keyOf, newPerson, type Room, refusalOf } from './room.ts'
import { faultsOf, get, post, put } from './tooling.ts'

const stored = async (room: Room) => (await room.table.list(`L#${room.agent.slice(4)}`)).items.map(({ key }) => key[1])
const page = { limit: 100, after: null }

describe('a tool', () => {
  it('is kept as it was sent, counted from 1, and read back by whoever may use the agent', async () => {
    await inRoom(async (room) => {
      const tool = await put(room, 'rate', { output: 'steps[0].body.rate' })
      expect(tool).toMatchObject({
        name: 'rate',
        version: 1,
        output: 'steps[0].body.rate',
        steps: [get()],
        readOnly: false,
      })
      expect((await put(room, 'rate', {})).version).toBe(2)
      expect(await getTool(room.call(), room.agent, 'rate')).toMatchObject({ version: 2, output: null })
      const agent = (await read<Agent>(room.world, keys.agent(room.agent)))!.item
      expect(await readTool(room.world, room.agent, 'rate')).toEqual(
        await getTool(room.call({ caller: keyOf(agent) }), room.agent, 'rate'),
      )
      const stranger = room.call({ caller: await newPerson(room) })
      expect(await refusalOf(getTool(stranger, room.agent, 'rate'))).toBe('not_found')
      expect(await refusalOf(put(room, 'rate', {}, stranger))).toBe('not_found')
    })
  })

  it('says who wrote it, the person or the agent', async () => {
    await inRoom(async (room) => {
      const agent = (await read<Agent>(room.world, keys.agent(room.agent)))!.item
      expect((await put(room, 'a', {})).by).toBe(agent.owner)
      expect((await put(room, 'a', {}, room.call({ caller: keyOf(agent) }))).by).toBe(agent.id)
    })
  })

  it('is listed in the order of the names, page by page, and gone when removed', async () => {
    await inRoom(async (room) => {
      for (const name of ['b', 'a.b', 'a', 'C-1', 'a_b']) await put(room, name, {})
      const names: string[] = []
      for (let after: string | null = null; ; ) {
        const { items, next } = await listTools(room.call(), room.agent, { limit: 2, after })
        names.push(...items.map(({ name }) => name))
        after = next
        if (after === null) break
      }
      expect(names).toEqual(['C-1', 'a', 'a.b', 'a_b', 'b'])
      await removeTool(room.call(), room.agent, 'a')
      expect(await refusalOf(removeTool(room.call(), room.agent, 'a'))).toBe('not_found')
      expect(await readTool(room.world, room.agent, 'a')).toBeNull()
      expect((await listTools(room.call(), room.agent, page)).items).toHaveLength(4)
    })
  })

  it(`is one of ${limits.toolsPerAgent} at most, also when many come at once; a change is no further one`, async () => {
    await inRoom(async (room) => {
      const names = Array.from({ length: limits.toolsPerAgent + 5 }, (_, i) => `tool-${i}`)
      const outcomes = await Promise.all(names.map((name) => refusalOf(put(room, name, {}))))
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(limits.toolsPerAgent)
      expect(outcomes.filter((outcome) => outcome === 'tool_limit')).toHaveLength(5)
      const kept = (await listTools(room.call(), room.agent, page)).items[0]!.name
      expect(await refusalOf(put(room, kept, { description: 'other' }))).toBe('done')
      await removeTool(room.call(), room.agent, kept)
      expect(await refusalOf(put(room, 'another', {}))).toBe('done')
    })
  })
})

describe('who changes tools', () => {
  it('a friend uses the agent and changes none of its tools, which run with the secrets of whoever calls', async () => {
    await inRoom(async (room) => {
      const friend = await newPerson(room)
      const agent = (await read<Agent>(room.world, keys.agent(room.agent)))!
      if (friend.kind !== 'person') throw new Error('a person')
      await room.world.table.commit([{ patch: agent.key, set: { sharedWith: [friend.person] }, guards: [] }], 'shared')
      await put(room, 'ours', {})
      const call = room.call({ caller: friend })
      expect((await getTool(call, room.agent, 'ours')).name).toBe('ours')
      expect(await refusalOf(put(room, 'ours', {}, call))).toBe('owner_only')
      expect(await refusalOf(removeTool(call, room.agent, 'ours'))).toBe('owner_only')
    })
  })
})

describe('the hash of its behaviour', () => {
  const base: Partial<ToolInput> = { parameters: { type: 'object', title: 't' }, steps: [get()], output: '1' }
  const hashOf = async (room: Room, over: Partial<ToolInput>, name = 'a') =>
    (await put(room, name, { ...base, ...over })).hash

  it.each<[string, Partial<ToolInput>, string]>([
    ['name', {}, 'b'],
    ['parameters', { parameters: { type: 'object', title: 'u' } }, 'a'],
    ['steps', { steps: [get('https://bank.test/other')] }, 'a'],
    ['output', { output: '2' }, 'a'],
  ])('is another one for another %s', async (_what, over, name) => {
    await inRoom(async (room) => {
      expect(await hashOf(room, over, name)).not.toBe(await hashOf(room, {}))
    })
  })

  it('stays for another description, and for the same members in another order', async () => {
    await inRoom(async (room) => {
      const first = await hashOf(room, {})
      expect(await hashOf(room, { description: 'Other words.' })).toBe(first)
      expect(await hashOf(room, { parameters: { title: 't', type: 'object' } })).toBe(first)
    })
  })
})

describe('a watch on a tool', () => {
  const armed = async (room: Room, act: () => Promise<unknown>) => {
    const watch = { tool: { name: 'rate', every: '1h' } }
    const { id } = await armMonitor(room.call({ session: room.session }), { note: 'Look.', watch })
    await act()
    return (await viewMonitor(room.call(), id)).monitor.status
  }

  it('ends when the tool does something else and when it is removed, and not for other words about it', async () => {
    await inRoom(async (room) => {
      const tool = { readOnly: true, output: '1' }
      await put(room, 'rate', tool)
      expect(await armed(room, () => put(room, 'rate', { ...tool, description: 'Other words.' }))).toBe('armed')
      expect(await armed(room, () => put(room, 'rate', { ...tool, output: '2' }))).toBe('ended')
      expect(await armed(room, () => removeTool(room.call(), room.agent, 'rate'))).toBe('ended')
    })
  })
})

describe('what is refused when a tool is stored, and nothing is', () => {
  const refused = async (input: Partial<ToolInput>, name = 'tried') =>
    await inRoom(async (room) => {
      const faults = await faultsOf(put(room, name, input))
      expect(await stored(room)).toEqual([])
      return faults
    })

  it.each(['', 'a b', 'a/b', 'é', 'x'.repeat(65), 'a\n'])('the name %j', async (name) => {
    expect(await refused({}, name)).toEqual({ name: expect.stringContaining('1 to 64 letters, digits') })
  })

  it('a definition that is larger than 32 KB', async () => {
    const act = async () => await refused({ description: 'x'.repeat(limits.toolBytesMax) })
    expect(await act()).toEqual({})
  })

  it.each<[string, Partial<ToolInput>]>([
    ['steps.0.http.url', { steps: [get('https://bank.test/${args.')] }],
    ['steps.1.http.body.deep.0', { steps: [get(), post({ deep: ['${nothing}'] })] }],
    ['steps.0.http.headers.x-key', { steps: [get('https://bank.test', { headers: { 'x-key': '${1 +}' } })] }],
    ['steps.0.monitor.note', { steps: [{ monitor: { note: '${missing.x}' } }] }],
    ['steps.0.lambda.payload', { steps: [{ lambda: { arn: 'arn:x', payload: '${}' } }] }],
    ['steps.0.mcp.args.q', { steps: [{ mcp: { url: 'https://mcp.test', tool: 't', args: { q: '${a b}' } } }] }],
    ['steps.0.host.args', { steps: [{ host: { tool: 't', args: '${[}' } }] }],
    ['steps.0.document.get', { steps: [{ document: { get: 'a/${b}' } }] }],
    ['output', { output: 'steps[0' }],
    ['output', { output: 'secrets.KEY' }],
  ])('CEL that does not compile, named by its place: %s', async (path, input) => {
    const faults = await refused(input)
    expect(Object.keys(faults)).toEqual([path])
    expect(faults[path]!.length).toBeGreaterThan(10)
  })

  it.each<Step>([
    { document: { put: 'a', body: '${secrets.KEY}' } },
    { document: { get: '${secrets.KEY}' } },
    { monitor: { note: '${secrets.KEY}' } },
    { host: { tool: 't', args: { key: '${secrets.KEY}' } } },
  ])('a secret where it would be stored or shown: %j', async (step) => {
    expect(Object.values(await refused({ steps: [step] }))).toEqual([expect.stringContaining('secrets')])
  })

  it.each(['${secrets[args.name]}', '${string(secrets)}', '${secrets.size()}x'])(
    'secrets that are not named: %s',
    async (text) => {
      const faults = await refused({ steps: [get('https://bank.test', { headers: { k: text } })] })
      expect(Object.keys(faults)).toEqual(['steps.0.http.headers.k'])
    },
  )

  it.each(['http://127.0.0.1/x', 'http://127.0.0.1/${args.x}', 'http://127.0.0.1/a$${b'])(
    'an address that is not reached, where it shows: %s',
    async (url) => {
      expect(await refused({ steps: [get(url)] })).toEqual({ 'steps.0.http.url': 'not reached from here' })
      const mcp = { url, tool: 't', args: {} }
      expect(await refused({ steps: [{ mcp }] })).toEqual({ 'steps.0.mcp.url': 'not reached from here' })
    },
  )

  it('a body of a GET', async () => {
    expect(await refused({ steps: [get('https://bank.test', { body: 'x' })] })).toEqual({
      'steps.0.http.body': expect.stringContaining('GET takes no body'),
    })
  })

  it.each([
    [{ type: 'objekt' }, 'parameters.type'],
    [{ properties: { a: { pattern: '(?=x)' } } }, 'parameters.properties.a.pattern'],
    [{ $ref: 'https://schemas.test/a' }, 'parameters.$ref'],
    [{ $async: true, required: ['a'] }, 'parameters.$async'],
    [{ properties: { a: { $dynamicRef: '#a' } } }, 'parameters.properties.a.$dynamicRef'],
    [{ $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }, 'parameters.$defs.a'],
  ])('a schema that is none, or one that is not taken: %j', async (parameters, path) => {
    expect(Object.keys(await refused({ parameters }))).toEqual([path])
  })

  it.each<[Step, string]>([
    [post({}), 'steps.1'],
    [{ document: { put: 'a', body: 'b' } }, 'steps.1'],
    [{ monitor: { note: 'x' } }, 'steps.1'],
    [{ lambda: { arn: '${args.arn}', payload: {} } }, 'steps.1'],
    [{ host: { tool: 'x', args: {} } }, 'steps.1'],
    [{ mcp: { url: 'https://mcp.test', tool: 'writes', args: {} } }, 'steps.1.mcp'],
    [{ mcp: { url: 'https://mcp.test/${args.x}', tool: 'reads', args: {} } }, 'steps.1.mcp'],
    [{ mcp: { url: 'https://mcp.test', tool: 'reads', args: {}, headers: { k: '${secrets.NONE}' } } }, 'steps.1.mcp'],
  ])('S4-26 readOnly with a step that may change something: %j', async (step, path) => {
    const faults = await refused({ readOnly: true, steps: [get(), step] })
    expect(Object.keys(faults)).toEqual([path])
  })
})

describe('a read-only tool', () => {
  it('takes GET, HEAD, document get, and MCP tools that their servers call read-only', async () => {
    await inRoom(async (room) => {
      room.outside.readOnly.add('reads')
      const steps: Step[] = [
        get(),
        { http: { method: 'HEAD', url: 'https://bank.test' } },
        { document: { get: 'a' } },
        { mcp: { url: 'https://mcp.test', tool: 'reads', args: {} } },
      ]
      expect((await put(room, 'a', { readOnly: true, steps })).readOnly).toBe(true)
    })
  })

  it('that only reads documents is known by its steps', () => {
    const doc: Step = { document: { get: 'a' } }
    expect(onlyReadsDocuments({ steps: [doc, doc] })).toBe(true)
    expect(onlyReadsDocuments({ steps: [doc, get()] })).toBe(false)
    expect(onlyReadsDocuments({ steps: [{ document: { put: 'a', body: 1 } }] })).toBe(false)
  })
})

describe('arguments', () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { pair: { $ref: '#/$defs/pair' }, least: { type: 'number', minimum: 0 }, mail: { format: 'email' } },
    required: ['pair'],
    additionalProperties: false,
    $defs: { pair: { type: 'string', pattern: '^[A-Z]{6}$' } },
  }
  const faults = async (args: unknown) => await faultsOf(assertArguments({ name: 'rate', parameters }, args))

  it('that fit pass; a format is no more than a word', async () => {
    await assertArguments({ name: 'rate', parameters }, { pair: 'EURUSD', least: 1, mail: 'nobody' })
  })

  it.each<[unknown, string, string]>([
    [{}, 'args', "'pair'"],
    [{ pair: 'eur' }, 'args.pair', 'pattern'],
    [{ pair: 'EURUSD', least: '1' }, 'args.least', 'number'],
    [{ pair: 'EURUSD', most: 1 }, 'args', '"most", which is no parameter'],
    ['EURUSD', 'args', 'object'],
    [null, 'args', 'object'],
  ])('%j: named by their place', async (args, path, words) => {
    expect(await faults(args)).toEqual({ [path]: expect.stringContaining(words) })
  })

  it('cost a bounded time, whatever the pattern and the data', async () => {
    const bombs = ['^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$', '(?:a|b)*a(?:a|b){40}$']
    const text = `${'a'.repeat(30_000)}!`
    const since = performance.now()
    for (const pattern of bombs)
      await faultsOf(assertArguments({ name: 'x', parameters: { items: { pattern } } }, [text]))
    expect(performance.now() - since).toBeLessThan(2_000)
  })

  it.each([
    ['references that double at each step', doubling(30)],
    ['a pattern that is a program of its own', { pattern: '(a{0,30}){0,30}b' }],
    ['many patterns', { properties: Object.fromEntries(many((i) => [`p${i}`, { pattern: `^[a-z]{90}${i}$` }])) }],
    ['many names that are patterns', { patternProperties: Object.fromEntries(many((i) => [`\\pL{300}${i}`, {}])) }],
    ['a long pattern', { pattern: 'a'.repeat(300) }],
    ['letters of both cases, of all that there are', { pattern: '(?i)[\\x{0}-\\x{10FFFF}]' }],
    ['comparing each with each, again and again', { allOf: [{ uniqueItems: true }, { uniqueItems: true }] }],
    ['schemas inside each other without end', nested(200)],
  ])('of a schema that could take for ever are never checked: %s', async (_what, schema) => {
    await inRoom(async (room) => {
      const since = performance.now()
      expect(await refusalOf(put(room, 'a', { parameters: schema as ToolInput['parameters'] }))).toBe('body_invalid')
      expect(performance.now() - since).toBeLessThan(500)
    })
  })
})

function many<T>(make: (i: number) => T): T[] {
  return Array.from({ length: 800 }, (_, i) => make(i))
}

function doubling(levels: number): object {
  const to = (i: number) => ({ $ref: `#/$defs/d${i}` })
  const defs = Array.from({ length: levels }, (_, i) => [`d${i}`, { allOf: [to(i + 1), to(i + 1)] }])
  return { $defs: Object.fromEntries([...defs, [`d${levels}`, { type: 'string' }]]), ...to(0) }
}

function nested(levels: number): object {
  return levels === 0 ? {} : { not: nested(levels - 1) }
}

it('a tool that was put by another meanwhile is not lost: both are counted', async () => {
  await inRoom(async (room) => {
    const inputs = ['1', '2', '3', '4'].map((output) => ({ output }))
    await Promise.all(inputs.map((input) => put(room, 'a', input)))
    expect((await getTool(room.call(), room.agent, 'a')).version).toBe(4)
    expect(await stored(room)).toEqual(['T', 'T#a'])
  })
})

it('a deleted agent has no tools that anybody could see', async () => {
  await inRoom(async (room) => {
    await put(room, 'a', {})
    await room.world.table.commit([{ patch: keys.agent(room.agent), set: { deletedAt: 1 }, guards: [] }], 'gone')
    expect(await refusalOf(getTool(room.call(), room.agent, 'a'))).toBe('not_found')
    expect(await refusalOf(putTool(room.call(), room.agent, 'a', {} as ToolInput))).toBe('not_found')
  })
})
