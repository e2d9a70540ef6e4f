import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'

const statement = /^(import|export) \{([^}]*)\} from ["']([^"']+)["'];?/gmu
const star = /^export \* from ["']([^"']+)["'];?/gmu
const declared = /^export (?:async )?(?:class|function\*?|const|let|var) ([\w$]+)/gmu
const local = /^export \{([^}]*)\}(?! from);?/gmu

/** A process bundles several functions of the same sources: each file is followed once. */
const known = new Map()
const rewritten = new Map()

/**
 * A plugin of esbuild that lets what is imported by way of an index be imported from the file where it stands.
 *
 * Code splitting goes by files: who takes one name from an index starts with everything that any chunk uses of it. It is
 * done to our own files and to packages that say that they have no side effects; what cannot be followed stays as it is.
 */
export const straight = {
  name: 'straight',
  setup(build) {
    /** What a file exports: its own names, those it hands on, and the files of which it hands on everything. */
    const exportsOf = (file) => {
      if (!known.has(file)) known.set(file, readExports(file))
      return known.get(file)
    }
    const readExports = async (file) => {
      const text = await readFile(file, 'utf8')
      const handed = new Map()
      for (const [, word, names, path] of text.matchAll(statement))
        if (word === 'export') for (const { name, as } of namesIn(names)) handed.set(as, { name, path })
      const own = [...text.matchAll(local)].flatMap(([, names]) => namesIn(names).map(({ as }) => as))
      return {
        own: new Set([...own, ...[...text.matchAll(declared)].map(([, name]) => name)]),
        handed,
        stars: [...text.matchAll(star)].map(([, path]) => path),
      }
    }
    /** @returns the file's path; null: it stays outside, or is none of ours and may do something when it is loaded */
    const resolved = async (path, importer) => {
      const found = await build.resolve(path, { importer, resolveDir: dirname(importer), kind: 'import-statement' })
      if (found.external || found.errors.length > 0 || !/\.(?:m?js|ts)$/u.test(found.path)) return null
      return found.path.includes('node_modules') && found.sideEffects !== false ? null : found.path
    }
    /** @returns where a name stands that is imported from `file`; null: it cannot be followed */
    const find = async (file, name) => {
      const { own, handed, stars } = await exportsOf(file)
      if (own.has(name)) return { file, name }
      const on = handed.get(name)
      if (on !== undefined) {
        const next = await resolved(on.path, file)
        return next === null ? null : ((await find(next, on.name)) ?? { file: next, name: on.name })
      }
      for (const path of stars) {
        const next = await resolved(path, file)
        const found = next === null ? null : await find(next, name)
        if (found !== null) return found
      }
      return null
    }

    const rewrite = async (file) => {
      const text = await readFile(file, 'utf8')
      const parts = []
      let from = 0
      for (const match of text.matchAll(statement)) {
        const [whole, word, names, path] = match
        const target = await resolved(path, file)
        if (target === null) continue
        const lines = []
        for (const { name, as } of namesIn(names)) {
          const found = (await find(target, name)) ?? { file: target, name }
          lines.push(`${word} { ${found.name} as ${as} } from ${JSON.stringify(found.file)};`)
        }
        parts.push(text.slice(from, match.index), lines.join('\n'))
        from = match.index + whole.length
      }
      return parts.join('') + text.slice(from)
    }

    build.onLoad(
      { filter: /(?:\/(?:shared|functions)\/.*\.ts|\/node_modules\/@(?:smithy|aws-sdk)\/.*\.js)$/ },
      async ({ path }) => {
        if (!rewritten.has(path)) rewritten.set(path, rewrite(path))
        return { contents: await rewritten.get(path), loader: path.endsWith('.ts') ? 'ts' : 'js' }
      },
    )
  },
}

/** Types leave no import. */
function namesIn(list) {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [name, as = name] = one.split(/ as /u)
      return { name, as }
    })
}
