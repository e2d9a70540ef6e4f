import { RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'

export type StageName = 'dev' | 'prod'

/** What differs between a stack to try things on and one that other people rely on; nothing else does. */
export interface Stage {
  readonly name: StageName
  /** Of whatever holds somebody's data. */
  readonly removal: RemovalPolicy
  /** Point-in-time recovery and deletion protection of the tables, and termination protection of the stack. */
  readonly isKept: boolean
  readonly logs: RetentionDays
}

/** @throws Error when `name` is no stage */
export function stageOf(name: unknown): Stage {
  switch (name) {
    case 'dev':
      return { name, removal: RemovalPolicy.DESTROY, isKept: false, logs: RetentionDays.ONE_WEEK }
    case 'prod':
      return { name, removal: RemovalPolicy.RETAIN, isKept: true, logs: RetentionDays.THREE_MONTHS }
    default:
      throw new Error(`expected -c stage=dev or -c stage=prod, got ${JSON.stringify(name)}`)
  }
}
