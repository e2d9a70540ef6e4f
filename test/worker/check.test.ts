import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jobWork } from '../../apps/worker/job-work.ts'
import type { Job } from '../../apps/worker/jobs.ts'
import { collecting } from '../cli/rouse.ts'
import { Folder, isAlive } from './folder.ts'

let folder: Folder
let stderr: ReturnType<typeof collecting>
let stop: AbortController
beforeEach(() => {
  folder = new Folder()
  stderr = collecting()
  stop = new AbortController()
})
afterEach(() => folder.remove())

const run = (script: string, o: { env?: NodeJS.ProcessEnv; job?: { [K in keyof Job]?: Job[K] | undefined } } = {}) =>
  jobWork({
    url: 'http://127.0.0.1:4750',
    cwd: folder.dir,
    env: o.env ?? process.env,
    tools: null,
    stderr: stderr.stream,
  })(
    {
      id: 'job_1',
      kind: 'check',
      agent: 'agt_1',
      schedule: 'sch_1',
      timeoutSeconds: 60,
      key: 'key-of-the-check',
      script,
      ...o.job,
    } as Job,
    stop.signal,
  )

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('a check', () => {
  test("S2-23 runs in the agent's folder, without input, and what it prints is its output", async () => {
    folder.write('state/picks', 'old')
    folder.script('checks/picks.sh', 'cat', 'pwd -P', 'cat state/picks')
    const { exit, output } = await run('checks/picks.sh')
    expect([exit, output.endsWith('old'), output.split('\n')[0]!.endsWith(folder.dir)]).toEqual([0, true, true])
  })

  test('S2-29 without output it says nothing, blanks included', async () => {
    folder.script('quiet.sh', 'echo; echo "  "')
    expect(await run('quiet.sh')).toEqual({ exit: 0, output: '' })
  })

  test("S2-26 it has the key of this check and nothing of the worker's own Rouse, but the rest of the environment", async () => {
    folder.script('env.sh', 'env | grep -E "^(ROUSE_|COLOUR)" | sort')
    const env = {
      PATH: process.env.PATH,
      COLOUR: 'red',
      ROUSE_KEY: 'key-of-the-worker',
      ROUSE_DATA: '/elsewhere',
      ROUSE_SESSION: 'ses_outer',
      ROUSE_TURN: 'trn_outer',
    }
    expect((await run('env.sh', { env })).output.split('\n')).toEqual([
      'COLOUR=red',
      'ROUSE_AGENT=agt_1',
      'ROUSE_CHECK=1',
      'ROUSE_KEY=key-of-the-check',
      'ROUSE_SCHEDULE=sch_1',
      'ROUSE_URL=http://127.0.0.1:4750',
    ])
  })

  test('a check without a key is given none, least of all that of the worker', async () => {
    folder.script('env.sh', `echo "key:\${ROUSE_KEY-none}"`)
    const env = { ...process.env, ROUSE_KEY: 'key-of-the-worker' }
    expect(await run('env.sh', { env, job: { key: undefined } })).toEqual({ exit: 0, output: 'key:none' })
  })

  test('a failure has the exit code, and the last of standard error as its output', async () => {
    folder.script('fails.sh', 'echo half', 'echo "no such file" >&2', 'exit 3')
    expect(await run('fails.sh')).toEqual({ exit: 3, output: 'no such file' })
    folder.script('silent.sh', 'exit 4')
    expect(await run('silent.sh')).toEqual({ exit: 4, output: 'exit code 4, and nothing on standard error' })
  })

  test('what it says on standard error is passed on, each line marked with its name', async () => {
    folder.script('says.sh', 'printf "one\\ntwo" >&2')
    await run('says.sh')
    expect(stderr.text()).toBe('[check says.sh] one\n[check says.sh] two\n')
  })

  test('it ends also where nobody reads what it says', async () => {
    folder.script('says.sh', 'head -c 1000000 /dev/zero >&2', 'echo done')
    stderr.stream.destroy()
    expect(await run('says.sh')).toEqual({ exit: 0, output: 'done' })
  })

  test('ended by a signal it has 128 and the number of the signal', async () => {
    folder.script('dies.sh', 'kill -TERM $$; sleep 5')
    expect(await run('dies.sh')).toMatchObject({ exit: 143, output: expect.stringContaining('SIGTERM') })
  })

  test('of a flood of output the first 100,000 characters are kept, and the rest is read', async () => {
    folder.script('flood.sh', 'head -c 3000000 /dev/zero | tr "\\0" x', 'echo done >&2')
    const { exit, output } = await run('flood.sh')
    expect([exit, output]).toEqual([0, 'x'.repeat(100_000)])
    expect(stderr.text()).toContain('done')
  })

  test('a character that takes several bytes is not cut in two', async () => {
    folder.write('wide.mjs', `#!${process.execPath}\nprocess.stdout.write('x' + '😀'.repeat(60_000))\n`, 0o755)
    const { output } = await run('wide.mjs')
    expect([output.length, output.isWellFormed()]).toEqual([99_999, true])
  })
})

