import { expect, it } from 'vitest'
import { actor, agentWithSession, keyOf, letAgentsUseSessions, moveBy, moveTo, schedule } from '../journeys/actors.ts'
import type { Json } from '../journeys/node.ts'
import { onDesk, signIn } from './looking.ts'

const patient = { timeout: 10_000 }

onDesk('the feed', '2026-03-02T07:30:00Z', (desk) => {
  const { rouse } = desk
  const post = async (body: Json, key?: string): Promise<Json> =>
    rouse.ok('POST', '/v1/feed', body, key === undefined ? {} : { key })
  const read = async (id: string): Promise<Json> => rouse.ok('GET', `/v1/feed/${id}`)
  let scout: string | null = null
  const scoutKey = async (): Promise<string> => {
    if (scout !== null) return scout
    const agent = await rouse.ok('POST', '/v1/agents', { name: 'brief-scout' })
    scout = await keyOf(rouse, agent.id)
    return scout
  }
  const group = 'Morning brief 2 Mar'

  it('is quiet under its greeting while there is nothing', async () => {
    await desk.inspect('/feed', 'feed-none', (page) => page.getByText('All quiet').waitFor())
    const page = await desk.at('/feed')
    await page.getByRole('heading', { name: /^Good morning, / }).waitFor()
    await page.getByText('nothing waits for you').waitFor()
  })

  it('S2-70 shows the newest group under the greeting, with one chip per label that filters', async () => {
    const key = await scoutKey()
    await post({ title: 'The old thing', group: 'Morning brief 1 Mar', label: 'fyi' }, key)
    await post(
      { title: 'Support contract renews on 1 December', body: 'Notice ends in two weeks.', group, label: 'money' },
      key,
    )
    await post({ title: 'Two blockers are left', body: 'Both are in review.', group, label: 'risk' }, key)
    await post({ title: 'You promised the guide for Friday', group, label: 'promise' }, key)
    const page = await desk.at('/feed')
    await page.getByRole('region', { name: group }).waitFor()
    const headings = page.locator('main h2')
    expect(await headings.allInnerTexts()).toEqual([group, 'Morning brief 1 Mar'])
    const chips = page.getByRole('navigation', { name: 'Labels' }).getByRole('link')
    expect(await chips.allTextContents()).toEqual(['All', 'money 1', 'promise 1', 'risk 1', 'fyi 1'])
    await chips.filter({ hasText: 'risk' }).click()
    await expect.poll(() => page.locator('.feed-card').count(), patient).toBe(1)
    await page.getByText('Two blockers are left').waitFor()
    await chips.filter({ hasText: 'risk' }).click()
    await expect.poll(() => page.locator('.feed-card').count(), patient).toBe(4)
    await page.locator('main').getByText('brief-scout').first().waitFor()
  })

  it('S2-75 a card that is posted again under its loop moves to the new group and shows how often, without a reload', async () => {
    const key = await scoutKey()
    await post({ title: 'Certificate ends', group: 'Morning brief 1 Mar', label: 'nudge', loop: 'cert' }, key)
    const page = await desk.at('/feed')
    await page.getByText('Certificate ends').waitFor()
    await post({ title: 'Certificate ends on Thursday', group, label: 'nudge', loop: 'cert' }, key)
    const card = page
      .getByRole('region', { name: group })
      .locator('.feed-card', { hasText: 'Certificate ends on Thursday' })
    await card.getByText('seen 2 times').waitFor()
    expect(await page.locator('.feed-card', { hasText: 'Certificate ends' }).count()).toBe(1)
  })

  it('S2-76 a countdown stands with a Stop button, which stops it', async () => {
    const { id } = await post({
      title: 'Answer to the landlord',
      body: 'Yes, from May.',
      group,
      label: 'decide',
      autoSendOn: '2026-03-05',
    })
    const page = await desk.at('/feed')
    const card = page.locator('.feed-card', { hasText: 'Answer to the landlord' })
    await card.getByText('Sent by itself in 3 days').waitFor()
    await desk.inspect('/feed', 'feed', (page) => page.getByText('Sent by itself in 3 days').waitFor())
    await card.getByRole('button', { name: 'Stop: Answer to the landlord' }).click()
    await page.getByText('Stopped: nothing is sent by itself.').waitFor()
    await expect.poll(() => card.getByText('Sent by itself').count(), patient).toBe(0)
    expect((await read(id)).autoSendOn).toBeNull()
  })

  it('puts a card away, and shows what was settled when one asks', async () => {
    const { id } = await post({ title: 'Read the minutes', label: 'fyi' })
    const page = await desk.at('/feed')
    await page.getByRole('button', { name: 'Dismiss: Read the minutes' }).click()
    await page.getByText('Dismissed.').waitFor()
    await expect.poll(() => page.getByText('Read the minutes').count(), patient).toBe(0)
    expect((await read(id)).status).toBe('dismissed')
    await page.getByRole('link', { name: 'Settled ones too' }).click()
    await page.locator('.feed-card', { hasText: 'Read the minutes' }).getByText('dismissed', { exact: true }).waitFor()
    await desk.inspect('/feed?settled=yes', 'feed-settled', (page) => page.getByText('Read the minutes').waitFor())
  })

  it('S2-67 a run that did not happen stands with its reason and Run now, which runs it', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { name: 'Evening sum', agent: agent.id, every: '1h' })
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { workerConnected: false })
    await moveBy(rouse, '1h')
    const page = await desk.at('/feed')
    const card = page.locator('.feed-card', { hasText: 'Your scheduled run "Evening sum" did not run' })
    await card.getByText('did not run', { exact: true }).waitFor()
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { workerConnected: true })
    await card.getByRole('button', { name: /^Run now/ }).click()
    await page.getByText('It runs now.').waitFor()
    const { data } = await rouse.ok('GET', `/v1/schedules/${made.id}/runs`)
    expect(data[0]).toMatchObject({ trigger: 'manual', outcome: 'fired' })
    await rouse.ok('DELETE', `/v1/agents/${agent.id}`)
  })

  it('S2-68 another missed run brings back the same card', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { name: 'Night sum', agent: agent.id, every: '1h' })
    await rouse.ok('PATCH', `/v1/sessions/${session.id}`, { workerConnected: false })
    await moveBy(rouse, '1h')
    const page = await desk.at('/feed')
    const card = page.locator('.feed-card', { hasText: '"Night sum" did not run' })
    await card.waitFor()
    await moveBy(rouse, '1h')
    await card.getByText('seen 2 times').waitFor()
    expect(await card.count()).toBe(1)
    await rouse.ok('DELETE', `/v1/schedules/${made.id}`)
  })

  it('S0-23 Allow on the card of an agent makes the schedule that it asks for, and Deny leaves it out', async () => {
    await letAgentsUseSessions(rouse)
    const planner = await actor(rouse, { title: 'Planning', mode: 'plan' })
    const other = await rouse.ok('POST', '/v1/sessions', { agent: planner.agent.id, title: 'Build' })
    const ask = async (name: string): Promise<Json> =>
      rouse.call(
        'POST',
        '/v1/schedules',
        { name, session: other.id, every: '1h', prompt: 'Look at the build.' },
        planner.as,
      )
    const named = async (name: string): Promise<Json[]> =>
      (await rouse.ok('GET', `/v1/schedules?session=${other.id}`)).data.filter((one: Json) => one.name === name)
    expect((await ask('Build watch')).status).toBe(202)
    const page = await desk.at('/feed')
    const card = page.locator('.feed-card.approval')
    await card.getByText('asks for your word').waitFor()
    await desk.inspect('/feed', 'feed-approval', (page) => page.getByText('asks for your word').waitFor())
    await card.getByRole('button', { name: /^Allow/ }).click()
    await page.getByText('Allowed: it goes out.').waitFor()
    expect(await named('Build watch')).toHaveLength(1)
    expect((await ask('Second watch')).status).toBe(202)
    await card.getByRole('button', { name: /^Deny/ }).click()
    await page.getByText('Denied: it is left out.').waitFor()
    await expect.poll(() => card.count(), patient).toBe(0)
    expect(await named('Second watch')).toEqual([])
  })

  it('shows what agents write as text, however long, and never as markup', async () => {
    const long = `<img src=x onerror="alert(1)"> ${'word '.repeat(300)}the end`
    await post({ title: '<b>Bold</b> claims', body: long })
    const page = await desk.at('/feed')
    const card = page.locator('.feed-card', { hasText: '<b>Bold</b> claims' })
    await card.waitFor()
    expect(await card.locator('img, h2 b, h3 b').count()).toBe(0)
    expect(await card.getByText('the end').count()).toBe(0)
    await card.getByRole('button', { name: /^Show all/ }).click()
    await card.getByText('the end').waitFor()
  })

  it('goes on below where there are many cards', async () => {
    for (let i = 0; i < 55; i++) await post({ title: `Item ${i}`, group: 'Many' })
    const page = await desk.at('/feed')
    await page.getByText('more than 50 cards').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('Item 0', { exact: true }).waitFor()
  })

  it('greets by name and by the hour, and goes with the day', async () => {
    const { key } = await rouse.ok('POST', '/v1/people', { name: 'Ada' })
    await moveTo(rouse, '2026-03-03T08:00:00Z')
    const page = await desk.window()
    await page.goto(`${rouse.url}/console/feed`)
    await signIn(page, key)
    await page.getByRole('heading', { name: 'Good morning, Ada' }).waitFor()
    await page.getByText('Tue 3 Mar · nothing waits for you').waitFor()
    await moveTo(rouse, '2026-03-03T12:00:00Z')
    await page.getByRole('heading', { name: 'Good afternoon, Ada' }).waitFor()
    await moveTo(rouse, '2026-03-03T18:00:00Z')
    await page.getByRole('heading', { name: 'Good evening, Ada' }).waitFor()
  })
})
