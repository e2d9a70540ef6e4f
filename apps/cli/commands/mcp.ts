import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Carrier } from '../../../shared/api/mcp-carrier.ts'
import type { Client } from '../../client/client.ts'
import { Unreachable } from '../../client/errors.ts'
import { serverNow } from '../lookup.ts'
import { calls, type Io, type Shell } from '../shell.ts'

export function mcpCommand(shell: Shell, program: Command): void {
  const mcp = program
    .command('mcp')
    .description('serve the tools of Rouse over stdio (MCP), for an agent on this machine')
    .addHelpText(
      'after',
      `
It speaks for the key it finds, as every command does. ROUSE_SESSION says which session an agent acts in; inside a turn of
\`rouse attach\` it stands in the environment already. The same tools are at <url>/mcp over HTTP.`,
    )
  calls(
    shell,
    mcp,
    {
      json: false,
      example:
        'claude mcp add rouse -- npx rouse mcp\ncodex mcp add rouse -- npx rouse mcp\nROUSE_SESSION=ses_01J… rouse mcp',
    },
    async ({ client, io }) => {
      // Loaded here: no other command needs the library.
      const [{ mcpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
        import('../../../shared/api/mcp-server.ts'),
        import('@modelcontextprotocol/server/stdio'),
      ])
      const carrier = await carrierTo(client, io)
      const stdin = io.stdin as Readable
      // Whoever started it closes its end when it has seen enough.
      const ended = Promise.race(['end', 'close'].map((event) => once(stdin, event)))
      const transport = new StdioServerTransport(stdin, io.stdout as Writable)
      const served = serveStdio(() => mcpServer(carrier), {
        transport,
        onerror: (error) => io.stderr.write(`rouse mcp: ${error.message}\n`),
      })
      await ended
      await served.close()
    },
  )
}

async function carrierTo(client: Client, { env }: Io): Promise<Carrier> {
  const { gotFrom, headersOf, queryText } = await import('../../../shared/api/mcp-carrier.ts')
  const { Refused } = await import('../../../shared/domain/refused.ts')
  const [session, turn, file] = [env.ROUSE_SESSION || null, env.ROUSE_TURN || null, env.ROUSE_SLEEP || null]
  return {
    session,
    turn,
    now: () => serverNow(client),
    async send(sent) {
      try {
        const answer = await fetch(client.url + sent.path + queryText(sent.query), {
          method: sent.method,
          // A redirect would carry the key elsewhere.
          redirect: 'error',
          headers: {
            ...headersOf(sent),
            authorization: `Bearer ${client.key}`,
            ...(session === null ? {} : { 'x-rouse-session': session }),
            ...(turn === null ? {} : { 'x-rouse-turn': turn }),
          },
          ...(sent.body === undefined ? {} : { body: sent.body.text }),
        })
        return await gotFrom(answer)
      } catch (error) {
        const { why } = new Unreachable(client.url, error)
        throw new Refused('unreachable', `no answer from ${client.url}: ${why}`)
      }
    },
    // The worker ends the turn, and reads there what the agent asked for: as `rouse sleep` does.
    ...(file === null ? {} : { keepSleep: (asked) => writeFileSync(file, JSON.stringify(asked), { mode: 0o600 }) }),
  }
}
