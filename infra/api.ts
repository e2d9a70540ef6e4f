import type { Stack } from 'aws-cdk-lib'
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'

/** One $default route: which calls there are, and who may make them, is told by the function alone, as in the embedded node. */
export function httpApi(stack: Stack, api: LambdaFunction): { readonly url: string; readonly apiId: string } {
  const http = new HttpApi(stack, 'Http', {
    apiName: stack.stackName,
    defaultIntegration: new HttpLambdaIntegration('Api', api),
  })
  return { url: http.apiEndpoint, apiId: http.apiId }
}
