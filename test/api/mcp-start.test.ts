import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each(['functions/api.ts', 'apps/cli/bin.ts'])(
  '%s loads the MCP library with its first use only',
  async (entry) => {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: { entry },
      bundle: true,
      splitting: true,
      write: false,
      metafile: true,
      outdir: 'dist',
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'error',
    })
    const { outputs } = metafile
    const atStart = new Set(Object.keys(outputs).filter((path) => path.endsWith('/entry.js')))
    for (const path of atStart)
      for (const { path: next, kind } of outputs[path]!.imports)
        if (kind === 'import-statement' && outputs[next] !== undefined) atStart.add(next)
    const packages = (paths: Iterable<string>, kinds: readonly string[]) =>
      [...paths].flatMap((path) =>
        outputs[path]!.imports.filter(({ external, kind }) => external && kinds.includes(kind)).map((one) => one.path),
      )
    const atOnce = packages(atStart, ['import-statement'])
    expect(atOnce.filter((path) => path.startsWith('@modelcontextprotocol/'))).toEqual([])
    expect(packages(Object.keys(outputs), ['import-statement'])).toContain('@modelcontextprotocol/server')
  },
)
