import type { Json } from '../cel/index.ts'
import { withTexts } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import type { World } from '../ports/world.ts'

/** The secrets that a tool has read in one run: what its steps may say, and what nothing that leaves them may repeat. */
export class UsedSecrets {
  /** Name → value, for CEL. */
  readonly data: Readonly<Record<string, string>>
  private readonly texts: readonly (readonly [text: string, name: string])[]

  constructor(values: ReadonlyMap<string, string | null>) {
    const known = [...values].filter((entry): entry is [string, string] => entry[1] !== null)
    this.data = Object.fromEntries(known)
    this.texts = known
      .flatMap(([name, value]) => formsOf(value).map((text) => [text, name] as const))
      // The longest first: what is part of another must not break it up.
      .sort(([a], [b]) => b.length - a.length)
  }

  /** The value without them. Shorter ones than `limits.scrubbedCharsMin` stay: they are part of any text. */
  scrubbed(value: Json): Json {
    return this.texts.length === 0 ? value : withTexts(value, (text) => this.scrubbedText(text))
  }

  scrubbedText(text: string): string {
    return this.texts.reduce((kept, [secret, name]) => kept.replaceAll(secret, () => `[secret ${name}]`), text)
  }
}

/** A value as it is, and as it stands in an address, in JSON, and in what is encoded as a whole. */
function formsOf(value: string): string[] {
  if (value.length < limits.scrubbedCharsMin) return []
  const bytes = Buffer.from(value)
  const forms = [
    value,
    // As the name of a host.
    value.toLowerCase(),
    encodeURIComponent(value),
    encodeURIComponent(value).replaceAll('%20', '+'),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
  return [...new Set(forms)]
}

/**
 * Reads those that are named, and no others. `failed`: fit to be shown.
 *
 * @param values  those that were read before; takes the new ones
 */
export async function readSecrets(
  world: World,
  principal: string,
  names: readonly string[],
  values = new Map<string, string | null>(),
): Promise<{ readonly secrets: UsedSecrets } | { readonly failed: string }> {
  for (const name of names) {
    if (values.has(name)) continue
    try {
      values.set(name, await world.secrets.get(principal, name))
    } catch {
      // Whatever it says is about a secret.
      return { failed: `the secret ${name} could not be read` }
    }
  }
  return { secrets: new UsedSecrets(values) }
}
