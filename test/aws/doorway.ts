import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Hands calls on to the deployed API, so many at a time: in the emulator each call that is under way is a process of its own, and fifty that
 * start at once on a small machine take minutes.
 */
export async function openDoorway(to: string, callsMax: number): Promise<{ readonly url: string; close(): void }> {
  const base = new URL(to)
  const agent = new Agent({ keepAlive: true, maxSockets: callsMax })
  const server = createServer((asked, answer) => {
    const { method, headers, url } = asked
    const path = `${base.pathname.replace(/\/$/, '')}${url}`
    const { hostname, port } = base
    const onward = request(
      { hostname, port, path, method, headers: { ...headers, host: base.host }, agent },
      (came) => {
        answer.writeHead(came.statusCode ?? 502, came.headers)
        came.pipe(answer)
      },
    )
    onward.on('error', () => answer.writeHead(502).end())
    asked.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
