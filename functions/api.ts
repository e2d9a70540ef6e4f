import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import { openFiles } from '../shared/adapters/files.ts'
import { createApp } from '../shared/api/app.ts'
import { openIdentity, providerFromEnv } from '../shared/api/identity.ts'
import { originsFromEnv } from '../shared/api/mcp-origin.ts'
import { rateFromEnv } from '../shared/api/rate.ts'
import { observed } from './sight.ts'
import { worldFromEnv } from './world.ts'

const world = worldFromEnv()
const provider = providerFromEnv(process.env)
const answer = handle(
  createApp({
    world,
    // A commit is durable when it answers, so there is nothing to settle before an answer.
    settled: async () => {},
    identity: provider === null ? null : openIdentity(world, provider),
    // Counted in each container by itself: API Gateway's throttling is the outer bound.
    rate: rateFromEnv(process.env),
    allowOrigins: originsFromEnv(process.env),
    console: {
      files: openFiles(new URL('./console/', import.meta.url)),
      // Each look is a call that is paid for.
      refreshMs: 5000,
      standing: false,
    },
    docs: openFiles(new URL('./docs/', import.meta.url)),
  }),
  // As bytes: handed over as a string, a document would lose its byte order mark on the way.
  { isContentTypeBinary: (type) => type.startsWith('text/') },
)

/** API Gateway's HTTP API, payload 2.0. */
export const handler = observed((event: LambdaEvent, invoked) =>
  answer('rawPath' in event ? { ...event, rawPath: encoded(event.rawPath) } : event, invoked as LambdaContext),
)

/**
 * HTTP APIs hand the path over decoded, and a URL is made of it: what came as `%00` or `%3F` must not end it early. A `%2F` is a slash by
 * now, and nothing tells it from one.
 */
const encoded = (path: string): string =>
  path.replace(/%(?![\dA-F]{2})|[^\w\-.~!$&'()*+,;=:@/%]/giu, encodeURIComponent)
