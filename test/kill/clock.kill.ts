import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Json, RouseNode } from '../journeys/node.ts'

/** Loaded into the node before the program: its `Date` shows the time of the machine and what the file says. */
const clockThatIsSet = `
import { readFileSync, watchFile } from 'node:fs'
const file = process.env.TEST_CLOCK_FILE
const now = Date.now
let offset = Number(readFileSync(file, 'utf8'))
watchFile(file, { interval: 100 }, () => { offset = Number(readFileSync(file, 'utf8')) })
const Real = Date
Date.now = () => now() + offset
globalThis.Date = new Proxy(Real, {
  construct: (_, args) => (args.length === 0 ? new Real(now() + offset) : new Real(...args)),
  apply: () => new Real(now() + offset).toString(),
})
`

const hour = 3_600_000
let folder: string
let node: RouseNode
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rouse-clock-'))
  writeFileSync(join(folder, 'clock.mjs'), clockThatIsSet)
  set(0)
  node = new RouseNode()
  await node.start({
    env: { TEST_CLOCK_FILE: join(folder, 'offset'), NODE_OPTIONS: `--import ${join(folder, 'clock.mjs')}` },
  })
})
afterEach(async () => {
  await node.remove()
  rmSync(folder, { recursive: true, force: true })
})

const set = (offsetMs: number) => writeFileSync(join(folder, 'offset'), String(offsetMs))
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const outcomes = async (id: string): Promise<string[]> =>
  (await node.ok('GET', `/v1/schedules/${id}/runs`)).data.map((run: Json) => run.outcome)

async function fired(id: string, seconds: number): Promise<void> {
  for (const end = Date.now() + seconds * 1000; (await outcomes(id)).length === 0; await sleep(250))
    if (Date.now() > end) throw new Error(`${id} did not fire within ${seconds} s`)
}

async function once(name: string, at: string): Promise<string> {
  const session = (await node.ok('POST', '/v1/sessions', { agent })).id
  return (await node.ok('POST', '/v1/schedules', { name, session, prompt: 'go', at })).id
}
let agent: string
beforeEach(async () => {
  agent = (await node.ok('POST', '/v1/agents', { name: 'assistant' })).id
})

describe("the machine's clock", () => {
  it('set back an hour: what has fired does not fire again, and what is due waits for the new time', async () => {
    const before = await once('before', inMs(2000))
    await fired(before, 20)
    const after = await once('after', inMs(8000))
    set(-hour)
    await sleep(15_000)
    // Its time lies an hour ahead now.
    expect(await outcomes(after)).toEqual([])
    expect(await outcomes(before)).toEqual(['fired'])
    // By the new time a new one comes as ever.
    const inNewTime = await once('in the new time', inMs(-hour + 3000))
    await fired(inNewTime, 30)
    set(0)
    // Found by the look that comes once a minute, since the timer counts elapsed time.
    await fired(after, 90)
    await sleep(1000)
    expect(await outcomes(after)).toEqual(['fired'])
    expect(await outcomes(before)).toEqual(['fired'])
    expect(await outcomes(inNewTime)).toEqual(['fired'])
  }, 180_000)

  it('set forward a day: what was due in between is made up once, within a minute', async () => {
    const tomorrow = await once('tomorrow', inMs(12 * hour))
    const session = (await node.ok('POST', '/v1/sessions', { agent })).id
    const hourly = { name: 'hourly', session, prompt: 'go', every: '1h', misfire: 'once' }
    const every = (await node.ok('POST', '/v1/schedules', hourly)).id
    set(24 * hour)
    await fired(tomorrow, 90)
    await fired(every, 90)
    await sleep(2000)
    expect(await outcomes(tomorrow)).toEqual(['fired'])
    const { data } = await node.ok('GET', `/v1/schedules/${every}/runs?limit=100`)
    // Decision 12: the latest of those that were missed is made up, and the row says how many it stands for.
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({ outcome: 'fired', trigger: 'catch_up' })
    expect(data[0].missed).toBeGreaterThanOrEqual(22)
  }, 180_000)
})
