import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cursor } from '../../shared/domain/schedule.ts'
import { deleteAgent, editAgent, editSettings } from '../../shared/engine/agents.ts'
import { runFlow } from '../../shared/engine/flow-runs.ts'
import { removeFlow } from '../../shared/engine/flows.ts'
import { listMessages } from '../../shared/engine/message-list.ts'
import { agentFor, scheduleFor } from '../../shared/engine/reach.ts'
import { backfill, listRuns, runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule, resumeSchedule } from '../../shared/engine/schedule-edit.ts'
import { createSchedule, removeSchedule } from '../../shared/engine/schedules.ts'
import { getTrace } from '../../shared/engine/traces.ts'
import {
  addFlowSchedule,
  endHost,
  flowRuns,
  how,
  latest,
  mixed,
  order,
  promote,
  settled,
  takeJob,
  tools,
  worker,
} from './flowing.ts'
import { answered } from './outside.ts'
import { addSchedule, hour, keyOf, minute, openRoom, type Room, refusalOf, start } from './room.ts'
import { faultsOf } from './tooling.ts'
import { cards } from './watching.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
  await tools(room)
  await promote(room)
})
afterEach(() => room.close())

const agentKey = async () => keyOf((await agentFor(room.call(), room.agent)).item)
const rows = async (id: string) => (await listRuns(room.call(), id, { limit: 50, before: null })).items
const cursor = async (id: string): Promise<Cursor> => (await scheduleFor(room.call(), id)).cursor.item
const idOf = async (input: Parameters<typeof addFlowSchedule>[1] = {}) =>
  (await addFlowSchedule(room, input)).definition.id
/** Outcome, reason, result of each run, newest first. */
const ledger = async (id: string) => (await rows(id)).map(({ outcome, reason, result }) => [outcome, reason, result])
/** A flow that waits for its worker at its second step. */
const slow = async () => {
  await promote(room, mixed, { overwrite: true })
  await worker(room, true)
}
const finishSlow = async (exit = 0) => endHost(room, (await takeJob(room))!.job.id, exit, '1')

describe('making one', () => {
  it('S1-25 its kind is flow, without a prompt, for the agent of the flow', async () => {
    const { definition, cursor } = await addFlowSchedule(room)
    expect(definition).toMatchObject({ kind: 'flow', flow: 'shopping', prompt: null, conv: null, overlap: 'skip' })
    expect(cursor.item.status).toBe('active')
  })

  it('a session stands for its agent: a flow runs in none', async () => {
    const { definition } = await addFlowSchedule(room, { agent: null, session: room.session })
    expect([definition.agent, definition.conv]).toEqual([room.agent, null])
  })

  it('may run every minute, by rule and by interval, and not more often', async () => {
    await addFlowSchedule(room, { cron: '* * * * *' })
    await addFlowSchedule(room, { every: '1m' })
    expect(await refusalOf(addFlowSchedule(room, { every: '30s' }))).toBe('schedule_interval_invalid')
    expect(await refusalOf(addSchedule(room, { cron: '* * * * *' }))).toBe('schedule_too_frequent')
  })

  it('is refused to an agent, whatever the settings say', async () => {
    await editSettings(room.call(), { agentSessions: true })
    const act = createSchedule(room.call({ caller: await agentKey(), session: room.session }), {
      name: 'Shopping',
      flow: 'shopping',
      every: '1h',
    })
    expect(await refusalOf(act)).toBe('person_only')
  })

  it('says what is wrong: no such flow, a prompt too, neither, a check, a second try', async () => {
    const faults = async (input: object) => Object.keys(await faultsOf(addFlowSchedule(room, input)))
    expect(await faults({ flow: 'other' })).toEqual(['flow'])
    expect(await faults({ prompt: 'Look.' })).toEqual(['flow'])
    expect(await faults({ flow: null })).toEqual(['prompt'])
    expect(await faults({ check: { tool: 'rate', args: {} } })).toEqual(['check'])
    expect(await faults({ onUnknown: 'retry' })).toEqual(['onUnknown'])
  })
})

