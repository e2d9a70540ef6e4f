import { runCheck } from './check.ts'
import { type HostTools, runHostTool } from './host-tools.ts'
import type { Job, JobEnd, Work } from './jobs.ts'

/**
 * What a worker with a folder does for Rouse: checks, which are scripts in it, and host steps, which are functions of its owner.
 *
 * @param o.cwd    the agent's folder, absolute
 * @param o.tools  null: this worker has none
 */
export function jobWork(o: {
  readonly url: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly tools: HostTools | null
  readonly stderr: NodeJS.WritableStream
}): Work {
  return async (job, stop) => {
    const ending = new AbortController()
    const late = setTimeout(() => ending.abort('late'), job.timeoutSeconds * 1000)
    const onStop = () => ending.abort('stopped')
    stop.addEventListener('abort', onStop)
    if (stop.aborted) onStop()
    try {
      const end = await workOf(job, ending.signal)
      // Whatever the end looks like then, this is why.
      if (ending.signal.reason === 'stopped') return { exit: 143, output: 'stopped by hand in the worker' }
      return ending.signal.reason === 'late' ? timedOut(job, end) : end
    } finally {
      clearTimeout(late)
      stop.removeEventListener('abort', onStop)
    }
  }

  function workOf(job: Job, signal: AbortSignal): Promise<JobEnd> {
    switch (job.kind) {
      case 'check':
        return runCheck({ ...o, job, script: job.script ?? '', signal })
      case 'host_step':
        return runHostTool({ tools: o.tools, job, tool: job.tool ?? '', signal })
      default:
        return Promise.resolve({ exit: 127, output: `this worker does not know jobs of the kind "${job.kind}"` })
    }
  }
}

function timedOut({ timeoutSeconds }: Job, { output }: JobEnd): JobEnd {
  return { exit: 124, output: `timed out after ${timeoutSeconds} s: ${output}` }
}
