/** A permission that a call needs: an action of IAM on one resource, with what conditions may ask about it. */
export interface Need {
  readonly action: string
  readonly resource: string
  readonly context: Readonly<Record<string, string>>
}

/** Who asked for it. */
export interface Recorded extends Need {
  readonly by: string
}

// biome-ignore lint/suspicious/noExplicitAny: what AWS is sent has as many shapes as it has calls
type Input = any

/**
 * What a call of AWS needs to be allowed, by AWS's own table of actions and resources (the Service Authorization Reference).
 *
 * @param service    as a signature names it: `dynamodb`, `sqs`
 * @param operation  as the SDK names it: `GetItem`, `SendMessage`
 * @throws Error for a call that is not known here: add it with what AWS says it needs
 */
export function needsOf(service: string, operation: string, input: Input, region = 'eu-west-1'): readonly Need[] {
  const arn = (name: string) => `arn:aws:${service}:${region}:000000000000:${name}`
  const need = (action: string, resource: string, context: Need['context'] = {}): Need => ({
    action: `${service}:${action}`,
    resource,
    context,
  })
  switch (`${service}:${operation}`) {
    // A transaction needs what its operations need: there is no action of its own.
    case 'dynamodb:TransactWriteItems':
      return input.TransactItems.map((one: Input) => {
        const [kind, { TableName }] = Object.entries(one)[0] as [string, Input]
        return need(`${kind}Item`, arn(`table/${TableName}`))
      })
    case 'dynamodb:BatchGetItem':
      return Object.keys(input.RequestItems).map((table) => need(operation, arn(`table/${table}`)))
    case 'dynamodb:GetItem':
    case 'dynamodb:PutItem':
    case 'dynamodb:UpdateItem':
    case 'dynamodb:DeleteItem':
      return [need(operation, arn(`table/${input.TableName}`))]
    case 'dynamodb:Query':
      return [need(operation, arn(`table/${input.TableName}${input.IndexName ? `/index/${input.IndexName}` : ''}`))]
    case 'sqs:CreateQueue':
    case 'sqs:GetQueueUrl':
      return [need(operation, arn(input.QueueName))]
    case 'sqs:SendMessage':
    case 'sqs:SendMessageBatch':
    case 'sqs:ReceiveMessage':
    case 'sqs:DeleteMessage':
    case 'sqs:DeleteMessageBatch':
    case 'sqs:ChangeMessageVisibility':
    case 'sqs:DeleteQueue':
      // A batch needs what one of it needs.
      return [need(operation.replace(/Batch$/, ''), arn(String(input.QueueUrl).split('/').at(-1)!))]
    case 'ssm:PutParameter':
    case 'ssm:GetParameter':
    case 'ssm:DeleteParameter':
      // The values are encrypted under the account's key for SSM, whose own policy lets in whoever may call SSM.
      return [need(operation, arn(`parameter${input.Name}`))]
    case 'ssm:GetParametersByPath':
      return [need(operation, arn(`parameter${input.Path}`))]
    case 'scheduler:CreateSchedule': {
      const passed = { 'iam:PassedToService': 'scheduler.amazonaws.com' }
      return [
        need(operation, arn(`schedule/${input.GroupName}/${input.Name}`)),
        { action: 'iam:PassRole', resource: input.Target.RoleArn, context: passed },
      ]
    }
    case 'sts:AssumeRole':
      return [need(operation, input.RoleArn)]
    case 'sns:Publish':
      return [need(operation, input.TopicArn)]
    case 'lambda:Invoke':
      return [need('InvokeFunction', input.FunctionName)]
    default:
      throw new Error(`a call that test/privilege/needs.ts does not know: ${service}:${operation}`)
  }
}
