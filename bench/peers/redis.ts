import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startProcess } from '../child.ts'
import { started } from '../started.ts'

export interface Redis {
  pid: number
  port: number
  stop(): Promise<void>
}

/** Debian's redis-server on a folder of its own. `always` syncs before it answers, as our commits do; `everysec` may lose a second. */
export async function startRedis(appendfsync: 'always' | 'everysec'): Promise<Redis> {
  const binary = '/usr/bin/redis-server'
  if (!existsSync(binary)) throw new Error(`no ${binary}: apt-get install -y redis-server (or bench/setup.sh)`)
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-redis-'))
  const removeDir = started(async () => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    appendonly: 'yes',
    appendfsync,
    save: '',
    daemonize: 'no',
    'maxmemory-policy': 'noeviction',
  }
  const server = startProcess(
    binary,
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
  )
  await answering(port, server)
  return {
    pid: server.pid,
    port,
    stop: async () => {
      await server.stop()
      await removeDir()
    },
  }
}

async function answering(port: number, server: { exited: Promise<number | null>; lastWords(): string }): Promise<void> {
  let over = false
  void server.exited.then(() => {
    over = true
  })
  for (let attempt = 0; attempt < 200 && !over; attempt += 1) {
    if (await pong(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`redis-server did not come up:\n${server.lastWords()}`)
}

const pong = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (reply) => settle(String(reply).startsWith('+PONG')))
    socket.once('error', () => settle(false))
  })
