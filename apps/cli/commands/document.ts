import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Command } from 'commander'
import { findAccess } from '../../client/access.ts'
import { path } from '../../client/client.ts'
import { transfer } from '../../client/documents.ts'
import type { Page } from '../../client/shapes.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import { type Caller, calls, type Shell } from '../shell.ts'

interface Put {
  readonly path: string
  readonly version: number
  readonly updatedAt: string
}

interface Head extends Put {
  readonly type: 'json' | 'text'
  readonly bytes: number
}

/** What findAccess reads; every command that calls has them. */
interface AccessOptions {
  readonly url?: string
  readonly key?: string
  readonly data?: string
}

interface PutOptions extends AccessOptions {
  readonly type?: string
  readonly ifMatch?: string
  readonly new?: boolean
}

const medias: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
}

const mediaOf = (name: string): string | undefined => medias[extname(name).toLowerCase()]

export function documentCommands(shell: Shell, program: Command): void {
  const doc = program.command('doc').description('documents that you and your agents share: text or JSON')
  const at = (command: string, description: string) =>
    doc.command(command).description(description).argument('<path>', 'e.g. briefs/2026-03-02/mail.md')

  const put = at('put', 'keep a document, or a new version of it')
    .argument('[file]', 'what to keep; - or nothing: the standard input')
    .option('--type <media>', 'application/json or text/…; else by the ending of the path or the file, else text/plain')
    .option('--if-match <version>', 'only when that is still its version')
    .option('--new', 'only when there is none yet')
  calls<PutOptions>(
    shell,
    put,
    { example: 'rouse doc put notes/plan.md plan.md\ndate | rouse doc put notes/now.txt' },
    async (caller) => {
      const { args, options, screen, show } = caller
      const [to = '', file = ''] = args
      const named = mediaOf(to) ?? mediaOf(file)
      const contentType = options.type ?? named ?? 'text/plain'
      const headers = {
        ...(options.ifMatch === undefined ? {} : { 'if-match': `"${options.ifMatch.replaceAll('"', '')}"` }),
        ...(options.new ? { 'if-none-match': '*' } : {}),
      }
      const text = await textOf(file, caller.io.stdin)
      const answer = await transfer(accessOf(caller), path`/v1/documents/${to}`, { text, contentType, headers })
      show(JSON.parse(answer.text) as Put, (kept) => {
        screen.line(`Kept ${screen.bold(kept.path)}, version ${kept.version}.`)
        if (contentType === 'text/plain' && /^\s*[[{]/.test(text))
          screen.line('It is kept as text: with --type application/json conditions can look into it.')
      })
    },
  )

  const get = at('get', 'print a document as it is')
  calls<AccessOptions>(
    shell,
    get,
    { example: 'rouse doc get notes/plan.md > plan.md\nrouse doc get status.json --watch', looks: true },
    async (caller) => {
      const at = caller.args[0]!
      const { text, contentType, etag } = await transfer(accessOf(caller), path`/v1/documents/${at}`, null)
      const isJson = /^application\/json\b/.test(contentType)
      const version = Number(/\d+/.exec(etag ?? '')?.[0] ?? Number.NaN)
      const answer = { path: at, version, type: isJson ? 'json' : 'text', value: isJson ? JSON.parse(text) : text }
      caller.show(answer, () => {
        const { stdout } = caller.io
        // What other people wrote must not steer a terminal; a pipe gets every byte.
        if (stdout.isTTY === true) caller.screen.line(text.replace(/\n$/, ''))
        else stdout.write(text)
      })
    },
  )

  const list = pageOptions(doc.command('list').description('your documents, in the order of their paths'))
  list.argument('[prefix]', 'those whose paths begin with this')
  calls<PageOptions>(
    shell,
    list,
    { example: 'rouse doc list briefs/', looks: true },
    async ({ client, args, options, screen, show }) => {
      const query = { ...pageQuery(options), prefix: args[0] || undefined }
      const page = await client.call<Page<Head>>('GET', '/v1/documents', { query })
      show(page, () =>
        showPage(screen, page, {
          none: args[0] ? 'No such documents.' : 'No documents yet. `rouse doc put <path> <file>` keeps one.',
          rows: () =>
            screen.table(
              [
                { head: 'PATH', narrowest: 20 },
                { head: 'VERSION' },
                { head: 'TYPE' },
                { head: 'BYTES' },
                { head: 'UPDATED' },
              ],
              page.data.map((d) => [d.path, `${d.version}`, d.type, `${d.bytes}`, d.updatedAt]),
            ),
        }),
      )
    },
  )

  const remove = at('rm', 'delete a document')
  calls(shell, remove, { example: 'rouse doc rm notes/plan.md' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/documents/${args[0]!}`), () => screen.line(`Removed ${args[0]}.`))
  })
}

const accessOf = ({ options, io }: Caller<AccessOptions>) =>
  findAccess({ url: options.url, key: options.key, dir: options.data, env: io.env })

/** @throws UsageError when it cannot be read, or is no text */
async function textOf(file: string, stdin: NodeJS.ReadableStream): Promise<string> {
  const bytes = file === '' || file === '-' ? await bytesOf(stdin) : await fileBytes(file)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UsageError(`${file === '' ? 'the standard input' : file} is no text in UTF-8`)
  }
}

async function fileBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

async function bytesOf(stdin: NodeJS.ReadableStream): Promise<Uint8Array> {
  if ((stdin as NodeJS.ReadStream).isTTY) throw new UsageError('expected a file, or text on the standard input')
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
