import { expect, it } from 'vitest'
import {
  actor,
  agent,
  end,
  letAgentsUseSessions,
  moveBy,
  moveTo,
  say,
  schedule,
  session,
  turnOf,
} from '../journeys/actors.ts'
import { heldRun } from '../journeys/holding.ts'
import { onDesk } from './looking.ts'

onDesk('conversations', '2026-03-27T07:48:00Z', (desk) => {
  it('begins with an agent, then a conversation, from an empty page', async () => {
    const page = await desk.at('/')
    await page.getByRole('button', { name: 'Add an agent' }).click()
    await page.getByLabel('Name').fill('assistant')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('npx rouse attach --agent assistant').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).first().click()
    await page.getByLabel('Title').fill('Desk')
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByRole('heading', { name: 'Desk', level: 1 }).waitFor()
    await page.getByText('Nothing has been said yet').waitFor()
  })

  it('sends a message, shows the turn that runs and the answer below it, without a reload', async () => {
    const { id } = (await desk.rouse.ok('GET', '/v1/sessions')).data[0]
    const page = await desk.at(`/conversations/${id}`)
    await page.getByLabel('Message to assistant').fill('Is the changelog complete?')
    await page.keyboard.press('Enter')
    await page.getByText('One message waits for a worker').waitFor()
    const claimed = await turnOf(desk.rouse, id)
    await page.getByText('A turn runs').waitFor()
    await end(desk.rouse, claimed.turn.id, { answer: 'All but two entries.' })
    await page.getByRole('list', { name: 'Answers' }).getByText('All but two entries.').waitFor()
    await page.getByText('A turn runs').waitFor({ state: 'detached' })
  })

  it('shows what an agent wrote as text, whatever it looks like', async () => {
    const { id } = (await desk.rouse.ok('GET', '/v1/sessions')).data[0]
    await say(desk.rouse, id, '<img src=x onerror="window.ran=1"><script>window.ran=1</script>')
    const page = await desk.at(`/conversations/${id}`)
    await page.getByText('<img src=x onerror=').waitFor()
    expect(await page.evaluate('[window.ran, document.querySelectorAll("#main img").length]')).toEqual([undefined, 0])
    await end(desk.rouse, (await turnOf(desk.rouse, id)).turn.id)
  })

  it('cancels a turn, and its worker is told', async () => {
    const { id } = (await desk.rouse.ok('GET', '/v1/sessions')).data[0]
    await say(desk.rouse, id, 'Count to a million.')
    const { turn } = await turnOf(desk.rouse, id)
    const page = await desk.at(`/conversations/${id}`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('A turn is being cancelled').waitFor()
    expect(await desk.rouse.ok('POST', `/v1/turns/${turn.id}/heartbeat`, {})).toMatchObject({ cancelled: true })
    await end(desk.rouse, turn.id)
  })

  it('S0-46 the header shows how many schedules a conversation has or has made', async () => {
    await letAgentsUseSessions(desk.rouse)
    const who = await actor(desk.rouse, { title: 'Maker' })
    const other = await session(desk.rouse, who.agent.id, { title: 'Other' })
    await schedule(desk.rouse, { session: who.session.id, name: 'Here', at: '2026-03-27T12:00:00Z' })
    await schedule(desk.rouse, { session: other.id, name: 'Elsewhere', at: '2026-03-27T13:00:00Z' }, who.as)
    const page = await desk.at(`/conversations/${who.session.id}`)
    expect(await page.getByRole('button', { name: '⏰ 2 scheduled' }).count()).toBe(1)
  })

  it('S0-47 the next time stands beside the chip', async () => {
    const { session: made } = { session: await session(desk.rouse, (await agent(desk.rouse)).id, { title: 'Timed' }) }
    await schedule(desk.rouse, { session: made.id, at: '2026-03-27T09:48:00Z' })
    const page = await desk.at(`/conversations/${made.id}`)
    await page.getByText(/^next in 2 h/).waitFor()
    await moveBy(desk.rouse, '30m')
    await page.getByText(/^next in 90 min/).waitFor()
  })

  it('S0-48 the chip opens the list', async () => {
    const page = await desk.at('/conversations')
    await page.getByRole('link', { name: 'Maker', exact: true }).click()
    await page.getByRole('button', { name: '2 scheduled' }).click()
    const list = page.getByRole('dialog', { name: 'Scheduled here' })
    await list.getByRole('link', { name: 'Here', exact: true }).waitFor()
    await list.getByText('fires elsewhere').waitFor()
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    expect(await page.evaluate('[document.activeElement.tagName, document.activeElement.textContent]')).toEqual([
      'BUTTON',
      expect.stringContaining('2 scheduled'),
    ])
  })

  it('S0-49 each schedule of the list has a Cancel', async () => {
    const page = await desk.at('/conversations')
    await page.getByRole('link', { name: 'Maker', exact: true }).click()
    await page.getByRole('button', { name: '2 scheduled' }).click()
    await page.getByRole('button', { name: 'Cancel Elsewhere' }).waitFor()
    await page.getByRole('button', { name: 'Cancel Here' }).click()
    await page.getByRole('button', { name: 'Cancel the schedule' }).click()
    await page.getByRole('button', { name: 'Cancel Here' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: '1 scheduled' }).waitFor()
  })

  it('S0-50 the list marks a conversation in which a schedule fires', async () => {
    const made = await session(desk.rouse, (await agent(desk.rouse)).id, { title: 'Fired' })
    await schedule(desk.rouse, { session: made.id, every: '1h', name: 'Hourly' })
    await moveBy(desk.rouse, '1h')
    const page = await desk.at('/conversations')
    const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Fired', exact: true }) })
    await row.getByText('scheduled', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Fired', exact: true }).click()
    const message = page.getByRole('article').filter({ hasText: 'Hourly' })
    await message.getByText('scheduled', { exact: true }).waitFor()
    await message.getByRole('link', { name: 'Hourly' }).waitFor()
  })

  it('asks for a person’s word where the conversation is, and Allow lets the held run go', async () => {
    const { who, made } = await heldRun(desk.rouse)
    const page = await desk.at(`/schedules/${made.id}`)
    await page.getByText('waiting until you write in').first().waitFor()
    await page.goto(`${desk.rouse.url}/console/conversations/${who.session.id}`)
    const asks = page.getByRole('region', { name: 'Waits for your word' })
    await asks.getByRole('button', { name: 'Allow' }).click()
    await asks.waitFor({ state: 'detached' })
    expect((await desk.rouse.ok('GET', `/v1/schedules/${made.id}`)).waitingFor).toBeNull()
  })

  it('denies what an agent asks for', async () => {
    await letAgentsUseSessions(desk.rouse)
    const who = await actor(desk.rouse, { title: 'Planner', mode: 'plan' })
    const target = await session(desk.rouse, who.agent.id, { title: 'Target' })
    const body = { session: target.id, name: 'Asked', prompt: 'Look.', every: '1h' }
    expect((await desk.rouse.call('POST', '/v1/schedules', body, who.as)).status).toBe(202)
    const page = await desk.at(`/conversations/${who.session.id}`)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('region', { name: 'Waits for your word' }).waitFor({ state: 'detached' })
    expect((await desk.rouse.ok('GET', `/v1/schedules?session=${target.id}`)).data).toEqual([])
  })

  it('S3-43 Cancel on a tick’s turn parks the planner, and says why', async () => {
    const made = await session(
      desk.rouse,
      (await agent(desk.rouse, { proactive: { enabled: true, tickSeconds: 300 } })).id,
      { title: 'Proactive' },
    )
    await say(desk.rouse, made.id, 'Keep an eye on the build.')
    await end(desk.rouse, (await turnOf(desk.rouse, made.id)).turn.id)
    const { nextAt } = await desk.rouse.ok('GET', `/v1/sessions/${made.id}/ticks`)
    const page = await desk.at(`/conversations/${made.id}`)
    await page.getByText('It wakes itself').waitFor()
    await moveTo(desk.rouse, nextAt)
    const { turn } = await turnOf(desk.rouse, made.id)
    await page.getByText('A turn runs, for a tick').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('A turn is being cancelled').waitFor()
    await end(desk.rouse, turn.id)
    await page.getByRole('region', { name: 'Ticks' }).getByText('Its turn was cancelled').waitFor()
    await page.getByRole('region', { name: 'Ticks' }).getByText('parked', { exact: true }).waitFor()
  })

  it('parks ticks by hand', async () => {
    const made = await session(
      desk.rouse,
      (await agent(desk.rouse, { proactive: { enabled: true, tickSeconds: 300 } })).id,
      { title: 'Parked' },
    )
    await say(desk.rouse, made.id, 'Keep an eye on the build.')
    await end(desk.rouse, (await turnOf(desk.rouse, made.id)).turn.id)
    const page = await desk.at(`/conversations/${made.id}`)
    await page.getByRole('button', { name: 'Park' }).click()
    await page.getByRole('region', { name: 'Ticks' }).getByText('Parked by hand').waitFor()
  })

  it('pauses, resumes and archives a conversation', async () => {
    const made = await session(desk.rouse, (await agent(desk.rouse)).id, { title: 'Short-lived' })
    const page = await desk.at(`/conversations/${made.id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('idle', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await page.getByText('archived', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Conversations' }).first().click()
    await page.getByRole('link', { name: 'Archived' }).click()
    await page.getByRole('link', { name: 'Short-lived', exact: true }).waitFor()
  })

  it('says so where a conversation does not exist', async () => {
    const page = await desk.at('/conversations/ses_01KMCH0V40MNP6F75WRXR5ZBYZ')
    await page.getByText('This is not here').waitFor()
    desk.heard(/404/)
  })
})
