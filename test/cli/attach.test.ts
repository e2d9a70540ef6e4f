import { EventEmitter } from 'node:events'
import { realpathSync, statSync } from 'node:fs'
import { delimiter } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withRouseOnPath } from '../../apps/cli/commands/attach-program.ts'
import { run } from '../../apps/cli/main.ts'
import { FakeInbox } from '../worker/fake-inbox.ts'
import { Folder } from '../worker/folder.ts'
import { ses } from './examples.ts'
import { collecting, rouse, type Said } from './rouse.ts'

let inbox: FakeInbox
let folder: Folder
let signals: EventEmitter
beforeEach(async () => {
  inbox = new FakeInbox()
  folder = new Folder()
  signals = new EventEmitter()
  await inbox.rouse.up()
})
afterEach(async () => {
  folder.remove()
  await inbox.rouse.down()
})

function attach(flags: readonly string[], key = 'key-of-the-worker'): { done: Promise<Said>; stderr(): string } {
  const [stdout, stderr] = [collecting(), collecting()]
  const env = { PATH: process.env.PATH, ROUSE_URL: inbox.rouse.url, ROUSE_KEY: key }
  const io = { stdout: stdout.stream, stderr: stderr.stream, stdin: Readable.from([]), env, signals }
  const argv = ['attach', ses, '--cwd', folder.dir, ...flags, '--', 'cat']
  const done = run(argv, io).then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() }))
  return { done, stderr: stderr.text }
}

describe('rouse attach, with checks', () => {
  test("a check runs in the agent's folder with its own key; its exit is told, what it printed is not", async () => {
    folder.script('checks/picks.sh', 'echo "$ROUSE_KEY in $(pwd -P)"', 'echo "looking" >&2')
    const worker = attach([])
    inbox.putJob({ id: 'job_1', kind: 'check', schedule: 'sch_1', script: 'checks/picks.sh', key: 'key-of-the-check' })
    expect(await inbox.jobEnd('job_1')).toEqual({
      exit: 0,
      output: `key-of-the-check in ${realpathSync(folder.dir)}`,
    })
    signals.emit('SIGINT')
    const { code, stdout, stderr } = await worker.done
    expect(code).toBe(0)
    expect(stderr).toContain('[check checks/picks.sh] looking\n')
    expect(stderr).toMatch(/^check checks\/picks\.sh of sch_1 ended with exit 0 in \d+\.\d s$/m)
    expect(stdout + stderr).not.toContain('key-of-the')
  })

  test('Ctrl-C lets a check end, Ctrl-C again kills it', async () => {
    folder.script('slow.sh', 'echo begun >&2', 'sleep 60')
    const worker = attach([])
    inbox.putJob({ id: 'job_1', kind: 'check', script: 'slow.sh' })
    await inbox.until(() => worker.stderr().includes('begun'))
    signals.emit('SIGINT')
    signals.emit('SIGINT')
    expect((await worker.done).code).toBe(0)
    expect(inbox.jobsEnded.get('job_1')).toEqual({ exit: 143, output: 'stopped by hand in the worker' })
  })

  test('with --no-checks it says that it runs none', async () => {
    inbox.put('hello')
    await attach(['--no-checks', '--once']).done
    expect(inbox.rouse.to(`PATCH /v1/sessions/${ses}`)[0]?.body).toEqual({ workerConnected: true, checks: false })
    expect(inbox.rouse.calls.some(({ body }) => body.jobs === 'only')).toBe(false)
  })
})

describe('rouse attach --tools', () => {
  test("a host step calls its function, which works in the agent's folder", async () => {
    folder.write('note.txt', 'buy milk')
    const tools = folder.write(
      'tools.mjs',
      `import { readFileSync } from 'node:fs'
       export default { read: async ({ file }, { agent }) => ({ agent, text: readFileSync(file, 'utf8') }) }`,
    )
    const before = process.cwd()
    const worker = attach(['--tools', tools])
    inbox.putJob({ id: 'job_1', kind: 'host_step', agent: 'agt_1', tool: 'read', args: { file: 'note.txt' } })
    expect(await inbox.jobEnd('job_1')).toEqual({ exit: 0, output: '{"agent":"agt_1","text":"buy milk"}' })
    signals.emit('SIGINT')
    expect((await worker.done).stderr).toContain('host step read ended with exit 0')
    expect(process.cwd()).toBe(before)
  })

  test.each([
    [['--tools', '/nowhere/tools.mjs'], '--tools /nowhere/tools.mjs cannot be loaded'],
    [['--tools', 'x.mjs', '--no-checks'], 'expected --tools or --no-checks, got both'],
  ])('%j is refused before any call', async (flags, message) => {
    const { code, stderr } = await attach(flags).done
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(inbox.rouse.calls).toEqual([])
  })
})

test.each([
  [['--max-seconds', '0'], 'Expected 1 to 604800'],
  [['--max-tool-calls', 'many'], 'Expected a whole number'],
  [['--format', 'xml'], 'Allowed choices are text, claude, codex'],
])('rouse attach %j says what it takes', async (flags, message) => {
  const { code, stderr } = await attach(flags).done
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('rouse attach --help names the limits, the formats and what a command finds in its environment', async () => {
  const { stdout } = await rouse(['attach', '--help'])
  for (const word of ['--max-seconds', '--max-tool-calls', '--no-checks', '--tools', 'ROUSE_HOW', 'ROUSE_TOOL_CALLS'])
    expect(stdout).toContain(word)
})

describe('the rouse on the PATH of commands and checks', () => {
  test('is the very one that runs, in front, and goes with it', () => {
    const { env, remove } = withRouseOnPath({ PATH: '/usr/bin', HOME: '/h' }, "/it's/dist/rouse.js")
    const [dir, rest] = env.PATH!.split(delimiter)
    expect([rest, env.HOME, statSync(`${dir}/rouse`).mode & 0o777]).toEqual(['/usr/bin', '/h', 0o700])
    remove()
    expect(statSync(dir!, { throwIfNoEntry: false })).toBeUndefined()
  })

  test.each([undefined, '/usr/bin/rouse', '/x/vitest.mjs'])('started as %s, nothing is put there', (program) => {
    const env = { PATH: '/usr/bin' }
    expect(withRouseOnPath(env, program).env).toBe(env)
  })
})
