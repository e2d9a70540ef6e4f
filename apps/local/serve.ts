import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { serve as listen, type ServerType } from '@hono/node-server'
import { newSecret, sha256 } from '../../shared/api/keys.ts'
import { callerOf, personOps } from '../../shared/engine/agents.ts'
import { commit } from '../../shared/engine/store.ts'
import type { Log } from '../../shared/ports/world.ts'
import { formatInstant, parseInstant } from '../../shared/time/index.ts'
import { type LocalNode, openNode } from './node.ts'

export interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly data: string
  /** An instant at which the clock stands still, or null. */
  readonly clock: string | null
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: NodeJS.ProcessEnv
}

/** Held calls and handlers get this long to finish after SIGTERM. */
const drainMs = 3_000

/** Serves the embedded node until SIGTERM or SIGINT. @returns the exit code: 0, or 2 when it could not start */
export async function serve(options: ServeOptions): Promise<number> {
  const standingAt = options.clock === null ? null : parseInstant(options.clock)
  if (options.clock !== null && standingAt === null) {
    options.stderr.write(
      `rouse serve: --clock: expected an instant such as 2026-03-28T12:00:00Z, got "${options.clock}"\n`,
    )
    return 2
  }
  const dir = resolve(options.data)
  let node: LocalNode
  try {
    node = openNode({ dir, standingAt, log: logTo(options.stderr) })
  } catch (error) {
    options.stderr.write(`rouse serve: ${error instanceof Error ? error.message : 'the store could not be opened'}\n`)
    return 2
  }
  const path = join(dir, 'credentials.json')
  const key = await firstKey(node, path)
  let server: ServerType
  try {
    // Whoever finds the port open finds the key in the file.
    server = await bound(node, options, (url) => writeCredentials(path, { url, key }))
  } catch (error) {
    await node.close()
    options.stderr.write(`rouse serve: ${listenFault(error, options)}\n`)
    return 2
  }
  await node.start()
  options.stdout.write(greeting({ url: urlOf(server, options), dir, credentials: path, standingAt }))
  await signalled()
  await stop(server, node)
  return 0
}

function bound(node: LocalNode, options: ServeOptions, listening: (url: string) => void): Promise<ServerType> {
  return new Promise((done, fail) => {
    const server = listen({ fetch: node.app.fetch, port: options.port, hostname: options.host }, () => {
      server.off('error', fail)
      try {
        listening(urlOf(server, options))
        done(server)
      } catch (error) {
        server.close()
        fail(error)
      }
    })
    server.once('error', fail)
  })
}

function urlOf(server: ServerType, options: ServeOptions): string {
  const { port } = server.address() as AddressInfo
  return `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`
}

function listenFault(error: unknown, options: ServeOptions): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE')
    return `port ${options.port} is in use; choose another with --port, or stop what listens there`
  if (code === 'EACCES')
    return `port ${options.port} needs rights that this user lacks; choose one above 1023 with --port`
  return error instanceof Error ? error.message : 'it could not listen'
}

/**
 * The key of the first person, made once; the file tells the command line where the node is and how to get in. The key stays
 * the same on the same folder.
 */
async function firstKey(node: LocalNode, path: string): Promise<string> {
  const { world } = node
  const known = readKey(path)
  if (known !== null && (await callerOf(world, sha256(known))) !== null) return known
  const secret = known === null ? newSecret(world.ids) : { key: known, sha256: sha256(known) }
  const now = world.clock.now()
  const person = { id: `per_${world.ids.ulid(now)}`, name: 'owner', tz: 'UTC', admin: true, createdAt: now }
  // Written before it is valid: a crash in between leaves a key that the next start makes valid, never a key that nobody has.
  writeCredentials(path, { url: '', key: secret.key })
  await commit(world, personOps(person, `key_${world.ids.ulid(now)}`, secret.sha256))
  await node.table.flush()
  return secret.key
}

function readKey(path: string): string | null {
  try {
    const { key } = JSON.parse(readFileSync(path, 'utf8')) as { key?: unknown }
    return typeof key === 'string' && key !== '' ? key : null
  } catch {
    return null
  }
}

function writeCredentials(path: string, credentials: { url: string; key: string }): void {
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

function greeting(o: { url: string; dir: string; credentials: string; standingAt: number | null }): string {
  const clock =
    o.standingAt === null ? '' : `  clock     stands at ${formatInstant(o.standingAt)}; move it with POST /v1/clock\n`
  return `Rouse is up at ${o.url}
  data      ${o.dir}
  key       in ${o.credentials} (the command line reads it)
${clock}
Next, in another terminal in this folder:
  npx rouse agent add assistant
  npx rouse session add --agent assistant
  npx rouse schedule add "Morning brief" --prompt "What is new?" --cron "0 8 * * 1-5" --tz Europe/Amsterdam
  npx rouse attach --agent assistant -- cat        # instead of cat: claude -p, codex exec, your own script

Stop with Ctrl-C; schedules stay and catch up at the next start.
`
}

function signalled(): Promise<void> {
  return new Promise((done) => {
    const heard = (): void => {
      process.off('SIGTERM', heard)
      process.off('SIGINT', heard)
      done()
    }
    process.on('SIGTERM', heard)
    process.on('SIGINT', heard)
  })
}

/** No new connections, held calls end at once, what is under way finishes; within the bound, whatever callers do. */
async function stop(server: ServerType, node: LocalNode): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()))
  node.bell.closeAll()
  if ('closeIdleConnections' in server) server.closeIdleConnections()
  const force = setTimeout(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
  }, drainMs)
  await closed
  clearTimeout(force)
  await node.close()
}

const logTo =
  (stream: NodeJS.WritableStream): Log =>
  (level, what, ids = {}) => {
    const named = Object.entries(ids)
      .map(([name, id]) => ` ${name}=${id}`)
      .join('')
    stream.write(`${new Date().toISOString()} ${level} ${what}${named}\n`)
  }
