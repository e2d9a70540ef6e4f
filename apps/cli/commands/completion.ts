import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Argument, type Command } from 'commander'
import { findAccess } from '../../client/access.ts'
import { type Client, createClient } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { acts, type Io, type Shell } from '../shell.ts'

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

export function completionCommand(shell: Shell, program: Command): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands, options, names and ids in your shell')
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
  acts(
    shell,
    command,
    {
      example:
        'source <(rouse completion bash)          # in ~/.bashrc\nrouse completion zsh > ~/.rouse-completion && echo "source ~/.rouse-completion" >> ~/.zshrc\nrouse completion fish > ~/.config/fish/completions/rouse.fish',
    },
    async (_options, [which = '']) => {
      const { script } = await import('@bomb.sh/tab')
      await printed(shell.io, () => script(which as (typeof shells)[number], 'rouse', 'rouse'))
      return 0
    },
  )
}

/**
 * Answers what the script asks on every Tab: `rouse complete -- <words>`. It is no command of its own, since nobody types it.
 *
 * @param words  after `rouse`, the last one unfinished
 */
export async function complete(program: Command, io: Io, words: readonly string[]): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab/commander')
  const root = tab(program)
  const [kinds, word] = [wanted(program, words), words.at(-1) ?? '']
  const found = kinds.size === 0 ? new Map<string, Named[]>() : await namesOf(kinds, io)
  for (const command of [root, ...root.commands.values()]) {
    for (const part of [...command.options.values(), ...command.arguments.values()]) {
      const kind = kindOf('value' in part ? part.value : part.name)
      if (kind === null) continue
      part.handler = (say) => {
        const names = kind === 'file' ? filesLike(word.replace(/^--[^=]+=/, '')) : (found.get(kind) ?? [])
        for (const { value, what } of names) say(value, what)
      }
    }
  }
  await printed(io, () => root.parse([...words]))
}

type Kind = 'agent' | 'session' | 'schedule' | 'trigger' | 'monitor' | 'file'

interface Named {
  readonly value: string
  readonly what: string
}

/** What a placeholder or an option of that name stands for; null: nothing that could be listed. */
function kindOf(name: string): Kind | null {
  const bare = name.replace(/\.\.\.$/, '')
  if (['agent', 'schedule', 'trigger', 'monitor', 'file'].includes(bare)) return bare as Kind
  if (bare === 'session' || bare === 'created-in') return 'session'
  return /(^|-)(file|dir)$|^(data|cwd|tools)$/.test(bare) ? 'file' : null
}

/** What may come at the place of the last word, so that only that is asked for. */
function wanted(program: Command, words: readonly string[]): ReadonlySet<Kind> {
  let command = program
  for (const word of words.slice(0, -1)) command = command.commands.find((c) => c.name() === word) ?? command
  const before = words.at(-2) ?? ''
  const options = command.options.filter(({ long }) => long === before || words.at(-1)?.startsWith(`${long}=`))
  const names =
    options.length > 0 ? options.map((option) => option.name()) : command.registeredArguments.map((a) => a.name())
  return new Set(names.map(kindOf).filter((kind): kind is Kind => kind !== null && kind !== 'file'))
}

const lists: Readonly<Record<Exclude<Kind, 'file'>, string>> = {
  agent: '/v1/agents',
  session: '/v1/sessions',
  schedule: '/v1/schedules',
  trigger: '/v1/triggers',
  monitor: '/v1/monitors',
}

/** Nobody waits for a completion: without an answer within a second there are no names, and no word about it. */
async function namesOf(kinds: ReadonlySet<Kind>, io: Io): Promise<Map<string, Named[]>> {
  const found = new Map<string, Named[]>()
  try {
    const client = createClient(findAccess({ url: undefined, key: undefined, dir: undefined, env: io.env }))
    const all = Promise.all([...kinds].map(async (kind) => found.set(kind, await listed(client, kind))))
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 1000).unref())])
  } catch {
    // The command itself will say what is wrong.
  }
  return found
}

async function listed(client: Client, kind: Kind): Promise<Named[]> {
  if (kind === 'file') return []
  const page = await client.call<Page<{ id: string; name?: string; title?: string | null }>>('GET', lists[kind], {
    query: { limit: 50 },
  })
  return page.data.map(({ id, name, title }) =>
    kind === 'agent' ? { value: name ?? id, what: id } : { value: id, what: plain(name ?? title ?? '') },
  )
}

/** The script reads a line for each, and a tab before what it is. */
const plain = (text: string): string => text.replace(/[\p{Cc}]+/gu, ' ').slice(0, 60)

/** The script takes over from the shell, which would have listed files by itself. */
function filesLike(word: string): Named[] {
  const folder = word.endsWith('/') ? word : dirname(word || 'x')
  const prefix = folder === '.' && !word.startsWith('./') ? '' : folder
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') || word.split('/').at(-1)!.startsWith('.'))
      .map((entry) => ({ value: `${join(prefix, entry.name)}${entry.isDirectory() ? '/' : ''}`, what: '' }))
  } catch {
    return []
  }
}

/** The library prints to the console of the process; what it says goes where the command's output goes. */
async function printed(io: Io, print: () => void): Promise<void> {
  const log = console.log
  console.log = (line: unknown) => io.stdout.write(`${line}\n`)
  try {
    print()
  } finally {
    console.log = log
  }
}
