/** Answers as api.md writes them. */

export const agt = 'agt_01JD0000000000000000000001'
export const ses = 'ses_01JD0000000000000000000002'
export const sch = 'sch_01JD0000000000000000000003'

export const schedule = {
  id: sch,
  kind: 'prompt',
  name: 'Morning brief',
  status: 'active',
  endedReason: null,
  agent: agt,
  session: null,
  prompt: 'Write the brief.',
  cron: '0 8 * * 1-5',
  tz: 'Europe/Amsterdam',
  misfire: 'once',
  overlap: 'skip',
  channel: null,
  note: null,
  nextAt: '2026-03-27T07:00:00.000Z',
  next: [
    { at: '2026-03-27T07:00:00.000Z', local: '2026-03-27T08:00:00+01:00[Europe/Amsterdam]', adjusted: null },
    { at: '2026-03-29T01:00:00.000Z', local: '2026-03-29T03:00:00+02:00[Europe/Amsterdam]', adjusted: 'gap' },
    { at: '2026-03-30T06:00:00.000Z', local: '2026-03-30T08:00:00+02:00[Europe/Amsterdam]', adjusted: null },
  ],
  inWords: 'At 08:00, Monday through Friday',
  cronEquivalent: null,
  waitingFor: null,
}

export const run = {
  id: 'run_01JD0000000000000000000004',
  trigger: 'slot',
  nominalAt: '2026-03-26T07:00:00.000Z',
  missedFrom: null,
  missed: 0,
  at: '2026-03-26T07:00:00.100Z',
  outcome: 'fired',
  reason: null,
  result: 'ok',
  message: null,
  turn: null,
  session: ses,
}

export const session = {
  id: ses,
  agent: agt,
  title: null,
  main: true,
  mode: 'agent',
  permission: 'auto',
  state: 'idle',
  waiting: 0,
  scheduled: { count: 2, nextAt: '2026-03-27T07:00:00.000Z' },
  workerConnected: null,
}

export const page = (...data: readonly unknown[]) => ({ body: { data, nextCursor: null } })
/** Rouse's clock, so that relative times do not depend on the day the tests run. */
export const clock = { body: { now: '2026-03-27T06:48:00.000Z' } }
