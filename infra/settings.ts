import type { Node } from 'constructs'
import { retentionFromEnv } from '../shared/adapters/retention.ts'

/** What an operator sets with `-c name=value`; everything may be left out. */
export interface Settings {
  /** Environment of the functions. */
  readonly environment: Readonly<Record<string, string>>
  /** Topics that `sns:` deliveries may go to: the functions publish with their own role. */
  readonly snsTopics: readonly string[]
  /** Functions that `lambda` steps of tools may call: with the role of the function that runs the tool. */
  readonly lambdas: readonly string[]
  readonly throttle: Throttle
  readonly watching: Watching
  /** `debug`: a line for each call and for each step of a run besides, some 300 bytes each. */
  readonly logLevel: LogLevel
}

export type LogLevel = 'debug' | 'info'

/** Who hears of alarms. */
export interface Watching {
  /** ARN of an SNS topic that is there; null: none. */
  readonly topic: string | null
  /** A topic is made that writes to it; null: none is. */
  readonly email: string | null
  /** Where RUNBOOK.md is read: what alarms point to. */
  readonly runbook: string
}

const nobody: Watching = { topic: null, email: null, runbook: 'RUNBOOK.md' }

/** What API Gateway lets through of all callers together: calls a second, and how many may come at once. It answers the others with 429. */
export interface Throttle {
  readonly perSecond: number
  readonly burst: number
}

/** Half of what an account has in a region (10,000 a second, 5,000 at once), so that a flood here leaves the account's other APIs standing. */
const defaultThrottle: Throttle = { perSecond: 5000, burst: 2500 }

const variables = {
  allowHosts: 'ROUSE_ALLOW_HOSTS',
  allowOrigins: 'ROUSE_ALLOW_ORIGINS',
  telegramApi: 'ROUSE_TELEGRAM_API',
  rateLimit: 'ROUSE_RATE_LIMIT',
  retention: 'ROUSE_RETENTION',
  retentionTraces: 'ROUSE_RETENTION_TRACES',
  retentionAudit: 'ROUSE_RETENTION_AUDIT',
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
  // A function would find out when it starts, one by one.
  retentionFromEnv(Object.fromEntries(environment))
  const snsTopics = given('snsTopics')?.split(',') ?? []
  for (const topic of snsTopics)
    if (!/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/.test(topic))
      throw new Error(`-c snsTopics: expected ARNs of topics, separated by commas, got ${topic}`)
  const lambdas = given('lambdas')?.split(',') ?? []
  for (const arn of lambdas)
    if (!/^arn:[\w-]+:lambda:[\w-]+:\d{12}:function:[\w-]{1,64}(:[\w$-]{1,128})?$/.test(arn))
      throw new Error(`-c lambdas: expected ARNs of functions, separated by commas, got ${arn}`)
  if (lambdas.length > 0) environment.push(['ROUSE_LAMBDAS', lambdas.join()])
  const throttle = throttleIn(given('throttle'))
  const [watching, logLevel] = [watchingIn(given), logLevelIn(given('logLevel'))]
  return { environment: Object.fromEntries(environment), snsTopics, lambdas, throttle, watching, logLevel }
}

/** No level above `info`: Lambda would leave the lines of our metrics out, which have none. */
function logLevelIn(text: string | null): LogLevel {
  if (text === null || text === 'info' || text === 'debug') return text ?? 'info'
  throw new Error(`-c logLevel: expected debug or info, got ${text}`)
}

function watchingIn(given: (name: string) => string | null): Watching {
  const [topic, email, runbook] = [given('alarmTopic'), given('alarmEmail'), given('runbook') ?? nobody.runbook]
  if (topic !== null && !/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/.test(topic))
    throw new Error(`-c alarmTopic: expected the ARN of a topic, got ${topic}`)
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new Error(`-c alarmEmail: expected an address, got ${email}`)
  if (topic !== null && email !== null)
    throw new Error('-c alarmEmail: expected none beside -c alarmTopic, which says already who hears of alarms')
  return { topic, email, runbook }
}

function throttleIn(text: string | null): Throttle {
  if (text === null) return defaultThrottle
  const [, perSecond, burst] = /^([1-9]\d{0,6}):([1-9]\d{0,6})$/.exec(text) ?? []
  if (perSecond === undefined || burst === undefined)
    throw new Error(`-c throttle: expected <calls a second>:<burst>, such as 500:1000, got ${text}`)
  return { perSecond: Number(perSecond), burst: Number(burst) }
}

export const noSettings: Settings = {
  environment: {},
  snsTopics: [],
  lambdas: [],
  throttle: defaultThrottle,
  watching: nobody,
  logLevel: 'info',
}
