/** What is billed, counted in AWS's own units. */
export interface Bill {
  /** DynamoDB write and read request units. */
  writeUnits: number
  readUnits: number
  /** SQS requests, each 64 KB of them, whoever makes them: the functions, the Scheduler, the mappings that feed functions, a worker. */
  sqsRequests: number
  /** Entries of the Scheduler that came due. Making and deleting them costs nothing. */
  schedulerFires: number
  /** Invocations of functions, and what they take. */
  invocations: number
  gbSeconds: number
  /** Calls of the HTTP API, each 512 KB. */
  apiCalls: number
  /** Written to CloudWatch Logs. */
  logBytes: number
}

const million = 1_000_000
const gb = 2 ** 30

/**
 * USD for one of each, us-east-1, on demand, without what is free for a while or up to an amount. Taken November 2026 from
 * aws.amazon.com/{dynamodb,sqs,eventbridge,lambda,api-gateway,cloudwatch}/pricing.
 */
export const prices: { readonly [part in keyof Bill]: number } = {
  writeUnits: 0.625 / million,
  readUnits: 0.125 / million,
  sqsRequests: 0.4 / million,
  schedulerFires: 1 / million,
  invocations: 0.2 / million,
  gbSeconds: 13.3334 / million,
  apiCalls: 1 / million,
  logBytes: 0.5 / gb,
}

/** USD a month for what is kept rather than done. */
export const monthly = {
  /** DynamoDB, a GB, and its point-in-time recovery. */
  storedGb: 0.25,
  recoveryGb: 0.2,
  alarm: 0.1,
  metric: 0.3,
  dashboard: 3,
} as const

export const parts = Object.keys(prices) as (keyof Bill)[]

export const nothing = (): Bill => ({
  writeUnits: 0,
  readUnits: 0,
  sqsRequests: 0,
  schedulerFires: 0,
  invocations: 0,
  gbSeconds: 0,
  apiCalls: 0,
  logBytes: 0,
})

/** @param times  of the second bill */
export function plus(one: Bill, other: Partial<Bill>, times = 1): Bill {
  const sum = { ...one }
  for (const part of parts) sum[part] += (other[part] ?? 0) * times
  return sum
}

export const over = (bill: Bill, count: number): Bill => plus(nothing(), bill, 1 / count)

/** USD for it once. */
export const usdOf = (bill: Bill): number => parts.reduce((sum, part) => sum + bill[part] * prices[part], 0)
