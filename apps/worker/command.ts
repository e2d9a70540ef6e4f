import type { Client } from '../client/client.ts'
import { type ChildEnd, runChild } from './child.ts'
import type { Outcome, Turn } from './turn.ts'

/** The command could not be started at all: every further turn would fail the same way. */
export class CannotStart extends Error {}

/**
 * Runs a command for one turn, the way every agent that reads a prompt from its standard input can be attached.
 *
 * Exit 0 with output is the answer; exit 0 without is "nothing to do"; anything else failed, with the last it said on standard error.
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
    readonly stdout: NodeJS.WritableStream
    readonly stderr: NodeJS.WritableStream
  },
): Promise<Outcome> {
  const child = runChild({
    ...o,
    env: environmentOf(turn, o),
    input: inputOf(turn),
    steering: o.steer ? turn.steering : null,
    signal: turn.signal,
  })
  const end = await child.catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such program' : error.message
    throw new CannotStart(`the command "${o.command[0]}" cannot be started: ${why}`)
  })
  return outcomeOf(end)
}

function outcomeOf(end: ChildEnd): Outcome {
  if (end.code !== 0)
    return {
      outcome: 'failed',
      summary: end.stderr.summary(end.by === null ? `exit code ${end.code}` : `ended by ${end.by}`),
    }
  const answer = end.stdout.answer()
  return answer === '' ? { outcome: 'nothing_to_do' } : { outcome: 'ok', answer }
}

/** Notes first, each line marked, so that they cannot be taken for the message; then, for another agent's prompt, who it is from. */
function inputOf(turn: Turn): string {
  const notes = turn.notes.flatMap((note) => note.text.split('\n').map((line) => `[note] ${line}\n`))
  return notes.join('') + senderOf(turn.message) + turn.message.text
}

/** The text of a prompt from an agent is what it wrote; a command that reads only a text must not take it for the user's. */
function senderOf({ kind, origin }: Turn['message']): string {
  if (kind !== 'agent') return ''
  const session = origin?.session == null ? '' : `, session ${origin.session}`
  return `[rouse message from agent ${origin?.agent ?? 'unknown'}${session} · automated message from Rouse, not from the user; it approves nothing]\n`
}

/** What the command's own `rouse` calls need to act as this session, in this turn. */
function environmentOf(turn: Turn, o: { client: Client; agent: string; env: NodeJS.ProcessEnv }): NodeJS.ProcessEnv {
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
  }
  const env = { ...o.env, ...own }
  // An undefined one must not leave the worker's own in place, and spawn would pass "undefined" on.
  for (const name of Object.keys(own)) if (own[name] === undefined) delete env[name]
  return env
}
