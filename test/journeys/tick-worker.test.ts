import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Folder, isAlive } from '../worker/folder.ts'
import { messages, moveBy, moveTo, say } from './actors.ts'
import { type Json, onClock, type RouseNode } from './node.ts'
import { rouse as cli } from './program.ts'
import { after, begunActor, patchAgent, quietUntil, tickMessages, ticks } from './ticking.ts'
import { Worker } from './worker.ts'

let folder: Folder
const workers: Worker[] = []
beforeEach(() => {
  folder = new Folder()
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  folder.remove()
})

type Who = Awaited<ReturnType<typeof begunActor>>

/** A worker whose command is a shell script in the agent's folder. */
async function attach(rouse: RouseNode, who: Who, script: readonly string[], key = who.key): Promise<Worker> {
  folder.script('agent.sh', ...script)
  const argv = [who.session.id, '--cwd', folder.dir, '--lease', '7200', '--', './agent.sh']
  const worker = await Worker.attach(rouse, key, argv)
  workers.push(worker)
  return worker
}

async function until<T>(what: string, look: () => Promise<T | null | false> | T | null | false): Promise<T> {
  for (let n = 0; n < 1_000; n += 1) {
    const found = await look()
    if (found !== null && found !== false) return found
    await sleep(20)
  }
  throw new Error(`never: ${what}`)
}

const state = (rouse: RouseNode, who: Who, name: string): Promise<Json> =>
  until(`ticks ${name}`, async () => {
    const view = await ticks(rouse, who.session.id)
    return view.state === name ? view : false
  })

/** Works on a tick until it is stopped, and answers everything else at once. */
const busy = ['if [ "$ROUSE_MESSAGE_KIND" != tick ]; then cat; exit; fi', 'echo "$$ $PPID" > pids', 'exec sleep 600']
/** Of the command, and of the worker that started it. */
const pidsOf = (): Promise<readonly [number, number]> =>
  until('the command', () => {
    try {
      const [own, parent] = folder.read('pids').trim().split(' ').map(Number)
      return own && parent ? ([own, parent] as const) : false
    } catch {
      return false
    }
  })

