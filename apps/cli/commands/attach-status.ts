import type { Message } from '../../client/shapes.ts'
import type { WorkerEvent } from '../../worker/attach.ts'
import { printable } from '../screen.ts'

/** One line per event on standard error, apart from what the command itself says. */
export function tell(stderr: NodeJS.WritableStream, event: WorkerEvent, json = false): void {
  stderr.write(json ? `${JSON.stringify(fieldsOf(event))}\n` : `${printable(lineOf(event))}\n`)
}

/** What programs want to know of an event: ids and ends; what was said stands in the session. */
function fieldsOf(event: WorkerEvent): Readonly<Record<string, unknown>> {
  const { kind } = event
  switch (event.kind) {
    case 'attached':
      return { event: kind, ...event.target, way: event.way }
    case 'away':
      return { event: kind, why: event.why }
    case 'back':
      return { event: kind }
    case 'started':
      return { event: kind, ...idsOf(event.claimed), source: event.claimed.message.kind }
    case 'ended':
      return { event: kind, ...idsOf(event.claimed), fate: event.fate, outcome: event.outcome.outcome, ms: event.ms }
    case 'job':
      return { event: kind, job: event.job.id, exit: event.end.exit, ms: event.ms }
    case 'moved':
      return { event: kind, session: event.session }
    case 'warning':
      return { event: kind, message: event.message }
  }
}

type Claimed = Extract<WorkerEvent, { kind: 'started' }>['claimed']
const idsOf = ({ turn, message }: Claimed) => ({ turn: turn.id, session: turn.session, message: message.id })

function lineOf(event: WorkerEvent): string {
  switch (event.kind) {
    case 'attached':
      return `attached to ${'session' in event.target ? event.target.session : event.target.agent} · ${wayOf(event)}, Ctrl-C stops`
    case 'away':
      return `${event.why} · tries again until it is back`
    case 'back':
      return 'the server is back'
    case 'started':
      return `turn ${event.claimed.turn.id} started · ${sourceOf(event.claimed.message)}`
    case 'ended':
      return `turn ${event.claimed.turn.id} ${endOf(event)} in ${secondsOf(event.ms)}`
    case 'job':
      return `${jobOf(event)} ended with exit ${event.end.exit} in ${secondsOf(event.ms)}`
    case 'moved':
      return `the session was compacted · goes on in ${event.session}`
    case 'warning':
      return event.message
  }
}

/** A claim held open is how it has always been; an SQS queue is worth a word, since AWS is then in the path too. */
const wayOf = ({ way }: Extract<WorkerEvent, { kind: 'attached' }>): string =>
  way === 'queue' ? 'listens on its SQS queue' : 'waits for messages'

function endOf({ fate, outcome }: Extract<WorkerEvent, { kind: 'ended' }>): string {
  switch (fate) {
    case 'finished':
      return outcome.outcome === 'failed'
        ? `ended failed (${firstLine(outcome.summary ?? '')})`
        : `ended ${outcome.outcome}`
    case 'cancelled':
      return 'cancelled'
    case 'halted':
      return 'stopped by hand'
    case 'limited':
      return `ended blocked (${firstLine(outcome.summary ?? '')})`
    case 'lost':
      return 'lost (it ended elsewhere or its lease ran out)'
  }
}

/** What it printed is data for the agent, and not told here. */
function jobOf({ job }: Extract<WorkerEvent, { kind: 'job' }>): string {
  const what =
    job.kind === 'check' ? `check ${job.script}` : job.kind === 'host_step' ? `host step ${job.tool}` : job.kind
  return job.schedule == null ? what : `${what} of ${job.schedule}`
}

/** A schedule's message names it in its first line. */
function sourceOf({ kind, text }: Message): string {
  const [, name] = /^\[rouse schedule \S+ "([^"\n]*)"/.exec(text) ?? []
  return name === undefined ? kind : `schedule "${name}"`
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.slice(0, 120)
const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
