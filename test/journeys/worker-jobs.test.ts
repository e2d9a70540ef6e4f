import { cpSync, existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Folder } from '../worker/folder.ts'
import { type Actor, actor, fresh, messages, moveBy, prompts, runs, say, schedule, session } from './actors.ts'
import { anywhere, type Json, onClock, type RouseNode } from './node.ts'
import { rouse as cli } from './program.ts'
import { Worker } from './worker.ts'

const example = fileURLToPath(new URL('../../examples/check/', import.meta.url))

let folder: Folder
const workers: Worker[] = []
beforeEach(() => {
  folder = new Folder()
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  folder.remove()
})

async function attach(rouse: RouseNode, who: Actor, flags: readonly string[], command: readonly string[]) {
  const worker = await Worker.attach(rouse, who.key, [who.session.id, '--cwd', folder.dir, ...flags, '--', ...command])
  workers.push(worker)
  return worker
}

/** The latest run of a schedule, once it is settled: nobody was woken, or the turn has ended. */
async function settled(rouse: RouseNode, id: string, count: number): Promise<Json> {
  for (let n = 0; n < 500; n += 1) {
    const all = await runs(rouse, id)
    const last = all.at(-1)
    if (all.length === count && (last.result !== null || !['fired', 'held'].includes(last.outcome))) return last
    await sleep(20)
  }
  throw new Error(`run ${count} of ${id} did not settle: ${JSON.stringify(await runs(rouse, id))}`)
}

const runNow = (rouse: RouseNode, id: string) => rouse.ok('POST', `/v1/schedules/${id}/run`)

onClock('a schedule whose check an attached worker runs', '2026-03-02T09:00:00Z', (rouse) => {
  test('S2-81 the example check wakes when the picks have changed, and again after a turn that failed', async () => {
    cpSync(example, folder.dir, { recursive: true })
    const who = await actor(rouse)
    const put = (text: string) =>
      rouse.call('PUT', '/v1/documents/picks/today.md', undefined, {
        raw: text,
        headers: { 'content-type': 'text/markdown' },
      })
    await put('# Picks\n\n- bread\n')
    const { id } = await schedule(rouse, {
      session: who.session.id,
      prompt: 'Tell me what is new.',
      cron: '*/30 * * * *',
      check: { script: 'checks/new-picks.sh' },
    })
    await attach(rouse, who, [], ['sh', '-c', '[ ! -e broken ] || exit 1; exec ./agent.sh'])
    // To the very minute: a job's lease runs by the clock that is moved.
    const next = async (count: number) => {
      await moveBy(rouse, '30m')
      const { outcome, result } = await settled(rouse, id, count)
      return [outcome, result]
    }

    expect(await next(1)).toEqual(['fired', 'ok'])
    const [first] = await prompts(rouse, who.session.id)
    const [, hash] = /^picks changed: ([0-9a-f]{64})$/m.exec(first.text)!
    expect(folder.read('state/picks')).toBe(`${hash}\n`)
    expect((await messages(rouse, who.session.id)).at(-1).text).toContain('- bread')

    expect(await next(2)).toEqual(['nothing', null])

    await put('# Picks\n\n- butter\n')
    folder.write('broken', '')
    expect(await next(3)).toEqual(['fired', 'failed'])
    expect(folder.read('state/picks')).toBe(`${hash}\n`)

    rmSync(`${folder.dir}/broken`)
    expect(await next(4)).toEqual(['fired', 'ok'])
    expect(await next(5)).toEqual(['nothing', null])
    const woken = await prompts(rouse, who.session.id)
    expect(woken).toHaveLength(3)
    expect(woken[1].text.match(/picks changed: .*/)[0]).toBe(woken[2].text.match(/picks changed: .*/)[0])
  })
})

