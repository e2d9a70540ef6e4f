import { atOneMoment, quantile, woken } from '../../test/scale/herd.ts'
import { shown } from '../figures.ts'
import type { Row } from '../row.ts'
import { quick } from '../sizes.ts'

const GATE_S = 60

/** No clock is read: time is the simulation's own, and so is what AWS takes and refuses. */
export const herd: Row = {
  id: 'herd',
  what: 'AWS, simulated: 10,000 schedules of one moment, until the last prompt is out',
  peer: 'none',
  gate: `≤ ${GATE_S} s, none lost`,
  aim: null,

  async measure() {
    const due = atOneMoment(quick ? 2_000 : 10_000)
    const { lateMs, lost, odd, refused, busiest, written } = await woken({
      seed: 1,
      due,
      perSession: 20,
      partitions: 4,
      untilMs: 120_000,
    })
    const [p50, last] = [quantile(lateMs, 0.5) / 1000, quantile(lateMs, 1) / 1000]
    const met = last <= GATE_S && lost === 0 && odd === 0
    const units = [...written.values()].reduce((sum, n) => sum + n, 0) / due.length
    return {
      cells: [
        { name: 'p50', ours: p50, peer: null, unit: 's', ratio: null, met: null },
        { name: 'the last', ours: last, peer: null, unit: 's', ratio: null, met },
      ],
      met,
      aimMet: null,
      summary: `${due.length} out in ${shown(last)} s, ${lost} lost; ${refused} requests throttled, ${busiest} batches at once, ${shown(units)} write units a wake`,
      notes: [
        'Simulated: partitions of 3,000 read and 1,000 write units a second, four to a table as when it was just made, without bursts; batches of ten, twenty at once.',
      ],
    }
  },
}
