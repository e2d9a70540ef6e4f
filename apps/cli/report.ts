import { AccessError } from '../client/access.ts'
import { ApiError, Unreachable } from '../client/errors.ts'
import { printable } from './screen.ts'

/** Exit codes of `rouse`. */
export const exits = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const

/** The command line asks for something that makes no sense; nothing was called. */
export class UsageError extends Error {}

/** What was asked for has been done, and did not go well. */
export class WentWrong extends Error {}

/** Something that is asked for by name is not there. */
export class NotThere extends Error {}

const howToStart = 'Start one with `npm start` or `rouse serve`, or set ROUSE_URL (and ROUSE_KEY) to one that runs'

/**
 * Tells what was wrong, its code and what to do next, in one line on standard error, then one line per field.
 *
 * @param o.json  also print the API's refusal as it came, on standard output
 * @returns       the exit code
 */
export function report(
  error: unknown,
  o: { readonly io: { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream }; readonly json: boolean },
): number {
  const { code, lines } = told(error)
  if (o.json && error instanceof ApiError) o.io.stdout.write(`${JSON.stringify(error.problem, null, 2)}\n`)
  o.io.stderr.write(`✗ ${lines.map(printable).join('\n')}\n`)
  return code
}

function told(error: unknown): { code: number; lines: string[] } {
  if (error instanceof ApiError) {
    // One fault alone stands in the detail already.
    const fields = error.errors
      .filter(({ message }) => !error.detail.includes(message))
      .map(({ path, message }) => `  ${path === '' ? 'body' : path}: ${message}`)
    const next = nextStep(error)
    const said = sentence(error.detail)
    return { code: exits.refused, lines: [`${said} (${error.code})${next === '' ? '' : `. ${next}`}`, ...fields] }
  }
  if (error instanceof Unreachable) return { code: exits.unreachable, lines: [`${error.message}. ${howToStart}`] }
  if (error instanceof AccessError)
    return error.kind === 'nowhere'
      ? { code: exits.unreachable, lines: [`${error.message}. ${howToStart}`] }
      : { code: exits.usage, lines: [error.message] }
  if (error instanceof UsageError) return { code: exits.usage, lines: [error.message] }
  if (error instanceof NotThere || error instanceof WentWrong) return { code: exits.refused, lines: [error.message] }
  const defect = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: exits.refused, lines: [`this is a defect of rouse, please report it: ${defect}`] }
}

/** The code in brackets comes where the full stop would. */
const sentence = (detail: string): string => detail.replace(/\.$/, '')

/** What to do next, where the server's own words cannot name the command. */
function nextStep(error: ApiError): string {
  switch (error.code) {
    case 'unauthorized':
      return 'Check --key, ROUSE_KEY or DIR/credentials.json'
    case 'not_found':
      return 'Check the id: `list` shows those you can see'
    case 'schedule_invalid':
    case 'schedule_interval_invalid':
    case 'schedule_too_frequent':
      return '`rouse schedule preview` tries times out without storing anything'
    case 'schedule_limit':
      return '`rouse schedule list` shows them, `rouse schedule remove` frees a place'
    case 'schedule_ended':
      return 'Add a new one'
    case 'schedule_agent_not_allowed':
      return '`rouse agent list` shows the agents you can talk to'
    case 'agent_sessions_off':
      return 'A person turns it on with `rouse settings --agent-sessions on`'
    case 'approval_needed':
      return error.card === null
        ? 'A person has to allow it'
        : `A person has to allow card ${error.card}; then do it again`
    case 'person_only':
      return "Use a person's key"
    case 'turn_not_running':
      return 'The turn in ROUSE_TURN has ended; unset it to act outside a turn'
    case 'rate_limited':
      return `Try again in ${error.retryAfterSeconds ?? 1} s`
    default:
      return error.status >= 500 ? 'Try again; if it stays, look at the log of the server' : ''
  }
}
