import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Files, ServedFile } from '../ports/files.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The files of a folder, each read when it is first asked for, and kept: a few pages, never a tree of unknown size. A path is looked up among the names
 * that are there and never on disk, so that none leads out of the folder. A folder that does not exist holds nothing.
 */
export function openFiles(folder: URL): Files {
  const dir = fileURLToPath(folder)
  const kept = new Map<string, ServedFile>()
  let names: ReadonlySet<string> | null = null
  return (path) => {
    names ??= new Set(namesIn(dir))
    if (!names.has(path)) return null
    const known = kept.get(path) ?? served(readFileSync(join(dir, path)), path)
    kept.set(path, known)
    return known
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => extname(name) in types)
      .map((name) => name.split(sep).join('/'))
  } catch {
    return []
  }
}

function served(read: Buffer, name: string): ServedFile {
  const bytes = new Uint8Array(read)
  const gzip = new Uint8Array(gzipSync(bytes, { level: 9 }))
  return {
    bytes,
    gzip: gzip.length < bytes.length * 0.9 ? gzip : null,
    type: types[extname(name)]!,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  }
}
