import { startScript } from '../child.ts'
import { medians, shown } from '../figures.ts'
import type { OurSweepOptions, OurSwept } from '../ours/sweep.ts'
import type { Cell, Row } from '../row.ts'
import { sweepSizes } from '../sizes.ts'

const { armed, few, due, sweeps, rounds } = sweepSizes
const keys = ['nothingDue', 'someDue', 'slowest'] as const
const count = (n: number): string => n.toLocaleString('en-US')
/** What a lucky and an unlucky median of milliseconds are apart. */
const times = 1.5

export const sweep: Row = {
  id: 'sweep',
  what: `A sweep, embedded, durable, with ${count(armed)} schedules, ${due} due`,
  peer: `the same with ${count(few)}`,
  gate: `follows what is due, not what exists: ≤ ${times}×`,
  aim: null,

  async measure() {
    const ours: OurSwept[] = []
    const peers: OurSwept[] = []
    for (let round = 0; round < rounds; round += 1) {
      peers.push(await measured({ armed: few, due, sweeps }))
      ours.push(await measured({ armed, due, sweeps }))
    }
    const [own, peer] = [medians(ours, keys), medians(peers, keys)]
    const cell = (name: string, key: (typeof keys)[number], isJudged: boolean): Cell => {
      const ratio = own[key] / peer[key]
      return { name, ours: own[key], peer: peer[key], unit: 'ms', ratio, met: isJudged ? ratio <= times : null }
    }
    const cells = [
      cell(`${due} due, median`, 'someDue', true),
      cell(`${due} due, the slowest`, 'slowest', false),
      cell('nothing due, median', 'nothingDue', false),
    ]
    return {
      cells,
      met: cells.every(({ met }) => met !== false),
      aimMet: null,
      summary: `${due} due among ${count(armed)} in ${shown(own.someDue)} ms, among ${count(few)} in ${shown(peer.someDue)}; nothing due ${shown(own.nothingDue)} ms`,
      notes: [
        `${rounds} round(s), medians of ${sweeps} sweeps, the first three left out; each in a process of its own. ${due} others are due each time and open a fresh session each; the rest is a year away. A sweep is over when its runs are on disk. What a sweep costs on AWS is in the row cost.`,
      ],
    }
  },
}

async function measured(options: OurSweepOptions): Promise<OurSwept> {
  const child = startScript('./ours/sweep.ts', options)
  try {
    return await child.answer<OurSwept>()
  } finally {
    await child.stop()
  }
}
