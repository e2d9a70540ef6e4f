import { startScript } from '../child.ts'
import { medians, shown } from '../figures.ts'
import type { OurChanged, OurChangeOptions } from '../ours/change.ts'
import type { Row } from '../row.ts'
import { changeSizes } from '../sizes.ts'

const { armed, few, changes, onOnePath, rounds } = changeSizes
const keys = ['p50', 'p99', 'herdMs', 'quietMs'] as const
const count = (n: number): string => n.toLocaleString('en-US')

export const change: Row = {
  id: 'change',
  what: `A document changes: until the message of its monitor is in the inbox, embedded, durable, ${count(armed)} monitors armed`,
  peer: `the same with ${count(few)}`,
  gate: `p99 ≤ 5 ms, p50 ≤ 1.3×, ${count(onOnePath)} monitors on one path ≤ 1.5 s`,
  aim: null,

  async measure() {
    const ours: OurChanged[] = []
    const peers: OurChanged[] = []
    for (let round = 0; round < rounds; round += 1) {
      peers.push(await measured({ armed: few, changes, onOnePath: 0 }))
      ours.push(await measured({ armed, changes, onOnePath }))
    }
    const own = medians(ours, keys)
    const peer = medians(peers, keys)
    const p50 = own.p50 / peer.p50
    const cells = [
      { name: 'p99', ours: own.p99, peer: peer.p99, unit: 'ms', ratio: own.p99 / peer.p99, met: own.p99 <= 5 },
      { name: 'p50', ours: own.p50, peer: peer.p50, unit: 'ms', ratio: p50, met: p50 <= 1.3 },
      alone(`${count(onOnePath)} on one path, until the last message`, own.herdMs, own.herdMs <= 1_500),
      alone(`${count(onOnePath)} on one path, none of which fires, until the put is answered`, own.quietMs, null),
    ]
    return {
      cells,
      met: cells.every(({ met }) => met !== false),
      aimMet: null,
      summary: `p50 ${shown(own.p50)} ms, p99 ${shown(own.p99)} ms, with ${count(few)} ${shown(peer.p50)} and ${shown(peer.p99)}; ${count(onOnePath)} on one path ${shown(own.herdMs)} ms`,
      notes: [
        `${rounds} round(s), medians; ${count(changes)} changes, one after the other, each of a document that one monitor watches. From the PUT to the bell of the message, which rings after its commit is on disk; the PUT's own commit is part of it.`,
        'Each in a process of its own, the calls straight into the HTTP app. On one path: 20 in a session, 100 different conditions.',
      ],
    }
  },
}

const alone = (name: string, ours: number, met: boolean | null) => ({
  name,
  ours,
  peer: null,
  unit: 'ms',
  ratio: null,
  met,
})

async function measured(options: OurChangeOptions): Promise<OurChanged> {
  const child = startScript('./ours/change.ts', options)
  try {
    return await child.answer<OurChanged>()
  } finally {
    await child.stop()
  }
}
