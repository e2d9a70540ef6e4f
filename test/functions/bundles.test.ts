import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Our files and others' packages that an entry point loads with its start, and later. */
async function loads(name: string) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`functions/${name}.ts`],
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const packages = (kind: string) =>
    [...new Set(imports.filter((i) => i.external && i.kind === kind).map((i) => i.path))]
      .filter((path) => !path.startsWith('node:'))
      .sort()
  return {
    files: Object.keys(metafile.inputs),
    packages: packages('import-statement'),
    later: packages('dynamic-import'),
  }
}

test.each(['alarm', 'sweep', 'change', 'flow'])(
  '%s starts without zod, hono and the API, and with two clients of AWS',
  async (name) => {
    const { files, packages } = await loads(name)
    expect(files.filter((file) => file.startsWith('shared/api/'))).toEqual([])
    expect(packages.filter((path) => /^(zod|hono|@hono)/.test(path))).toEqual([])
    expect(packages.filter((path) => path.startsWith('@aws-sdk/'))).toEqual([
      '@aws-sdk/client-dynamodb',
      '@aws-sdk/client-sqs',
    ])
  },
)

test.each(['api', 'alarm', 'sweep', 'change', 'flow'])(
  '%s loads clients that few calls need with their first use',
  async (name) => {
    const { later } = await loads(name)
    expect(later).toEqual(expect.arrayContaining(['@aws-sdk/client-scheduler', '@aws-sdk/client-ssm']))
  },
)
