import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'

/**
 * Puts this very `rouse` in front of a PATH, so that commands and checks find it wherever it was started from: `npx rouse` leaves
 * no `rouse` on the PATH.
 *
 * @param program  the script that runs (`process.argv[1]`); one that is not `rouse` as it is shipped is not put anywhere
 */
export function withRouseOnPath(
  env: NodeJS.ProcessEnv,
  program: string | undefined,
): { readonly env: NodeJS.ProcessEnv; remove(): void } {
  if (program === undefined || basename(program) !== 'rouse.js' || process.platform === 'win32')
    return { env, remove() {} }
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bin-'))
  const script = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(program)} "$@"\n`
  writeFileSync(join(dir, 'rouse'), script, { mode: 0o700 })
  return {
    env: { ...env, PATH: [dir, env.PATH].filter((part) => part).join(delimiter) },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
