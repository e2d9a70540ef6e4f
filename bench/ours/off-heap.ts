import { Conflict, type Item, type Key, type Op, type Stored, type Table } from '../../shared/ports/table.ts'

/**
 * A table whose items lie outside of the JavaScript heap, so that a heap shows what its user holds and not what a store keeps at hand.
 * Strong and complete, durable not at all, and without indexes.
 */
export class OffHeapTable implements Table {
  readonly #rows = new Map<string, { version: number; readonly bytes: Buffer }>()
  /** Called before a commit, while what it writes is held. */
  before: (ops: readonly Op[]) => void = () => {}

  /** Takes over partitions of another table. */
  async copy(from: Table, partitions: readonly string[]): Promise<void> {
    for (const pk of partitions)
      for (let after: string | null = null, more = true; more; more = after !== null) {
        const page: Awaited<ReturnType<Table['list']>> = await from.list(pk, {
          limit: 100,
          ...(after === null ? {} : { after }),
        })
        for (const { key, version, item } of page.items) this.#put(key, item, version)
        after = page.next
      }
  }

  async get(keys: readonly Key[]): Promise<(Stored | null)[]> {
    return keys.map((key) => this.#read(key))
  }

  async list(pk: string, range: Parameters<Table['list']>[1] = {}) {
    const { prefix = '', from = '', to = '\uffff', limit = 100 } = range
    const found = [...this.#rows.keys()]
      .map((name) => name.split('\n') as [string, string])
      .filter(([of, sk]) => of === pk && sk.startsWith(prefix) && sk >= from && sk <= to)
      .sort(([, a], [, b]) => (a < b ? -1 : 1))
      .slice(0, limit)
    return { items: found.map((key) => this.#read(key)!), next: null }
  }

  async find() {
    return { items: [], next: null }
  }

  async commit(ops: readonly Op[]): Promise<void> {
    this.before(ops)
    for (const [i, op] of ops.entries()) {
      if (!('expect' in op)) continue
      const key = keyOf(op)
      const version = this.#rows.get(nameOf(key))?.version
      const { expect } = op
      const holds =
        expect === 'any' ||
        (expect === 'absent' ? version === undefined : expect === 'present' ? version : version === expect)
      if (holds === false || holds === undefined) throw new Conflict(i, key)
    }
    for (const op of ops) {
      const key = keyOf(op)
      const version = (this.#rows.get(nameOf(key))?.version ?? 0) + 1
      if ('put' in op) this.#put(key, op.item, version)
      else if ('patch' in op) this.#put(key, { ...this.#read(key)?.item, ...op.set }, version)
      else if ('delete' in op) this.#rows.delete(nameOf(key))
    }
  }

  #put(key: Key, item: Item, version: number): void {
    this.#rows.set(nameOf(key), { version, bytes: Buffer.from(JSON.stringify(item)) })
  }

  #read(key: Key): Stored | null {
    const row = this.#rows.get(nameOf(key))
    return row === undefined ? null : { key, version: row.version, item: JSON.parse(row.bytes.toString()) as Item }
  }
}

const nameOf = (key: Key): string => key.join('\n')
const keyOf = (op: Op): Key => ('put' in op ? op.put : 'patch' in op ? op.patch : 'delete' in op ? op.delete : op.check)
