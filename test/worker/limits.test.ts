import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../apps/cli/main.ts'
import { ses } from '../cli/examples.ts'
import { collecting, type Said } from '../cli/rouse.ts'
import { FakeInbox } from './fake-inbox.ts'
import { Folder, isAlive } from './folder.ts'
import { claude, codex } from './transcripts.ts'

let inbox: FakeInbox
let folder: Folder
beforeEach(async () => {
  inbox = new FakeInbox()
  folder = new Folder()
  await inbox.rouse.up()
})
afterEach(async () => {
  folder.remove()
  await inbox.rouse.down()
})

/** One turn of `rouse attach … -- node -e <script>`, in a folder of its own. */
async function turn(script: string, flags: string[] = []): Promise<Said> {
  inbox.put('x')
  const [stdout, stderr] = [collecting(), collecting()]
  const env = { PATH: process.env.PATH, ROUSE_URL: inbox.rouse.url, ROUSE_KEY: 'k' }
  const io = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin: Readable.from([]),
    env,
    signals: new EventEmitter(),
  }
  const command = [process.execPath, '-e', script]
  const code = await run(['attach', ses, '--once', '--cwd', folder.dir, ...flags, '--', ...command], io)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

const ended = () => inbox.ended.get('trn_1')
const calls = () => (ended()?.toolCalls ?? []) as { readonly status: string }[]
const stays = 'setInterval(() => {}, 1000)'
const note = (line: string) => `require('node:fs').appendFileSync(process.env.ROUSE_TOOL_CALLS, ${line} + '\\n')`
const prints = (text: string, more = '') => `process.stdout.write(${JSON.stringify(text)}); ${more}`

describe('limits of a run', () => {
  test('S4-1 a turn that takes longer than --max-seconds is stopped with all it started, and ends as blocked', async () => {
    const child = `require('node:child_process').spawn(process.execPath, ['-e', '${stays}']).pid`
    const { stdout, stderr } = await turn(`console.log(process.pid, ${child}); ${stays}`, ['--max-seconds', '1'])
    const summary = expect.stringMatching(/^stopped after 1 s, .*--max-seconds 1\): raise it.*rouse monitor add/)
    expect(ended()).toEqual({ outcome: 'blocked', summary, answer: summary })
    expect(stderr).toContain('turn trn_1 ended blocked (stopped after 1 s')
    const pids = stdout.trim().split(' ').map(Number)
    await inbox.until(() => !pids.some(isAlive))
  })

  test('a turn within its limits ends as it does', async () => {
    await turn('console.log("done")', ['--max-seconds', '60', '--max-tool-calls', '1'])
    expect(ended()).toEqual({ outcome: 'ok', answer: 'done' })
  })

  test('S4-1 a turn that calls more tools than --max-tool-calls is stopped, and reports those it called', async () => {
    const line = `JSON.stringify({ tool: 'search', args: { n } })`
    await turn(`for (let n = 0; n < 3; n += 1) ${note(line)}; ${stays}`, ['--max-tool-calls', '2'])
    expect(ended()).toMatchObject({
      outcome: 'blocked',
      summary: expect.stringMatching(/^stopped after 2 tool calls, .*--max-tool-calls 2\): raise it/),
      toolCalls: [0, 1, 2].map((n) => ({ tool: 'search', args: { n }, status: 'ok' })),
    })
  })

  test('as many calls as --max-tool-calls says are within the limit', async () => {
    const line = `JSON.stringify({ tool: 'search', args: { n } })`
    const done = `setTimeout(() => console.log('done'), 600)`
    await turn(`for (let n = 0; n < 2; n += 1) ${note(line)}; ${done}`, ['--max-tool-calls', '2'])
    expect(ended()).toMatchObject({ outcome: 'ok', answer: 'done' })
  })

  test('calls that a command tells only as it ends are reported, and stop nothing', async () => {
    await turn(
      `${note(`'{"tool":"a"}'`)}; ${note(`'{"tool":"b","status":"denied","result":{"why":"no"}}'`)}; console.log('done')`,
    )
    expect(ended()).toEqual({
      outcome: 'ok',
      answer: 'done',
      toolCalls: [
        { tool: 'a', args: null, status: 'ok' },
        { tool: 'b', args: null, status: 'denied', result: { why: 'no' } },
      ],
    })
  })
})

describe('a stall', () => {
  test('S4-2 the fifth call in a row that asks and is told the same ends the turn as blocked, and names what to do', async () => {
    const line = `JSON.stringify({ tool: 'look', args: { at: 'rate' }, result: 1.07 })`
    await turn(`for (let n = 0; n < 5; n += 1) ${note(line)}; ${stays}`)
    expect(ended()).toMatchObject({
      outcome: 'blocked',
      summary: expect.stringMatching(/^stalled: the tool "look" was called 5 times.*rouse monitor add/),
      answer: expect.stringContaining('stalled'),
    })
  })

  test('it is seen in the events of an agent, too, and what was used until then is reported', async () => {
    await turn(prints(claude.polls(5), stays), ['--format', 'claude'])
    expect(ended()).toMatchObject({ outcome: 'blocked', summary: expect.stringMatching(/^stalled/), tokens: 5 * 1_102 })
    expect(ended()?.toolCalls).toHaveLength(5)
  })
})

