import { waitingInstructions } from '../../shared/domain/instructions.ts'
import type { Client } from '../client/client.ts'
import { type CallFile, openCallFile } from './call-file.ts'
import { Beginning, Tail } from './capture.ts'
import { type ChildEnd, runChild } from './child.ts'
import { type Format, type Reading, readingOf } from './format.ts'
import { readable } from './sender.ts'
import type { Outcome, Turn } from './turn.ts'

/** A command that is to be stopped has so long to put its things in order. */
const graceMs = 5_000

/** The command could not be started at all: every further turn would fail the same way. */
export class CannotStart extends Error {}

/**
 * Runs a command for one turn, the way every agent that reads a prompt from its standard input can be attached.
 *
 * Exit 0 with output is the answer; exit 0 without is "nothing to do"; anything else failed, with the last it said on standard error.
 * With a format other than `text` the output is events: the answer, what it cost and the tool calls are read from them.
 *
 * @throws CannotStart
 */
export async function runCommand(
  turn: Turn,
  o: {
    readonly client: Client
    readonly agent: string
    readonly command: readonly string[]
    readonly cwd: string
    readonly env: NodeJS.ProcessEnv
    readonly steer: boolean
    readonly format: Format
    readonly stdout: NodeJS.WritableStream
    readonly stderr: NodeJS.WritableStream
    readonly warn: (message: string) => void
  },
): Promise<Outcome> {
  const stdout = new Beginning()
  const stderr = new Tail()
  const reading = o.format === 'text' ? null : readingOf(o.format, turn.calls)
  const callFile = await openCallFile({ calls: turn.calls, warn: o.warn })
  try {
    const end = await runChild({
      command: o.command,
      cwd: o.cwd,
      env: environmentOf(turn, { ...o, callFile }),
      input: inputOf(turn),
      steering: o.steer ? turn.steering : null,
      stdout: { keep: reading ?? stdout, to: o.stdout },
      stderr: { keep: stderr, to: o.stderr },
      signal: turn.signal,
      graceMs,
      takesAll: false,
    }).catch((error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'there is no such program' : error.message
      throw new CannotStart(`the command "${o.command[0]}" cannot be started: ${why}`)
    })
    const outcome = reading === null ? outcomeOf(end, stdout, stderr) : outcomeOfEvents(end, reading, stderr)
    const sleep = await callFile.slept()
    return sleep === null ? outcome : { ...outcome, sleep }
  } finally {
    await callFile.close()
  }
}

function outcomeOf(end: ChildEnd, stdout: Beginning, stderr: Tail): Outcome {
  if (end.code !== 0) return { outcome: 'failed', summary: stderr.summary(reasonOf(end)) }
  const answer = stdout.answer()
  return answer === '' ? { outcome: 'nothing_to_do' } : { outcome: 'ok', answer }
}

function outcomeOfEvents(end: ChildEnd, reading: Reading, stderr: Tail): Outcome {
  const said = reading.end()
  const spent = {
    ...(said.tokens === null ? {} : { tokens: said.tokens }),
    ...(said.usd === null ? {} : { usd: said.usd }),
  }
  if (said.failure !== null)
    return { outcome: said.isLimit ? 'blocked' : 'failed', summary: said.failure.slice(0, 2_000), ...spent }
  if (end.code !== 0) return { outcome: 'failed', summary: stderr.summary(reasonOf(end)), ...spent }
  if (said.answer === null)
    return { outcome: 'failed', summary: stderr.summary('the command printed no result in the format of --format') }
  const answer = new Beginning()
  answer.add(Buffer.from(said.answer))
  const text = answer.answer()
  return text === '' ? { outcome: 'nothing_to_do', ...spent } : { outcome: 'ok', answer: text, ...spent }
}

const reasonOf = ({ code, by }: ChildEnd): string => (by === null ? `exit code ${code}` : `ended by ${by}`)

/** Notes first, each line marked, so that they cannot be taken for the message; then, for another agent's prompt, who it is from. */
function inputOf(turn: Turn): string {
  const notes = turn.notes.flatMap((note) => note.text.split('\n').map((line) => `[note] ${line}\n`))
  return notes.join('') + readable(turn.message)
}

/** What the command's own `rouse` calls need to act as this session, in this turn. */
function environmentOf(
  turn: Turn,
  o: { client: Client; agent: string; env: NodeJS.ProcessEnv; callFile: CallFile },
): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = {
    ROUSE_URL: o.client.url,
    ROUSE_KEY: o.client.key,
    ROUSE_SESSION: turn.turn.session,
    ROUSE_TURN: turn.turn.id,
    ROUSE_MESSAGE: turn.message.id,
    ROUSE_MESSAGE_KIND: turn.message.kind,
    ROUSE_AGENT: o.agent,
    ROUSE_MODE: turn.turn.mode,
    ROUSE_SCHEDULE: turn.message.origin?.schedule ?? undefined,
    ROUSE_RUN: turn.message.origin?.run ?? undefined,
    ROUSE_TOOL_CALLS: o.callFile.path,
    ROUSE_SLEEP: o.callFile.sleepPath,
    ROUSE_HOW: waitingInstructions,
  }
  const env = { ...o.env, ...own }
  // An undefined one must not leave the worker's own in place, and spawn would pass "undefined" on.
  for (const name of Object.keys(own)) if (own[name] === undefined) delete env[name]
  return env
}
