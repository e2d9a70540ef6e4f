import { mkdtempSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { build as buildPages } from 'vite'
import type { TestProject } from 'vitest/node'
import { copyDocs } from '../../scripts/docs-page.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** `rouse` with its pages beside it, as the build leaves them. */
    program: string
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds program and pages as they are now, in a folder below the checkout, so that packages are found. */
export default async function setup(project: TestProject): Promise<() => void> {
  const dir = mkdtempSync(join(root, 'node_modules/.cache/rouse-browser-'))
  const dist = join(dir, 'dist')
  await build({
    absWorkingDir: root,
    entryPoints: { rouse: 'apps/cli/bin.ts' },
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  })
  await buildPages({ configFile: join(root, 'vite.config.ts'), build: { outDir: join(dist, 'console') } })
  await copyDocs(join(dist, 'docs'))
  await copyFile(join(root, 'package.json'), join(dir, 'package.json'))
  project.provide('program', join(dist, 'rouse.js'))
  return () => rmSync(dir, { recursive: true, force: true })
}
