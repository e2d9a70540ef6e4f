import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startScript } from './child.ts'
import { commit, machine } from './machine.ts'
import { startNode } from './ours/node.ts'
import { type Arming, armed } from './soak/armed.ts'
import { ledgerOf } from './soak/ledger.ts'
import { type Sample, samplesOf } from './soak/samples.ts'
import { type SoakRun, shownAs, verdictOf } from './soak/verdict.ts'
import type { Seen, Served } from './soak/worker.ts'
import { stopEverything, stopOnSignals } from './started.ts'

const USAGE = 'npm run soak -- [--minutes 60] [--rate 200] [--retention 10m]'
const everyMs = 300_000
const reportMs = 30_000

const options = optionsOf(process.argv.slice(2))
stopOnSignals()
const at = new Date().toISOString()
const run: SoakRun = { at, commit: commit(), machine: machine(), ...options, samples: [], counts: null }
const file = join(
  fileURLToPath(new URL('results/soak/', import.meta.url)),
  `${at.slice(0, 19).replaceAll(':', '')}-${run.commit}.json`,
)
let done = false
try {
  await soak()
  done = true
} catch (error) {
  console.error(error)
} finally {
  await stopEverything()
}
process.exit(done && verdictOf(run).every(({ met }) => met) ? 0 : 1)

async function soak(): Promise<void> {
  const node = await startNode({
    env: { ROUSE_RATE_LIMIT: 'off', ROUSE_RETENTION: options.retention },
    // The heap is read from the report that Node writes when it is signalled: nothing in the product is asked.
    flags: ['--report-on-signal', '--report-exclude-network'],
  })
  const arming: Arming = { count: options.rate * (everyMs / 1000), everyMs, firstAt: Date.now() + 180_000 }
  console.log(
    `arming ${arming.count} schedules of ${everyMs / 60_000} minutes; the first is due ${new Date(arming.firstAt).toISOString()}`,
  )
  const { sessions, schedules } = await armed(node, arming)
  const from = Math.max(arming.firstAt, Date.now())
  if (from > arming.firstAt)
    throw new Error('arming took longer than the time before the first is due: this machine is too slow for it')
  const given = join(node.dir, 'soak.json')
  writeFileSync(given, JSON.stringify({ port: node.port, sessions, everyMs, reportMs }))
  const worker = startScript('./soak/worker.ts', { file: given })
  const sampled = samplesOf(node)
  const until = from + options.minutes * 60_000
  while (Date.now() < until) {
    const served = await worker.answer<Served>()
    const sample: Sample = { minute: (Date.now() - from) / 60_000, ...(await sampled()), ...served }
    // What comes before the first is due says nothing.
    if (served.wakes === 0 && run.samples.length === 0) continue
    run.samples.push(sample)
    console.log(shownAs(sample))
    keep()
  }
  // What was due by then has time to be claimed and ended; it goes on firing meanwhile.
  await sleep(10_000)
  process.kill(worker.pid, 'SIGUSR2')
  const seen = await seenOf(worker)
  run.counts = await ledgerOf(node, { schedules, seen, everyMs, from, until, retention: options.retention })
  keep()
  console.log(
    verdictOf(run)
      .map(({ what, met, says }) => `${met ? 'met    ' : 'NOT MET'}  ${what}: ${says}`)
      .join('\n'),
  )
  console.log(`kept in ${relative(process.cwd(), file)}`)
}

/** The worker goes on reporting while it is asked. */
async function seenOf(worker: { answer<T>(): Promise<T> }): Promise<Seen['seen']> {
  for (;;) {
    const said = await worker.answer<Partial<Seen>>()
    if (said.seen !== undefined) return said.seen
  }
}

/** After every sample: a run that is cut off leaves what it saw. */
function keep(): void {
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...run, verdict: verdictOf(run) }, null, 1)}\n`)
}

function optionsOf(args: readonly string[]): { minutes: number; rate: number; retention: string } {
  const given = new Map<string, string>()
  for (let i = 0; i < args.length; i += 2) given.set(args[i]!, args[i + 1] ?? '')
  const minutes = Number(given.get('--minutes') ?? 60)
  const rate = Number(given.get('--rate') ?? 200)
  const retention = given.get('--retention') ?? '10m'
  const unknown = [...given.keys()].filter((name) => !['--minutes', '--rate', '--retention'].includes(name))
  if (unknown.length > 0 || !(minutes >= 1) || !(rate >= 1 && rate <= 1_000)) {
    console.error(`${USAGE}\nexpected minutes ≥ 1 and a rate of 1 to 1,000 a second, got ${args.join(' ')}`)
    process.exit(2)
  }
  return { minutes, rate, retention }
}