describe('a check that takes too long', () => {
  /** Two processes that hold the output open and heed no signal that can be ignored. */
  const stubborn = ['trap "" TERM INT', 'sh -c "trap \\"\\" TERM; echo \\$\\$ > child; while :; do sleep 1; done" &']

  test('is killed with all that it started, and has exit 124', async () => {
    folder.script('slow.sh', ...stubborn, 'echo $$ > self', 'echo "at it" >&2', 'wait')
    const done = run('slow.sh', { job: { timeoutSeconds: 1 } })
    expect(await done).toEqual({ exit: 124, output: 'timed out after 1 s: at it' })
    const pids = ['self', 'child'].map((name) => Number(folder.read(name)))
    expect(pids.every((pid) => pid > 1)).toBe(true)
    await until(() => !pids.some(isAlive))
  })

  test('is killed at once: what it would do about a SIGTERM would come after its lease', async () => {
    folder.script('slow.sh', 'trap "touch told; exit 0" TERM', 'sleep 60 & wait')
    expect(await run('slow.sh', { job: { timeoutSeconds: 1 } })).toMatchObject({ exit: 124 })
    expect(existsSync(join(folder.dir, 'told'))).toBe(false)
  })

  test('told to stop at once, it is killed and says so', async () => {
    folder.script('slow.sh', ...stubborn, 'wait')
    const done = run('slow.sh')
    await until(() => {
      try {
        return folder.read('child').trim() !== ''
      } catch {
        return false
      }
    })
    stop.abort()
    expect(await done).toEqual({ exit: 143, output: 'stopped by hand in the worker' })
    await until(() => !isAlive(Number(folder.read('child'))))
  })

  test('what it leaves running behind it goes when it ends', async () => {
    folder.script('leaves.sh', 'sleep 60 &', 'echo $!')
    const { exit, output } = await run('leaves.sh')
    expect(exit).toBe(0)
    await until(() => !isAlive(Number(output)))
  })
})

describe('a script that is not run', () => {
  test.each([
    ['outside, by its path', '../other/x.sh', 126, 'must lie in the agent'],
    ['outside, from the root', '/bin/ls', 126, 'must lie in the agent'],
    ['no path at all', '', 126, 'must lie in the agent'],
    ['the folder itself', '.', 126, 'must lie in the agent'],
    ['a path no system has', 'a\0b', 126, 'must lie in the agent'],
    ['not there', 'checks/none.sh', 127, 'not found'],
    ['below a file', 'plain.txt/x.sh', 127, 'not found'],
    ['a folder', 'checks', 126, 'is no file'],
    ['not executable', 'plain.txt', 126, 'chmod +x plain.txt'],
  ])('%s', async (_, script, exit, output) => {
    folder.write('plain.txt', 'echo hello')
    mkdirSync(join(folder.dir, 'checks'))
    expect(await run(script)).toEqual({ exit, output: expect.stringContaining(output) })
  })

  test('a link that leads out of the folder, for the script itself or a folder on the way', async () => {
    const other = new Folder()
    other.script('x.sh', 'echo out')
    symlinkSync(join(other.dir, 'x.sh'), join(folder.dir, 'link.sh'))
    symlinkSync(other.dir, join(folder.dir, 'away'))
    const refused = { exit: 126, output: expect.stringContaining("leads out of the agent's folder") }
    expect([await run('link.sh'), await run('away/x.sh')]).toEqual([refused, refused])
    other.remove()
  })

  test('a link within the folder is followed, and a folder that is reached through a link is the folder', async () => {
    folder.script('real/x.sh', 'echo in')
    symlinkSync(join(folder.dir, 'real/x.sh'), join(folder.dir, 'x.sh'))
    const outer = new Folder()
    symlinkSync(folder.dir, join(outer.dir, 'agent'))
    const work = jobWork({
      url: '',
      cwd: join(outer.dir, 'agent'),
      env: process.env,
      tools: null,
      stderr: stderr.stream,
    })
    const job = { id: 'job_1', kind: 'check', agent: 'agt_1', schedule: null, timeoutSeconds: 60, script: 'x.sh' }
    expect(await work(job, stop.signal)).toEqual({ exit: 0, output: 'in' })
    outer.remove()
  })

  test('the program of its first line is not there', async () => {
    folder.write('odd.sh', '#!/nowhere/sh\necho x\n', 0o755)
    expect(await run('odd.sh')).toMatchObject({ exit: 127 })
  })

  test('a job of a kind that this worker does not know is answered', async () => {
    expect(await run('x', { job: { kind: 'dance' } })).toMatchObject({ exit: 127 })
  })
})
