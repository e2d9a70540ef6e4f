import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * CPU seconds that a living process has used, user and system.
 *
 * Differs from `/proc/<pid>/stat` (utime + stime): that counts ticks of 10 ms, and the gate of 0.02 % is 12 ms of a minute. The scheduler's
 * own account in `schedstat` has nanoseconds; only a kernel without it falls back to ticks. A thread that ended meanwhile is not counted.
 */
export function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`)
  if (threads.every((file) => existsSync(file))) {
    return threads.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0) / 1e9
  }
  // The command's name, in parentheses, may hold spaces: fields count from behind it. utime and stime are the 14th and 15th.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
