// Bundles each Lambda entry point into dist/functions/<name>/index.mjs, with everything it needs. The same sources give the same bytes, so
// that a deploy changes a function only when its code did.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

for (const name of ['api', 'alarm', 'sweep', 'change', 'flow']) {
  const outdir = `dist/functions/${name}`
  await rm(root + outdir, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { index: `functions/${name}.ts` },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Clients that are imported where they are used stay chunks of their own: a start loads none that it does not call.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Node's default takes the SDK's CommonJS build, of which nothing can be left out: half as much again.
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    alias: { '@aws-sdk/credential-provider-node': './functions/credentials.ts' },
    metafile: true,
    logLevel: 'warning',
  })
  const whole = Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0)
  console.log(
    `${name.padEnd(6)} ${kb(bytesAtStart(metafile.outputs, `${outdir}/index.mjs`))} at start, ${kb(whole)} in all`,
  )
}

/** What the first call waits for: the entry and what it imports, without what is imported later. */
function bytesAtStart(outputs, entry) {
  const loaded = new Set([entry])
  for (const path of loaded)
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === 'import-statement' && outputs[next]) loaded.add(next)
  return [...loaded].reduce((sum, path) => sum + outputs[path].bytes, 0)
}

function kb(bytes) {
  return `${Math.round(bytes / 1000)} KB`.padStart(7)
}
