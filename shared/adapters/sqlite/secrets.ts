import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { Unavailable } from '../../ports/table.ts'
import type { Secrets } from '../../ports/world.ts'

type Stored = Record<string, Record<string, string>>

/**
 * The secrets of an embedded node: one JSON file that only its owner can read, apart from the store, so that a copy of the store
 * carries none. It may be edited by hand while the node is off.
 */
export function openSecrets(file: string): Secrets {
  let known: Stored | null = null
  const load = (): Stored => {
    known ??= read(file)
    return known
  }
  return {
    async put(owner, name, value) {
      const values = valuesOf(load(), owner).set(name, value)
      known = save(file, { ...load(), [owner]: Object.fromEntries(values) })
    },
    async get(owner, name) {
      return valuesOf(load(), owner).get(name) ?? null
    },
    async remove(owner, name) {
      const values = valuesOf(load(), owner)
      if (!values.delete(name)) return false
      known = save(file, { ...load(), [owner]: Object.fromEntries(values) })
      return true
    },
    async names(owner) {
      return [...valuesOf(load(), owner).keys()].sort()
    },
  }
}

/** A map, since an object would answer to the names of its prototype. */
const valuesOf = (all: Stored, owner: string) => new Map(Object.hasOwn(all, owner) ? Object.entries(all[owner]!) : [])

function read(file: string): Stored {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Unavailable(`${file} cannot be read: check its owner and its mode`, cause)
  }
  try {
    return JSON.parse(text) as Stored
  } catch {
    // The parser's own message quotes the text.
    throw new Unavailable(`${file} is not JSON: mend it or move it away`)
  }
}

/** All of it or the old one: a crash leaves no half of a file. */
function save(file: string, all: Stored): Stored {
  const next = `${file}.new`
  const at = openSync(next, 'w', 0o600)
  try {
    writeSync(at, `${JSON.stringify(all, null, 2)}\n`)
    fsyncSync(at)
  } finally {
    closeSync(at)
  }
  renameSync(next, file)
  return all
}
