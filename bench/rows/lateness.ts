import { quantile, steadily, woken } from '../../test/scale/herd.ts'
import { shown } from '../figures.ts'
import type { Row } from '../row.ts'
import { quick } from '../sizes.ts'

const perSecond = 50
const GATE_MS = 2_000

/** No clock is read: time is the simulation's own, and so is what AWS takes. */
export const lateness: Row = {
  id: 'lateness',
  what: `AWS, simulated: how late a prompt is at ${perSecond} wakes a second, the Scheduler's minute included`,
  peer: 'EventBridge Scheduler, 60 s',
  gate: `p99 ≤ ${GATE_MS / 1000} s`,
  aim: null,

  async measure() {
    const due = steadily({ perSecond, seconds: quick ? 20 : 120 })
    const { lateMs, lost } = await woken({ seed: 2, due, perSession: 5, partitions: 4, untilMs: 30_000 })
    const [p50, p99] = [quantile(lateMs, 0.5), quantile(lateMs, 0.99)]
    const met = p99 <= GATE_MS && lost === 0
    return {
      cells: [
        { name: 'p50', ours: p50, peer: null, unit: 'ms', ratio: null, met: null },
        { name: 'p99', ours: p99, peer: 60_000, unit: 'ms', ratio: p99 / 60_000, met },
      ],
      met,
      aimMet: null,
      summary: `p50 ${shown(p50)} ms, p99 ${shown(p99)} ms of ${due.length} wakes; ${lost} lost`,
      notes: [
        'Simulated: entries are sent a minute early and within 60 s, SQS waits out the rest in whole seconds, requests take what is usual in a region (test/scale/quotas.ts).',
      ],
    }
  },
}
