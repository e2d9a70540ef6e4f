import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { agent, session } from '../journeys/actors.ts'
import { onDesk } from './looking.ts'

/** Presses Tab until what has the focus is called so; fails after more than a page can have. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = []
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press('Tab')
    const called = String(
      await page.evaluate(`(() => {
        const at = document.activeElement
        return at === document.body ? '' : at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent
      })()`),
    )
    seen.push(called)
    if (name.test(called)) return
  }
  throw new Error(`no Tab leads to ${name}; it leads to ${seen.join(', ')}`)
}

onDesk('with the keyboard alone', '2026-03-27T07:48:00Z', (desk) => {
  it('one signs in, makes a schedule, pauses it and deletes it', async () => {
    const assistant = await agent(desk.rouse, { name: 'assistant' })
    await session(desk.rouse, assistant.id, { title: 'Desk' })
    const page = await desk.window()
    await page.goto(`${desk.rouse.url}/console`)
    await page.getByLabel('Your key').waitFor()
    await tabTo(page, /Your key/)
    await page.keyboard.type(desk.rouse.key)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()

    await tabTo(page, /^Schedules$/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    // Whoever went to a page begins in it, and not in the bar again.
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await tabTo(page, /New schedule/)
    await page.keyboard.press('Enter')
    await tabTo(page, /^Name/)
    await page.keyboard.type('By keyboard')
    await tabTo(page, /^Prompt/)
    await page.keyboard.type('Look.')
    await tabTo(page, /^Cron$/)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await tabTo(page, /^Every/)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('2h')
    await page.getByRole('list', { name: 'Next runs' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keyboard', level: 1 }).waitFor()

    await tabTo(page, /^Pause: By keyboard/)
    await page.keyboard.press('Space')
    await page.getByText('paused', { exact: true }).first().waitFor()
    await tabTo(page, /^Delete: By keyboard/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Delete: By keyboard')
    await page.keyboard.press('Enter')
    await tabTo(page, /^Delete$/)
    await page.keyboard.press('Enter')
    await page.getByText('Nothing is scheduled yet').waitFor()
    expect((await desk.rouse.ok('GET', '/v1/schedules')).data).toEqual([])
  })

  it('the first Tab offers to skip the bar', async () => {
    const page = await desk.at('/schedules')
    await page.reload()
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.getElementById("main").contains(document.activeElement)')).toBe(true)
  })
})
