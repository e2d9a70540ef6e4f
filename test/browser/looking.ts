import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest'
import { RouseNode } from '../journeys/node.ts'
import { chromiumPath } from './chromium.ts'

/** Where pictures of the pages go: for eyes, not for comparison. */
const shots = join(import.meta.dirname, 'shots')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const sizes = {
  phone: { width: 360, height: 740 },
  tablet: { width: 768, height: 1024 },
  desk: { width: 1440, height: 900 },
} as const
export type Size = keyof typeof sizes

/** A browser that is signed in, and what it was heard to complain about. */
export class Desk {
  readonly rouse = new RouseNode()
  #browser: Browser | null = null
  #complaints: string[] = []
  #contexts: BrowserContext[] = []

  async open(clock: string): Promise<void> {
    mkdirSync(shots, { recursive: true })
    await this.rouse.start({ clock, program: inject('program') })
    this.#browser = await chromium.launch({
      executablePath: chromiumPath(),
      // Containers give neither namespaces nor a shared memory of any size.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    })
  }

  /** How `scripts/console-scene.mjs` makes its calls. */
  readonly sceneCall = (
    method: string,
    path: string,
    body?: unknown,
    as: { readonly key?: string; readonly session?: string } = {},
    // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the scene knows, and no type vouches for it
  ): Promise<any> =>
    this.rouse.ok(method, path, body, {
      ...(as.key === undefined ? {} : { key: as.key }),
      ...(as.session === undefined ? {} : { headers: { 'x-rouse-session': as.session } }),
    })

  async close(): Promise<void> {
    await this.#browser?.close()
    await this.rouse.remove()
  }

  /** A window of its own, without cookies. */
  async window(o: { readonly size?: Size; readonly dark?: boolean } = {}): Promise<Page> {
    const context = await this.#browser!.newContext({
      viewport: sizes[o.size ?? 'desk'],
      colorScheme: o.dark ? 'dark' : 'light',
      timezoneId: 'Europe/Amsterdam',
      locale: 'en-GB',
      reducedMotion: 'reduce',
    })
    this.#contexts.push(context)
    context.setDefaultTimeout(20_000)
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.#complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`)
    })
    page.on('pageerror', (error) => this.#complaints.push(`uncaught: ${error.message}`))
    return page
  }

  /** A window in which the node's person is signed in, at a place such as `/schedules`. */
  async at(place: string, o: { readonly size?: Size; readonly dark?: boolean } = {}): Promise<Page> {
    const page = await this.window(o)
    await page.goto(`${this.rouse.url}/console`)
    await signIn(page, this.rouse.key)
    if (place !== '/') await page.goto(`${this.rouse.url}/console${place}`)
    await page.locator('main#main h1').waitFor()
    return page
  }

  /** What the pages complained about since; a test that expects a complaint says which. */
  heard(expected: RegExp | null = null): void {
    const complaints = this.#complaints
    this.#complaints = []
    expect(complaints.filter((text) => expected === null || !expected.test(text))).toEqual([])
  }

  async closeWindows(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    this.#contexts = []
  }

  /**
   * Looks at a place in light, in dark and on a phone: nothing that axe finds (WCAG 2 A and AA, and best practices), nothing that scrolls sideways;
   * and leaves a picture of each.
   */
  async inspect(place: string, name: string, ready: (page: Page) => Promise<unknown>): Promise<void> {
    const page = await this.at(place)
    await ready(page)
    for (const [kind, size, colorScheme] of [
      ['light', 'desk', 'light'],
      ['dark', 'desk', 'dark'],
      ['tablet', 'tablet', 'light'],
      ['phone', 'phone', 'light'],
      ['phone-dark', 'phone', 'dark'],
    ] as const) {
      await page.setViewportSize(sizes[size])
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect([kind, await faultsIn(page)]).toEqual([kind, []])
      // As high as the page is: what sticks to the window then stands where it does in one.
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      await page.setViewportSize({ width: sizes[size].width, height: Math.max(height, sizes[size].height) })
      await page.screenshot({ path: join(shots, `${name}-${kind}.png`) })
    }
  }
}

/** What axe finds, in words; and that nothing is wider than the window. */
export async function faultsIn(page: Page): Promise<string[]> {
  const found = (await page.evaluate(`(async () => {
    ${axe}
    const { violations } = await window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
    return [
      ...violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target.join(' ') + ' ' + n.failureSummary)),
      ...(wide > 0 ? ['the page scrolls sideways by ' + wide + ' px'] : []),
    ]
  })()`)) as string[]
  return found
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Your key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

/** A group of tests with a node whose clock stands at `clock`, and a browser. A complaint of a page fails the test in which it came. */
export function onDesk(subject: string, clock: string, tests: (desk: Desk) => void): void {
  describe(subject, () => {
    const desk = new Desk()
    beforeAll(() => desk.open(clock))
    afterEach(async () => {
      await desk.closeWindows()
      desk.heard()
    })
    afterAll(() => desk.close())
    tests(desk)
  })
}
