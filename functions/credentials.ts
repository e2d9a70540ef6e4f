/**
 * Stands in for `@aws-sdk/credential-provider-node` in the bundles: a function's credentials are always in its environment, and the chain
 * that would look for them in files, SSO and metadata services is a third of the bundle and of its start.
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
      throw new Error('expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, as Lambda sets them')
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
    }
  }
}

interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}
