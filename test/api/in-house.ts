import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNode } from '../../apps/local/node.ts'
import type { IdentityProvider } from '../../shared/api/identity.ts'
import { newSecret } from '../../shared/api/keys.ts'
import type { Rate } from '../../shared/api/rate.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { putKey } from '../../shared/engine/keys.ts'
import { commit } from '../../shared/engine/store.ts'
import { assertAsDocumented } from '../contract/documented.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer is what is under test; no type vouches for it
type Json = any

/** The API of an embedded node in this process: what a journey cannot set or see. */
export async function inHouse(o: {
  readonly rate?: Rate | null
  readonly provider?: IdentityProvider
  readonly at?: string
  readonly env?: Readonly<Record<string, string>>
}) {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-in-house-'))
  const logged: string[] = []
  const lines: string[] = []
  const standingAt = Date.parse(o.at ?? '2026-03-02T09:00:00Z')
  const log = Object.assign(
    (level: string, what: string, ids: object = {}) => {
      lines.push(JSON.stringify({ level, what, ...ids }))
      if (level !== 'debug') logged.push(what)
    },
    { isDebug: true },
  )
  const node = openNode({ dir, standingAt, log, ...o })
  let aheadMs = 0
  const clock = node.world.clock.now
  const { world } = node
  world.clock.now = () => clock() + aheadMs
  const now = world.clock.now()

  async function person(name: string, admin = false): Promise<{ id: string; key: string }> {
    const { key, sha256 } = newSecret(world.ids)
    const made = { id: `per_${world.ids.ulid(now)}`, name, tz: 'UTC', admin, createdAt: now }
    await commit(world, personOps(made, `key_${world.ids.ulid(now)}`, sha256))
    return { id: made.id, key }
  }
  const owner = await person('owner', true)

  return {
    world,
    /** Where the node keeps its files. */
    dir,
    logged,
    /** Lines of the log, whole and of every level. */
    lines,
    move(ms: number): void {
      aheadMs += ms
    },
    owner: owner.id,
    person: async (name: string) => (await person(name)).key,
    /** Another key of a person. */
    async keyOf(person: string): Promise<string> {
      const { key, sha256 } = newSecret(world.ids)
      const row = { id: `key_${world.ids.ulid(now)}`, person, agent: null, owner: person, createdAt: now }
      await commit(world, putKey(row, sha256))
      return key
    },
    /** A call as it is, without a key that nobody gave. */
    request: async (asked: string | Request, init: RequestInit = {}): Promise<Response> =>
      await node.app.request(asked, init),
    async call(
      method: string,
      path: string,
      c: { readonly key?: string; readonly body?: Json; readonly headers?: Record<string, string> } = {},
    ): Promise<{ status: number; body: Json; headers: Headers }> {
      const answer = await node.app.request(path, {
        method,
        headers: {
          authorization: `Bearer ${c.key ?? owner.key}`,
          ...(c.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...c.headers,
        },
        ...(c.body === undefined ? {} : { body: JSON.stringify(c.body) }),
      })
      const text = await answer.text()
      await assertAsDocumented({ method, path, status: answer.status, type: answer.headers.get('content-type'), text })
      return { status: answer.status, body: text === '' ? null : JSON.parse(text), headers: answer.headers }
    },
    async close(): Promise<void> {
      await node.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
