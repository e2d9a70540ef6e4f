import * as z from 'zod'
import { Refused } from '../domain/refused.ts'
import { answerOf, ask, type Carrier, jsonBody } from './mcp-carrier.ts'
import { part, type Told, tool } from './mcp-tools.ts'
import { turnEnd } from './schemas.ts'

/** What of GET /v1/sessions/{id}/ticks matters here. */
interface Ticks {
  readonly state: 'off' | 'armed' | 'waiting' | 'running' | 'parked'
  readonly reason: string | null
  readonly nextAt: string | null
}

/** The bounds that the end of a turn has. */
const { seconds, reason } = turnEnd.shape.sleep.unwrap().unwrap().shape

/** Listed only where something would wake the session again (S3-7). */
export const sleepTool = tool({
  name: 'sleep',
  title: 'Sleep until the next wake',
  description: `Ends your current turn and schedules the next wake of this session: then you go on where you are.

Use it when your part of the work is done for now and you should look again later by yourself. Do not use it to wait for something that a monitor can watch (create_monitor) or for a fixed time (schedule), and never sleep in a loop. Say what you have to say before you call it: nothing comes after it in this turn.

Sleep at least 300 seconds unless something outside is about to happen: prompt caches live for about 5 minutes, and every wake costs one model call. The seconds are held within the bounds of the agent (30 to 3600 unless its owner chose others); the answer says when you wake. A message from the person wakes you earlier.

Example: {"seconds": 900, "reason": "the import runs for another quarter of an hour"}`,
  input: z.strictObject({ seconds, reason }),
  fields: { seconds: 'from the end of this turn', reason: 'what you wait for, up to 500 characters' },
  hints: { readOnly: false },
  run: async (carrier, args): Promise<Told> => {
    const session = await sessionWithTicks(carrier)
    const asked = { seconds: args.seconds, ...(args.reason == null ? {} : { reason: args.reason }) }
    if (carrier.keepSleep !== undefined) {
      carrier.keepSleep(asked)
      return {
        text: `Asked for ${asked.seconds} s of sleep; it begins when this turn ends. End it now.`,
        structured: { asked: asked.seconds, session },
      }
    }
    const turn = await turnOf(carrier, session)
    await ask(carrier, {
      method: 'POST',
      path: `/v1/turns/${part(turn, 'turn')}/end`,
      body: jsonBody({ outcome: 'ok', sleep: asked }),
    })
    const now = await carrier.now()
    const ticks = await ticksOf(carrier, session)
    const wakesIn = ticks.nextAt === null ? null : Math.round((Date.parse(ticks.nextAt) - now) / 1000)
    return {
      text: told(ticks, asked.seconds, wakesIn),
      structured: {
        asked: asked.seconds,
        seconds: wakesIn,
        wakesAt: ticks.nextAt,
        waitingFor: ticks.reason,
        session,
        turn,
      },
    }
  },
})

function told(ticks: Ticks, asked: number, wakesIn: number | null): string {
  if (wakesIn === null)
    return `The turn has ended, and nothing will wake this session by itself (${ticks.reason ?? ticks.state}): a person's message, a schedule or a monitor does.`
  const bounds = wakesIn === asked ? '' : ` (asked for ${asked} s; the agent has bounds)`
  const gate = ticks.reason === null ? '' : `, if nothing holds it then as it does now (${ticks.reason})`
  return `The turn has ended. This session wakes in ${wakesIn} s${bounds}, at ${ticks.nextAt}${gate}, or earlier when somebody writes.`
}

/** Whether `sleep` means anything where the caller acts. */
export async function maySleep(carrier: Carrier): Promise<boolean> {
  try {
    await sessionWithTicks(carrier)
    return true
  } catch {
    return false
  }
}

/** @throws Refused `ticks_off`, Said for a session that is not the caller's */
async function sessionWithTicks(carrier: Carrier): Promise<string> {
  const { session } = carrier
  if (session === null)
    throw new Refused(
      'ticks_off',
      'no session is named (X-Rouse-Session, or ROUSE_SESSION for `rouse mcp`): there is nothing that could sleep and be woken again',
    )
  const { state, reason: why } = await ticksOf(carrier, session)
  if (state === 'off')
    throw new Refused(
      'ticks_off',
      `ticks are off in session ${session} (${why}): nothing would wake it, so it cannot sleep. End the turn without it`,
    )
  return session
}

const ticksOf = async (carrier: Carrier, session: string): Promise<Ticks> =>
  answerOf<Ticks>(await ask(carrier, { method: 'GET', path: `/v1/sessions/${part(session, 'session')}/ticks` }))

/** The turn that the session runs; the one that the caller names must be it. */
async function turnOf(carrier: Carrier, session: string): Promise<string> {
  const got = await ask(carrier, { method: 'GET', path: `/v1/sessions/${part(session, 'session')}` })
  const running = answerOf<{ turn: { id: string } | null }>(got).turn?.id ?? null
  if (running !== null && (carrier.turn === null || carrier.turn === running)) return running
  throw new Refused(
    'turn_not_running',
    carrier.turn === null
      ? `no turn runs in session ${session}: there is nothing to end, and it wakes by itself when it is time`
      : `turn ${carrier.turn} does not run in session ${session}: it has ended, or its lease ran out. Stop the work`,
  )
}
