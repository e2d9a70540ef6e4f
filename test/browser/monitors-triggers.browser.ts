import { expect, it } from 'vitest'
import { end, session, turnOf } from '../journeys/actors.ts'
import { put, readTrigger, trigger } from '../journeys/triggering.ts'
import { onDesk } from './looking.ts'

const patient = { timeout: 10_000 }

onDesk('the page of triggers', '2026-03-02T08:00:00Z', (desk) => {
  const { rouse } = desk
  let made: { id: string } | null = null
  const conversation = async (): Promise<{ id: string }> => {
    if (made !== null) return made
    const agent = await rouse.ok('POST', '/v1/agents', { name: 'scout' })
    made = (await session(rouse, agent.id, { title: 'Picks' })) as { id: string }
    return made
  }
  const follow = async (name: string, path: string, more: object = {}) =>
    trigger(rouse, { name, session: (await conversation()).id, on: { document: { path } }, ...more })

  it('says what would be here while there is none, and that an agent comes first', async () => {
    await desk.inspect('/monitors/triggers', 'triggers-none', (page) => page.getByText('No trigger yet').waitFor())
    const page = await desk.at('/monitors/triggers/new')
    await page.getByText('An agent comes first').waitFor()
  })

  it('is reached from Monitors, and lists what each follows', async () => {
    await follow('New picks', 'state/picks', { when: 'size(doc.items) > 0', settle: '5m' })
    await trigger(rouse, { name: 'Pushed', session: (await conversation()).id, on: { webhook: { signed: true } } })
    const page = await desk.at('/monitors')
    await page.getByRole('link', { name: 'Every time: triggers' }).click()
    const row = page.locator('.rows > li', { hasText: 'New picks' })
    await row.getByText('When document state/picks changes and size(doc.items) > 0').waitFor()
    await put(rouse, 'state/picks', { items: [1] })
    await row.getByText('something happened; fires').waitFor()
    await desk.inspect('/monitors/triggers', 'triggers', (page) => page.getByText('Pushed').waitFor())
  })

  it('pauses, resumes, runs and deletes one', async () => {
    const { id } = await follow('Tidy', 'state/tidy')
    const page = await desk.at('/monitors/triggers')
    await page.getByRole('button', { name: 'Pause: Tidy' }).click()
    await page.getByText('Tidy is paused').waitFor()
    expect((await readTrigger(rouse, id)).status).toBe('paused')
    await page.getByRole('button', { name: 'Resume: Tidy' }).click()
    await page.getByText('Tidy hears again').waitFor()
    expect((await readTrigger(rouse, id)).status).toBe('active')
    await page.getByRole('button', { name: 'Run now: Tidy' }).click()
    await page.getByText('Tidy runs now.').waitFor()
    await page.getByRole('link', { name: 'Tidy', exact: true }).click()
    await page.getByText('run by hand').waitFor()
    await page.getByRole('button', { name: 'Delete: Tidy' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Tidy is deleted.').waitFor()
    expect((await rouse.call('GET', `/v1/triggers/${id}`)).status).toBe(404)
    // It is looked at once more before one is elsewhere.
    desk.heard(/404/)
  })

  it('shows one with everything that happened and what became of it, as it happens', async () => {
    const { id } = await follow('Watch the state', 'state/now', { maxPerDay: 3 })
    const page = await desk.at(`/monitors/triggers/${id}`)
    await page.getByText('Nothing has happened yet').waitFor()
    await put(rouse, 'state/now', { n: 1 })
    await page.locator('.rows .chip', { hasText: 'fired' }).waitFor()
    const { turn } = await turnOf(rouse, (await conversation()).id)
    await end(rouse, turn.id)
    await page.getByText('ok', { exact: true }).waitFor()
    await put(rouse, 'state/now', { n: 2 })
    await expect.poll(() => page.locator('.rows > li').count(), patient).toBe(2)
    await desk.inspect(`/monitors/triggers/${id}`, 'trigger', (page) => page.getByText('3 a day').waitFor())
  })

  it('creates one on a prefix, and edits it', async () => {
    await conversation()
    const page = await desk.at('/monitors/triggers/new')
    await page.getByLabel('Name').fill('Briefs')
    await page.getByRole('radio', { name: 'All below a prefix' }).check()
    await page.getByRole('textbox', { name: 'Prefix' }).fill('briefs/')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Read the new brief.')
    await page.getByText('Limits').click()
    await page.getByLabel('Settle').fill('1m')
    await page.getByRole('button', { name: 'Create trigger' }).click()
    await page.getByRole('heading', { name: 'Briefs' }).waitFor()
    const id = page.url().split('/').at(-1)!
    expect(await readTrigger(rouse, id)).toMatchObject({ on: { document: { prefix: 'briefs/' } }, settle: '1m' })
    await page.getByRole('link', { name: 'Edit Briefs' }).click()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Read the new brief, and sum it up.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Briefs is saved.').waitFor()
    expect(await readTrigger(rouse, id)).toMatchObject({ prompt: 'Read the new brief, and sum it up.', settle: '1m' })
  })

  it("shows a webhook's address once, and it works", async () => {
    await conversation()
    const page = await desk.at('/monitors/triggers/new')
    await page.getByLabel('Name').fill('Pushed to main')
    await page.getByRole('radio', { name: 'A webhook' }).check()
    await page.getByLabel('Its calls are signed').uncheck()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Look at what was pushed.')
    await page.getByRole('button', { name: 'Create trigger' }).click()
    await page.getByRole('dialog', { name: "The webhook's address" }).waitFor()
    const url = (await page.locator('dialog pre').textContent())!
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByText('Nothing has happened yet').waitFor()
    const answer = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(answer.ok).toBe(true)
    await page.locator('.rows .chip', { hasText: 'fired' }).waitFor()
  })

  it('says beside its field what does not fit', async () => {
    await conversation()
    const page = await desk.at('/monitors/triggers/new')
    await page.getByLabel('Name').fill('Broken')
    await page.getByRole('textbox', { name: 'Document' }).fill('state/broken')
    await page.getByLabel('Condition (optional)').fill('doc.')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('Look.')
    await page.getByRole('button', { name: 'Create trigger' }).click()
    await expect.poll(() => page.getByLabel('Condition (optional)').getAttribute('aria-invalid')).toBe('true')
    desk.heard(/422/)
    await desk.inspect('/monitors/triggers/new', 'trigger-new', (page) => page.getByLabel('Name').waitFor())
  })
})
