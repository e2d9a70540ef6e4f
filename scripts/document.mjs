import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** openapi.json of the sources as they are, with every operation that there is. */
export async function wholeDocument() {
  // Below the checkout, so that packages are found.
  const dir = await mkdtemp(join(root, 'node_modules/.rouse-document-'))
  try {
    const outfile = join(dir, 'document.mjs')
    await build({
      absWorkingDir: root,
      entryPoints: ['apps/docs/document.ts'],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      logLevel: 'warning',
    })
    const made = await import(pathToFileURL(outfile).href)
    return made.wholeDocument()
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
