import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'libsql'
import { Unavailable } from '../../ports/table.ts'
import { type EntryLog, fileLog, memoryLog } from './entry-log.ts'
import { schemaSteps, schemaVersion } from './layout.ts'

/** An open store file that this process alone serves. */
export interface StoreFile {
  readonly path: string
  readonly db: Database.Database
  readonly synchronous: 'FULL' | 'NORMAL'
  /** What is durable and not in the tables yet. */
  readonly log: EntryLog
  /** Copies the WAL into the file. The WAL keeps its size: writing over it is cheaper than letting it grow again. */
  checkpoint(): void
  close(): void
}

/** 'Rous', in the header of every file we made: tells our files from another program's. */
const applicationId = 0x526f7573

/** How long a new process waits for one that is just going down. */
const lockWaitMs = 1000

/**
 * Opens the file, creates or checks its schema and locks it.
 *
 * The lock is SQLite's own (`locking_mode=EXCLUSIVE`): it ends with the process, kill -9 included, and leaves nothing
 * to clean up. While a node runs, nobody else can even read the file; when it is off, the file opens with the sqlite3
 * shell.
 *
 * @throws Unavailable when another process serves the file, Error when the file cannot be used: both say which file and
 *         what to do
 */
export function openFile(options: { file: string; synchronous?: 'FULL' | 'NORMAL' }): StoreFile {
  const { file, synchronous = 'FULL' } = options
  const inMemory = file === ':memory:'
  if (!inMemory) createPrivate(file)
  const db = connect(file)
  let log: EntryLog
  try {
    // 8 KB: a group's journal entry takes half the pages it would with SQLite's 4 KB, and is written a quarter faster.
    db.exec('PRAGMA page_size = 8192')
    // Large enough that the working set of a burst stays in memory: a page evicted inside a transaction is written
    // twice.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY')
    db.exec('BEGIN EXCLUSIVE; COMMIT')
    setUp(db, file)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    // A checkpoint in the middle of a burst would stop everything for as long as it takes: the table asks for it when
    // idle.
    db.exec('PRAGMA wal_autocheckpoint = 0')
    log = inMemory ? memoryLog() : fileLog(file)
  } catch (cause) {
    release(db)
    throw explained(file, cause)
  }
  return {
    path: file,
    db,
    synchronous,
    log,
    checkpoint: () => db.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    close() {
      try {
        // Leaving WAL checkpoints, and is the condition for leaving exclusive mode.
        db.exec('PRAGMA journal_mode = DELETE')
      } finally {
        release(db)
      }
    },
  }
}

/**
 * libsql's close() keeps the connection, and with it the lock, until its last statement is collected: so the lock is
 * given back before.
 */
function release(db: Database.Database) {
  try {
    db.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema')
  } catch {
    // Not ours to have, or no database: there is no lock to give back.
  } finally {
    db.close()
  }
}

/** Prompts are nobody else's business: 0600, and the WAL takes the mode of its file. */
function createPrivate(file: string) {
  try {
    // Only ever creates: closing a second descriptor of an existing file would drop this process's locks on it.
    closeSync(openSync(file, 'ax', 0o600))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw explained(file, cause)
  }
}

function connect(file: string): Database.Database {
  try {
    return new Database(file, { timeout: lockWaitMs })
  } catch (cause) {
    throw explained(file, cause)
  }
}

function setUp(db: Database.Database, file: string) {
  const pragma = (name: string) => (db.prepare(`PRAGMA ${name}`).raw().get() as [number])[0]
  const version = pragma('user_version')
  const [objects] = db.prepare('SELECT count(*) FROM sqlite_schema').raw().get() as [number]
  const isNew = objects === 0 && version === 0
  if (!isNew && pragma('application_id') !== applicationId) {
    throw new Error(`${file} belongs to another program: give Rouse a file of its own`)
  }
  if (version > schemaVersion) {
    throw new Error(
      `${file} was written by a newer Rouse (schema ${version}, this one knows ${schemaVersion}): start that version, or restore a copy from before the upgrade`,
    )
  }
  if (version === schemaVersion) return
  const steps = schemaSteps((table) => {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).raw().all() as [string][]
    return columns.length === 0 ? null : columns.map(([name]) => name)
  })
  db.exec(
    `BEGIN IMMEDIATE; ${steps.map((step) => `${step};`).join(' ')} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
  )
}

function isReadOnly(file: string): boolean {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK)
    return false
  } catch (cause) {
    return ['EROFS', 'EACCES', 'EPERM'].includes((cause as NodeJS.ErrnoException).code ?? '')
  }
}

function explained(file: string, cause: unknown): Error {
  const { code, message } = cause as { code?: string; message: string }
  if (code === 'SQLITE_BUSY') {
    return new Unavailable(
      `${file} is served by another running node: stop that one first, or give this one its own file`,
      cause,
    )
  }
  if (code === 'SQLITE_NOTADB') {
    return new Error(`${file} is no SQLite file, or a damaged one: give another file, or restore a copy`, { cause })
  }
  if (code?.startsWith('SQLITE_CORRUPT')) {
    return new Error(
      `${file} is damaged (${message}): restore a copy, or rescue what is left with: sqlite3 ${file} .recover`,
      {
        cause,
      },
    )
  }
  const isDenied = code?.startsWith('SQLITE_READONLY') || code?.startsWith('SQLITE_PERM')
  // On a disk that can only be read SQLite says no more than "disk I/O error".
  if (isDenied || code === 'EACCES' || code === 'EROFS' || isReadOnly(file)) {
    return new Error(`${file} cannot be written: check its owner and mode, and those of its folder`, { cause })
  }
  if (code === 'ENOENT') return new Error(`${file} cannot be created: its folder does not exist`, { cause })
  if (code?.startsWith('SQLITE_') || code !== undefined || message.startsWith('ConnectionFailed')) {
    return new Error(`${file} cannot be opened (${message}): check the path, its mode and the free space`, { cause })
  }
  return cause as Error
}
