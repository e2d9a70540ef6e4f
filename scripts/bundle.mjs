import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { withoutElsewhere } from './elsewhere.mjs'
import { straight } from './straight.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The Lambda entry points: files in functions/. */
export const functionNames = ['api', 'alarm', 'sweep', 'change', 'flow']

/**
 * Bundles one of them, with everything it needs. The same sources give the same bytes, so that a deploy changes a function only when
 * its code did.
 *
 * @returns what the first call waits for (the entry and what it imports, without what is imported later) and all of it, in bytes; and the
 *          sources that each has something of
 */
export async function bundleFunction(name, { outdir, write = true }) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { index: `functions/${name}.ts` },
    outdir,
    write,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What is imported where it is used stays a chunk of its own: a start loads none that it does not call.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Node's default takes the SDK's CommonJS build, of which nothing can be left out: half as much again.
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    alias: { '@aws-sdk/credential-provider-node': './functions/credentials.ts' },
    plugins: [withoutElsewhere, straight],
    metafile: true,
    logLevel: 'warning',
  })
  const { outputs } = metafile
  const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === `functions/${name}.ts`)
  const all = Object.keys(outputs)
  return { start: partOf(outputs, loadedWith(outputs, entry)), whole: partOf(outputs, all) }
}

function loadedWith(outputs, entry) {
  const loaded = new Set([entry])
  for (const path of loaded)
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === 'import-statement' && outputs[next]) loaded.add(next)
  return [...loaded]
}

const partOf = (outputs, paths) => ({
  bytes: paths.reduce((sum, path) => sum + outputs[path].bytes, 0),
  sources: [
    ...new Set(
      paths.flatMap((path) =>
        Object.entries(outputs[path].inputs).flatMap(([source, { bytesInOutput }]) =>
          bytesInOutput > 0 ? [source] : [],
        ),
      ),
    ),
  ].sort(),
})
