import type { Patience } from './patience.ts'

const attemptsMax = 3
const pauseMsMin = 100

interface RetryToken {
  getRetryCount(): number
  getRetryDelay(): number
}

interface RetryCause {
  readonly error?: unknown
  readonly errorType: 'TRANSIENT' | 'THROTTLING' | 'SERVER_ERROR' | 'CLIENT_ERROR'
}

/**
 * What the SDK's clients do about a request that got lost or broke a server: they send it again, twice, and not into the last seconds of an
 * invocation. The SDK's own way waits for up to twenty seconds and knows no end.
 *
 * What is refused for want of room is not theirs to repeat: `Patience.calling` does, around them.
 */
export const retriesOf = (patience: Patience) => ({
  acquireInitialRetryToken: async (): Promise<RetryToken> => tokenOf(0),
  async refreshRetryTokenForRetry(token: RetryToken, { error, errorType }: RetryCause): Promise<RetryToken> {
    const tries = token.getRetryCount() + 1
    const isLost = errorType === 'TRANSIENT' || errorType === 'SERVER_ERROR'
    // The pause is ours, so that it is the patience's clock that it waits by.
    if (!isLost || tries >= attemptsMax || !(await patience.pause(pauseMsMin * 2 ** (tries - 1)))) throw error
    return tokenOf(tries)
  },
  recordSuccess(): void {},
})

const tokenOf = (tries: number): RetryToken => ({ getRetryCount: () => tries, getRetryDelay: () => 0 })
