import { readFile } from 'node:fs/promises'
import { Argument, type Command, Option } from 'commander'
import { path } from '../../client/client.ts'
import { serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { UsageError } from '../report.ts'
import { calls, given, readInput, type Shell } from '../shell.ts'
import { type Card, type Feed, type GroupSummary, nextRun, showCard, showFeed, showSummary } from './feed-shown.ts'

const labels = ['money', 'promise', 'decide', 'nudge', 'risk', 'fyi']
const statuses = ['open', 'allowed', 'denied', 'closed', 'dismissed', 'all']
const actions = ['allow', 'deny', 'run-now', 'stop', 'dismiss'] as const

interface PostOptions {
  readonly body?: string
  readonly bodyFile?: string
  readonly group?: string
  readonly label?: string
  readonly loop?: string
  readonly autoSendOn?: string
  readonly idempotencyKey?: string
}

interface ListOptions extends PageOptions {
  readonly group?: string
  readonly label?: string
  readonly status?: string
}

export function feedCommands(shell: Shell, program: Command): void {
  const feed = program.command('feed').description('cards for a person: what agents found, ask for, or could not run')
  addPost(shell, feed)
  addList(shell, feed)

  const act = feed
    .command('act')
    .description('do what a card offers; only its person may')
    .argument('<card>', 'crd_…')
    .addArgument(new Argument('<action>', 'what the card lists').choices(actions))
  calls(shell, act, { example: 'rouse feed act crd_01J… dismiss' }, async ({ client, args, screen, show }) => {
    const [card = '', action = ''] = args
    const answer = await client.call<Card>('POST', path`/v1/feed/${card}/actions/${action}`, { body: {} })
    show(answer, (done) => screen.line(actedLine(done, action as (typeof actions)[number])))
  })

  const show = feed.command('show').description('one card with all its text').argument('<card>', 'crd_…')
  calls(shell, show, { example: 'rouse feed show crd_01J…', looks: true }, async ({ client, args, screen, show }) => {
    const [card, nowMs] = await Promise.all([client.call<Card>('GET', path`/v1/feed/${args[0]!}`), serverNow(client)])
    show(card, () => showCard(screen, card, { nowMs, bodyLinesMax: Infinity }))
  })

  const summary = feed
    .command('group-summary')
    .description('what is open in a group, per label, without the bodies')
    .argument('<group>', 'the name of the group')
  calls(
    shell,
    summary,
    { example: 'rouse feed group-summary "Morning brief 2 Mar"', looks: true },
    async ({ client, args, screen, show }) => {
      const [answer, nowMs] = await Promise.all([
        client.call<GroupSummary>('GET', path`/v1/feed/groups/${args[0]!}/summary`),
        serverNow(client),
      ])
      show(answer, () => showSummary(screen, answer, nowMs))
    },
  )
}

function addPost(shell: Shell, feed: Command): void {
  const post = feed
    .command('post')
    .description("put a card into your feed; an agent's key: into that of its owner")
    .argument('<title>', '1 to 200 characters')
    .option('--body <text>', 'what there is to say')
    .option('--body-file <file>', 'read that from a file, or - from the standard input')
    .option('--group <name>', 'stand together with the other cards of that group')
    .addOption(new Option('--label <label>', labels.join(', ')).choices(labels))
    .option('--loop <key>', 'a stable key: posting again under it moves the card and counts how often it was seen')
    .option('--auto-send-on <date>', 'YYYY-MM-DD: count down to that day, with a Stop')
    .option('--idempotency-key <key>', 'posting again with the same key has no second effect')
  calls<PostOptions>(
    shell,
    post,
    {
      example:
        'rouse feed post "Sign the lease" --group "Morning brief 2 Mar" --label decide --loop lease\nrouse feed post "Reply to Kim" --body-file draft.md --auto-send-on 2026-03-04',
    },
    async ({ client, args, options, io, screen, show }) => {
      const { group, label, loop, autoSendOn, idempotencyKey } = options
      const body = given({ title: args[0]!, body: await bodyOf(options, io.stdin), group, label, loop, autoSendOn })
      const card = await client.call<Card>('POST', '/v1/feed', { body, idempotencyKey })
      show(card, () => {
        const where = card.group === null ? '' : ` to "${card.group}"`
        if (card.seen > 1) screen.line(`Moved ${screen.bold(card.id)}${where}: seen ${card.seen} times.`)
        else screen.line(`Posted ${screen.bold(card.id)}${where}.`)
        if (card.autoSendOn !== null)
          screen.line(`Counts down to ${card.autoSendOn}; \`rouse feed act ${card.id} stop\` stops it.`)
      })
    },
  )
}

function addList(shell: Shell, feed: Command): void {
  const list = pageOptions(feed.command('list').description('your feed, newest group first'))
    .option('--group <name>', 'this group only')
    .addOption(new Option('--label <label>', `one of ${labels.join(', ')}`).choices(labels))
    .addOption(new Option('--status <status>', 'else all but the dismissed ones').choices(statuses))
  calls<ListOptions>(
    shell,
    list,
    { example: 'rouse feed list --label decide', looks: true },
    async ({ client, options, screen, show }) => {
      const { group, label, status } = options
      const [page, nowMs] = await Promise.all([
        client.call<Feed>('GET', '/v1/feed', { query: { ...pageQuery(options), group, label, status } }),
        serverNow(client),
      ])
      const none =
        (group ?? label ?? status) === undefined
          ? 'No cards yet. `rouse feed post <title>` puts one there.'
          : 'No such cards.'
      show(page, () => showPage(screen, page, { none, rows: () => showFeed(screen, page, nowMs) }))
    },
  )
}

async function bodyOf(options: PostOptions, stdin: NodeJS.ReadableStream): Promise<string | undefined> {
  const { body, bodyFile } = options
  if (body !== undefined && bodyFile !== undefined) throw new UsageError('--body and --body-file exclude each other')
  if (bodyFile === undefined) return body
  if (bodyFile === '-') return await readInput(stdin)
  try {
    return (await readFile(bodyFile, 'utf8')).trimEnd()
  } catch (error) {
    throw new UsageError(`--body-file ${bodyFile} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function actedLine(card: Card, action: (typeof actions)[number]): string {
  switch (action) {
    case 'allow':
      return `Allowed ${card.id}.`
    case 'deny':
      return `Denied ${card.id}.`
    case 'stop':
      return `Stopped the countdown of ${card.id}: nothing is sent by itself.`
    case 'dismiss':
      return `Dismissed ${card.id}.`
    case 'run-now':
      return nextRun(card)
  }
}
