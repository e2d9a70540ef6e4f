// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CEL in a tool's strings is written like that
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, page } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rouse-tools-'))
  server = await new FakeRouse().on('GET /v1/agents', page({ id: agt, name: 'assistant' })).up()
})
afterEach(async () => {
  await server.down()
  await rm(folder, { recursive: true })
})
const call = (...argv: string[]) => rouse(argv, { url: server.url })

const tool = {
  name: 'rate',
  agent: agt,
  description: 'The rate of a pair of currencies.\nAsk for it when…',
  parameters: { type: 'object' },
  readOnly: true,
  steps: [{ http: { method: 'GET', url: 'https://bank.example/${args.pair}' } }],
  output: 'steps[0].body.rate',
  hash: 'h',
  updatedAt: '2026-03-27T06:40:00.000Z',
  by: agt,
}
const at = `/v1/agents/${agt}/tools/rate`

async function file(text: string): Promise<string> {
  const path = join(folder, 'tool.json')
  await writeFile(path, text)
  return path
}

describe('rouse tool put', () => {
  test('sends the file, to the agent by its name', async () => {
    server.on(`PUT ${at}`, { status: 201, body: tool })
    const { description, parameters, readOnly, steps, output } = tool
    const sent = { description, parameters, readOnly, steps, output }
    const { code, stdout } = await call(
      'tool',
      'put',
      'rate',
      '--file',
      await file(JSON.stringify(sent)),
      '--agent',
      'assistant',
    )
    expect(code).toBe(0)
    expect(stdout).toBe('Kept tool rate: 1 step, read-only.\n')
    expect(server.to(`PUT ${at}`)[0]!.body).toEqual(sent)
  })

  test('reads the standard input, and finds the only agent and the one in ROUSE_AGENT', async () => {
    server.on(`PUT ${at}`, { body: tool })
    const argv = ['tool', 'put', 'rate', '--file', '-', '--json']
    const { stdout } = await rouse(argv, { url: server.url, stdin: '{"steps":[]}' })
    expect(JSON.parse(stdout)).toEqual(tool)
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'k', ROUSE_AGENT: agt }
    expect((await rouse(argv, { env, stdin: '{}' })).code).toBe(0)
    expect(server.to('GET /v1/agents')).toHaveLength(1)
  })

  test('a file that is none, one that is no JSON, and an agent that is not said are wrong usage', async () => {
    const none = await call('tool', 'put', 'rate', '--file', join(folder, 'none.json'))
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('cannot be read: ENOENT')])
    expect((await call('tool', 'put', 'rate', '--file', await file('{'))).code).toBe(2)
    server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }, { id: agt, name: 'scout' }))
    const unsaid = await call('tool', 'put', 'rate', '--file', await file('{}'))
    expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining('--agent')])
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true)
  })

  test('a refusal is told place by place', async () => {
    const errors = [
      { path: 'steps.0.http.url', message: 'expected an http or https address' },
      { path: 'output', message: 'does not compile' },
    ]
    const detail = 'steps.0.http.url: expected an http or https address'
    server.on(`PUT ${at}`, refusal(422, 'body_invalid', detail, { errors }))
    const { code, stderr } = await call('tool', 'put', 'rate', '--file', await file('{}'))
    expect(code).toBe(1)
    expect(stderr).toBe(`✗ ${detail} (body_invalid)\n  output: does not compile\n`)
  })
})

describe('rouse tool list, show, rm', () => {
  test('list shows a line each, and says when there are none', async () => {
    server.on(`GET /v1/agents/${agt}/tools`, page(tool))
    const { stdout } = await call('tool', 'list')
    expect(stdout).toMatch(/rate +yes +http +The rate of a pair of currencies\.\n/)
    expect(JSON.parse((await call('tool', 'list', '--json')).stdout).data).toEqual([tool])
    server.on(`GET /v1/agents/${agt}/tools`, page())
    expect((await call('tool', 'list')).stdout).toContain('rouse tool put')
  })

  test('show says what it takes and does', async () => {
    server.on(`GET ${at}`, { body: tool })
    const { stdout } = await call('tool', 'show', 'rate')
    expect(stdout).toMatch(/read-only +yes/)
    expect(stdout).toMatch(/step 0 +\{"http"/)
    expect(stdout).toMatch(/output +steps\[0\]\.body\.rate/)
  })

  test('rm removes', async () => {
    server.on(`DELETE ${at}`, { status: 204 })
    expect((await call('tool', 'rm', 'rate')).stdout).toBe('Removed rate.\n')
    expect((await call('tool', 'rm', 'none')).code).toBe(1)
  })
})

describe('rouse tool call', () => {
  test('sends the arguments and prints the output: a text as it is, all else as JSON', async () => {
    const answer = { output: { rate: 1.5 }, steps: [{ status: 200 }] }
    server.on(`POST ${at}/call`, { body: answer })
    const { stdout } = await call('tool', 'call', 'rate', '{"pair":"EURUSD"}')
    expect(JSON.parse(stdout)).toEqual({ rate: 1.5 })
    expect(server.to(`POST ${at}/call`)[0]!.body).toEqual({ args: { pair: 'EURUSD' } })
    expect(JSON.parse((await call('tool', 'call', 'rate', '--json')).stdout)).toEqual(answer)
    expect(server.to(`POST ${at}/call`)[1]!.body).toEqual({ args: {} })
    server.on(`POST ${at}/call`, { body: { output: 'one\u001b[31m', steps: [] } })
    expect((await call('tool', 'call', 'rate')).stdout).toBe('one[31m\n')
  })

  test('arguments that are no JSON are wrong usage; a step that failed is refused in its words', async () => {
    expect((await call('tool', 'call', 'rate', 'EURUSD')).code).toBe(2)
    server.on(`POST ${at}/call`, refusal(422, 'tool_failed', 'steps.0: GET bank.example answered 404'))
    const { code, stderr } = await call('tool', 'call', 'rate')
    expect([code, stderr]).toEqual([1, '✗ steps.0: GET bank.example answered 404 (tool_failed)\n'])
  })
})
