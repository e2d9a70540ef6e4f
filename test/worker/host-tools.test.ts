import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type HostTools, loadHostTools } from '../../apps/worker/host-tools.ts'
import { jobWork } from '../../apps/worker/job-work.ts'
import type { Job } from '../../apps/worker/jobs.ts'
import { collecting } from '../cli/rouse.ts'
import { Folder } from './folder.ts'

let folder: Folder
const stop = new AbortController().signal
beforeEach(() => {
  folder = new Folder()
})
afterEach(() => folder.remove())

const run = (tools: HostTools | null, job: Partial<Job>, signal: AbortSignal = stop) =>
  jobWork({ url: '', cwd: folder.dir, env: {}, tools, stderr: collecting().stream })(
    { id: 'job_1', kind: 'host_step', agent: 'agt_1', schedule: null, timeoutSeconds: 60, ...job },
    signal,
  )

describe('a host step', () => {
  test('calls the function with its arguments and whom it is for; the result is its output, as JSON', async () => {
    const tools: HostTools = {
      look: async (args, { session, agent, signal }) => ({ args, session, agent, isStopped: signal.aborted }),
    }
    const { exit, output } = await run(tools, { tool: 'look', args: { path: 'a' }, session: 'ses_1' })
    expect([exit, JSON.parse(output)]).toEqual([
      0,
      { args: { path: 'a' }, session: 'ses_1', agent: 'agt_1', isStopped: false },
    ])
  })

  test('a function that gives nothing back gives null', async () => {
    expect(await run({ quiet: () => undefined }, { tool: 'quiet' })).toEqual({ exit: 0, output: 'null' })
  })

  test.each<[string, HostTools[string], string]>([
    ['what it throws', () => Promise.reject(new Error('disk full')), 'disk full'],
    [
      'what it throws at once, and is no error',
      () => {
        throw 'odd'
      },
      'odd',
    ],
    ['a result that is no JSON', () => ({ n: 1n }), 'BigInt'],
    ['a result too long to hand over', () => 'x'.repeat(100_001), '100000 are taken'],
  ])('%s ends it with exit 1 and its message', async (_, tool, message) => {
    expect(await run({ t: tool }, { tool: 't' })).toEqual({ exit: 1, output: expect.stringContaining(message) })
  })

  test.each([
    ['a tool that is not there', { other: () => 1 }, 'look', 'no tool "look"'],
    ['a name that every object has', { other: () => 1 }, 'constructor', 'no tool "constructor"'],
    ['a worker without tools', null, 'look', 'attach it with --tools'],
  ])('%s has exit 127', async (_, tools, tool, message) => {
    expect(await run(tools, { tool })).toEqual({ exit: 127, output: expect.stringContaining(message) })
  })

  test('a tool that heeds its signal or not is over when its time is', async () => {
    let isTold = false
    const tools: HostTools = {
      deaf: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          isTold = true
        })
        return new Promise(() => {})
      },
    }
    const late = await run(tools, { tool: 'deaf', timeoutSeconds: 0.05 })
    expect([late.exit, isTold]).toEqual([124, true])
  })

  test('told to stop at once, it ends', async () => {
    const halt = new AbortController()
    const done = run({ deaf: () => new Promise(() => {}) }, { tool: 'deaf' }, halt.signal)
    halt.abort()
    expect(await done).toEqual({ exit: 143, output: 'stopped by hand in the worker' })
  })
})

describe('the module of --tools', () => {
  test.each([
    ['a default export', 'export default { look: async () => 1 }'],
    ['an export called tools', 'export const tools = { look: async () => 1 }'],
  ])('%s holds the tools', async (_, text) => {
    const file = folder.write('tools.mjs', text)
    expect(Object.keys(await loadHostTools(file))).toEqual(['look'])
  })

  test.each([
    ['is not there', null, 'cannot be loaded'],
    ['throws', 'throw new Error("no licence")', 'no licence'],
    ['is no JavaScript', 'export default {', 'cannot be loaded'],
    ['exports nothing of the kind', 'export const other = 1', 'expected a default export'],
    ['exports a list', 'export default []', 'expected a default export'],
    ['exports no tool', 'export default {}', 'at least one tool'],
    ['exports what is no function', 'export default { look: 1 }', 'tool "look" to be a function'],
  ])('one that %s is refused, saying so', async (name, text, message) => {
    const path = `${name.replaceAll(' ', '-')}.mjs`
    const file = text === null ? `${folder.dir}/${path}` : folder.write(path, text)
    await expect(loadHostTools(file)).rejects.toThrow(message)
  })
})
