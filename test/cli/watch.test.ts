import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

/** Watches until the standard output says what is waited for, then as if Ctrl-C were pressed. */
function watching(argv: readonly string[], until: (stdout: string) => boolean, o: { readonly columns?: number } = {}) {
  const signals = new EventEmitter()
  const on = (stdout: string) => {
    if (until(stdout)) signals.emit('SIGINT')
  }
  return { signals, said: rouse([...argv, '--watch', '1'], { url: server.url, signals, on, ...o }) }
}

const named = (name: string) => page({ id: agt, name })

describe('--watch', () => {
  test('prints in a pipe when something has changed, and ends with 0 on Ctrl-C', async () => {
    let looks = 0
    server.on('GET /v1/agents', () => named(['assistant', 'assistant', 'scout'][Math.min(2, looks++)]!))
    const { said } = watching(['agent', 'list'], (text) => text.includes('scout'))
    const { code, stdout, stderr } = await said
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/assistant/g)).toHaveLength(1)
    expect(looks).toBe(3)
  })

  test('prints a line of JSON for each change with --json', async () => {
    let looks = 0
    server.on('GET /v1/agents', () => named(`agent-${looks++}`))
    const { said } = watching(['agent', 'list', '--json'], (text) => text.includes('agent-1'))
    const lines = (await said).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).data[0].name)).toEqual(['agent-0', 'agent-1'])
  })

  test('draws in place on a terminal', async () => {
    let looks = 0
    server.on('GET /v1/agents', () => named(`agent-${looks++}`))
    const { said } = watching(['agent', 'list'], (text) => text.includes('agent-1'), { columns: 80 })
    const { stdout } = await said
    const pictures = stdout.split('\u001b[H').slice(1)
    expect(pictures).toHaveLength(2)
    expect(pictures[1]).toContain('every 1 s · Ctrl-C ends')
  })

  test('waits for a server that has gone away, and says so once', async () => {
    let looks = 0
    server.on('GET /v1/agents', () => {
      looks += 1
      return looks === 2 || looks === 3 ? refusal(503, 'unavailable', 'the store is busy') : named(`agent-${looks}`)
    })
    const { said } = watching(['agent', 'list'], (text) => text.includes('agent-4'))
    const { code, stderr } = await said
    expect(code).toBe(0)
    expect(stderr.match(/Tries again until it answers/g)).toHaveLength(1)
  })

  test('ends with what is refused, since it will be refused the next time too', async () => {
    server.on('GET /v1/agents', refusal(401, 'unauthorized', 'this key does not hold'))
    const { code, stderr } = await watching(['agent', 'list'], () => false).said
    expect(code).toBe(1)
    expect(stderr).toContain('(unauthorized)')
  })

  test('is no option of what changes something', async () => {
    const { code, stderr } = await watching(['agent', 'remove', 'assistant'], () => false).said
    expect(code).toBe(2)
    expect(stderr).toContain("unknown option '--watch'")
  })

  test.each(['0', '-1', '1.5', 'often'])('every %s is a wrong usage', async (every) => {
    const { code } = await rouse(['agent', 'list', `--watch=${every}`], { url: server.url })
    expect(code).toBe(2)
  })
})

describe('progress', () => {
  test('of long work is shown on a terminal and never in a pipe', async () => {
    server.on('GET /v1/agents', named('assistant'))
    const ends = ['running', 'running', 'ok']
    const run = { id: 'frn_1', flow: 'digest', step: 1, steps: 2, reason: null, detail: null, trace: null }
    server.on('POST /v1/agents/:a/flows/:f/run', { body: { flowRun: { ...run, status: 'running' } } })
    server.on('GET /v1/flow-runs/:r', () => ({ body: { ...run, status: ends.shift() ?? 'ok' } }))
    const argv = ['flow', 'run', 'assistant', 'digest', '--wait']
    const onTerminal = await rouse(argv, { url: server.url, isStderrTerminal: true })
    expect(onTerminal.stderr).toContain('digest: running, step 1 of 2')
    const inPipe = await rouse(argv, { url: server.url })
    expect(inPipe).toMatchObject({ code: 0, stderr: '' })
  })
})
