import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The browser that the tests drive: what ROUSE_CHROMIUM names, else `chromium` of the PATH. @throws Error that says how to get one */
export function chromiumPath(): string {
  const named = process.env.ROUSE_CHROMIUM
  if (named) {
    if (existsSync(named)) return named
    throw new Error(`ROUSE_CHROMIUM names ${named}, and there is no such file`)
  }
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {
      // The next name.
    }
  }
  throw new Error(
    'the tests of the console need Chromium: `apt-get install chromium` on Debian, or let ROUSE_CHROMIUM name one',
  )
}

/** Before anything is built: without a browser the suite fails, and says why, rather than pass with nothing seen. */
export default function setup(): void {
  chromiumPath()
}
