import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import { calls, type Io, type Shell } from '../shell.ts'

export function secretCommands(shell: Shell, program: Command): void {
  const secret = program
    .command('secret')
    .description('values that the steps of your tools may use; nobody sees them again')
  const named = (command: string, description: string) =>
    secret.command(command).description(description).argument('<name>', 'letters, digits, "_", "." and "-"')

  // Never as an argument: it would stand in the shell's history and in the list of processes.
  const set = named('set', 'keep a secret, or change it; the value comes from the standard input, or is asked for')
  calls(
    shell,
    set,
    { example: 'rouse secret set github < token.txt\nrouse secret set github' },
    async ({ client, args, io, screen, show }) => {
      const value = await readSecret(io, args[0]!)
      const answer = await client.call('PUT', path`/v1/secrets/${args[0]!}`, { body: { value } })
      show(answer, () => screen.line(`Kept ${args[0]}.`))
    },
  )

  const list = pageOptions(secret.command('list').description('the names of your secrets'))
  calls<PageOptions>(
    shell,
    list,
    { example: 'rouse secret list', looks: true },
    async ({ client, options, screen, show }) => {
      const page = await client.call<Page<{ name: string }>>('GET', '/v1/secrets', { query: pageQuery(options) })
      show(page, () =>
        showPage(screen, page, {
          none: 'No secrets yet. `rouse secret set <name>` keeps one.',
          rows: () =>
            screen.table(
              [{ head: 'NAME' }],
              page.data.map(({ name }) => [name]),
            ),
        }),
      )
    },
  )

  const remove = named('remove', 'forget a secret')
  calls(shell, remove, { example: 'rouse secret remove github' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/secrets/${args[0]!}`), () => screen.line(`Removed ${args[0]}.`))
  })
}

/** Without the line break at its end, which is the editor's or the terminal's. @throws UsageError when nothing comes */
async function readSecret(io: Io, name: string): Promise<string> {
  const text = (io.stdin as NodeJS.ReadStream).isTTY ? await askHidden(io, name) : await readAll(io.stdin)
  const value = text.replace(/\r?\n$/, '')
  if (value === '') throw new UsageError(`no value for ${name}: pipe it in, or type it when asked`)
  return value
}

async function readAll(stdin: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** The terminal shows nothing of what is typed: readline puts it in raw mode and echoes into nowhere. */
async function askHidden(io: Io, name: string): Promise<string> {
  io.stderr.write(`Value of ${name} (not shown): `)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const asked = createInterface({ input: io.stdin, output: nowhere, terminal: true, historySize: 0 })
  const ended = new Promise<string>((done) => asked.once('close', () => done('')))
  asked.once('SIGINT', () => asked.close())
  try {
    return await Promise.race([asked.question(''), ended])
  } finally {
    asked.close()
    io.stderr.write('\n')
  }
}
