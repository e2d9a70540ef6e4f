import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openOutbound } from '../../shared/adapters/outbound/open.ts'
import type { McpCall } from '../../shared/ports/world.ts'
import { Receiver } from '../journeys/receiver.ts'
import { mcpServer, texts } from './mcp-server.ts'

const server = new Receiver()
beforeAll(() => server.up())
afterAll(() => server.down())
beforeEach(() => {
  server.got.length = 0
})

const tools = {
  rate: {
    readOnlyHint: true,
    call: ({ of }: Record<string, unknown>) => ({ ...texts('ignored'), structuredContent: { of, rate: 1.5 } }),
  },
  words: { readOnlyHint: false, call: () => texts('one', 'two') },
  fails: { call: () => ({ ...texts('the lake is\n frozen'), isError: true }) },
}
const call = (tool: string, over: Partial<McpCall> & { allow?: string } = {}) => {
  const { allow = server.host, ...more } = over
  const out = openOutbound({ env: { ROUSE_ALLOW_HOSTS: allow } })
  return out.mcpCall({
    url: `http://${server.host}/mcp?key=hidden`,
    tool,
    headers: {},
    args: { of: 'EUR' },
    timeoutMs: 3_000,
    bytesMax: 10_000,
    ...more,
  })
}

describe.each([{ asEvents: false }, { asEvents: true }])('a server that answers with %j', (how) => {
  beforeEach(() => {
    server.reply = mcpServer(tools, how)
  })

  it('structured content comes as JSON, else the texts', async () => {
    expect(await call('rate')).toEqual({ ok: true, text: '{"of":"EUR","rate":1.5}' })
    expect(await call('words')).toEqual({ ok: true, text: 'one\ntwo' })
  })

  it('a tool that fails fails with its own words, on one line', async () => {
    const failed = { ok: false, reason: 'failed', error: 'the MCP tool fails failed: the lake is frozen', retry: false }
    expect(await call('fails')).toEqual(failed)
  })

  it('a tool that is none is refused in the words of the server', async () => {
    expect(await call('none')).toMatchObject({ ok: false, error: 'the MCP server refused: there is no none' })
  })

  it('says whether a tool only reads; what is not annotated does not', async () => {
    const out = openOutbound({ env: { ROUSE_ALLOW_HOSTS: server.host } })
    const ask = (tool: string) => out.mcpTool({ url: `http://${server.host}/mcp`, tool, headers: {}, timeoutMs: 3_000 })
    expect(await ask('rate')).toEqual({ ok: true, readOnly: true })
    expect(await ask('words')).toEqual({ ok: true, readOnly: false })
    expect(await ask('fails')).toEqual({ ok: true, readOnly: false })
    expect(await ask('none')).toMatchObject({ ok: false, error: 'it has no tool none' })
  })

  it('ends the session that it began, and never opens the stream on which servers speak unasked', async () => {
    await call('rate')
    expect(server.got.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'DELETE'])
    expect(server.got[3]!.headers['mcp-session-id']).toBe('one')
  })
})

it('headers go along with each request', async () => {
  server.reply = mcpServer(tools, { token: 'open' })
  expect(await call('rate')).toMatchObject({ ok: false, error: `${server.host} answered 401` })
  expect(await call('rate', { headers: { authorization: 'Bearer open' } })).toMatchObject({ ok: true })
})

it('an address that is not public is not asked', async () => {
  const refused = await call('rate', { allow: '' })
  expect(refused).toMatchObject({ ok: false, reason: 'refused', retry: false })
  expect(JSON.stringify(refused)).not.toContain('hidden')
  expect(server.got).toEqual([])
})

it('nor is one that a redirect leads to', async () => {
  server.reply = () => ({ status: 307, headers: { location: 'http://169.254.169.254/latest' } })
  expect(await call('rate')).toMatchObject({ ok: false, reason: 'refused' })
})

it('an answer that is too large, and one that does not come', async () => {
  server.reply = mcpServer({ rate: { call: () => texts('x'.repeat(20_000)) } })
  expect(await call('rate')).toMatchObject({ ok: false, reason: 'too_large' })
  server.reply = () => ({ status: 200, afterMs: 1_500 })
  const since = performance.now()
  expect(await call('rate', { timeoutMs: 300 })).toMatchObject({ ok: false, reason: 'timeout', retry: true })
  expect(performance.now() - since).toBeLessThan(1_400)
})

it('what is no MCP server is a failure, and its words are not quoted', async () => {
  server.reply = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"hidden":"words"}' })
  const failed = await call('rate')
  expect(failed.ok).toBe(false)
  expect(JSON.stringify(failed)).not.toContain('hidden')
  server.reply = () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<b>hidden</b>' })
  expect(JSON.stringify(await call('rate'))).not.toContain('hidden')
})
