import { openEmf } from '../shared/adapters/aws/emf.ts'
import { Patience } from '../shared/adapters/aws/patience.ts'
import { jsonLog, levelOf } from '../shared/adapters/lines.ts'
import type { LogIds } from '../shared/ports/log.ts'

/** To stdout and not by `console`, which the runtime wraps: a line stays the object that it is, and metrics are found in it. */
const write = (line: string): void => {
  process.stdout.write(line)
}

/** Of the invocation under way. A container has one at a time. */
let invocation: LogIds = {}

/** A line of the log. Each names the invocation that wrote it, as Lambda's own lines do. */
export const log = jsonLog({
  write,
  // Lambda would leave lines out by the same setting, after they were written.
  level: levelOf((process.env.AWS_LAMBDA_LOG_LEVEL ?? 'info').toLowerCase()) ?? 'info',
  beside: () => invocation,
})

export const meter = openEmf(process.env.ROUSE_STAGE ?? 'none', write)

/** Of all clients: an invocation that waits for a service that is too busy ends in time to tell it. */
export const patience = new Patience()

/** What Lambda tells of an invocation besides its event, as far as it is read here. */
export interface Invoked {
  readonly awsRequestId?: string
  getRemainingTimeInMillis?(): number
}

/**
 * An entry point whose lines name its invocation, and whose numbers are written at its end, also of one that fails. What a function that
 * is killed had counted is lost.
 */
export const observed =
  <E, A>(run: (event: E, invoked: Invoked) => Promise<A>): ((event: E, invoked?: Invoked) => Promise<A>) =>
  async (event, invoked = {}) => {
    invocation = invoked.awsRequestId === undefined ? {} : { requestId: invoked.awsRequestId }
    patience.begin(invoked.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY)
    try {
      return await run(event, invoked)
    } finally {
      meter.flush()
    }
  }
