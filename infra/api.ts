import type { Stack } from 'aws-cdk-lib'
import { type CfnStage, HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Throttle } from './settings.ts'
import type { Stage } from './stage.ts'

/** The API as others see it. */
export interface Api {
  readonly url: string
  readonly apiId: string
  /** One line for each call; its fields are those of `line`. */
  readonly accessLogs: LogGroup
}

/**
 * What the access log says of a call. `requestId` leads to the function's own lines about it.
 *
 * No path and no query: the address of a webhook or of a calendar is its key. No name of a caller either, since who called is known to the
 * function alone.
 */
const line = {
  requestId: '$context.requestId',
  at: '$context.requestTimeEpoch',
  method: '$context.httpMethod',
  status: '$context.status',
  ms: '$context.responseLatency',
  functionMs: '$context.integrationLatency',
  bytes: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
  userAgent: '$context.identity.userAgent',
  fault: '$context.integrationErrorMessage',
} as const

/** One $default route: which calls there are, and who may make them, is told by the function alone, as in the embedded node. */
export function httpApi(stack: Stack, stage: Stage, api: LambdaFunction, throttle: Throttle): Api {
  const http = new HttpApi(stack, 'Http', {
    apiName: stack.stackName,
    defaultIntegration: new HttpLambdaIntegration('Api', api),
  })
  const accessLogs = new LogGroup(stack, 'AccessLogs', { retention: stage.logs, removalPolicy: stage.removal })
  // The stage that HttpApi makes by itself takes neither as a property, and one under another logical id would have to take its name from it.
  const served = http.defaultStage!.node.defaultChild as CfnStage
  served.accessLogSettings = { destinationArn: accessLogs.logGroupArn, format: JSON.stringify(line) }
  served.defaultRouteSettings = { throttlingRateLimit: throttle.perSecond, throttlingBurstLimit: throttle.burst }
  return { url: http.apiEndpoint, apiId: http.apiId, accessLogs }
}
