import type { Log } from '../../ports/world.ts'

/** One line of JSON per entry on stdout, which is what CloudWatch reads fields from. The time is CloudWatch's own. */
export const openLog = (): Log => (level, what, ids) => {
  process.stdout.write(`${JSON.stringify({ ...ids, level, what })}\n`)
}
