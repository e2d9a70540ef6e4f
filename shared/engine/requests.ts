import type { Head } from '../domain/session.ts'
import type { Call } from './call.ts'
import { type AskedSchedule, createSchedule } from './schedules.ts'
import { keys, read } from './store.ts'

/** Makes what an agent asked for, as that agent and from where it asked, now that a person allows it (S0-23). */
export async function createAsked(call: Call, asked: AskedSchedule): Promise<void> {
  const head = await read<Head>(call.world, keys.head(asked.conv))
  const as: Call = {
    ...call,
    caller: { kind: 'agent', key: 'approved', agent: asked.agent, owner: asked.owner },
    session: head?.item.session ?? null,
    turn: null,
    newId: (prefix) => (prefix === 'sch' ? asked.id : call.newId(prefix)),
    repeatable: true,
  }
  await createSchedule(as, asked.input, { reach: asked.reach })
}