anywhere('jobs of an attached worker', (rouse) => {
  const withCheck = (sessionId: string, script: string) =>
    schedule(rouse, { session: sessionId, cron: '0 8 * * *', check: { script } })

  test('S2-23 a check is run also while a turn of its session runs', async () => {
    folder.script('look.sh', 'echo looked >&2')
    const who = await actor(rouse)
    const wait = `process.stdin.resume(); const timer = setInterval(() => require('node:fs').existsSync('go') && (clearInterval(timer), console.log('done')), 20)`
    const worker = await attach(rouse, who, [], [process.execPath, '-e', wait])
    await say(rouse, who.session.id, 'take your time')
    while (!worker.said.includes('started')) await sleep(20)
    const { id } = await withCheck(who.session.id, 'look.sh')
    await runNow(rouse, id)
    expect(await settled(rouse, id, 1)).toMatchObject({ outcome: 'nothing' })
    expect(worker.said).toContain('[check look.sh] looked')
    expect((await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).state).toBe('running')
    folder.write('go', '')
    while (!worker.said.includes('ended ok')) await sleep(20)
  })

  test("S2-26 a check's rouse reads; secrets and what wakes are refused, and its key is gone after it", async () => {
    const who = await actor(rouse)
    folder.script(
      'tries.sh',
      'rouse doc list > /dev/null && echo reads',
      'rouse secret list > /dev/null 2>&1 || echo "no secrets"',
      `rouse send ${who.session.id} hello > /dev/null 2>&1 || echo "no messages"`,
      `rouse schedule add x --session ${who.session.id} --prompt x --every 1h > /dev/null 2>&1 || echo "no schedules"`,
      'printf %s "$ROUSE_KEY" > key',
    )
    const { id } = await withCheck(who.session.id, 'tries.sh')
    await attach(rouse, who, [], ['cat'])
    await runNow(rouse, id)
    expect(await settled(rouse, id, 1)).toMatchObject({ outcome: 'fired', result: 'ok' })
    const [{ text }] = await prompts(rouse, who.session.id)
    expect(text).toContain('reads\nno secrets\nno messages\nno schedules\n')
    const key = folder.read('key')
    expect([key === who.key, (await rouse.call('GET', '/v1/documents', undefined, { key })).status]).toEqual([
      false,
      401,
    ])
  })

  test('S2-28 a worker with --no-checks runs none: the run is missed, and says why', async () => {
    folder.script('look.sh', 'touch ran')
    const who = await actor(rouse)
    const { id } = await withCheck(who.session.id, 'look.sh')
    await attach(rouse, who, ['--no-checks'], ['cat'])
    await runNow(rouse, id)
    expect(await settled(rouse, id, 1)).toMatchObject({ outcome: 'missed', reason: 'no_check_worker' })
    expect(existsSync(`${folder.dir}/ran`)).toBe(false)
  })

  test('a host step of a tool is done by the worker, in the folder of its agent', async () => {
    folder.write('stock.json', '{"apples": 3}')
    folder.write(
      'tools.mjs',
      `import { readFileSync } from 'node:fs'
       export const tools = {
         stock: async ({ item }) => ({ item, left: JSON.parse(readFileSync('stock.json', 'utf8'))[item] }),
         broken: async () => { throw new Error('the shelf is gone') },
       }`,
    )
    const who = await actor(rouse)
    const put = (name: string, tool: string) =>
      rouse.ok('PUT', `/v1/agents/${who.agent.id}/tools/${name}`, {
        description: 'How much is left.',
        parameters: { type: 'object', properties: { item: { type: 'string' } } },
        readOnly: false,
        steps: [{ host: { tool, args: { item: `\${args.item}` } } }],
      })
    const call = (name: string) =>
      rouse.call('POST', `/v1/agents/${who.agent.id}/tools/${name}/call`, { args: { item: 'apples' } })
    await put('stock', 'stock')
    await put('broken', 'broken')
    await attach(rouse, who, ['--tools', `${folder.dir}/tools.mjs`], ['cat'])
    expect(await call('stock')).toMatchObject({ status: 200, body: { output: { item: 'apples', left: 3 } } })
    const failed = await call('broken')
    expect([failed.status, failed.body.code, failed.body.detail]).toEqual([
      422,
      'tool_failed',
      expect.stringContaining('broken'),
    ])
  })

  test('a worker that has served its turn ends, whatever time its limits would have left', async () => {
    const who = await actor(rouse)
    await say(rouse, who.session.id, 'hello')
    const argv = ['attach', who.session.id, '--once', '--max-seconds', '86400', '--', 'cat']
    expect(await cli(rouse, argv, { key: who.key })).toMatchObject({ code: 0, stdout: 'hello' })
  })

  test("jobs of an agent's worker are found in sessions of its own, too", async () => {
    folder.script('look.sh', 'echo "$ROUSE_AGENT"')
    const who = await actor(rouse)
    const second = await session(rouse, who.agent.id, { title: fresh('second') })
    const { id } = await withCheck(second.id, 'look.sh')
    const worker = await Worker.attach(rouse, who.key, ['--agent', who.agent.id, '--cwd', folder.dir, '--', 'cat'])
    workers.push(worker)
    await runNow(rouse, id)
    expect(await settled(rouse, id, 1)).toMatchObject({ outcome: 'fired', result: 'ok' })
    expect((await prompts(rouse, second.id))[0].text).toContain(who.agent.id)
  })
})
