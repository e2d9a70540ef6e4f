import { run } from './main.ts'

// `rouse schedule list | head -1`: whoever read has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exitCode = 0
  // A command that serves or works has an end of its own to come to; the others have nobody left to write to.
  if (!['serve', 'attach'].includes(process.argv[2] ?? '')) process.exit(0)
})
process.stderr.on('error', () => {})

process.exitCode = await run(process.argv.slice(2), process)