describe('ROUSE_TOOL_CALLS', () => {
  test('is a private file of this turn, and gone after it', async () => {
    const { stdout } = await turn(
      `const fs = require('node:fs'); const file = process.env.ROUSE_TOOL_CALLS
       console.log(file, (fs.statSync(file).mode & 0o777).toString(8), (fs.statSync(require('node:path').dirname(file)).mode & 0o777).toString(8))`,
    )
    const [file, mode, dirMode] = stdout.trim().split(' ')
    expect([mode, dirMode, existsSync(file!)]).toEqual(['600', '700', false])
  })

  test('lines that are no calls are left out, and that is said once', async () => {
    const bad = ['nonsense', '{}', '{"tool":1}', '{"tool":"a","status":"maybe"}', '[]']
    const { stderr } = await turn(
      `for (const line of ${JSON.stringify([...bad, '{"tool":"good"}'])}) ${note('line')}; console.log('done')`,
    )
    expect(ended()?.toolCalls).toEqual([{ tool: 'good', args: null, status: 'ok' }])
    expect(stderr.match(/left out of ROUSE_TOOL_CALLS/g)).toHaveLength(1)
  })

  test('a command that deletes it, or puts something else there, does no harm', async () => {
    await turn(`const fs = require('node:fs'); const file = process.env.ROUSE_TOOL_CALLS; ${note(`'{"tool":"a"}'`)}
      fs.unlinkSync(file); fs.symlinkSync('/etc/passwd', file); console.log('done')`)
    expect(ended()).toMatchObject({ outcome: 'ok', toolCalls: [{ tool: 'a' }] })
    expect(existsSync('/etc/passwd')).toBe(true)
  })
})

describe('--format', () => {
  test('claude: the answer, its cost and its calls are reported, and the events are passed on', async () => {
    const { stdout } = await turn(prints(claude.works), ['--format', 'claude'])
    expect(stdout).toBe(claude.works)
    expect(ended()).toMatchObject({ outcome: 'ok', answer: 'Two mails, none urgent.', tokens: 1_200, usd: 0.0421 })
    expect(calls().map(({ status }) => status)).toEqual(['ok', 'failed', 'denied', 'ok'])
  })

  test('codex: the answer, its tokens and its calls are reported', async () => {
    await turn(prints(codex.works), ['--format', 'codex'])
    expect(ended()).toMatchObject({ outcome: 'ok', answer: 'One mail, none urgent.', tokens: 24_885 })
    expect(ended()).not.toHaveProperty('usd')
  })

  test.each([
    ['an empty result has nothing to do', claude.quiet, '', { outcome: 'nothing_to_do' }],
    [
      'what the agent says failed has failed, with its words, whatever the exit code',
      claude.apiError,
      '',
      { outcome: 'failed', summary: 'error: API Error: 529 overloaded' },
    ],
    [
      'what the agent says stands before the exit code',
      claude.crashed,
      'process.exitCode = 1',
      { outcome: 'failed', summary: 'error_during_execution: Request was aborted.' },
    ],
    ["the agent's own limit blocks", claude.maxTurns, 'process.exitCode = 1', { outcome: 'blocked' }],
    [
      'an exit code after a good result fails all the same',
      claude.works,
      'console.error("hook failed"); process.exitCode = 2',
      { outcome: 'failed', summary: 'exit code 2: hook failed', tokens: 1_200 },
    ],
    [
      'no result at all says what is wrong with the command line',
      'Two mails.',
      '',
      { outcome: 'failed', summary: expect.stringContaining('--format') },
    ],
  ])('%s', async (_, text, more, outcome) => {
    await turn(prints(text, more), ['--format', 'claude'])
    expect(ended()).toMatchObject(outcome)
  })

  test('a long answer and many calls fit into one end', async () => {
    const call = (n: number) =>
      `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t${n}","name":"Read","input":{"path":"${'x'.repeat(3_000)}"}}]}}\n`
    const script = `for (let n = 0; n < 600; n += 1) process.stdout.write(${JSON.stringify(call(0))}.replace('"t0"', '"t' + n + '"'))
      process.stdout.write(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'y'.repeat(500_000) }) + '\\n')`
    await turn(script, ['--format', 'claude'])
    expect(Buffer.byteLength(JSON.stringify(ended()))).toBeLessThanOrEqual(1024 * 1024)
    expect([ended()?.outcome, calls().length]).toEqual(['ok', 600])
  })
})
