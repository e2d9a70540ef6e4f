import { writeFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { wholeDocument } from '../../apps/docs/document.ts'
import type { Place } from './documented.ts'

interface Said {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, object>>
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly responses: Record<string, Said> }>>>
  >
  readonly components: { readonly responses: Readonly<Record<string, Said>> }
}

/**
 * Writes what `documented.ts` reads: `places.json` and `validators.cjs`, the checks of the answers' schemas as code. Compiling them takes
 * longer than most test files do; it is done once for all.
 */
export async function makeContract(dir: string): Promise<void> {
  const document = wholeDocument() as Document
  // The document holds more than schemas. What `format` says of an instant its pattern says too.
  const options = { strict: false, validateSchema: false, validateFormats: false, code: { source: true } } as const
  const ajv = new Ajv2020(options)
  ajv.addSchema(document, 'openapi')
  const names = new Map<string, string>()
  const checkOf = (pointer: string): string => {
    const known = names.get(pointer)
    if (known !== undefined) return known
    const name = `check${names.size}`
    names.set(pointer, name)
    ajv.addSchema({ $ref: encodeURI(`openapi#${pointer}`) }, name)
    return name
  }
  const places: Place[] = []
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { operationId, responses }] of Object.entries(methods)) {
      const answers = Object.entries(responses).map(([status, said]) => {
        const base = said.$ref?.slice(1) ?? `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}`
        const { content } =
          said.$ref === undefined ? said : document.components.responses[said.$ref.split('/').at(-1)!]!
        const checks = Object.keys(content ?? {}).map((media) => [
          media,
          media.endsWith('json') ? checkOf(`${base}/content/${media.replaceAll('/', '~1')}/schema`) : null,
        ])
        return [status, content === undefined ? null : Object.fromEntries(checks)]
      })
      places.push({ path, method, operationId, answers: Object.fromEntries(answers) })
    }
  const code = standaloneCode.default(ajv, Object.fromEntries([...names.values()].map((name) => [name, name])))
  await writeFile(`${dir}/validators.cjs`, code)
  await writeFile(`${dir}/places.json`, JSON.stringify(places))
}
