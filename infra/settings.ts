import type { Node } from 'constructs'

/** What an operator sets with `-c name=value`; everything may be left out. */
export interface Settings {
  /** Environment of the functions. */
  readonly environment: Readonly<Record<string, string>>
  /** Topics that `sns:` deliveries may go to: the functions publish with their own role. */
  readonly snsTopics: readonly string[]
  /** Functions that `lambda` steps of tools may call: with the role of the function that runs the tool. */
  readonly lambdas: readonly string[]
}

const variables = {
  allowHosts: 'ROUSE_ALLOW_HOSTS',
  allowOrigins: 'ROUSE_ALLOW_ORIGINS',
  telegramApi: 'ROUSE_TELEGRAM_API',
  rateLimit: 'ROUSE_RATE_LIMIT',
  proactive: 'ROUSE_EXPERIMENTAL_PROACTIVE',
  oidcIssuer: 'ROUSE_OIDC_ISSUER',
  oidcAudience: 'ROUSE_OIDC_AUDIENCE',
  oidcJwksUri: 'ROUSE_OIDC_JWKS_URI',
} as const

/** @throws Error naming the setting that is not one */
export function settingsOf(node: Node): Settings {
  const given = (name: string): string | null => {
    const value: unknown = node.tryGetContext(name)
    if (value === undefined) return null
    if (typeof value !== 'string' || value === '') throw new Error(`-c ${name}: expected a text, got ${String(value)}`)
    return value
  }
  const environment: (readonly [string, string])[] = Object.entries(variables).flatMap(([name, variable]) => {
    const value = given(name)
    return value === null ? [] : [[variable, value] as const]
  })
  const snsTopics = given('snsTopics')?.split(',') ?? []
  for (const topic of snsTopics)
    if (!/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/.test(topic))
      throw new Error(`-c snsTopics: expected ARNs of topics, separated by commas, got ${topic}`)
  const lambdas = given('lambdas')?.split(',') ?? []
  for (const arn of lambdas)
    if (!/^arn:[\w-]+:lambda:[\w-]+:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$/.test(arn))
      throw new Error(`-c lambdas: expected ARNs of functions, separated by commas, got ${arn}`)
  if (lambdas.length > 0) environment.push(['ROUSE_LAMBDAS', lambdas.join()])
  return { environment: Object.fromEntries(environment), snsTopics, lambdas }
}

export const noSettings: Settings = { environment: {}, snsTopics: [], lambdas: [] }
