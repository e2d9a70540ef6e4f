import type { SSMClient } from '@aws-sdk/client-ssm'
import { Unavailable } from '../../ports/table.ts'
import type { Secrets } from '../../ports/world.ts'
import { plainName } from './names.ts'
import { Patience } from './patience.ts'

export interface SecretsOptions {
  /** Asked for with the first secret. */
  readonly ssm: () => Promise<SSMClient>
  /** A path that begins and ends with a slash. */
  readonly prefix: string
  readonly patience?: Patience
}

const load = () => import('@aws-sdk/client-ssm')

/**
 * Secrets as encrypted parameters of the Systems Manager, `<prefix><owner>/<name>`.
 *
 * No error says what AWS said: its messages quote what they refuse, and that may be the value.
 */
export function openSecrets({ ssm, prefix, patience = new Patience() }: SecretsOptions): Secrets {
  const pathOf = (owner: string) => prefix + plainName(owner)
  const calling = async <T>(
    what: string,
    call: (sdk: Awaited<ReturnType<typeof load>>, client: SSMClient) => Promise<T>,
  ) => {
    try {
      const [sdk, client] = [await load(), await ssm()]
      return await patience.calling(() => call(sdk, client))
    } catch (error) {
      throw new Unavailable(
        `SSM did not ${what} (${(error as Error).name}): try again later, or ask who runs this stack`,
      )
    }
  }
  return {
    put: (owner, name, value) =>
      calling(`keep secret ${name}`, async ({ PutParameterCommand }, client) => {
        // A value that is longer than a standard parameter once it is escaped (4 KB) makes an advanced one of it.
        const kind = { Type: 'SecureString', Tier: 'Intelligent-Tiering', Overwrite: true } as const
        await client.send(new PutParameterCommand({ Name: `${pathOf(owner)}/${name}`, Value: escaped(value), ...kind }))
      }),

    get: (owner, name) =>
      calling(`read secret ${name}`, async ({ GetParameterCommand }, client) => {
        const command = new GetParameterCommand({ Name: `${pathOf(owner)}/${name}`, WithDecryption: true })
        const answer = await client.send(command).catch(unlessGone)
        return answer === null ? null : unescaped(answer.Parameter!.Value!)
      }),

    remove: (owner, name) =>
      calling(`remove secret ${name}`, async ({ DeleteParameterCommand }, client) => {
        const command = new DeleteParameterCommand({ Name: `${pathOf(owner)}/${name}` })
        return (await client.send(command).catch(unlessGone)) !== null
      }),

    names: (owner) =>
      calling('list secrets', async ({ GetParametersByPathCommand }, client) => {
        const names: string[] = []
        for (let next: string | undefined; ; ) {
          const command = new GetParametersByPathCommand({
            Path: pathOf(owner),
            WithDecryption: false,
            NextToken: next,
          })
          const page = await client.send(command)
          for (const { Name } of page.Parameters ?? []) names.push(Name!.slice(pathOf(owner).length + 1))
          next = page.NextToken
          if (!next) return names.sort()
        }
      }),
  }
}

function unlessGone(error: unknown): null {
  if ((error as Error).name === 'ParameterNotFound') return null
  throw error
}

/** SSM refuses values with `{{`, which it takes for the name of another parameter. */
const escaped = (value: string): string =>
  value.includes('{{') || value.startsWith('\\') ? `\\${value.replaceAll('{', '{\\')}` : value

const unescaped = (stored: string): string =>
  stored.startsWith('\\') ? stored.slice(1).replaceAll('{\\', '{') : stored
