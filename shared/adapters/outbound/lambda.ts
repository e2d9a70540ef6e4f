import type { Invocation, OutboundFailure, OutboundText } from '../../ports/world.ts'

export interface LambdaOptions {
  /** Those that may be called: `ROUSE_LAMBDAS`. */
  readonly allowed: readonly string[]
  /** Another address of the service than AWS's own (an emulator), or null. */
  readonly endpoint: string | null
  /** Ends what is under way: the process is about to stop. */
  readonly stop?: AbortSignal
}

const arnShape = /^arn:aws(-[a-z]+)*:lambda:[a-z]{2}(-[a-z]+)+-\d{1,2}:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$/

/**
 * Reads `ROUSE_LAMBDAS`: ARNs of functions, separated by commas. Whoever runs Rouse lends its role to steps that others write, so that
 * nothing is called which is not named here.
 *
 * @throws Error that names the entry which is none
 */
export function lambdaList(text: string | undefined): readonly string[] {
  const arns = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  for (const arn of arns)
    if (!arnShape.test(arn))
      throw new Error(`ROUSE_LAMBDAS: expected ARNs of functions, separated by commas, got "${arn.slice(0, 80)}"`)
  return arns
}

/** Why a function is not called, or null. */
export const lambdaRefusal = (arn: string, allowed: readonly string[]): string | null =>
  allowed.includes(arn) ? null : 'this function is not called from here unless ROUSE_LAMBDAS names it'

/** Calls a function with the credentials of the process, and waits for its answer. */
export async function invokeLambda(
  { arn, payload, timeoutMs, bytesMax }: Invocation,
  options: LambdaOptions,
): Promise<OutboundText | OutboundFailure> {
  const refused = lambdaRefusal(arn, options.allowed)
  if (refused !== null) return { ok: false, reason: 'refused', error: refused, retry: false }
  try {
    const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda')
    const client = new LambdaClient({
      region: arn.split(':')[3]!,
      ...(options.endpoint === null ? {} : { endpoint: options.endpoint }),
      requestHandler: { connectionTimeout: 3000, requestTimeout: timeoutMs, throwOnRequestTimeout: true },
      // A second try might do twice what the first has done already.
      maxAttempts: 1,
    })
    try {
      const command = new InvokeCommand({ FunctionName: arn, Payload: Buffer.from(payload) })
      const { FunctionError, Payload } = await client.send(command, {
        abortSignal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(options.stop ? [options.stop] : [])]),
      })
      const bytes = Buffer.from(Payload ?? [])
      // Its own words may hold anything that it was given.
      if (FunctionError)
        return { ok: false, reason: 'failed', error: `the function failed (${FunctionError})`, retry: true }
      if (bytes.byteLength > bytesMax)
        return { ok: false, reason: 'too_large', error: `the answer is larger than ${bytesMax} bytes`, retry: false }
      return { ok: true, text: bytes.toString('utf8') }
    } finally {
      client.destroy()
    }
  } catch (error) {
    return lambdaFailure(error, timeoutMs)
  }
}

/** Only names: what AWS says quotes the payload. */
function lambdaFailure(error: unknown, timeoutMs: number): OutboundFailure {
  const { name = 'Error', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  if (name === 'TimeoutError' || name === 'AbortError')
    return { ok: false, reason: 'timeout', error: `no answer within ${timeoutMs / 1000} s`, retry: true }
  const status = $metadata?.httpStatusCode ?? 0
  const final = status >= 400 && status < 500 && status !== 429 && !/throttl|limit|toomany/i.test(name)
  return { ok: false, reason: final ? 'refused' : 'unreachable', error: `Lambda: ${name}`, retry: !final }
}
