import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scratchFolder } from '../adapters/folder.ts'
import { agt, page, sch, schedule } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

const folder = scratchFolder()
let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
  server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
  server.on('GET /v1/schedules', page({ ...schedule, name: 'Morning\tbrief' }))
})
afterEach(() => server.down())

/** What the shell is offered, without the directive in the last line. */
async function offered(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await rouse(['complete', '--', ...words], { url: server.url })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trimEnd().split('\n').slice(0, -1)
}
const values = async (...words: string[]) => (await offered(...words)).map((line) => line.split('\t')[0])

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
    const { code, stdout } = await rouse(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toMatch(/rouse complete '?--/)
  })

  test('the script for bash is one that bash takes', async () => {
    const { stdout } = await rouse(['completion', 'bash'])
    const script = join(folder, 'completion.bash')
    writeFileSync(script, stdout)
    const loaded = execFileSync('bash', ['-c', `source '${script}' && complete -p rouse`], { encoding: 'utf8' })
    expect(loaded).toContain('rouse')
  })

  test('a shell that is not known is named, with those that are', async () => {
    const { code, stderr } = await rouse(['completion', 'tcsh'])
    expect(code).toBe(2)
    expect(stderr).toContain('bash, zsh, fish, powershell')
  })

  test('offers commands, then their own, then their options', async () => {
    expect(await values('sched')).toEqual(['schedule'])
    expect((await values('schedule', 'p')).sort()).toEqual(['pause', 'preview'])
    expect(await values('schedule', 'list', '--sta')).toEqual(['--status'])
  })

  test('offers the values of an option that has a few', async () => {
    expect(await values('feed', 'list', '--label', 'd')).toEqual(['decide'])
  })

  test('offers names of agents and ids of schedules, with what they are', async () => {
    expect(await offered('schedule', 'list', '--agent', '')).toEqual([`assistant\t${agt}`])
    expect(await offered('schedule', 'pause', '')).toEqual([`${sch}\tMorning brief`])
  })

  test('asks for nothing that could not come next', async () => {
    await values('schedule', 'pause', '')
    expect(server.to('GET /v1/agents')).toHaveLength(0)
    await values('sched')
    expect(server.to('GET /v1/schedules')).toHaveLength(1)
  })

  test('offers files where a file is meant', async () => {
    mkdirSync(join(folder, 'plans'))
    writeFileSync(join(folder, 'plan.yaml'), '')
    expect(await values('apply', `${folder}/pl`)).toEqual([`${folder}/plan.yaml`, `${folder}/plans/`])
  })

  test('stays silent without a Rouse', async () => {
    const url = server.url
    await server.down()
    const { code, stdout, stderr } = await rouse(['complete', '--', 'schedule', 'pause', ''], { url })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ':4\n', stderr: '' })
  })
})
