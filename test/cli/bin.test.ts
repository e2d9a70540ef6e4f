import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

const bin = fileURLToPath(new URL('../../apps/cli/bin.ts', import.meta.url))

function start(...argv: string[]) {
  const env = { ...process.env, ROUSE_URL: server.url, ROUSE_KEY: 'k' }
  return spawn(process.execPath, ['--import', 'tsx', bin, ...argv], { env })
}

describe('the program rouse', () => {
  test('the exit code is that of the command', async () => {
    const [code] = await once(start('schedul'), 'exit')
    expect(code).toBe(2)
  })

  test('a reader who has seen enough ends it quietly, with 0', async () => {
    const child = start('agent', 'list')
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    // The answer comes once nobody reads any more.
    server.on('GET /v1/agents', async () => {
      child.stdout.destroy()
      await once(child.stdout, 'close')
      return page({ id: agt, name: 'assistant' })
    })
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})
