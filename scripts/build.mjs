// Bundles the CLI, the worker, the embedded node, the console, the page of /docs and the client with its types into dist/. Runs as `prepare`, right after `npm ci`.
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { build as buildPages } from 'vite'
import { clientTypes } from './client-types.mjs'
import { copyDocs } from './docs-page.mjs'
import { wholeDocument } from './document.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const outdir = `${root}dist`

await rm(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: { rouse: 'apps/cli/bin.ts' },
  outdir,
  bundle: true,
  // `rouse serve` is a chunk of its own: the other commands do not load the engine.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  banner: { js: '#!/usr/bin/env node' },
  logLevel: 'warning',
})
await buildPages({ configFile: `${root}vite.config.ts` })
await copyDocs(`${outdir}/docs`)
await build({
  absWorkingDir: root,
  entryPoints: { client: 'apps/client/connect.ts' },
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  packages: 'external',
  logLevel: 'warning',
})
await writeFile(`${outdir}/client.d.ts`, clientTypes(await wholeDocument()))
await chmod(`${outdir}/rouse.js`, 0o755)

const entry = await readFile(`${outdir}/rouse.js`, 'utf8')
if (!entry.startsWith('#!/usr/bin/env node\n')) throw new Error('dist/rouse.js does not begin with the shebang line')
