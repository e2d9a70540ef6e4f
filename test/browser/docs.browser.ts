import { expect, it } from 'vitest'
import { onDesk } from './looking.ts'

onDesk('/docs', '2026-03-02T07:48:00Z', (desk) => {
  it('shows every operation, and asks nobody else for anything', async () => {
    const page = await desk.window()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${desk.rouse.url}/docs`)
    await page.locator('#operations-Schedules-createSchedule').waitFor()
    const document = (await (await fetch(`${desk.rouse.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length
    expect(await page.locator('.opblock').count()).toBe(operations)
    expect(asked.filter((url) => !url.startsWith(desk.rouse.url) && !url.startsWith('data:'))).toEqual([])
    await page.screenshot({ path: 'test/browser/shots/docs-light.png' })
  })

  it('tries a call with a key that is typed in, under the policy of the page', async () => {
    const page = await desk.window({ dark: true })
    await page.goto(`${desk.rouse.url}/docs`)
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.auth-container input').fill(desk.rouse.key)
    await page.locator('.auth-btn-wrapper button[type=submit]').click()
    await page.getByRole('button', { name: 'Close' }).first().click()
    const block = page
      .locator('[id="operations-Agents and people-listAgents"], #operations-Agents_and_people-listAgents')
      .first()
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out' }).click()
    await block.getByRole('button', { name: 'Execute' }).click()
    await block.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
    expect(await block.locator('.live-responses-table').textContent()).toContain('"nextCursor": null')
    await page.screenshot({ path: 'test/browser/shots/docs-dark.png' })
  })

  it('runs no script that stands in the page', async () => {
    const answer = await fetch(`${desk.rouse.url}/docs`)
    expect(answer.headers.get('content-security-policy')).toMatch(/script-src 'self';.*style-src 'self'/)
  })
})
