import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'

export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  node: string
  kernel: string
  /** mean of the last minute, before the run: near `cores`, somebody else was measured too */
  load: number
}

export const machine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: release(),
  load: Number((loadavg()[0] ?? 0).toFixed(2)),
})

/** Short hash of HEAD, `-dirty` behind it when the checkout differs; `none` where there is no commit. */
export function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const head = git('rev-parse', '--short', 'HEAD')
    return git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs') === '' ? head : `${head}-dirty`
  } catch {
    return 'none'
  }
}
