import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openTable } from '../../shared/adapters/aws/table.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { newSecret } from '../../shared/api/keys.ts'
import { nameFault } from '../../shared/domain/names.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { Conflict, type Key, type Table } from '../../shared/ports/table.ts'
import type { Ids } from '../../shared/ports/world.ts'
import { formatInstant, zoneName } from '../../shared/time/index.ts'
import { type Deployment, deployed } from './deployment.ts'
import { exits, UsageError } from './report.ts'
import type { Io } from './shell.ts'

/**
 * Makes the first person of a deployment, an admin, and prints their key. The key goes to the standard output and nowhere else.
 *
 * @returns the exit code: 0, or 1 when it was done before
 * @throws UsageError  a name, a zone, a region or credentials that cannot be used
 * @throws NotThere    no such stack
 */
export async function bootstrap(
  options: { readonly stack: string; readonly name: string; readonly tz: string; readonly json?: boolean },
  io: Io,
): Promise<number> {
  const fault = nameFault(options.name)
  if (fault !== null) throw new UsageError(`--name: ${fault}`)
  const tz = zoneName(options.tz)
  if (tz === null) throw new UsageError(`--tz: expected an IANA zone such as Europe/Amsterdam, got "${options.tz}"`)
  const deployment = await deployed(options.stack, io.env)
  const table = openTable({ client: new DynamoDBClient({}), names: deployment.tables })
  const made = await firstPerson(table, openIds(), { name: options.name, tz, now: Date.now() })
  if (made.kind === 'before') {
    io.stderr.write(doneBefore(options.stack, made))
    return exits.refused
  }
  const { person, key } = made
  if (options.json) io.stdout.write(`${JSON.stringify({ url: deployment.url, person, key }, null, 2)}\n`)
  else io.stdout.write(howToUse(deployment, { person, key, name: options.name }))
  return exits.ok
}

/** Written by the first `rouse admin bootstrap`, read by those that come later, never deleted: there is one first person. */
const guard: Key = ['G#bootstrap', 'A']

export type FirstPerson =
  | { readonly kind: 'made'; readonly person: string; readonly key: string }
  | { readonly kind: 'before'; readonly person: string; readonly at: number }

/** Once per deployment, whoever calls how often and at whatever moment. `now`: epoch ms. */
export async function firstPerson(
  table: Table,
  ids: Ids,
  o: { readonly name: string; readonly tz: string; readonly now: number },
): Promise<FirstPerson> {
  const before = await firstIn(table)
  if (before !== null) return before
  const secret = newSecret(ids)
  const id = `per_${ids.ulid(o.now)}`
  const person = { id, name: o.name, tz: o.tz, admin: true, createdAt: o.now }
  try {
    await table.commit(
      [
        { put: guard, item: { person: id, at: o.now }, expect: 'absent' },
        ...personOps(person, `key_${ids.ulid(o.now)}`, secret.sha256, secret.prefix),
      ],
      ids.token(),
    )
  } catch (error) {
    // Another was faster; or the answer was lost on its way, and what is stored tells whose it is.
    const stored = await firstIn(table)
    if (stored === null) throw error
    if (stored.person !== id) {
      if (error instanceof Conflict) return stored
      throw error
    }
  }
  return { kind: 'made', person: id, key: secret.key }
}

async function firstIn(table: Table): Promise<(FirstPerson & { kind: 'before' }) | null> {
  const stored = (await table.get([guard]))[0] ?? null
  if (stored === null) return null
  return { kind: 'before', person: String(stored.item.person), at: Number(stored.item.at) }
}

const doneBefore = (stack: string, { person, at }: { person: string; at: number }): string =>
  `✗ ${stack} was bootstrapped before: ${person} at ${formatInstant(at)}. An admin adds people with \`rouse person add\`.
  If that first key is lost: docs/aws.md, "A lost first key"
`

const howToUse = ({ url }: Deployment, { name, person, key }: { name: string; person: string; key: string }): string =>
  `Added ${name}, ${person}, an admin.

  url  ${url}
  key  ${key}

The key is shown this once and is kept nowhere. To use it:

  export ROUSE_URL='${url}'
  export ROUSE_KEY='${key}'
  rouse agent add assistant
`
