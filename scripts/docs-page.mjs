import { copyFile, mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ours = fileURLToPath(new URL('../apps/docs/', import.meta.url))
const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** Puts the page of /docs into a folder, with all that it loads: nothing of it comes from elsewhere. */
export async function copyDocs(outdir) {
  await mkdir(outdir, { recursive: true })
  for (const name of ['index.html', 'page.css', 'page.js']) await copyFile(join(ours, name), join(outdir, name))
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'])
    await copyFile(join(swagger, name), join(outdir, name === name.toUpperCase() ? `swagger-ui.${name}` : name))
}
