import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { RouseNode } from '../journeys/node.ts'

// A disk of a few megabytes has to be mounted, which root alone may, and not in every container.
const isRoot = process.getuid?.() === 0
const mountFault = isRoot ? faultOfMounting() : 'only root may mount a disk'

function faultOfMounting(): string | null {
  const disk = mkdtempSync(join(tmpdir(), 'rouse-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: ['ignore', 'ignore', 'pipe'] })
    execFileSync('umount', [disk])
    return null
  } catch (error) {
    return `no disk can be mounted here: ${(error as Error).message.trim().split('\n').at(-1)}`
  } finally {
    rmSync(disk, { recursive: true })
  }
}
const skipped = mountFault === null ? '' : ` (skipped: ${mountFault})`

const disks: string[] = []
const nodes: RouseNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop('SIGKILL')
  for (const disk of disks.splice(0)) {
    execFileSync('umount', [disk])
    rmSync(disk, { recursive: true })
  }
})

function smallDisk(megabytes: number): string {
  const disk = mkdtempSync(join(tmpdir(), 'rouse-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk])
  disks.push(disk)
  return disk
}

function nodeIn(dir: string): RouseNode {
  const node = new RouseNode()
  node.dir = dir
  nodes.push(node)
  return node
}

function fill(disk: string): string {
  const filler = join(disk, 'filler')
  try {
    // The node writes too: what room there is now says nothing of the next moment.
    for (;;) appendFileSync(filler, Buffer.alloc(65_536))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  return filler
}

async function until<T>(look: () => Promise<T | null>, seconds: number): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await sleep(200)) {
    const found = await look()
    if (found !== null) return found
    if (Date.now() > end) throw new Error(`did not come within ${seconds} s`)
  }
}

describe.skipIf(mountFault !== null)(`a full disk${skipped}`, () => {
  it('is told to whoever writes, loses nothing that was answered, and is over when there is room again', async () => {
    const disk = smallDisk(48)
    const node = nodeIn(join(disk, 'rouse'))
    mkdirSync(node.dir)
    await node.start()
    const agent = (await node.ok('POST', '/v1/agents', { name: 'assistant' })).id
    const session = (await node.ok('POST', '/v1/sessions', { agent })).id
    const due = new Date(Date.now() + 25_000).toISOString()
    const waits = (await node.ok('POST', '/v1/schedules', { name: 'due while full', session, prompt: 'go', at: due }))
      .id
    const filler = fill(disk)
    const later = '2100-01-01T00:00:00Z'

    const answered: string[] = []
    let inARow = 0
    // What was refused gives back the room that it had taken: full is when several in a row find none.
    const refused = await until(async () => {
      const body = { name: 'one of many', session, prompt: inARow === 0 ? 'x'.repeat(8000) : 'go', at: later }
      const answer = await node.call('POST', '/v1/schedules', body)
      if (answer.status === 201) answered.push(answer.body.id)
      inARow = answer.status === 201 ? 0 : inARow + 1
      fill(disk)
      return inARow < 10 ? null : answer
    }, 60)
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
    // What there is can still be read.
    expect((await node.call('GET', `/v1/schedules/${waits}`)).status).toBe(200)
    await sleep(Math.max(0, Date.parse(due) - Date.now()) + 3000)
    const inTheMeantime = (await node.ok('GET', `/v1/schedules/${waits}/runs`)).data
    expect(inTheMeantime).toEqual([])
    expect(node.said).toMatch(/disk|no space|ENOSPC|full/i)

    rmSync(filler)
    // By itself: nobody starts it again.
    const runs = await until(async () => {
      const { data } = await node.ok('GET', `/v1/schedules/${waits}/runs`)
      return data.length > 0 ? data : null
    }, 90)
    expect(runs.map((run: { outcome: string }) => run.outcome)).toEqual(['fired'])
    expect((await node.call('POST', '/v1/sessions', { agent })).status).toBe(201)

    await node.stop('SIGKILL')
    await node.start()
    for (const id of answered) expect((await node.call('GET', `/v1/schedules/${id}`)).status).toBe(200)
    expect((await node.ok('GET', `/v1/schedules/${waits}/runs`)).data).toHaveLength(1)
  })

  it('at the start is said in one line, and no reason to lose what is there', async () => {
    const disk = smallDisk(24)
    const node = nodeIn(join(disk, 'rouse'))
    mkdirSync(node.dir)
    const filler = fill(disk)
    await expect(node.start()).rejects.toThrow(/disk|space|ENOSPC/i)
    rmSync(filler)
    await node.start()
    expect((await node.call('GET', '/healthz')).status).toBe(200)
  })
})

describe.skipIf(mountFault !== null)(`a disk that can only be read${skipped}`, () => {
  it('is said in one line that names the file, and once it can be written all is there', async () => {
    const disk = smallDisk(48)
    const node = nodeIn(join(disk, 'rouse'))
    mkdirSync(node.dir)
    await node.start()
    const agent = (await node.ok('POST', '/v1/agents', { name: 'assistant' })).id
    await node.stop('SIGKILL')
    execFileSync('mount', ['-o', 'remount,ro', disk])
    const failed = await node.start().then(
      () => '',
      (error: Error) => error.message,
    )
    expect(failed).toContain(node.dir)
    expect(failed).toMatch(/cannot be written|read-only|EROFS/i)
    // No stack trace: whoever reads it looks after a machine, not after this program.
    expect(failed).not.toMatch(/\n\s+at /)
    execFileSync('mount', ['-o', 'remount,rw', disk])
    await node.start()
    expect((await node.call('GET', `/v1/agents/${agent}`)).status).toBe(200)
  })
})

describe.skipIf(isRoot)('a folder that belongs to somebody else', () => {
  it('is named', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'rouse-folder-'))
    chmodSync(dir, 0o500)
    await expect(nodeIn(dir).start()).rejects.toThrow(dir)
    rmSync(dir, { recursive: true })
  })
})
