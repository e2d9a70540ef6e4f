import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort, startProcess } from '../child.ts'
import { started } from '../started.ts'

const VERSIONS = '/usr/lib/postgresql'

export interface Postgres {
  pid: number
  version: string
  /** Makes an empty database and answers its connection string, over the unix socket. */
  freshDatabase(): Promise<string>
  stop(): Promise<void>
}

/** Debian's PostgreSQL on a folder of its own: durable (fsync, synchronous_commit on), defaults but for 512 MB of shared buffers. */
export async function startPostgres(): Promise<Postgres> {
  const bin = newestBin()
  const owner = serverOwner()
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-pg-'))
  const removeDir = started(async () => rmSync(dir, { recursive: true, force: true }))
  if (owner) chownSync(dir, owner.uid, owner.gid)

  const cluster = join(dir, 'cluster')
  const port = await freePort()
  const asOwner = { cwd: dir, ...(owner ?? {}) }
  const initdb = ['-D', cluster, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
  execFileSync(join(bin, 'initdb'), initdb, { ...asOwner, stdio: ['ignore', 'ignore', 'pipe'] })

  const settings = [
    `listen_addresses=127.0.0.1`,
    `unix_socket_directories=${dir}`,
    `fsync=on`,
    `synchronous_commit=on`,
    `shared_buffers=512MB`,
    `max_connections=200`,
  ]
  const server = startProcess(
    join(bin, 'postgres'),
    ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    // PostgreSQL's fast shutdown; at SIGTERM it would wait for its clients.
    { ...asOwner, stopSignal: 'SIGINT' },
  )
  const url = (database: string) => `postgres:///${database}?host=${encodeURIComponent(dir)}&port=${port}&user=bench`
  const admin = await connected(url('postgres'), server)
  const version = String((await admin.query('show server_version')).rows[0].server_version)

  let databases = 0
  return {
    pid: server.pid,
    version,
    freshDatabase: async () => {
      databases += 1
      await admin.query(`create database round_${databases}`)
      return url(`round_${databases}`)
    },
    stop: async () => {
      await admin.end()
      await server.stop()
      await removeDir()
    },
  }
}

/** initdb and postgres refuse to run as root: Debian's package has made a user for them. */
function serverOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+):/m)
  if (line === null) throw new Error('expected a user postgres, got none: apt-get install -y postgresql')
  return { uid: Number(line[1]), gid: Number(line[2]) }
}

function newestBin(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : []
  const bins = versions.map((version) => join(VERSIONS, version, 'bin'))
  const found = bins.find((bin) => existsSync(join(bin, 'postgres')) && existsSync(join(bin, 'initdb')))
  if (!found) throw new Error(`no ${VERSIONS}/*/bin/postgres: apt-get install -y postgresql (or bench/setup.sh)`)
  return found
}

async function connected(url: string, server: { exited: Promise<number | null>; lastWords(): string }) {
  let over = false
  void server.exited.then(() => {
    over = true
  })
  for (let attempt = 0; attempt < 200 && !over; attempt += 1) {
    const client = new pg.Client({ connectionString: url })
    // The server ends before its client when a run is interrupted.
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`PostgreSQL did not come up:\n${server.lastWords()}`)
}
