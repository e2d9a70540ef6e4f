import { expect, it } from 'vitest'
import { end, letAgentsUseSessions, read, say, schedule, session, turnOf } from '../journeys/actors.ts'
import type { Json } from '../journeys/node.ts'
import { put, readTrigger, trigger } from '../journeys/triggering.ts'
import { monitor, readMonitor } from '../journeys/watching.ts'
import { onDesk, sizes } from './looking.ts'

const patient = { timeout: 10_000 }

onDesk('the next 24 hours', '2026-03-02T07:30:00Z', (desk) => {
  const { rouse } = desk
  let made: { assistant: Json; scout: Json; desk: Json; sources: Json } | null = null

  /** Two agents, one with a budget, and something of every kind. */
  const scene = async () => {
    if (made !== null) return made
    await letAgentsUseSessions(rouse)
    const assistant = await rouse.ok('POST', '/v1/agents', {
      name: 'assistant',
      budget: { wakesPerDay: 40, tokensPerDay: 500_000, usdPerDay: 5 },
    })
    const scout = await rouse.ok('POST', '/v1/agents', { name: 'scout', proactive: { enabled: false } })
    const at = await session(rouse, assistant.id, { title: 'Desk' })
    const sources = await session(rouse, scout.id, { title: 'Sources' })
    made = { assistant, scout, desk: at, sources }
    await say(rouse, at.id, 'Keep an eye on the build.')
    const { turn } = await turnOf(rouse, at.id)
    await end(rouse, turn.id)
    const tz = 'Europe/Amsterdam'
    await schedule(rouse, { name: 'Morning brief', session: at.id, cron: '0 9 * * 1-5', tz })
    await schedule(rouse, { name: 'Read the lists', session: sources.id, every: '30m' })
    await schedule(rouse, { name: 'Review', session: at.id, at: '2026-03-02T18:00', tz })
    const key = (await rouse.ok('POST', `/v1/agents/${scout.id}/keys`, {})).key
    await rouse.ok(
      'POST',
      '/v1/schedules',
      { name: 'Tell the desk', session: at.id, every: '6h', prompt: 'Tell what changed.' },
      { key, headers: { 'x-rouse-session': sources.id } },
    )
    await monitor(rouse, { session: at.id, watch: { time: { in: '3h' } }, note: 'Remind them of the call.' })
    await trigger(rouse, { name: 'New picks', session: sources.id, on: { document: { path: 'picks' } }, settle: '10m' })
    await put(rouse, 'picks', { n: 1 })
    return made
  }

  it('says that nobody will be woken while nothing is due', async () => {
    await desk.inspect('/agenda', 'agenda-none', (page) => page.getByText('Nobody will be woken').waitFor())
  })

  it('draws everything that will wake somebody, and tells the same as a list', async () => {
    await scene()
    const page = await desk.at('/agenda')
    const rows = page.locator('.rows.agenda > li')
    await expect.poll(() => rows.count(), patient).toBe(7)
    const { data } = await rouse.ok('GET', '/v1/agenda?hours=24')
    await expect
      .poll(() => page.locator('.timeline .lane text:not(.more)').allTextContents(), patient)
      .toEqual(expect.arrayContaining(['assistant', 'scout']))
    const drawn = await page.locator('.timeline .lane .dot').count()
    const counted = (await page.locator('.timeline .lane text.more').allTextContents()).map(Number)
    expect(drawn + counted.reduce((sum, n) => sum + n, 0)).toBe(data.length)
    const listed = await page.locator('.rows.agenda > li .at time').count()
    expect(listed).toBe(data.length)
  })

  it('tells of each who asked, whom it wakes and what it may spend', async () => {
    const { desk: at } = await scene()
    const tz = 'Europe/Amsterdam'
    await schedule(rouse, { name: 'Early look', session: at.id, at: '2026-03-03T06:00', tz })
    const page = await desk.at('/agenda')
    const row = (name: string) => page.locator('.rows.agenda > li', { hasText: name })
    await row('Morning brief').getByText('wakes assistant in Desk').waitFor()
    expect(await row('Morning brief').textContent()).toMatch(/Asked for by\s*you/)
    expect(await row('Morning brief').textContent()).toMatch(
      /May spend\s*40 wakes · 500,000 tokens · \$5\.00 left today/,
    )
    expect(await row('Tell the desk').textContent()).toMatch(/Asked for by\s*scout, for you/)
    expect(await row('Read the lists').textContent()).toMatch(/May spend\s*any amount: no limit is set/)
    expect(await row('Early look').textContent()).toMatch(
      /May spend\s*40 wakes · 500,000 tokens · \$5\.00 of the new day/,
    )
    expect(await row('Read the lists').textContent()).toContain('46 more times')
    await desk.inspect('/agenda', 'agenda', (page) => page.getByText('In order').waitFor())
  })

  it('holds a schedule, shows it on hold, and resumes it', async () => {
    await scene()
    const page = await desk.at('/agenda')
    await page.getByRole('button', { name: 'Hold Morning brief' }).click()
    await page.getByText('Morning brief is on hold').waitFor()
    await page.getByRole('button', { name: 'Resume Morning brief' }).waitFor()
    await expect.poll(() => page.locator('.rows.agenda > li', { hasText: 'Morning brief' }).count(), patient).toBe(0)
    const { data } = await rouse.ok('GET', '/v1/schedules?status=paused')
    expect(data.map(({ name }: Json) => name)).toEqual(['Morning brief'])
    await desk.inspect('/agenda', 'agenda-held', (page) => page.getByText('On hold').waitFor())
    await page.getByRole('button', { name: 'Resume Morning brief' }).click()
    await page.getByRole('button', { name: 'Hold Morning brief' }).waitFor()
    expect((await read(rouse, data[0].id)).status).toBe('active')
  })

  it('stops a schedule and a monitor, after asking', async () => {
    const { desk: at } = await scene()
    const { id } = await monitor(rouse, { session: at.id, watch: { time: { in: '4h' } }, note: 'Ask for the figures.' })
    const page = await desk.at('/agenda')
    await page.getByRole('button', { name: 'Stop Ask for the figures.' }).click()
    await page.getByRole('button', { name: 'Keep' }).click()
    expect((await readMonitor(rouse, id)).status).toBe('armed')
    await page.getByRole('button', { name: 'Stop Ask for the figures.' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop it' }).click()
    await page.getByText('Ask for the figures. is stopped.').waitFor()
    expect((await readMonitor(rouse, id)).status).toBe('cancelled')
    await page.getByRole('button', { name: 'Stop Review' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop it' }).click()
    await page.getByText('Review is stopped.').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Review', exact: true }).count(), patient).toBe(0)
  })

  it('parks a tick', async () => {
    const { desk: at } = await scene()
    const page = await desk.at('/agenda')
    await page.getByRole('button', { name: 'Hold Tick in Desk' }).click()
    await page.getByText('Parked: it does not wake itself').waitFor()
    await expect.poll(() => page.getByText('Tick in Desk').count(), patient).toBe(0)
    expect(await rouse.ok('GET', `/v1/sessions/${at.id}/ticks`)).toMatchObject({ state: 'parked', nextAt: null })
  })

  it('holds a trigger that settles', async () => {
    await scene()
    const page = await desk.at('/agenda')
    await page.getByRole('button', { name: 'Hold New picks' }).click()
    await page.getByRole('button', { name: 'Resume New picks' }).waitFor()
    const { data } = await rouse.ok('GET', '/v1/triggers')
    expect((await readTrigger(rouse, data[0].id)).status).toBe('paused')
    await page.getByRole('button', { name: 'Resume New picks' }).click()
    await page.getByText('New picks goes on').waitFor()
    expect((await readTrigger(rouse, data[0].id)).status).toBe('active')
  })

  it('says of what stands still why, and lets new ones come in without a reload', async () => {
    const { sources } = await scene()
    const page = await desk.at('/agenda')
    await page.getByRole('link', { name: 'Read the lists' }).waitFor()
    await rouse.ok('PATCH', '/v1/settings', { agentSessions: false })
    const held = page.locator('.rows.agenda > li', { hasText: 'Tell the desk' })
    await held.getByText('It would be blocked: agent sessions off.').waitFor()
    await page.getByText(/more stand still as things are/).waitFor()
    await schedule(rouse, { name: 'Just now made', session: sources.id, every: '5h' })
    await page.getByRole('link', { name: 'Just now made' }).waitFor()
    await desk.inspect('/agenda', 'agenda-stands', (page) => page.getByText('It would be blocked').waitFor())
    await rouse.ok('PATCH', '/v1/settings', { agentSessions: true })
  })

  it('is a list that one reads on a phone, all of it with the keyboard', async () => {
    await scene()
    const page = await desk.at('/agenda', { size: 'phone' })
    await page.getByRole('link', { name: 'Read the lists' }).waitFor()
    const widest = await page.evaluate(
      "Math.max(...[...document.querySelectorAll('.rows.agenda *')].map((e) => e.getBoundingClientRect().right))",
    )
    expect(widest).toBeLessThanOrEqual(sizes.phone.width)
    await page.locator('summary', { hasText: '46 more times' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.more-times time').first().waitFor()
    const isHidden = await page.locator('.timeline svg').first().getAttribute('aria-hidden')
    expect(isHidden).toBe('true')
  })
})
