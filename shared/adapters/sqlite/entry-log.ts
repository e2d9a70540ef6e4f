import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
  writev,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * Where groups of commits become durable before they are filed in the tables: entries with rising numbers, appended one after the other.
 *
 * Writing and syncing happen beside the event loop: SQLite's own commit would stop everything for as long as the disk takes.
 */
export interface EntryLog {
  /** What was appended and not dropped, oldest first. */
  entries(): Iterable<{ readonly n: number; readonly entry: string }>
  /**
   * Appends one entry; the next one may come when this is through. `n` is one more than the last that got through.
   *
   * @returns null when it is done already, otherwise when it is on disk; rejects with what the disk says, and then the entry counts as not
   *          appended, though a crash may bring it back
   */
  append(n: number, entry: string): Promise<void> | null
  /** Bytes that wait to be dropped. */
  readonly size: number
  /** Entries up to this number are needed no more; their room is used again, at once or with a later call. */
  drop(upTo: number): void
  /** @param empty  nothing of it is needed any more: leaves no file behind */
  close(empty: boolean): void
}

/** A log that lives as long as its process, for stores in memory. */
export function memoryLog(): EntryLog {
  let kept: { n: number; entry: string }[] = []
  return {
    entries: () => [...kept],
    append(n, entry) {
      kept.push({ n, entry })
      return null
    },
    get size() {
      return kept.length
    },
    drop(upTo) {
      kept = kept.filter(({ n }) => n > upTo)
    },
    close() {},
  }
}

/**
 * A log in two files beside the store, `<file>-log1` and `<file>-log2`: while what is in one is being filed, the other takes what comes.
 * A file is written again from its beginning once nothing in it is needed, so that most appends need no new blocks.
 */
export function fileLog(file: string): EntryLog {
  const segments = ['1', '2'].map((name) => new Segment(`${file}-log${name}`))
  let current = segments.toSorted((a, b) => b.last - a.last)[0]!
  return {
    *entries() {
      for (const segment of segments.toSorted((a, b) => a.first - b.first)) yield* segment.entries()
    },
    append(n, entry) {
      if (current.size > segmentBytesMax) {
        const other = segments.find((segment) => segment !== current)!
        if (other.isFree) current = other
      }
      return current.append(n, entry)
    },
    get size() {
      return segments.reduce((sum, segment) => sum + segment.size, 0)
    },
    drop(upTo) {
      for (const segment of segments) if (segment.last <= upTo && !segment.isBusy) segment.reset()
    },
    close(empty) {
      for (const segment of segments) segment.close(empty)
    },
  }
}

const segmentBytesMax = 64_000_000
/** What a file may keep when nothing in it is needed. */
const keptBytesMax = 16_000_000

/** Before the first entry: tells the file from another's. */
const magic = Buffer.from('RouseLog1\n\0\0\0\0\0\0', 'latin1')
/** Length and CRC-32 of what follows, then the number, then the text. */
const headBytes = 16

class Segment {
  readonly #path: string
  #fd: number
  /** Numbers of the first and last entry that may be needed; none: last is 0. */
  first = Number.POSITIVE_INFINITY
  last = 0
  /** An append is under way: cutting the file now would leave a hole before it, behind which nobody reads. */
  isBusy = false
  #end = magic.length
  #fileBytes: number

  constructor(path: string) {
    this.#path = path
    this.#fd = openPrivate(path)
    const bytes = readFileSync(this.#fd)
    this.#fileBytes = bytes.length
    if (bytes.length < magic.length) {
      writeSync(this.#fd, magic, 0, magic.length, 0)
      fsyncSync(this.#fd)
      syncFolder(path)
    } else if (!bytes.subarray(0, magic.length).equals(magic)) {
      closeSync(this.#fd)
      throw new Error(`${path} belongs to another program: move it away`)
    }
    for (const { n, end } of entriesIn(bytes)) this.#grow(n, end)
  }

  get size(): number {
    return this.#end - magic.length
  }

  get isFree(): boolean {
    return this.last === 0
  }

  *entries(): Generator<{ n: number; entry: string }> {
    if (this.isFree) return
    const bytes = readFileSync(this.#path)
    for (const { n, at, end } of entriesIn(bytes)) yield { n, entry: bytes.toString('utf8', at, end) }
  }

  append(n: number, entry: string): Promise<void> {
    const record = recordOf(n, entry)
    const length = record[0].length + record[1].length
    const end = this.#end + length
    this.isBusy = true
    return new Promise((resolve, rejected) => {
      const reject = (cause: Error) => {
        this.isBusy = false
        rejected(cause)
      }
      writev(this.#fd, record, this.#end, (failed, written) => {
        if (failed !== null || written < length) return reject(failed ?? new Error('the disk is full'))
        fdatasync(this.#fd, (failed) => {
          if (failed !== null) return reject(failed)
          this.isBusy = false
          this.#grow(n, end)
          resolve()
        })
      })
    })
  }

  reset(): void {
    this.first = Number.POSITIVE_INFINITY
    this.last = 0
    this.#end = magic.length
    if (this.#fileBytes <= keptBytesMax) return
    ftruncateSync(this.#fd, magic.length)
    this.#fileBytes = magic.length
  }

  close(empty: boolean): void {
    closeSync(this.#fd)
    if (empty) rmSync(this.#path, { force: true })
  }

  #grow(n: number, end: number) {
    this.first = Math.min(this.first, n)
    this.last = n
    this.#end = end
    this.#fileBytes = Math.max(this.#fileBytes, end)
  }
}

/** Head and text apart, so that the text is turned into bytes once. */
function recordOf(n: number, entry: string): [Buffer, Buffer] {
  const text = Buffer.from(entry)
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32LE(text.length, 0)
  head.writeBigUInt64LE(BigInt(n), 8)
  head.writeUInt32LE(crc32(text, crc32(head.subarray(8))), 4)
  return [head, text]
}

/**
 * The entries from the beginning of a file, until one is torn, or older than the one before it: what follows is left over from before
 * the file was written again. Only the last append can be torn, and it was answered to nobody.
 */
function* entriesIn(bytes: Buffer): Generator<{ n: number; at: number; end: number }> {
  let before = 0
  for (let at = magic.length; at + headBytes <= bytes.length; ) {
    const end = at + headBytes + bytes.readUInt32LE(at)
    if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return
    const n = Number(bytes.readBigUInt64LE(at + 8))
    if (before !== 0 && n !== before + 1) return
    yield { n, at: at + headBytes, end }
    before = n
    at = end
  }
}

/** Prompts stand in it: only its owner reads it. */
function openPrivate(path: string): number {
  try {
    return openSync(path, 'r+')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    return openSync(path, 'wx+', 0o600)
  }
}

/** A new file's name is durable only when its folder is. */
function syncFolder(path: string) {
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
