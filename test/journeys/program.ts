import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { rouseProgram } from './bundle.ts'
import type { RouseNode } from './node.ts'

export interface Said {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the real `rouse` as a process of its own, which finds the node and its key in the environment. */
export async function rouse(
  node: RouseNode,
  argv: readonly string[],
  o: { readonly key?: string } = {},
): Promise<Said> {
  const program = await rouseProgram()
  const env = {
    ...process.env,
    ROUSE_URL: node.url,
    ROUSE_KEY: o.key ?? node.key,
    TZ: 'America/St_Johns',
    NO_COLOR: '1',
  }
  const child = spawn(process.execPath, [program, ...argv], { env, cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString('utf8')
  })
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code) => done({ code, ...said }))
  })
}
