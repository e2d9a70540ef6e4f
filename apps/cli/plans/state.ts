import { findAccess } from '../../client/access.ts'
import { path } from '../../client/client.ts'
import { transfer } from '../../client/documents.ts'
import { ApiError } from '../../client/errors.ts'
import type { Caller } from '../shell.ts'
import { PlanBusy, type PlanKind } from './plan.ts'

/** Hashes of fields, by name. */
export type Hashes = Readonly<Record<string, string>>

/** What Rouse has of an entry. */
export interface Known {
  readonly kind: PlanKind
  readonly id: string
  /** As the file had it when it was applied. */
  readonly applied: Hashes
  /** As Rouse showed it then: what differs since was changed by somebody else. */
  readonly seen: Hashes
}

/** An entry that is about to be made, written before it is: a run that broke off is found out by the next one. */
export interface Pending {
  readonly kind: PlanKind
  readonly pending: {
    /** The Idempotency-Key of the call. */
    readonly call: string
    /** Epoch ms, by Rouse's clock. */
    readonly at: number
    /** Of the whole body. */
    readonly body: string
    readonly applied: Hashes
  }
}

export type StateEntry = Known | Pending
export const isKnown = (entry: StateEntry | undefined): entry is Known => entry !== undefined && 'id' in entry

export interface State {
  readonly entries: Readonly<Record<string, StateEntry>>
  /** Null: there is no document yet. */
  readonly version: number | null
}

interface AccessOptions {
  readonly url?: string
  readonly key?: string
  readonly data?: string
}

/** Which key of a file is which schedule, kept as a document of the caller: `rouse/plans/<plan>`. */
export class StateStore {
  readonly #access: ReturnType<typeof findAccess>
  readonly #where: string
  readonly #call: Caller<object>['client']['call']

  constructor({ options, io, client }: Caller<object>, plan: string) {
    const { url, key, data } = options as AccessOptions
    this.#access = findAccess({ url, key, dir: data, env: io.env })
    this.#where = path`/v1/documents/${`rouse/plans/${plan}`}`
    this.#call = client.call
  }

  async read(): Promise<State> {
    try {
      // The version first: what is read after it may be newer, and then a write is refused, as it should be.
      const { version } = await this.#call<{ version: number }>('GET', this.#where, { query: { meta: 'true' } })
      const { entries } = JSON.parse((await transfer(this.#access, this.#where, null)).text) as State
      return { entries: entries ?? {}, version }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return { entries: {}, version: null }
      throw error
    }
  }

  /** @throws PlanBusy when somebody else has written it since it was read */
  async write(entries: State['entries'], version: number | null): Promise<State> {
    try {
      const { text } = await transfer(this.#access, this.#where, {
        text: JSON.stringify({ version: 1, entries }),
        contentType: 'application/json',
        headers: version === null ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` },
      })
      return { entries, version: (JSON.parse(text) as { version: number }).version }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'precondition_failed') throw new PlanBusy()
      throw error
    }
  }
}
