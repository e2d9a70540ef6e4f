// A week of a made-up desk, told to a node whose clock stands still: what the console's pictures show and its tests look at.

/** When the scene begins, for `rouse serve --clock`: a Monday. */
export const begins = '2026-03-23T05:00:00Z'
/** When it ends: Friday morning in Amsterdam, two days before its clocks go forward. */
const ends = '2026-03-27T07:12:00Z'

const tz = 'Europe/Amsterdam'
const promptsToOthersMax = 30

/**
 * @param call  (method, path, body?, { key?, session? }?) → the answer's body; throws where the call is refused
 * @returns     ids of what was made, by name
 */
export async function playScene(call) {
  await call('PATCH', '/v1/settings', { agentSessions: true })
  await call('PATCH', '/v1/budgets', { wakesPerDay: 120, usdPerDay: 15 })
  const agent = (name, more = {}) => call('POST', '/v1/agents', { name, proactive: { enabled: false }, ...more })
  const assistant = await agent('assistant', {
    proactive: { enabled: true, tickSeconds: 1800, maxTicksPerDay: 24 },
    budget: { wakesPerDay: 60, tokensPerDay: 4_000_000, usdPerDay: 10 },
    autoApprove: ['search_calendar', 'read_mail'],
  })
  const scout = await agent('scout', { budget: { wakesPerDay: 48 } })
  const assistantKey = (await call('POST', `/v1/agents/${assistant.id}/keys`, {})).key
  const scoutKey = (await call('POST', `/v1/agents/${scout.id}/keys`, {})).key
  const open = (of, title, more = {}) => call('POST', '/v1/sessions', { agent: of.id, title, ...more })
  const desk = await open(assistant, 'Desk')
  const brief = await open(assistant, 'Morning brief')
  const release = await open(assistant, 'Release 4.2')
  const prices = await open(scout, 'Price watch', { mode: 'plan' })
  const notes = await open(scout, 'Scratch pad')
  const trip = await open(assistant, 'Trip to Lisbon')

  const schedule = (body, as) => call('POST', '/v1/schedules', { tz, ...body }, as)
  const morning = await schedule({
    name: 'Morning brief',
    session: brief.id,
    cron: '0 8 * * 1-5',
    prompt:
      'Read what the scouts have left under briefs/, check each item against its source, and write the brief: what changed since yesterday, what needs a decision today, and what can wait.',
    note: 'Goes out before the stand-up.',
  })
  const sources = await schedule({
    name: 'Scout the sources',
    agent: scout.id,
    cron: '30 6 * * 1-5',
    prompt:
      'Read the release notes, the status pages and the mailing list since yesterday. Keep the evidence with each item.',
  })
  const nightly = await schedule({
    name: 'Nightly tidy-up',
    agent: assistant.id,
    cron: '30 2 * * *',
    prompt: 'Close what is done, merge what says the same twice, and list what has gone stale.',
    misfire: 'skip',
  })
  const monthEnd = await schedule({
    name: 'Month-end report',
    session: desk.id,
    rrule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=17;BYMINUTE=0',
    prompt: 'Put together what the month has cost and what it has brought, from documents/costs.',
  })
  const flights = await schedule({
    name: 'Flights to Lisbon',
    session: desk.id,
    every: '6h',
    prompt: 'Look for a direct flight in the second week of May.',
  })
  const renewal = await schedule({
    name: 'Renewal reminder',
    session: desk.id,
    at: '2026-11-02T09:00',
    prompt: 'The support contract renews on 1 December; the notice period ends in two weeks.',
  })

  const say = (session, text) => call('POST', `/v1/sessions/${session.id}/messages`, { text })
  const claim = (session) => call('POST', `/v1/sessions/${session.id}/claim`, { leaseSeconds: 7200 })
  const end = (claimed, body) => call('POST', `/v1/turns/${claimed.turn.id}/end`, { outcome: 'ok', ...body })
  const to = (instant) => call('POST', '/v1/clock', { to: instant })
  const fresh = async (of, body) => {
    const claimed = await call('POST', `/v1/agents/${of.id}/claim`, { leaseSeconds: 7200 })
    if (claimed !== null) await end(claimed, body)
  }

  await say(trip, 'Which quarter is quiet in May, and close to the river?')
  await end(await claim(trip), { answer: 'Alcântara: quiet after ten, and the river is a ten-minute walk.' })
  await call('POST', `/v1/sessions/${trip.id}/archive`, {})

  const mornings = [
    [
      '2026-03-23',
      'One thing needs you: the certificate of the status page ends on Thursday. All else is quiet.',
      41_200,
    ],
    [
      '2026-03-24',
      'The certificate is renewed. The mailing list agreed on the new file format; nothing to decide today.',
      38_900,
    ],
    ['2026-03-25', null, 0],
    ['2026-03-26', 'Release 4.2 has two blockers left. The price of the larger machines fell by 8 %.', 52_400],
  ]
  for (const [day, answer, tokens] of mornings) {
    await to(`${day}T05:31:00Z`)
    await fresh(scout, { answer: `Seven sources read, briefs/${day}/scout.md is written.`, tokens: 18_300, usd: 0.11 })
    await to(`${day}T07:01:00Z`)
    const turn = await claim(brief)
    if (answer === null) await end(turn, { outcome: 'failed', summary: 'The mail server did not answer.' })
    else await end(turn, { answer, tokens, usd: tokens / 100_000 })
    await to(`${day}T11:01:00Z`)
    const looked = await claim(desk)
    if (looked !== null && day === '2026-03-23') {
      await end(looked, {
        answer: 'The cheapest direct flight is 142 euro on 12 May; it was 155 last week.',
        tokens: 9_000,
      })
      await call('POST', `/v1/schedules/${flights.id}/pause`, { reason: 'booked' })
    } else if (looked !== null) await end(looked, { outcome: 'nothing_to_do' })
    await to(`${day}T23:00:00Z`)
    await to(new Date(Date.parse(`${day}T01:31:00Z`) + 86_400_000).toISOString())
    await fresh(assistant, { answer: 'Three notes merged, one closed.', tokens: 12_000, usd: 0.07 })
  }

  await to('2026-03-27T05:31:00Z')
  await fresh(scout, { answer: 'Six sources read, one was away.', tokens: 17_100, usd: 0.1 })
  const sender = { key: scoutKey, session: prices.id }
  await say(prices, 'Watch the prices of the machines, and tell the release when one changes by more than 5 %.')
  await end(await claim(prices), { answer: 'I look every two hours and write to Release 4.2 when it matters.' })
  await call('PATCH', `/v1/sessions/${prices.id}`, { mode: 'agent' })
  const watch = await schedule(
    {
      name: 'Price of the large machines',
      session: release.id,
      at: '2026-03-27T06:30:00Z',
      every: '3h',
      prompt: 'Large machines: compare with the plan.',
    },
    sender,
  )
  // An agent may prompt so many times before somebody has to say that it may go on.
  for (let i = 1; i < promptsToOthersMax; i += 1)
    await call('POST', `/v1/sessions/${notes.id}/messages`, { text: `Note ${i}` }, sender)
  await to('2026-03-27T06:40:00Z')
  await call('POST', `/v1/sessions/${notes.id}/archive`, {})
  await to('2026-03-27T07:01:00Z')
  await end(await claim(brief), {
    answer: `Good morning. Three things for today:

1. Release 4.2: both blockers are closed; the notes wait for your read.
2. Clocks go forward on Sunday. The nightly tidy-up has no 02:30 then and runs at 03:00.
3. The support contract: nothing to do before November.`,
    tokens: 47_800,
    usd: 0.48,
  })
  const writer = { key: assistantKey, session: brief.id }
  const group = 'Morning brief 27 Mar'
  for (const card of [
    {
      title: 'The notes of release 4.2 wait for your read',
      body: 'Both blockers were closed last night. The notes are 40 lines; the upgrade guide comes at noon.',
      label: 'decide',
      loop: 'release-4.2',
    },
    {
      title: 'Tell the list that the old format stays until autumn',
      body: 'The draft says when and why, and how to convert. It goes out on Monday unless you stop it.',
      label: 'promise',
      autoSendOn: '2026-03-30',
    },
    {
      title: 'The larger machines cost 8 % less since Thursday',
      body: 'At today’s use that is 31 euro a month. Nothing to do: the bill follows by itself.',
      label: 'money',
      loop: 'machine-prices',
    },
    { title: 'Clocks go forward on Sunday', body: 'The nightly tidy-up runs at 03:00 that day.', label: 'fyi' },
  ])
    await call('POST', '/v1/feed', { group, ...card }, writer)
  await call('PUT', '/v1/documents/costs/march', { total: 412, limit: 500 })
  await call('POST', '/v1/monitors', {
    session: desk.id,
    note: 'The costs of March are over the limit: say where they come from.',
    watch: { document: { path: 'costs/march' } },
    when: 'doc.total > doc.limit',
  })
  await call('POST', '/v1/monitors', {
    session: release.id,
    note: 'Look whether the upgrade guide is there.',
    watch: { time: { at: '2026-03-27T11:00:00Z' } },
  })
  await say(desk, 'What is left before we can ship 4.2?')
  await to('2026-03-27T07:04:00Z')
  const left = await claim(desk)
  await end(left, {
    answer: 'The release notes, and the upgrade guide for those who come from 4.0. I can have a draft of both at noon.',
    tokens: 22_000,
    usd: 0.2,
  })
  await to('2026-03-27T07:09:00Z')
  await say(desk, 'Please do. Keep the guide to one page.')
  await to('2026-03-27T07:10:00Z')
  await claim(desk)
  await say(release, 'Is the changelog complete?')
  await to(ends)
  return {
    agents: { assistant: assistant.id, scout: scout.id },
    sessions: { desk: desk.id, brief: brief.id, release: release.id, prices: prices.id, trip: trip.id },
    schedules: {
      morning: morning.id,
      sources: sources.id,
      nightly: nightly.id,
      monthEnd: monthEnd.id,
      flights: flights.id,
      renewal: renewal.id,
      watch: watch.id,
    },
  }
}
