import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** A fault planted in a copy of the code: this text of this file reads otherwise. */
export interface Planted {
  readonly file: string
  readonly text: string
  readonly instead: string
}

export interface Bundle {
  /** What a worker thread runs. */
  readonly file: string
  readonly remove: () => void
}

const root = resolve(import.meta.dirname, '../..')

/**
 * The engine and its simulation in one file, so that a thread starts at once.
 *
 * @throws Error when the text of a planted fault is not found exactly once
 */
export async function bundled(planted: Planted | null = null): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'rouse-simulation-'))
  const file = join(folder, 'thread.cjs')
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    await build({
      entryPoints: [join(import.meta.dirname, 'thread.ts')],
      outfile: file,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      sourcemap: 'inline',
      logLevel: 'silent',
      plugins: planted === null ? [] : [planting(planted)],
    })
    return { file, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function planting({ file, text, instead }: Planted): Plugin {
  const path = join(root, file)
  let isPlanted = false
  return {
    name: 'planted fault',
    setup(plugin) {
      plugin.onLoad({ filter: /\.ts$/ }, async ({ path: loaded }) => {
        if (loaded !== path) return null
        const parts = (await readFile(path, 'utf8')).split(text)
        if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times, not once: ${text}`)
        isPlanted = true
        return { contents: parts.join(instead), loader: 'ts' }
      })
      plugin.onEnd(() => {
        if (!isPlanted) throw new Error(`${file} is no part of what is simulated`)
      })
    },
  }
}
