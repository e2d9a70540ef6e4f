import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { rouseProgram } from './bundle.ts'
import type { RouseNode } from './node.ts'

/** `rouse attach`, as it is shipped, in a process of its own. */
export class Worker {
  readonly #child: ChildProcess
  #said = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#said += chunk.toString('utf8')
      })
  }

  /** @returns once it listens */
  static async attach(rouse: RouseNode, key: string, argv: readonly string[]): Promise<Worker> {
    const env = { ...process.env, ROUSE_URL: rouse.url, ROUSE_KEY: key }
    const worker = new Worker(spawn(process.execPath, [await rouseProgram(), 'attach', ...argv], { env }))
    for (let n = 0; !worker.said.includes('attached to'); n += 1) {
      if (worker.#child.exitCode !== null || n > 1_000) throw new Error(`the worker did not attach: ${worker.said}`)
      await sleep(20)
    }
    return worker
  }

  /** What it wrote to its standard output and error. */
  get said(): string {
    return this.#said
  }

  /** As Ctrl-C does: what is under way ends first. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    const hung = setTimeout(() => this.#child.kill('SIGKILL'), 25_000)
    await gone
    clearTimeout(hung)
  }
}
