import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Message, Page } from '../../client/shapes.ts'
import { serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import type { Screen } from '../screen.ts'
import { calls, readInput, type Shell } from '../shell.ts'
import { relative } from '../times.ts'

export function messageCommands(shell: Shell, program: Command): void {
  const send = program
    .command('send')
    .description('send a message to a session: from you, or from the agent whose key it is')
    .argument('<session>', 'ses_…')
    .argument('<text>', 'the message, or - to read it from the standard input')
    .option('--idempotency-key <key>', 'sending again with the same key has no second effect')
  calls<{ idempotencyKey?: string }>(
    shell,
    send,
    { example: 'rouse send ses_01J… "How far is the report?"\ngit log -5 | rouse send ses_01J… -' },
    async ({ client, args, options, io, screen, show }) => {
      const [session = '', text = ''] = args
      const body = { text: text === '-' ? await readInput(io.stdin) : text }
      const { idempotencyKey } = options
      const message = await client.call<Message>('POST', path`/v1/sessions/${session}/messages`, {
        body,
        idempotencyKey,
      })
      show(message, ({ id }) =>
        screen.line(`Sent ${id}. \`rouse inbox ${session}\` shows the answer when it is there.`),
      )
    },
  )

  const inbox = pageOptions(
    program.command('inbox').description('the messages of a session, oldest first').argument('<session>', 'ses_…'),
  )
  calls<PageOptions>(
    shell,
    inbox,
    { example: 'rouse inbox ses_01J…', looks: true },
    async ({ client, args, options, screen, show }) => {
      const [page, nowMs] = await Promise.all([
        client.call<Page<Message>>('GET', path`/v1/sessions/${args[0]!}/messages`, { query: pageQuery(options) }),
        serverNow(client),
      ])
      show(page, () =>
        showPage(screen, page, {
          none: 'No messages yet.',
          rows: () => {
            for (const [i, message] of page.data.entries()) showMessage(screen, message, { nowMs, isFirst: i === 0 })
          },
        }),
      )
    },
  )
}

function showMessage(screen: Screen, message: Message, o: { nowMs: number; isFirst: boolean }): void {
  if (!o.isFirst) screen.line()
  const { kind, status, at, id, replyTo } = message
  const place = status === 'waiting' ? ` · ${screen.bold('waiting')}` : status === 'dropped' ? ' · dropped' : ''
  screen.line(`${screen.bold(kind)}${place} · ${at} (${relative(at, o.nowMs)}) ${screen.dim(id)}`)
  if (replyTo !== null) screen.line(screen.dim(`  answers ${replyTo}`))
  for (const text of message.text.split('\n')) screen.line(text === '' ? '' : `  ${text}`)
}