describe('firing', () => {
  it('S1-26 a fire is a row, and a run of the flow in the same commit', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const [row] = await rows(id)
    const run = await latest(room)
    expect(row).toMatchObject({ outcome: 'fired', trigger: 'slot', result: 'ok', flowRun: run.id, message: null })
    expect([row!.session, row!.turn, row!.trace]).toEqual([null, null, run.trace])
    expect(how(run)).toEqual(['ok', null, 4])
    expect(await cursor(id)).toMatchObject({ open: [], counts: { fired: 1, ok: 1 } })
    expect(room.rings).toEqual([])
  })

  it('S1-28 its history is that of any schedule, and each run has its trace', async () => {
    const id = await idOf()
    await room.move(start + 3 * hour)
    const all = await rows(id)
    expect(all.map(({ nominalAt }) => (nominalAt - start) / hour)).toEqual([3, 2, 1])
    const { trace } = await getTrace(room.call(), all[0]!.trace!)
    expect(trace).toMatchObject({ source: 'flow', origin: { kind: 'schedule', schedule: id, run: all[0]!.id } })
  })

  it('one run makes up for what was missed, as for prompts', async () => {
    const id = await idOf()
    room.jump(start + 5 * hour + 30 * minute)
    await settled(room)
    expect((await rows(id)).map(({ trigger, missed, result }) => [trigger, missed, result])).toEqual([
      ['catch_up', 5, 'ok'],
    ])
  })

  it('run now, and a backfill one after the other', async () => {
    const id = await idOf({ every: null, cron: '0 * * * *' })
    await runNow(room.call(), id)
    await room.settle()
    expect((await rows(id)).map(({ trigger, result }) => [trigger, result])).toEqual([['manual', 'ok']])
    await pauseSchedule(room.call(), id, null)
    room.jump(start + 4 * hour)
    const range = { from: '2026-03-01T01:00:00Z', to: '2026-03-01T03:00:00Z' }
    expect(await backfill(room.call(), id, range)).toBe(3)
    await settled(room)
    await settled(room)
    const made = (await rows(id)).filter(({ trigger }) => trigger === 'backfill')
    expect(made.map(({ nominalAt, result }) => [(nominalAt - start) / hour, result])).toEqual([
      [3, 'ok'],
      [2, 'ok'],
      [1, 'ok'],
    ])
  })

  it('needs no worker where Rouse takes all steps, and draws on no budget', async () => {
    await worker(room, false)
    await editAgent(room.call(), room.agent, { budget: { wakesPerDay: 0 } })
    const id = await idOf()
    await room.move(start + hour)
    expect(await ledger(id)).toEqual([['fired', null, 'ok']])
  })

  it('maxRuns ends it', async () => {
    const id = await idOf({ maxRuns: 1 })
    await room.move(start + 3 * hour)
    expect([(await rows(id)).length, (await cursor(id)).status]).toEqual([1, 'done'])
  })
})

