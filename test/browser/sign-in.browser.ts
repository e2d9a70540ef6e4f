import { expect, it } from 'vitest'
import { faultsIn, onDesk, signIn } from './looking.ts'

onDesk('signing in', '2026-03-02T07:48:00Z', (desk) => {
  it('refuses a wrong key and says where a right one is', async () => {
    const page = await desk.window()
    await page.goto(`${desk.rouse.url}/console`)
    await page.getByLabel('Your key').fill('rsp_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    const fault = page.getByText('this key is not valid')
    await fault.waitFor()
    expect(await page.getByLabel('Your key').getAttribute('aria-invalid')).toBe('true')
    expect(await faultsIn(page)).toEqual([])
    await page.screenshot({ path: 'test/browser/shots/sign-in-light.png' })
    desk.heard(/401/)
  })

  it('keeps the key where no script can read it, and forgets it at sign-out', async () => {
    const page = await desk.at('/schedules')
    const cookies = await page.context().cookies()
    expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
      { httpOnly: true, sameSite: 'Strict' },
    ])
    expect(cookies[0]!.value).not.toContain(desk.rouse.key)
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Your key').waitFor()
    expect(await page.context().cookies()).toEqual([])
  })

  it('leads back to where one was when the key is revoked meanwhile', async () => {
    const { key } = await desk.rouse.ok('POST', '/v1/people', { name: 'second' })
    const page = await desk.window()
    await page.goto(`${desk.rouse.url}/console/schedules`)
    await signIn(page, key)
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    const [held] = (await desk.rouse.ok('GET', '/v1/keys', undefined, { key })).data
    await desk.rouse.ok('DELETE', `/v1/keys/${held.id}`, undefined, { key })
    await signIn(page, desk.rouse.key)
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/schedules')
    desk.heard(/401/)
  })

  it('runs no script that stands in the page: the policy forbids it', async () => {
    const page = await desk.at('/schedules')
    const blocked = await page.evaluate(`new Promise((answer) => {
      document.addEventListener('securitypolicyviolation', (event) => answer(event.effectiveDirective))
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.head.append(script)
    })`)
    expect([blocked, await page.evaluate('window.ran')]).toEqual(['script-src-elem', undefined])
    desk.heard(/Content Security Policy/)
  })
})
