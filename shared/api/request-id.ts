import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { LogIds } from '../ports/log.ts'

/** A call as the answer, the log and whoever asks about it name it. */
export interface RequestId {
  readonly id: string
  /** For lines of the log. `gateway`: API Gateway's own id, under which its access log has the call, where the caller sent another. */
  readonly ids: LogIds
}

/** Whatever tells calls apart: UUIDs, ULIDs, `traceparent`, what proxies make. Long enough not to stand for many, short enough for a line. */
const wellFormed = /^[\w.:=+/-]{8,128}$/
/** A secret that went into the wrong header is neither answered nor logged. */
const secret = /^(rs[a-z]|rouse|rwh|rca|whsec)_/

const known = new WeakMap<Request, RequestId>()

/** The caller's `X-Request-Id` where it is well-formed, else API Gateway's id of the call, else a new one. The same each time it is asked. */
export function requestIdOf({ req, env }: Pick<Context, 'req' | 'env'>): RequestId {
  const found = known.get(req.raw)
  if (found !== undefined) return found
  const { requestContext } = (env ?? {}) as { requestContext?: { requestId?: unknown } }
  const gateway = typeof requestContext?.requestId === 'string' ? requestContext.requestId : null
  const sent = req.raw.headers.get('x-request-id')
  const own = sent !== null && wellFormed.test(sent) && !secret.test(sent) ? sent : null
  const id = own ?? gateway ?? randomUUID()
  const made = { id, ids: gateway === null || gateway === id ? { request: id } : { request: id, gateway } }
  known.set(req.raw, made)
  return made
}
