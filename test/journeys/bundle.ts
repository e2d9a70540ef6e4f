import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

type Contract = typeof import('../contract/made.ts')

const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = `${root}node_modules/.cache/rouse-journeys`
const keptMs = 3_600_000
const buildMsMax = 60_000

let ready: Promise<string> | null = null

/**
 * The path of `rouse` as it is shipped: one bundle of the sources as they are now, shared by all test files; beside it what openapi.json says of
 * every answer.
 * Running the TypeScript through tsx was tried: a node then takes 3 s to start, the bundle a third of that.
 */
export function rouseProgram(): Promise<string> {
  ready ??= bundle()
  return ready
}

async function bundle(): Promise<string> {
  const dir = `${cache}/${await fingerprint()}`
  const program = `${dir}/dist/rouse.js`
  await mkdir(cache, { recursive: true })
  try {
    // Only one process gets to make the folder; it builds, the others wait for it.
    await mkdir(dir)
  } catch {
    for (let waited = 0; waited < buildMsMax; waited += 20) {
      if (await exists(`${dir}/ready`)) return program
      await sleep(20)
    }
    await rm(dir, { recursive: true, force: true })
    throw new Error(`the bundle in ${dir} was begun by a process that did not finish it; it is removed, run again`)
  }
  try {
    await build({
      absWorkingDir: root,
      entryPoints: { rouse: 'apps/cli/bin.ts' },
      outdir: `${dir}/dist`,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      logLevel: 'warning',
    })
    await copyFile(`${root}package.json`, `${dir}/package.json`)
    await build({
      absWorkingDir: root,
      entryPoints: ['test/contract/made.ts'],
      outfile: `${dir}/made.mjs`,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'warning',
    })
    // As a bundle it loads in a tenth of the time.
    const { makeContract } = (await import(/* @vite-ignore */ pathToFileURL(`${dir}/made.mjs`).href)) as Contract
    await makeContract(dir)
    await writeFile(`${dir}/ready`, '')
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
  await dropOld()
  return program
}

/** Changes with every source file, so that no test ever runs a program of yesterday. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['apps', 'shared', 'test/contract'])
    for (const entry of await readdir(root + folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = `${entry.parentPath}/${entry.name}`
      const { mtimeMs, size } = await stat(path)
      hash.update(`${path} ${mtimeMs} ${size}\n`)
    }
  return hash.digest('hex').slice(0, 20)
}

async function dropOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(`${cache}/${name}`)
    if (Date.now() - mtimeMs > keptMs) await rm(`${cache}/${name}`, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