onClock('ticks and an attached worker', '2026-03-02T09:00:00Z', (rouse) => {
  test('S3-41 writing while a tick runs stops its command within 2 s, and the turn of the word runs', async () => {
    const who = await begunActor(rouse)
    await attach(rouse, who, busy)
    await moveTo(rouse, after(who.at, 300))
    const [pid] = await pidsOf()
    expect(isAlive(pid)).toBe(true)
    const since = Date.now()
    await say(rouse, who.session.id, 'me first')
    await until('the end of the command', () => !isAlive(pid))
    expect(Date.now() - since).toBeLessThan(2_000)
    await until('the answer', async () =>
      (await messages(rouse, who.session.id)).some(({ kind, text }) => kind === 'answer' && text === 'me first'),
    )
    expect(await state(rouse, who, 'armed')).toMatchObject({ today: { ticks: 1 } })
  })

  for (const whose of ['a person', 'the agent'] as const)
    test(`S3-43 Ctrl-C in the worker, here with the key of ${whose}, parks the planner`, async () => {
      const who = await begunActor(rouse)
      const worker = await attach(rouse, who, busy, whose === 'a person' ? rouse.key : who.key)
      await moveTo(rouse, after(who.at, 300))
      const [pid, workerPid] = await pidsOf()
      // The first lets what runs end; the second stops it.
      process.kill(workerPid, 'SIGINT')
      await until('the notice', () => worker.said.includes('stopping'))
      process.kill(workerPid, 'SIGINT')
      await until('the end of the command', () => !isAlive(pid))
      await until('the end of the turn', async () => (await ticks(rouse, who.session.id)).state !== 'running')
      expect(await ticks(rouse, who.session.id)).toMatchObject({ state: 'parked', reason: 'cancelled', nextAt: null })
      await quietUntil(rouse, who.session.id, after(who.at, 20_000))
    })

  test('Cancel in the console stops the command within 2 s and parks', async () => {
    const who = await begunActor(rouse)
    const worker = await attach(rouse, who, busy)
    await moveTo(rouse, after(who.at, 300))
    const [pid] = await pidsOf()
    const turn = /turn (trn_\w+) started · tick/.exec(worker.said)?.[1]
    const since = Date.now()
    await rouse.ok('POST', `/v1/turns/${turn}/cancel`)
    await until('the end of the command', () => !isAlive(pid))
    expect(Date.now() - since).toBeLessThan(2_000)
    expect(await state(rouse, who, 'parked')).toMatchObject({ reason: 'cancelled' })
  })

  test('S3-37 rouse sleep in the command plans the next wake', async () => {
    const who = await begunActor(rouse)
    await attach(rouse, who, ['cat > /dev/null', 'rouse sleep 1200 --reason "the build runs"'])
    await moveTo(rouse, after(who.at, 300))
    await until('the end of the tick', async () => (await ticks(rouse, who.session.id)).today.ticks === 1)
    expect(await state(rouse, who, 'armed')).toMatchObject({ nextAt: after(who.at, 1500) })
    await moveBy(rouse, '20m')
    await until('the end of the second', async () => (await ticks(rouse, who.session.id)).today.ticks === 2)
    expect(await state(rouse, who, 'armed')).toMatchObject({ nextAt: after(who.at, 2700) })
  })

  test('a command that does not sleep is unproductive, and parks after the third tick', async () => {
    const who = await begunActor(rouse)
    await attach(rouse, who, ['exit 0'])
    for (const seconds of [300, 360, 660]) await tickAt(who, after(who.at, seconds))
    expect(await state(rouse, who, 'parked')).toMatchObject({ reason: 'idle_tick_limit' })
    async function tickAt(of: Who, at: string): Promise<void> {
      const before = (await ticks(rouse, of.session.id)).today.ticks
      await moveTo(rouse, at)
      await until(`the tick of ${at}`, async () => {
        const { state: now, today } = await ticks(rouse, of.session.id)
        return today.ticks === before + 1 && now !== 'running'
      })
    }
  })

  test('S3-7 where ticks are off rouse sleep says ticks_off, and the turn goes on', async () => {
    const who = await begunActor(rouse)
    await patchAgent(rouse, who.agent.id, { enabled: false })
    await attach(rouse, who, ['cat > /dev/null', 'rouse sleep 600 > said 2>&1; echo "exit $?" >> said', 'echo went on'])
    await say(rouse, who.session.id, 'and now?')
    await until('the answer', async () =>
      (await messages(rouse, who.session.id)).some(({ kind, text }) => kind === 'answer' && text === 'went on'),
    )
    expect(folder.read('said')).toContain('ticks_off')
    expect(folder.read('said')).not.toContain('exit 0')
    expect((await ticks(rouse, who.session.id)).state).toBe('off')
  })

  test('a sleep that was asked for before the gate closed does not lose the answer', async () => {
    const who = await begunActor(rouse)
    await attach(rouse, who, [
      'cat > /dev/null',
      'rouse sleep 600 > said',
      'while [ ! -e go ]; do sleep 0.05; done',
      'echo went on',
    ])
    await say(rouse, who.session.id, 'and now?')
    await until('the sleep', () => {
      try {
        return folder.read('said') !== ''
      } catch {
        return false
      }
    })
    await patchAgent(rouse, who.agent.id, { enabled: false })
    folder.write('go', '')
    await until('the answer', async () =>
      (await messages(rouse, who.session.id)).some(({ kind, text }) => kind === 'answer' && text === 'went on'),
    )
  })

  test('rouse sleep outside a turn says what it is for', async () => {
    const said = await cli(rouse, ['sleep', '600'])
    expect(said.code).not.toBe(0)
    expect(said.stderr).toContain('inside a turn')
  })

  test('the command sees that it is a tick', async () => {
    const who = await begunActor(rouse)
    await attach(rouse, who, ['cat > text', 'echo "$ROUSE_MESSAGE_KIND" > kind'])
    await moveTo(rouse, after(who.at, 300))
    await until(
      'the end of the tick',
      async () =>
        (await ticks(rouse, who.session.id)).state === 'armed' &&
        (await ticks(rouse, who.session.id)).today.ticks === 1,
    )
    expect(folder.read('kind').trim()).toBe('tick')
    expect(folder.read('text')).toMatch(/^\[rouse tick · automated message from Rouse/)
    expect(await tickMessages(rouse, who.session.id)).toMatchObject([{ status: 'taken' }])
  })
})
