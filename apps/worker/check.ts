import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { constants as os } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { limits } from '../../shared/domain/limits.ts'
import { FirstChars, Tail } from './capture.ts'
import { type ChildEnd, runChild } from './child.ts'
import type { Job, JobEnd } from './jobs.ts'

/**
 * Runs a check: a script in the agent's folder, with the folder's files and a key that reads and holds for this check only (S2-26).
 *
 * What it prints is its output and goes nowhere else; what it says on standard error is passed on, line by line, and the end of it is
 * the output when it fails. When it ends or is stopped, so does all that it started.
 *
 * @returns exit 0..255; 126: not executable or outside the folder, 127: not there, 128 + n: ended by signal n
 */
export async function runCheck(o: {
  readonly url: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly job: Job
  readonly script: string
  readonly stderr: NodeJS.WritableStream
  readonly signal: AbortSignal
}): Promise<JobEnd> {
  const found = await scriptIn(o.cwd, o.script)
  if ('exit' in found) return found
  const stdout = new FirstChars(limits.jobOutputCharsMax)
  const stderr = new Tail()
  const lines = new MarkedLines(`[check ${o.script.replace(/[^\x20-\x7e]/g, '?')}] `)
  try {
    const end = await runChild({
      command: [found.path],
      cwd: o.cwd,
      env: environmentOf(o),
      input: null,
      steering: null,
      stdout: { keep: stdout, to: null },
      stderr: { keep: stderr, to: o.stderr, mark: (chunk) => lines.mark(chunk) },
      signal: o.signal,
      graceMs: 0,
      takesAll: true,
    })
    const exit = exitOf(end)
    return exit === 0 ? { exit, output: stdout.text() } : { exit, output: stderr.end() || reasonOf(end) }
  } catch (error) {
    return unstartable(o.script, error as NodeJS.ErrnoException)
  } finally {
    if (!lines.areWhole && o.stderr.writable) o.stderr.write('\n')
  }
}

/** The script's real path, once it is certain that it lies in the folder and can be run. */
async function scriptIn(cwd: string, script: string): Promise<{ readonly path: string } | JobEnd> {
  const outside = { exit: 126, output: `${script}: a check must lie in the agent's folder` }
  if (script === '' || script.includes('\0') || isAbsolute(script)) return outside
  if (!isInside(cwd, resolve(cwd, script))) return outside
  try {
    const [folder, path] = await Promise.all([realpath(cwd), realpath(resolve(cwd, script))])
    // A link may lead anywhere; what counts is where it ends.
    if (!isInside(folder, path)) return { exit: 126, output: `${script}: leads out of the agent's folder` }
    if (!(await stat(path)).isFile()) return { exit: 126, output: `${script}: is no file` }
    await access(path, constants.X_OK)
    return { path }
  } catch (error) {
    return unstartable(script, error as NodeJS.ErrnoException)
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function unstartable(script: string, { code, message }: NodeJS.ErrnoException): JobEnd {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { exit: 127, output: `${script}: not found in the agent's folder, or the program in its first line is not` }
  if (code === 'EACCES') return { exit: 126, output: `${script}: not executable: chmod +x ${script}` }
  return { exit: 126, output: `${script}: cannot be run: ${code ?? message}` }
}

/** Nothing of the worker's own Rouse, whoever it acts as: the key above all. */
function environmentOf(o: {
  readonly url: string
  readonly env: NodeJS.ProcessEnv
  readonly job: Job
}): NodeJS.ProcessEnv {
  const others = Object.entries(o.env).filter(([name]) => !name.startsWith('ROUSE_'))
  const { key, agent, schedule } = o.job
  return {
    ...Object.fromEntries(others),
    ROUSE_URL: o.url,
    ROUSE_CHECK: '1',
    ROUSE_AGENT: agent,
    ...(key == null ? {} : { ROUSE_KEY: key }),
    ...(schedule == null ? {} : { ROUSE_SCHEDULE: schedule }),
  }
}

const exitOf = ({ code, by }: ChildEnd): number => code ?? 128 + (by === null ? 0 : (os.signals[by] ?? 0))

const reasonOf = ({ code, by }: ChildEnd): string =>
  by === null ? `exit code ${code}, and nothing on standard error` : `ended by ${by}, and nothing on standard error`

/** Puts a mark before each line of what comes piece by piece, for a stream that others write to as well. */
class MarkedLines {
  private readonly name: string
  /** Whether the last line has ended. */
  areWhole = true

  constructor(name: string) {
    this.name = name
  }

  mark(chunk: Buffer): Buffer {
    // Bytes stay as they are, whatever they are.
    const text = chunk.toString('latin1')
    const marked = (this.areWhole ? this.name : '') + text.replace(/\n(?!$)/g, `\n${this.name}`)
    this.areWhole = text.endsWith('\n')
    return Buffer.from(marked, 'latin1')
  }
}
