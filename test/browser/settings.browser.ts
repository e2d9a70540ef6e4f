import { expect, it } from 'vitest'
import { agent } from '../journeys/actors.ts'
import { faultsIn, onDesk, signIn } from './looking.ts'

onDesk('settings', '2026-03-27T07:48:00Z', (desk) => {
  it('turns agents’ reach to other conversations on and off', async () => {
    const page = await desk.at('/settings')
    const reach = page.getByRole('switch', { name: 'Agents may write to' })
    const setting = async () => (await desk.rouse.ok('GET', '/v1/settings')).agentSessions
    expect([await reach.isChecked(), await setting()]).toEqual([false, false])
    await reach.click()
    await page.getByText('Agents may write to other conversations.').waitFor()
    expect([await reach.isChecked(), await setting()]).toEqual([true, true])
    await reach.click()
    await page.getByText('Agents stay in the conversation').waitFor()
    expect(await setting()).toBe(false)
  })

  it('changes an agent’s ticks, limits and tools', async () => {
    const made = await agent(desk.rouse, { name: 'assistant', proactive: { enabled: false } })
    const page = await desk.at('/settings')
    await page.getByRole('link', { name: 'assistant', exact: true }).first().click()
    await page.getByRole('switch', { name: 'Wakes itself' }).click()
    await page.getByLabel('Ticks a day').fill('12')
    await page.getByLabel('Wakes a day').fill('40')
    await page.getByLabel('USD a day').fill('2.5')
    await page.getByLabel('Tools that need no question').fill('search\nread_mail')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('assistant is saved.').waitFor()
    expect(await desk.rouse.ok('GET', `/v1/agents/${made.id}`)).toMatchObject({
      proactive: { enabled: true, maxTicksPerDay: 12 },
      budget: { wakesPerDay: 40, usdPerDay: 2.5 },
      autoApprove: ['search', 'read_mail'],
    })
    await page.getByLabel('Wakes a day').fill('many')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Not saved.').waitFor()
    expect(await page.getByLabel('Wakes a day').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsIn(page)).toEqual([])
    desk.heard(/422/)
  })

  it('sets one’s own limits a day, and shows what is used of them', async () => {
    const page = await desk.at('/settings')
    await page.getByRole('button', { name: 'Set your limits' }).click()
    await page.getByLabel('Wakes a day').fill('100')
    await page.getByLabel('USD a day').fill('7.5')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('0 of 100').waitFor()
    await page.getByText('0 of 7.5').waitFor()
  })

  it('makes a key of an agent that works, shown once, and revokes it', async () => {
    const made = await agent(desk.rouse, { name: 'scout' })
    const page = await desk.at(`/settings/agents/${made.id}`)
    await page.getByRole('button', { name: 'Make a key' }).click()
    const dialog = page.getByRole('dialog', { name: 'The new key' })
    const key = String(await dialog.locator('.secret code').textContent())
    expect((await desk.rouse.call('GET', '/v1/agents', undefined, { key })).status).toBe(200)
    expect(await faultsIn(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: /^Revoke / }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('There is no key.').waitFor()
    expect((await desk.rouse.call('GET', '/v1/agents', undefined, { key })).status).toBe(401)
  })

  it('rotates a key: the new one works, the old one for a while', async () => {
    const made = await agent(desk.rouse, { name: 'rotator' })
    const { key: old } = await desk.rouse.ok('POST', `/v1/agents/${made.id}/keys`, {})
    const page = await desk.at(`/settings/agents/${made.id}`)
    await page.getByRole('button', { name: /^Rotate / }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const key = String(await page.getByRole('dialog', { name: 'The new key' }).locator('.secret code').textContent())
    for (const one of [old, key])
      expect((await desk.rouse.call('GET', '/v1/agents', undefined, { key: one })).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText(/^ends in/).waitFor()
  })

  it('makes a calendar feed that a calendar reads, and revokes it', async () => {
    const page = await desk.at('/settings')
    await page.getByRole('button', { name: 'Make a feed' }).click()
    await page.getByRole('button', { name: 'Make the feed' }).click()
    const url = String(
      await page.getByRole('dialog', { name: 'The feed’s address' }).locator('.secret code').textContent(),
    )
    const feed = await fetch(url)
    expect([feed.status, (await feed.text()).slice(0, 15)]).toEqual([200, 'BEGIN:VCALENDAR'])
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: /^Revoke the feed/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No calendar reads yet').waitFor()
    expect((await fetch(url)).status).toBe(404)
  })

  it('adds a person, whose key signs in and who sees no People', async () => {
    const page = await desk.at('/settings')
    await page.getByRole('button', { name: 'Add a person' }).click()
    await page.getByLabel('Name').fill('second')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    const key = String(
      await page.getByRole('dialog', { name: 'The key of second' }).locator('.secret code').textContent(),
    )
    const other = await desk.window()
    await other.goto(`${desk.rouse.url}/console/settings`)
    await signIn(other, key)
    await other.getByRole('heading', { name: 'Calendar feeds' }).waitFor()
    expect(await other.getByRole('heading', { name: 'People' }).count()).toBe(0)
    await other.getByText('No agent yet').waitFor()
  })

  it('deletes an agent after asking', async () => {
    const made = await agent(desk.rouse, { name: 'leaver' })
    const page = await desk.at(`/settings/agents/${made.id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    expect((await desk.rouse.call('GET', `/v1/agents/${made.id}`)).status).toBe(404)
  })
})
