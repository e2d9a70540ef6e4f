// Bundles each Lambda entry point into dist/functions/<name>/index.mjs; the API's has the console's pages beside it.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build as buildPages } from 'vite'
import { bundleFunction, functionNames } from './bundle.mjs'
import { copyDocs } from './docs-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

for (const name of functionNames) {
  const outdir = `dist/functions/${name}`
  await rm(root + outdir, { recursive: true, force: true })
  const { start, whole } = await bundleFunction(name, { outdir })
  console.log(`${name.padEnd(6)} ${kb(start.bytes)} at start, ${kb(whole.bytes)} in all`)
}
// Files, and no part of the code: a start reads none of them.
await buildPages({ configFile: `${root}vite.config.ts`, build: { outDir: `${root}dist/functions/api/console` } })
await copyDocs(`${root}dist/functions/api/docs`)

function kb(bytes) {
  return `${Math.round(bytes / 1000)} KB`.padStart(7)
}
