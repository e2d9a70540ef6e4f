import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Template } from 'aws-cdk-lib/assertions'
import type { Json } from './synth.ts'

const folder = fileURLToPath(new URL('golden/', import.meta.url))

/** How to take a changed template for the one that was looked at. */
export const howToTake = `The template changed. If that is meant:
  ROUSE_GOLDEN=write npx vitest run test/infra && npx biome format --write test/infra/golden && git diff test/infra/golden
and read what it does to a stack that runs: a new logical id, or a property that replaces a table, takes all that is in it away.`

/** The template, and the one that was last looked at; with ROUSE_GOLDEN=write it becomes that. */
export function golden(name: string, template: Template): { readonly now: Json; readonly known: Json } {
  // The hash of an asset follows from its code, which is not what this looks at.
  const text = JSON.stringify(template.toJSON(), null, 2).replaceAll(/\b[0-9a-f]{64}\b/g, 'asset')
  const path = `${folder}${name}.json`
  if (process.env.ROUSE_GOLDEN === 'write') {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, `${text}\n`)
  }
  return { now: JSON.parse(text), known: existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null }
}
