import { afterAll, expect, it } from 'vitest'
import { end, instant, moveBy, now, session, turnOf } from '../journeys/actors.ts'
import { Receiver } from '../journeys/receiver.ts'
import { monitor, put, readMonitor, tool } from '../journeys/watching.ts'
import { onDesk } from './looking.ts'

const patient = { timeout: 10_000 }
/** A server that a tool reads from. The node inherits whom it may reach. */
const shop = await new Receiver().up()
shop.reply = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"usd": 1.08}' })
process.env.ROUSE_ALLOW_HOSTS = shop.host
afterAll(() => shop.down())

onDesk('the page of monitors', '2026-03-02T08:00:00Z', (desk) => {
  const { rouse } = desk
  let made: { agent: { id: string }; session: { id: string } } | null = null

  /** One agent with a conversation and a tool that reads, for all tests of the page. */
  const scene = async () => {
    if (made !== null) return made
    const agent = await rouse.ok('POST', '/v1/agents', { name: 'assistant' })
    made = { agent, session: await session(rouse, agent.id, { title: 'Release 4.2' }) }
    await tool(rouse, made, 'rate', {
      description: 'The rate of the day.',
      parameters: { type: 'object', properties: { pair: { type: 'string' } } },
      steps: [{ http: { method: 'GET', url: `http://${shop.host}/rate` } }],
    })
    return made
  }
  const arm = async (body: object) => monitor(rouse, { session: (await scene()).session.id, ...body })

  it('says what would be here while there is none', async () => {
    await desk.inspect('/monitors', 'monitors-none', (page) => page.getByText('Nobody waits for anything').waitFor())
  })

  it('lists what is waited for, with its condition, its state and what comes next', async () => {
    await arm({
      watch: { document: { path: 'builds/42.json' } },
      when: "doc.state == 'done' || doc.state == 'failed'",
      note: 'Say how build 42 went, and link the log.',
    })
    await arm({ watch: { time: { in: '2h' } }, note: 'Remind them of the review.' })
    await arm({
      watch: { tool: { name: 'rate', args: { pair: 'EUR/USD' }, every: '30m' } },
      note: 'Tell the new rate.',
    })
    const page = await desk.at('/monitors')
    const rows = page.locator('.rows.works > li')
    await expect.poll(() => rows.count(), patient).toBe(3)
    expect(await rows.nth(2).textContent()).toContain('Tells when the document changes and fits')
    expect(await rows.nth(1).textContent()).toContain('11:00 +01:00')
    expect(await rows.nth(0).textContent()).toMatch(/Runs the tool every 30 min.*next look/s)
    await desk.inspect('/monitors', 'monitors', (page) => page.getByText('builds/42.json').waitFor())
  })

  it('shows a fire without a reload, and filters by state', async () => {
    const page = await desk.at('/monitors')
    const row = page.locator('.rows.works > li', { hasText: 'builds/42.json' })
    await row.getByText('armed', { exact: true }).waitFor()
    await put(rouse, 'builds/42.json', { state: 'done', log: 'logs/42' })
    await row.getByText('fired', { exact: true }).waitFor()
    await page.getByRole('navigation', { name: 'Which monitors' }).getByRole('link', { name: 'Armed' }).click()
    await page.getByRole('link', { name: 'A point in time' }).waitFor()
    expect(await page.getByRole('link', { name: 'builds/42.json' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Cancelled' }).click()
    await page.getByText('None like that').waitFor()
  })

  it('shows one monitor of a document: what it waits for, the document as it is now, and what became of it', async () => {
    const { id } = await arm({
      watch: { document: { path: 'prices/large' } },
      when: 'before != null && doc.usd > before.usd * 1.05',
      note: 'Tell the release that the large machines cost more.',
    })
    const page = await desk.at(`/monitors/${id}`)
    await page.getByText('There is no such document yet').waitFor()
    await put(rouse, 'prices/large', { usd: 100 })
    await page.getByRole('heading', { name: 'The document as it is now' }).waitFor()
    await page.getByRole('heading', { name: 'The next look is compared with' }).waitFor()
    expect(await page.locator('pre.value').allInnerTexts()).toEqual(['{\n  "usd": 100\n}', '{\n  "usd": 100\n}'])
    await desk.inspect(`/monitors/${id}`, 'monitor-document', (page) => page.getByText('version 1').waitFor())
    await put(rouse, 'prices/large', { usd: 110 })
    await page.getByText('It came, and the agent was told once.').waitFor()
    await page.getByText('version 2').waitFor()
  })

  it('shows one monitor of a tool: its last look and why that failed, and looks now by hand', async () => {
    const { id } = await arm({
      watch: { tool: { name: 'rate', args: { pair: 'EUR/USD' }, every: '30m' } },
      when: 'output.never > 1',
      note: 'Tell the new rate.',
    })
    const page = await desk.at(`/monitors/${id}`)
    await page.getByText('It has not looked yet.').waitFor()
    await page.getByRole('button', { name: 'Look now' }).click()
    await page.getByRole('heading', { name: 'It answers' }).waitFor()
    expect(await page.locator('pre.value').last().textContent()).toBe('{\n  "usd": 1.08\n}')
    await moveBy(rouse, '30m')
    await page.getByText('The last look failed').waitFor()
    await page.getByText('Last look', { exact: false }).first().waitFor()
    expect(await page.locator('.refused').textContent()).not.toBe('')
    await desk.inspect(`/monitors/${id}`, 'monitor-tool', (page) => page.getByText('The last look failed').waitFor())
  })

  it('S4-47 Cancel asks first, then ends it at once, without a fire', async () => {
    const { id } = await arm({ watch: { document: { path: 'builds/43.json' } } })
    const page = await desk.at('/monitors')
    const cancel = page.getByRole('button', { name: 'Cancel the monitor of builds/43.json' })
    await cancel.click()
    await page.getByRole('button', { name: 'Keep' }).click()
    expect((await readMonitor(rouse, id)).status).toBe('armed')
    await cancel.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the monitor' }).click()
    await page.getByText('The monitor of builds/43.json is cancelled.').waitFor()
    expect((await readMonitor(rouse, id)).status).toBe('cancelled')
    await page.getByRole('link', { name: 'Arm the monitor of builds/43.json again' }).click()
    await page.getByRole('combobox', { name: 'Document' }).waitFor()
    expect(await page.getByRole('combobox', { name: 'Document' }).inputValue()).toBe('builds/43.json')
    expect(await page.getByLabel('Note').inputValue()).toBe('Tell them how it went.')
  })

  it('an expired one says that nobody was told', async () => {
    const { id } = await arm({ watch: { document: { path: 'never' } }, expiresIn: '1h' })
    const page = await desk.at(`/monitors/${id}`)
    await page.getByText('What it waits for has not come.').waitFor()
    await moveBy(rouse, '61m')
    await page.getByText('It did not come in time, and nobody was told.').waitFor()
  })

  it('arms a new one on a document with keyboard alone', async () => {
    await scene()
    const page = await desk.at('/monitors')
    await page.getByRole('link', { name: 'New monitor' }).focus()
    await page.keyboard.press('Enter')
    const path = page.getByRole('combobox', { name: 'Document' })
    await path.focus()
    await page.keyboard.type('builds/44.json')
    await page.keyboard.press('Tab')
    await page.keyboard.type("doc.state == 'done'")
    await page.keyboard.press('Tab')
    await page.keyboard.type('Say how build 44 went.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'builds/44.json' }).waitFor()
    const id = page.url().split('/').at(-1)!
    expect(await readMonitor(rouse, id)).toMatchObject({
      status: 'armed',
      when: "doc.state == 'done'",
      note: 'Say how build 44 went.',
      expiresAt: instant(await now(rouse), 24 * 60),
    })
  })

  it('arms new ones on a time and on a tool', async () => {
    await scene()
    const page = await desk.at('/monitors/new')
    await page.getByRole('radio', { name: 'A time' }).check()
    await page.getByLabel('After', { exact: true }).fill('90m')
    await page.getByLabel('Note').fill('Remind them.')
    await page.getByRole('button', { name: 'Arm monitor' }).click()
    await page.getByRole('heading', { name: 'A point in time' }).waitFor()
    const time = await readMonitor(rouse, page.url().split('/').at(-1)!)
    expect(time.watch).toEqual({ time: { at: instant(await now(rouse), 90) } })
    await page.goto(`${rouse.url}/console/monitors/new`)
    await page.getByRole('radio', { name: 'A tool' }).check()
    await page.getByLabel('Tool', { exact: true }).selectOption('rate')
    await page.getByText('A JSON object with pair.').waitFor()
    await page.getByLabel('Arguments').fill('{"pair": "EUR/USD"}')
    await page.getByLabel('Note').fill('Tell the new rate.')
    await page.getByRole('button', { name: 'Arm monitor' }).click()
    await page.getByRole('heading', { name: 'rate' }).waitFor()
    const watched = await readMonitor(rouse, page.url().split('/').at(-1)!)
    expect(watched.watch).toEqual({ tool: { name: 'rate', args: { pair: 'EUR/USD' }, every: 60 } })
  })

  it('S4-28 a condition that is not valid is refused beside its field, and nothing is armed', async () => {
    await scene()
    const count = async () => (await rouse.ok('GET', '/v1/monitors?limit=100')).data.length
    const before = await count()
    const page = await desk.at('/monitors/new')
    await page.getByRole('combobox', { name: 'Document' }).fill('builds/45.json')
    await page.getByLabel('Condition (optional)').fill('doc.state ==')
    await page.getByLabel('Note').fill('Say it.')
    await page.getByRole('button', { name: 'Arm monitor' }).click()
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.getByLabel('Condition (optional)').getAttribute('aria-invalid'), patient).toBe('true')
    expect(await page.getByLabel('Condition (optional)').inputValue()).toBe('doc.state ==')
    expect(await count()).toBe(before)
    // The refused call stands in the browser's console too.
    desk.heard(/422/)
  })

  it('shows the form of a new monitor', async () => {
    await scene()
    await desk.inspect('/monitors/new', 'monitor-new', (page) =>
      page.getByRole('combobox', { name: 'Document' }).waitFor(),
    )
  })

  it('S4-35 a monitor whose tool is changed says that it ended, and why', async () => {
    const who = await scene()
    const { id } = await arm({ watch: { tool: { name: 'rate', every: '1h' } } })
    const page = await desk.at(`/monitors/${id}`)
    await page.getByText('armed', { exact: true }).waitFor()
    await rouse.ok('DELETE', `/v1/agents/${who.agent.id}/tools/rate`)
    await page.getByText('It ended: its tool does something else now, or is gone.').waitFor()
    const { turn } = await turnOf(rouse, who.session.id)
    await end(rouse, turn.id)
  })
})
