import { SSMClient } from '@aws-sdk/client-ssm'
import { describe, expect, it } from 'vitest'
import { openSecrets } from '../../shared/adapters/aws/secrets.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import { type Answer, type Sent, wire } from './aws-wire.ts'

function open(answer: (sent: Sent, count: number) => Answer) {
  const { sent, options } = wire(answer)
  return { sent, secrets: openSecrets({ ssm: async () => new SSMClient(options), prefix: '/rouse/secrets/' }) }
}

describe('a secret', () => {
  it('is an encrypted parameter below its owner, and is written over', async () => {
    const { sent, secrets } = open(() => ({ ok: {} }))
    await secrets.put('per_1', '__proto__', 'v')
    expect(sent).toMatchObject([
      {
        action: 'PutParameter',
        input: { Name: '/rouse/secrets/per_1/__proto__', Value: 'v', Type: 'SecureString', Overwrite: true },
      },
    ])
  })

  it.each(['plain', '{{ssm:other}}', '\\{{', '{{{{', '{\\{{\\', '\\', 'a{b'])(
    '%s comes back, and SSM takes it',
    async (value) => {
      let kept = ''
      const { secrets } = open(({ action, input }) => {
        if (action === 'PutParameter') kept = input.Value
        return { ok: { Parameter: { Value: kept } } }
      })
      await secrets.put('per_1', 'name', value)
      expect(kept).not.toContain('{{')
      expect(await secrets.get('per_1', 'name')).toBe(value)
    },
  )

  it('that is not there is null, and removing it says so', async () => {
    const { secrets } = open(() => ({ refused: 'ParameterNotFound' }))
    expect(await secrets.get('per_1', 'name')).toBeNull()
    expect(await secrets.remove('per_1', 'name')).toBe(false)
  })

  it('stands in no error, nor in what the error was caused by', async () => {
    const { secrets } = open(() => ({
      refused: 'ValidationException',
      with: { message: "Value 'hush' at 'value' failed to satisfy constraint" },
    }))
    const error = await secrets.put('per_1', 'name', 'hush').catch((e) => e)
    expect(error).toBeInstanceOf(Unavailable)
    expect(error.message).toContain('ValidationException')
    expect(error.cause).toBeUndefined()
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('hush')
  })
})

describe('names of secrets', () => {
  it('come from all pages, in byte order, and are read without the values', async () => {
    const pages: Answer[] = [
      {
        ok: { Parameters: [{ Name: '/rouse/secrets/per_1/b' }, { Name: '/rouse/secrets/per_1/B' }], NextToken: 'more' },
      },
      { ok: { Parameters: [], NextToken: 'still more' } },
      { ok: { Parameters: [{ Name: '/rouse/secrets/per_1/a.1' }] } },
    ]
    const { sent, secrets } = open((_, count) => pages[count - 1]!)
    expect(await secrets.names('per_1')).toEqual(['B', 'a.1', 'b'])
    expect(sent.map(({ input }) => [input.Path, input.WithDecryption, input.NextToken])).toEqual([
      ['/rouse/secrets/per_1', false, undefined],
      ['/rouse/secrets/per_1', false, 'more'],
      ['/rouse/secrets/per_1', false, 'still more'],
    ])
  })
})