describe('while the run before it is not over', () => {
  const freshly = async (overlap: 'skip' | 'buffer' | 'allow' | 'cancel') => {
    await slow()
    const id = await idOf({ every: '1m', overlap })
    await room.move(start + 2 * minute)
    return id
  }

  it('S1-26 skip: the time is skipped', async () => {
    const id = await freshly('skip')
    expect(await ledger(id)).toEqual([
      ['skipped', 'previous_running', null],
      ['fired', null, null],
    ])
  })

  it('S1-26 buffer: the next begins when the one before ends, and no more than one waits', async () => {
    const id = await freshly('buffer')
    await room.move(start + 3 * minute)
    expect(await ledger(id)).toEqual([
      ['skipped', 'previous_waiting', null],
      ['fired', null, null],
      ['fired', null, null],
    ])
    expect((await flowRuns(room)).map(({ phase }) => phase)).toEqual(['waiting', 'host'])
    await finishSlow()
    expect((await flowRuns(room)).map(({ phase }) => phase)).toEqual(['host', 'over'])
    await finishSlow()
    expect((await ledger(id)).slice(1)).toEqual([
      ['fired', null, 'ok'],
      ['fired', null, 'ok'],
    ])
  })

  it('S1-26 allow: they run side by side', async () => {
    const id = await freshly('allow')
    expect((await flowRuns(room)).map(({ phase }) => phase)).toEqual(['host', 'host'])
    await finishSlow()
    await finishSlow()
    expect(await ledger(id)).toEqual([
      ['fired', null, 'ok'],
      ['fired', null, 'ok'],
    ])
  })

  it('S1-26 cancel: the one that runs ends before its next step, and the new one begins', async () => {
    const id = await freshly('cancel')
    expect((await flowRuns(room)).map(({ phase, cancelled }) => [phase, cancelled])).toEqual([
      ['waiting', null],
      ['host', 'overlap'],
    ])
    await finishSlow()
    expect((await flowRuns(room)).map(how)[1]).toEqual(['failed', 'cancelled_by_overlap', 3])
    await finishSlow()
    expect(await ledger(id)).toEqual([
      ['fired', null, 'ok'],
      ['fired', 'cancelled_by_overlap', 'failed'],
    ])
  })

  it('run now waits for it, too', async () => {
    const id = await freshly('skip')
    await runNow(room.call(), id)
    expect((await flowRuns(room)).map(({ phase }) => phase)).toEqual(['waiting', 'host'])
    await finishSlow()
    await finishSlow()
    expect((await flowRuns(room)).map(({ status }) => status)).toEqual(['ok', 'ok'])
  })

  it('a deleted schedule lets the one that runs end, and the one that waits never begin', async () => {
    const id = await freshly('buffer')
    await removeSchedule(room.call(), id)
    await finishSlow()
    expect((await flowRuns(room)).map(({ status, reason }) => [status, reason])).toEqual([
      ['failed', 'deleted'],
      ['ok', null],
    ])
    expect(await takeJob(room)).toBeNull()
  })

  it('a run that was asked for by hand is none of the schedule', async () => {
    await slow()
    await runFlow(room.call(), room.agent, 'shopping')
    const id = await idOf({ every: '1m' })
    await room.move(start + minute)
    expect((await ledger(id))[0]).toEqual(['fired', null, null])
  })
})

describe('when it goes wrong', () => {
  it('a flow that was removed: each run fails, the schedule stays, and its person gets the card once', async () => {
    const id = await idOf()
    await removeFlow(room.call(), room.agent, 'shopping')
    await room.move(start + 2 * hour)
    expect(await ledger(id)).toEqual([
      ['fired', 'unknown_flow', 'failed'],
      ['fired', 'unknown_flow', 'failed'],
    ])
    expect((await cursor(id)).status).toBe('active')
    expect(await cards(room)).toEqual([['unknown_flow', 2]])
    await promote(room)
    await room.move(start + 3 * hour)
    expect((await ledger(id))[0]).toEqual(['fired', null, 'ok'])
  })

  it('what only a person can mend brings the card at once; a step that failed at the third time', async () => {
    await editAgent(room.call(), room.agent, { autoApprove: ['rate'] })
    const id = await idOf()
    await room.move(start + hour)
    expect(await cards(room)).toEqual([['not_auto_approved', 1]])
    await editAgent(room.call(), room.agent, { autoApprove: ['rate', 'buy'] })
    room.outside.answer = () => answered(500)
    await room.move(start + 4 * hour)
    expect((await ledger(id)).map(([, reason]) => reason)).toEqual([
      'step_failed',
      'step_failed',
      'step_failed',
      'not_auto_approved',
    ])
    expect(await cards(room)).toEqual([['failures', 2]])
  })

  it('pauseAfterFailures pauses it', async () => {
    room.outside.answer = () => answered(500)
    const id = await idOf({ pauseAfterFailures: 2 })
    await room.move(start + 5 * hour)
    expect([(await rows(id)).length, (await cursor(id)).status, (await cursor(id)).reason]).toEqual([
      2,
      'paused',
      'failures',
    ])
  })

  it('a deleted agent ends it', async () => {
    const id = await idOf()
    await deleteAgent(room.call(), room.agent)
    await room.move(start + 2 * hour)
    const stored = (await room.table.list(`S#${id.slice(4)}`, { prefix: 'R#' })).items
    expect(stored.map(({ item }) => [item.outcome, item.reason])).toEqual([['skipped', 'agent_deleted']])
    expect(await flowRunsStored()).toBe(0)
  })
  const flowRunsStored = async () => (await room.table.find('flowRunsByAgent', room.agent)).items.length
})

