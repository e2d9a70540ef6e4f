// Takes the pictures of the console that the README shows: a node with a made-up week, in light and in dark, at 360 and at 1280 pixels.
//
//   npm run build && node scripts/console-pictures.mjs
//
// Needs Chromium: the one of the PATH, or what ROUSE_CHROMIUM names.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { begins, playScene } from './console-scene.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = process.argv[2] ?? `${root}dist/rouse.js`
const into = `${root}docs/pictures`
/** Pictures are read on a page that is loaded over a phone too. */
const bytesMax = 200_000

const data = mkdtempSync(join(tmpdir(), 'rouse-pictures-'))
const port = await freePort()
const node = spawn(process.execPath, [program, 'serve', '--port', port, '--data', data, '--clock', begins], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
try {
  const url = `http://127.0.0.1:${port}`
  await answers(url)
  const { key } = JSON.parse(readFileSync(join(data, 'credentials.json'), 'utf8'))
  const scene = await playScene((method, path, body, as = {}) => call(url, method, path, body, { key, ...as }))
  await pictures(url, key, scene)
} finally {
  // It writes its last page of the store when it ends.
  const gone = once(node, 'exit')
  node.kill()
  await gone
  rmSync(data, { recursive: true, force: true })
}

async function pictures(url, key, { sessions, schedules }) {
  mkdirSync(into, { recursive: true })
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none'],
  })
  try {
    for (const [look, width, height, colorScheme] of [
      ['light', 1280, 800, 'light'],
      ['dark', 1280, 800, 'dark'],
      ['phone', 360, 740, 'light'],
      ['phone-dark', 360, 740, 'dark'],
    ]) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme,
        timezoneId: 'Europe/Amsterdam',
        locale: 'en-GB',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await page.goto(`${url}/console`)
      await page.getByLabel('Your key').fill(key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      for (const [name, place, ready, looks] of [
        ['conversation', `/conversations/${sessions.brief}`, 'Three things for today', 'light dark phone'],
        ['approval', `/conversations/${sessions.prices}`, 'needs your word', 'light phone-dark'],
        ['schedules', '/schedules', 'Renewal reminder', 'light phone'],
        ['schedule', `/schedules/${schedules.morning}`, 'In its way', 'light dark phone-dark'],
        ['new-schedule', `/schedules/${schedules.nightly}/edit`, 'does not exist in Europe/Amsterdam', 'light'],
        ['agenda', '/agenda', 'Asked for by', 'light dark'],
        ['feed', '/feed', 'waits to be sent', 'light'],
        ['settings', '/settings', 'You, in all', 'light'],
      ]) {
        if (!looks.split(' ').includes(look)) continue
        await page.goto(`${url}/console${place}`)
        await page.getByText(ready).locator('visible=true').first().waitFor()
        const path = `${into}/console-${name}-${look}.png`
        await page.screenshot({ path })
        const { size } = statSync(path)
        if (size > bytesMax) throw new Error(`${path} has ${size} bytes, expected at most ${bytesMax}`)
        console.log(`${path.slice(root.length)} ${Math.round(size / 1000)} KB`)
      }
      await context.close()
    }
  } finally {
    await browser.close()
  }
}

async function call(url, method, path, body, { key, session }) {
  const answer = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(session === undefined ? {} : { 'x-rouse-session': session }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function answers(url) {
  for (const until = Date.now() + 20_000; ; ) {
    if (
      await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    if (Date.now() > until) throw new Error('the node did not answer within 20 seconds')
    await new Promise((wait) => setTimeout(wait, 50))
  }
}

function freePort() {
  return new Promise((answer) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => answer(String(port)))
    })
  })
}

function chromiumPath() {
  if (process.env.ROUSE_CHROMIUM) return process.env.ROUSE_CHROMIUM
  for (const name of ['chromium', 'chromium-browser', 'google-chrome'])
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    } catch {
      // The next name.
    }
  throw new Error('there is no Chromium: install one, or let ROUSE_CHROMIUM name it')
}
