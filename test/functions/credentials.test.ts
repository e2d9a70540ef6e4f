import { afterEach, expect, test, vi } from 'vitest'
import { defaultProvider } from '../../functions/credentials.ts'

afterEach(() => vi.unstubAllEnvs())

test("a function's credentials are those of its environment, the session's token included", async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  vi.stubEnv('AWS_SESSION_TOKEN', 'token')
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' })
})

test('without a token there is none, and without a key it says which variable is missing', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  vi.stubEnv('AWS_SESSION_TOKEN', '')
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' })
  vi.stubEnv('AWS_ACCESS_KEY_ID', '')
  await expect(defaultProvider()()).rejects.toThrow('AWS_ACCESS_KEY_ID')
})