describe('what its end tells', () => {
  it('goes where deliver says: what the last step gave, or why it stopped', async () => {
    room.outside.answer = () => answered(200, {}, 'Two orders.')
    await idOf({ deliver: ['webhook:https://hook.test/x'] })
    await room.move(start + hour)
    await room.settle()
    const sent = () =>
      room.outside.sent.flatMap((one) => ('url' in one && one.url.includes('hook') ? [JSON.parse(one.body!)] : []))
    expect(sent()).toHaveLength(1)
    expect(sent()[0].data).toMatchObject({ result: 'ok', summary: 'Two orders.', answer: null, name: 'Shopping' })
    await removeFlow(room.call(), room.agent, 'shopping')
    await room.move(start + 2 * hour)
    await room.settle()
    expect(sent()[1].data).toMatchObject({
      result: 'failed',
      summary: expect.stringContaining('no flow named "shopping"'),
    })
  })

  it('is a note in a channel that is named, and nowhere else by itself', async () => {
    const notes = async () =>
      (await listMessages(room.call(), room.session, { limit: 10, after: null })).items.map(({ text }) => text)
    const id = await idOf()
    await room.move(start + hour)
    expect(await notes()).toEqual([])
    await editSchedule(room.call(), id, { channel: room.session }, null)
    await room.move(start + 2 * hour)
    expect(await notes()).toEqual(['Scheduled run: Shopping (ok)'])
  })
})

describe('changing one', () => {
  it('another flow, and everything but the flow', async () => {
    const id = await idOf()
    await promote(room, [order[0]!], { name: 'rates' })
    expect((await editSchedule(room.call(), id, { flow: 'rates' }, null)).definition.flow).toBe('rates')
    const later = await editSchedule(room.call(), id, { every: '1m' }, null)
    expect([later.definition.kind, later.definition.flow, later.definition.conv]).toEqual(['flow', 'rates', null])
    await room.move(start + minute)
    expect((await latest(room)).flow).toBe('rates')
  })

  it('its time also when the flow is gone', async () => {
    const id = await idOf()
    await removeFlow(room.call(), room.agent, 'shopping')
    await editSchedule(room.call(), id, { every: '2h' }, null)
    expect(await faultsOf(editSchedule(room.call(), id, { flow: 'other' }, null))).toHaveProperty('flow')
  })

  it('stays what it is: no prompt for a flow, no flow for a prompt, and neither without', async () => {
    const id = await idOf()
    expect(await faultsOf(editSchedule(room.call(), id, { prompt: 'Look.' }, null))).toHaveProperty('prompt')
    expect(await faultsOf(editSchedule(room.call(), id, { flow: null }, null))).toHaveProperty('flow')
    const other = (await addSchedule(room)).definition.id
    expect(await faultsOf(editSchedule(room.call(), other, { flow: 'shopping' }, null))).toHaveProperty('flow')
  })

  it('running, changing and resuming it is for people', async () => {
    await editSettings(room.call(), { agentSessions: true })
    const id = await idOf()
    const as = room.call({ caller: await agentKey(), session: room.session })
    expect(await refusalOf(runNow(as, id))).toBe('person_only')
    expect(await refusalOf(editSchedule(as, id, { every: '2h' }, null))).toBe('person_only')
    await pauseSchedule(as, id, null)
    expect(await refusalOf(resumeSchedule(as, id))).toBe('person_only')
  })
})
