import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { agent, moveTo, read, runs, schedule, session } from '../journeys/actors.ts'
import type { Json } from '../journeys/node.ts'
import { onDesk } from './looking.ts'

const starts = '2026-03-27T07:48:00Z'

onDesk('schedules', starts, (desk) => {
  let made: { agent: Json; main: Json; side: Json }
  const world = async () => {
    if (made === undefined) {
      const assistant = await agent(desk.rouse, { name: 'assistant' })
      made = {
        agent: assistant,
        main: await session(desk.rouse, assistant.id, { title: 'Desk' }),
        side: await session(desk.rouse, assistant.id, { title: 'Morning brief' }),
      }
    }
    return made
  }
  /** A schedule of its own for each test. */
  const scheduled = async (name: string, more: Json = {}): Promise<Json> =>
    schedule(desk.rouse, { name, session: (await world()).side.id, cron: '0 8 * * *', tz: 'Europe/Amsterdam', ...more })
  const shownIds = async (): Promise<Json[]> => (await desk.rouse.ok('GET', '/v1/schedules?limit=100')).data
  const toast = (page: Page, text: string) => page.getByRole('status').getByText(text)

  it('S2-80 the left bar opens the Schedules page', async () => {
    const page = await desk.at('/conversations')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/schedules')
    expect(await page.title()).toBe('Schedules · Rouse')
    await page.getByText('Nothing is scheduled yet').waitFor()
  })

  it('S2-2 New schedule asks for everything, shows the next runs as one types, and makes it', async () => {
    const { side } = await world()
    const page = await desk.at('/schedules')
    await page.getByRole('link', { name: 'New schedule' }).first().click()
    await page.getByLabel('Name').fill('Weekday brief')
    await page.getByLabel('Agent').selectOption({ label: 'assistant' })
    await page.getByLabel('Conversation').selectOption(side.id)
    await page.getByLabel('Prompt', { exact: true }).fill('What changed since yesterday?')
    for (const kind of ['Cron', 'Calendar rule', 'Once', 'Every'])
      await page.getByRole('radio', { name: kind }).waitFor()
    await page.getByLabel('Zone').fill('Europe/Amsterdam')
    const next = page.getByRole('list', { name: 'Next runs' })
    await page.getByLabel('Cron rule').fill('0 7 * * 1-5')
    await next.getByText('Mon 30 Mar 07:00 +02:00').waitFor()
    await page.getByText('At 07:00, Monday through Friday').waitFor()
    await page.getByLabel('Cron rule').fill('30 2 * * *')
    await page.getByText('does not exist in Europe/Amsterdam, where the clock goes forward').waitFor()
    await page.getByLabel('Cron rule').fill('*/5 * * * *')
    await page.getByText('It would be refused').waitFor()
    await page.getByLabel('Cron rule').fill('7 25 * * *')
    await page.getByText('In the cron "7 25 * * *", hour "25": a value is 0 to 23').waitFor()
    await page.getByLabel('Cron rule').fill('0 7 * * 1-5')
    await next.getByText('Mon 30 Mar 07:00 +02:00').waitFor()
    await page.getByRole('radio', { name: 'A script' }).check()
    await page.getByLabel('Script', { exact: true }).fill('checks/new-calls.sh')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByRole('heading', { name: 'Weekday brief', level: 1 }).waitFor()
    const [stored] = await shownIds()
    expect(stored).toMatchObject({
      name: 'Weekday brief',
      session: side.id,
      prompt: 'What changed since yesterday?',
      cron: '0 7 * * 1-5',
      tz: 'Europe/Amsterdam',
      check: { script: 'checks/new-calls.sh' },
    })
    // A rule that is not valid is refused by the preview too.
    desk.heard(/422 .*\/v1\/schedules\/preview/)
  })

  it('makes one by calendar rule, one for once and one that repeats', async () => {
    const page = await desk.at('/schedules/new')
    const create = async (name: string, fill: () => Promise<void>): Promise<Json> => {
      await page.goto(`${desk.rouse.url}/console/schedules/new`)
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Prompt', { exact: true }).fill('Look.')
      await fill()
      await page.getByRole('list', { name: 'Next runs' }).getByRole('listitem').first().waitFor()
      await page.getByRole('button', { name: 'Create schedule' }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      return (await shownIds()).find((one) => one.name === name)
    }
    const rule = await create('Month end', async () => {
      await page.getByRole('radio', { name: 'Calendar rule' }).check()
      await page.getByRole('button', { name: 'Last weekday of the month' }).click()
    })
    expect(rule).toMatchObject({ rrule: expect.stringContaining('BYSETPOS=-1'), cron: null })
    const once = await create('Renewal', async () => {
      await page.getByRole('radio', { name: 'Once' }).check()
      await page.getByLabel('Day and time').fill('2026-11-02T09:00')
    })
    expect(once.next[0].at).toBe('2026-11-02T08:00:00.000Z')
    const every = await create('Watch', async () => {
      await page.getByRole('radio', { name: 'Every', exact: true }).check()
      await page.getByRole('button', { name: '12 hours' }).click()
    })
    expect(every).toMatchObject({ every: expect.stringMatching(/12|PT12H/) })
  })

  it('keeps what was typed when the server refuses, says why, and leads there', async () => {
    const page = await desk.at('/schedules/new')
    await page.getByLabel('Name').fill('Too often')
    await page.getByLabel('Prompt', { exact: true }).fill('Look.')
    await page.getByLabel('Cron rule').fill('*/5 * * * *')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByText('Not saved.').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('refused')
    expect(await page.getByLabel('Name').inputValue()).toBe('Too often')
    expect((await shownIds()).map(({ name }) => name)).not.toContain('Too often')
    desk.heard(/422/)
  })

  it('runs one now, without moving its next time', async () => {
    const one = await scheduled('Run me')
    const page = await desk.at('/schedules')
    await page.getByRole('button', { name: 'Run now: Run me' }).click()
    await toast(page, 'Run me runs now').waitFor()
    expect(await runs(desk.rouse, one.id)).toMatchObject([{ trigger: 'manual', outcome: 'fired' }])
    expect((await read(desk.rouse, one.id)).nextAt).toBe(one.nextAt)
  })

  it('pauses and resumes one, and shows no next time meanwhile', async () => {
    const one = await scheduled('Pause me')
    const page = await desk.at('/schedules')
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Pause me', exact: true }) })
    await page.getByRole('button', { name: 'Pause: Pause me' }).click()
    await row.getByText('no next run').waitFor()
    expect((await read(desk.rouse, one.id)).status).toBe('paused')
    await page.getByRole('link', { name: 'Paused' }).click()
    await row.getByText('paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Resume: Pause me' }).click()
    await page.getByText('None like that').waitFor()
    expect((await read(desk.rouse, one.id)).status).toBe('active')
  })

  it('edits name, prompt, time, zone and conversation, and nothing else', async () => {
    const { main } = await world()
    const one = await scheduled('Edit me', { note: 'stays', maxRuns: 9 })
    const page = await desk.at('/schedules')
    await page.getByRole('link', { name: 'Edit of Edit me' }).click()
    await page.getByLabel('Name').fill('Edited')
    await page.getByLabel('Prompt', { exact: true }).fill('Another prompt.')
    await page.getByLabel('Cron rule').fill('15 9 * * *')
    await page.getByLabel('Zone').fill('America/New_York')
    await page.getByLabel('Conversation').selectOption(main.id)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Edited', level: 1 }).waitFor()
    expect(await read(desk.rouse, one.id)).toMatchObject({
      name: 'Edited',
      prompt: 'Another prompt.',
      cron: '15 9 * * *',
      tz: 'America/New_York',
      session: main.id,
      note: 'stays',
      maxRuns: 9,
    })
  })

  it('asks before it deletes, and deletes', async () => {
    const one = await scheduled('Delete me')
    const page = await desk.at('/schedules')
    const remove = page.getByRole('button', { name: 'Delete: Delete me' })
    await remove.click()
    await page.getByRole('dialog', { name: 'Delete Delete me?' }).getByRole('button', { name: 'Keep' }).click()
    expect((await desk.rouse.call('GET', `/v1/schedules/${one.id}`)).status).toBe(200)
    await remove.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await toast(page, 'Delete me is deleted').waitFor()
    expect((await desk.rouse.call('GET', `/v1/schedules/${one.id}`)).status).toBe(404)
  })

  it('shows a new run, its outcome and the next times without a reload', async () => {
    const one = await scheduled('Watch me', { cron: null, every: '1h', at: '2026-03-27T09:00' })
    const page = await desk.at(`/schedules/${one.id}`)
    await page.getByText('It has not run yet').waitFor()
    await moveTo(desk.rouse, '2026-03-27T10:05:00Z')
    const listed = page.getByRole('list', { name: /^Runs/ }).getByRole('listitem')
    await listed.first().waitFor()
    await listed.nth(2).waitFor()
    expect(String(await listed.first().textContent())).toMatch(/12?1:00|11:00/)
    const slots = page.getByRole('list', { name: 'The last 3 slots and the next 3, in Europe/Amsterdam' })
    await slots.waitFor()
    expect(await slots.getByRole('listitem').count()).toBe(6)
    await page.getByText('In its way').waitFor()
  })

  it('says so when Rouse is away, and goes on by itself when it is back', async () => {
    const page = await desk.at('/schedules')
    await page.getByRole('link', { name: 'Edited', exact: true }).waitFor()
    await page.route('**/v1/**', (route) => route.abort())
    await page.getByText('Rouse does not answer; what you see may be old').waitFor()
    await page.getByRole('link', { name: 'Edited', exact: true }).waitFor()
    await page.unroute('**/v1/**')
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByText('Rouse does not answer; what you see may be old').waitFor({ state: 'detached' })
    desk.heard(/ERR_FAILED/)
  })
})
