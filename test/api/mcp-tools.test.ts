import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { Carrier, Got, Sent } from '../../shared/api/mcp-carrier.ts'
import { mcpServer } from '../../shared/api/mcp-server.ts'
import { Refused } from '../../shared/domain/refused.ts'

const got = (status: number, body: unknown): Got => ({
  status,
  text: typeof body === 'string' ? body : JSON.stringify(body),
  header: () => null,
})
const ticks = { state: 'armed', reason: null, nextAt: null }

/** A client of the tools, with an API that answers so. */
async function tools(answer: (sent: Sent) => Got = () => got(200, {}), more: Partial<Carrier> = {}) {
  const sent: Sent[] = []
  const carrier: Carrier = {
    session: 'ses_1',
    turn: null,
    now: async () => 0,
    send: async (one) => {
      if (one.path.endsWith('/ticks')) return got(200, ticks)
      sent.push(one)
      return answer(one)
    },
    ...more,
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await mcpServer(carrier).connect(theirs)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(ours)
  const call = async (name: string, args: Record<string, unknown>) => {
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    return { error: isError === true, text, data: structuredContent as Record<string, unknown> }
  }
  return { client, sent, call }
}

describe('the list of tools', () => {
  test('is what it was: a change is meant, and seen', async () => {
    const { client } = await tools()
    const listed = await client.listTools()
    await expect(`${JSON.stringify(listed.tools, null, 2)}\n`).toMatchFileSnapshot('./mcp-tools.snap')
  })

  test('each says what it does, when to use it and an example that fits its own schema', async () => {
    const { client, call, sent } = await tools(() => got(204, ''))
    for (const { name, description = '', annotations, title } of (await client.listTools()).tools) {
      expect([name, title, annotations?.openWorldHint]).toEqual([name, expect.stringMatching(/^[A-Z]/), false])
      expect(description, name).toMatch(/\n\nUse it /)
      const example = JSON.parse(/\n\nExample: (\{.*\})$/.exec(description)![1]!)
      const before = sent.length
      const said = await call(name, example)
      // It went out, or failed on the answer, which here is none: no argument was in its way.
      expect([name, said.data?.code === 'body_invalid', sent.length > before]).toEqual([name, false, true])
    }
  })

  test('no schema holds a reference, a union with null, or a place where anything goes unsaid', async () => {
    const { client } = await tools()
    const text = JSON.stringify((await client.listTools()).tools.map(({ inputSchema }) => inputSchema))
    expect(text).not.toMatch(/\$ref|\$defs|propertyNames|9007199254740991|:\{\}/)
    // One may keep null as a document; nothing else takes it.
    expect(text.match(/"type":"null"/g)).toHaveLength(1)
  })

  test('what only reads says so, what deletes or overwrites says so', async () => {
    const { client } = await tools()
    const hints = (await client.listTools()).tools.map(({ name, annotations }) => [name, annotations])
    const those = (hint: string) =>
      hints.filter(([, given]) => (given as Record<string, unknown>)[hint] === true).map(([name]) => name)
    expect(those('readOnlyHint')).toEqual(['list_schedules', 'preview_schedule', 'list_monitors', 'get_document'])
    expect(those('destructiveHint')).toEqual(['unschedule', 'cancel_monitor', 'put_document'])
  })
})

describe('arguments', () => {
  test.each([
    ['schedule', { prompt: 'x', every: '1h' }, 'name'],
    ['schedule', { name: 'x', evry: '1h' }, 'evry'],
    ['schedule', { name: 'x', maxRuns: 'ten' }, 'maxRuns'],
    ['schedule', { name: 'x', idempotencyKey: 'a\r\nx-evil: 1' }, 'idempotencyKey'],
    ['unschedule', {}, 'id'],
    ['unschedule', { id: 7 }, 'id'],
    ['send', { session: 'ses_1', text: '  ' }, 'text'],
    ['put_document', { path: 'x' }, 'body'],
    ['put_document', { path: 'x', body: '\ud800' }, 'body'],
    ['put_document', { path: 'x', body: 'x', ifVersion: -1 }, 'ifVersion'],
    ['create_monitor', { note: 'x', watch: { document: { path: 'x', extra: 1 } } }, 'watch.document'],
    ['list_schedules', { limit: 1000 }, 'limit'],
    ['post_card', { title: 'x', autoSendOn: 'soon' }, 'autoSendOn'],
    ['sleep', { seconds: -1 }, 'seconds'],
  ])('%s %j is refused by the place, and no call is made', async (tool, args, place) => {
    const { call, sent } = await tools()
    const said = await call(tool, args)
    expect([said.error, said.data.code]).toEqual([true, 'body_invalid'])
    expect(said.text).toContain(place)
    expect(said.text).toMatch(/Mend the arguments and call again\.$/)
    expect(sent).toEqual([])
  })

  test('an id or a path cannot leave its place in the path of the call', async () => {
    const { call, sent } = await tools(() => got(404, { code: 'not_found', detail: 'there is no such thing' }))
    for (const odd of ['..', '.', '../agents/agt_1', 'a/../../x', '%2e%2e', 'x?y=1#z', 'ä b']) {
      for (const [tool, args] of [
        ['unschedule', { id: odd }],
        ['cancel_monitor', { id: odd }],
        ['get_document', { path: odd }],
        ['put_document', { path: odd, body: 'x' }],
        ['send', { session: odd, text: 'x' }],
      ] as const)
        expect([odd, tool, (await call(tool, args)).data.code]).toEqual([odd, tool, 'not_found'])
    }
    for (const { path } of sent) {
      const { pathname, search, hash } = new URL(`http://x${path}`)
      expect([pathname, search, hash]).toEqual([path, '', ''])
      expect(path).toMatch(/^\/v1\/(schedules|monitors|documents|sessions)\/[^/]+(\/messages)?$/)
    }
  })

  test('what is nested without end is refused, and harms nobody', async () => {
    const { call, sent } = await tools()
    let deep: unknown = 1
    for (let i = 0; i < 5000; i++) deep = { deep }
    for (const [tool, args] of [
      ['put_document', { path: 'x', body: deep }],
      ['schedule', { name: 'x', check: { tool: 'x', args: deep } }],
    ] as const)
      expect((await call(tool, args as never)).data).toMatchObject({ code: 'body_invalid' })
    expect(sent).toEqual([])
  })

  test('names that belong to every object are no fields', async () => {
    const { call, sent } = await tools()
    const said = await call('schedule', JSON.parse('{"name": "x", "__proto__": {"prompt": "y"}, "constructor": 1}'))
    expect(said.data.code).toBe('body_invalid')
    expect(sent).toEqual([])
    expect(({} as { prompt?: string }).prompt).toBeUndefined()
  })
})

describe('what went wrong', () => {
  test('is the problem of the API: its code, its words, the places and what to do', async () => {
    const problem = {
      type: 'urn:rouse:problem:schedule_limit',
      title: 'Too many schedules',
      status: 409,
      detail: 'session ses_1 has 20 schedules, which is all it may have',
      code: 'schedule_limit',
    }
    const { call } = await tools(() => got(409, problem))
    const said = await call('schedule', { name: 'x', prompt: 'x', every: '1h' })
    expect(said).toEqual({
      error: true,
      text: `schedule_limit: ${problem.detail}\nDelete one with unschedule first; list_schedules shows them.`,
      data: problem,
    })
  })

  test('between here and Rouse is told as what it is', async () => {
    const { call } = await tools(() => got(502, '<html>Bad gateway</html>'))
    expect((await call('list_schedules', {})).data).toMatchObject({ code: 'http_502' })
    const away = await tools(() => {
      throw new Refused('unreachable', 'no answer from http://127.0.0.1:4750: nothing listens there')
    })
    const said = await away.call('list_schedules', {})
    expect([said.error, said.data.code]).toEqual([true, 'unreachable'])
    expect(said.text).toContain('`rouse serve` starts it')
  })

  test('a fault of ours tells nothing of itself to the model, and the log gets it', async () => {
    const faults: unknown[] = []
    const broken = new Error('secret inside')
    const { call } = await tools(
      () => {
        throw broken
      },
      { faulty: (error) => faults.push(error) },
    )
    const said = await call('list_schedules', {})
    expect([said.error, said.data.code, said.text.includes('secret inside')]).toEqual([true, 'internal', false])
    expect(faults).toEqual([broken])
  })
})

describe('what others wrote', () => {
  test('stays on its line: a name cannot write a line of its own into a list', async () => {
    const row = {
      id: 'sch_1',
      name: 'x\nsch_2 "y" active',
      status: 'active',
      inWords: 'once',
      nextAt: null,
      next: [],
      session: null,
    }
    const { call } = await tools(() => got(200, { data: [row], nextCursor: 'c1' }))
    expect((await call('list_schedules', {})).text).toBe(
      'sch_1 "x sch_2 "y" active" active: once\nThere are more: call again with "cursor": "c1".',
    )
  })

  test('a document goes out as it is, its byte order mark and a text that is called JSON included', async () => {
    const asGot = (text: string, type: string): Got => ({
      status: 200,
      text,
      header: (name) => ({ 'content-type': type, etag: '"7"' })[name] ?? null,
    })
    const { call } = await tools(() => asGot('\ufeffä', 'text/markdown; charset=utf-8'))
    expect((await call('get_document', { path: 'x' })).data).toEqual({
      path: 'x',
      version: 7,
      contentType: 'text/markdown',
      body: '\ufeffä',
    })
    const { call: broken } = await tools(() => asGot('{', 'application/json'))
    expect((await broken('get_document', { path: 'x' })).data).toMatchObject({ body: '{' })
  })
})
