import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { installedEmulator } from './emulator-install.ts'

/** A MiniStack of its own, on this machine only. */
export interface Emulator {
  readonly endpoint: string
  readonly region: string
  readonly pid: number
  /** The file that its output goes to. */
  readonly log: string
  /** Ends it, and what it keeps in its folder unless the log is wanted. */
  stop(o?: { readonly keepLog?: boolean }): Promise<void>
}

const region = 'eu-west-1'
/** A cold Python on a slow machine. */
const startMsMax = 60_000
const stopMsMax = 10_000

/** @throws Error that says what is missing, or where the emulator's log is */
export async function startEmulator(): Promise<Emulator> {
  const program = await installedEmulator()
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'rouse-aws-'))
  const log = join(folder, 'ministack.log')
  const out = openSync(log, 'a')
  const child = spawn(program, [], {
    cwd: folder,
    stdio: ['ignore', out, out],
    env: {
      ...process.env,
      // Functions run with the node that runs the tests.
      PATH: [dirname(process.execPath), process.env.PATH].join(':'),
      // Its pid file, and whatever its services leave.
      TMPDIR: folder,
      S3_DATA_DIR: join(folder, 's3'),
      PERSIST_STATE: '0',
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      MINISTACK_REGION: region,
      LAMBDA_EXECUTOR: 'local',
      // A line for each request is a good part of a request's time.
      LOG_LEVEL: 'WARNING',
    },
  })
  closeSync(out)
  const unwatch = endWithThisProcess(child)
  const stop: Emulator['stop'] = async ({ keepLog = false } = {}) => {
    await end(child)
    unwatch()
    if (!keepLog) rmSync(folder, { recursive: true, force: true })
  }
  const endpoint = `http://127.0.0.1:${port}`
  try {
    await answering(endpoint, child)
  } catch (error) {
    await stop({ keepLog: true })
    throw new Error(`${(error as Error).message}; what it said: ${log}`)
  }
  return { endpoint, region, pid: child.pid!, log, stop }
}

async function answering(endpoint: string, child: ChildProcess) {
  let failure: Error | null = null
  child.once('error', (error) => {
    failure = error
  })
  for (const until = Date.now() + startMsMax; Date.now() < until; await setTimeout(100)) {
    if (failure !== null) throw failure
    if (child.exitCode !== null) throw new Error(`MiniStack ended by itself (${child.exitCode})`)
    const answer = await fetch(`${endpoint}/_ministack/health`, { signal: AbortSignal.timeout(2000) }).catch(() => null)
    if (answer?.ok) return
  }
  throw new Error(`MiniStack did not answer within ${startMsMax / 1000} s`)
}

/** However this process is ended, short of SIGKILL, the emulator does not stay behind. */
function endWithThisProcess(child: ChildProcess): () => void {
  const kill = () => child.kill('SIGKILL')
  const killed = (signal: NodeJS.Signals) => {
    kill()
    unwatch()
    // Whoever else listens decides when to end; else it ends as it would have without us.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  const unwatch = () => {
    process.removeListener('exit', kill)
    for (const signal of signals) process.removeListener(signal, killed)
  }
  process.once('exit', kill)
  for (const signal of signals) process.once(signal, killed)
  return unwatch
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function end(child: ChildProcess) {
  const gone = new Promise<true>((resolve) => child.once('exit', () => resolve(true)))
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.kill('SIGTERM')
  if (await Promise.race([gone, setTimeout(stopMsMax, false, { ref: false })])) return
  child.kill('SIGKILL')
  await gone
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve((address as { port: number }).port))
    })
  })
}
