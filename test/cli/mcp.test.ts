import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../apps/cli/main.ts'
import { page } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { collecting, rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/schedules', page()).up()
})
afterEach(() => server.down())

const hello = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** Speaks line by line; hangs up when every request has its answer. */
async function spoken(messages: readonly object[], env: NodeJS.ProcessEnv) {
  const stdin = new PassThrough()
  const [stdout, stderr] = [collecting(), collecting()]
  const ended = run(['mcp'], { stdin, stdout: stdout.stream, stderr: stderr.stream, env })
  for (const message of messages) stdin.write(`${JSON.stringify(message)}\n`)
  await expect.poll(() => stdout.text().split('\n').length - 1, { timeout: 10_000 }).toBe(messages.length)
  stdin.end()
  return { code: await ended, lines: stdout.text().trimEnd().split('\n'), stderr: stderr.text() }
}

describe('rouse mcp', () => {
  test('speaks MCP on its streams and nothing else, and ends with 0 when the other end hangs up', async () => {
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_schedules', arguments: { limit: 5 } },
    }
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'k', ROUSE_SESSION: 'ses_1', ROUSE_TURN: 'trn_1' }
    const { code, lines, stderr } = await spoken([hello, call], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const answers = lines.map((line) => JSON.parse(line))
    expect(answers.find(({ id }) => id === 0).result.serverInfo).toMatchObject({ name: 'rouse', title: 'Rouse' })
    expect(answers.find(({ id }) => id === 1).result.content).toEqual([{ type: 'text', text: 'No schedules.' }])
    // It speaks for the key, session and turn of its environment.
    expect(server.calls).toMatchObject([
      {
        method: 'GET',
        path: '/v1/schedules',
        query: { limit: '5' },
        headers: { authorization: 'Bearer k', 'x-rouse-session': 'ses_1', 'x-rouse-turn': 'trn_1' },
      },
    ])
  })

  test('without any Rouse to talk to it says so at once', async () => {
    const said = await rouse(['mcp', '--data', '/nonexistent'], { env: {} })
    expect([said.code, said.stdout]).toEqual([3, ''])
    expect(said.stderr).toContain('no Rouse to talk to')
  })

  test('help says how it is added to an agent', async () => {
    const { stdout } = await rouse(['mcp', '--help'], { env: {} })
    expect(stdout).toContain('claude mcp add rouse -- npx rouse mcp')
    expect(stdout).toContain('ROUSE_SESSION')
  })
})
