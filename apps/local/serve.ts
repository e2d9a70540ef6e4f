import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { serve as listen, type ServerType } from '@hono/node-server'
import { logFromEnv } from '../../shared/adapters/lines.ts'
import { type IdentityProvider, providerFromEnv } from '../../shared/api/identity.ts'
import { newSecret, sha256 } from '../../shared/api/keys.ts'
import { type Rate, rateFromEnv } from '../../shared/api/rate.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { callerOf, putKey } from '../../shared/engine/keys.ts'
import { commit, read } from '../../shared/engine/store.ts'
import type { Key } from '../../shared/ports/table.ts'
import { formatInstant, parseInstant } from '../../shared/time/index.ts'
import { type LocalNode, openNode } from './node.ts'
import { readingAll } from './unread.ts'

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
    const log = logFromEnv(options.env, (line) => options.stderr.write(line))
    node = openNode({ dir, standingAt, log, env: options.env, ...doorway(options.env) })
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

/** @throws Error naming the variable that does not fit */
const doorway = (env: NodeJS.ProcessEnv): { rate: Rate | null; provider: IdentityProvider | null } => ({
  rate: rateFromEnv(env),
  provider: providerFromEnv(env),
})

function bound(node: LocalNode, options: ServeOptions, listening: (url: string) => void): Promise<ServerType> {
  return new Promise((done, fail) => {
    const server = listen({ fetch: readingAll(node.app.fetch), port: options.port, hostname: options.host }, () => {
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
 * The key of the first person; the file tells the command line where the node is and how to get in. The key stays the same on the
 * same folder. One that was revoked or has run out stays so: the same person gets another.
 */
async function firstKey(node: LocalNode, path: string): Promise<string> {
  const { world } = node
  const known = readKey(path)
  const caller = known === null ? null : await callerOf(world, sha256(known))
  const first = await read<FirstPerson>(world, firstPerson)
  if (known !== null && caller !== null) {
    // A folder from before there was such a mark.
    if (first === null && caller.kind === 'person')
      await commit(world, [
        { put: firstPerson, item: { person: caller.person, at: world.clock.now() }, expect: 'absent' },
      ])
    return known
  }
  // One that stands in the file and was never valid is of a start that a crash cut off, or was put there by hand.
  const usable = known !== null && first === null
  const secret = usable ? { key: known, sha256: sha256(known), prefix: null } : newSecret(world.ids)
  const now = world.clock.now()
  const id = `key_${world.ids.ulid(now)}`
  // Written before it is valid: a crash in between leaves a key that the next start makes valid, never a key that nobody has.
  writeCredentials(path, { url: '', key: secret.key })
  if (first === null) {
    const person = { id: `per_${world.ids.ulid(now)}`, name: 'owner', tz: 'UTC', admin: true, createdAt: now }
    await commit(world, [
      { put: firstPerson, item: { person: person.id, at: now }, expect: 'absent' },
      ...personOps(person, id, secret.sha256, secret.prefix),
    ])
  } else {
    const { person } = first.item
    const row = { id, person, agent: null, owner: person, createdAt: now, prefix: secret.prefix }
    await commit(world, putKey(row, secret.sha256))
  }
  await node.table.flush()
  return secret.key
}

/** Written with the first person, never deleted: as `rouse admin bootstrap` writes it in the cloud. */
const firstPerson: Key = ['G#bootstrap', 'A']
interface FirstPerson {
  readonly person: string
  readonly at: number
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
  console   ${o.url}/console
  key       in ${o.credentials} (the command line reads it; the console asks for it once)
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
