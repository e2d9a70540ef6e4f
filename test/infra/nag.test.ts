import { type App, Validations } from 'aws-cdk-lib'
import { CfnPolicy } from 'aws-cdk-lib/aws-iam'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, test } from 'vitest'
import { settingsOf } from '../../infra/settings.ts'
import { inApp } from './synth.ts'

const stages = ['dev', 'prod'] as const

/** Everything that may be set and shows in the template. */
const settings = (app: App) => {
  const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:000000000000:${name}`
  app.node.setContext('snsTopics', arn('sns', 'runs'))
  app.node.setContext('lambdas', `${arn('lambda', 'function:start')}:live`)
  return settingsOf(app.node)
}

const found = (app: App, pack = new AwsSolutionsChecks()): string[] =>
  pack
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
    )

describe.each(stages)('%s: the AwsSolutions pack of cdk-nag', (stage) => {
  test('finds nothing that is not acknowledged', () => {
    inApp(stage, settings, (app) => expect(found(app)).toEqual([]))
  })

  test('would find a queue that takes calls without TLS, and a permission with a star', () => {
    inApp(stage, settings, (app, stack) => {
      new Queue(stack, 'Plain')
      const statement = { Effect: 'Allow', Action: 'sqs:*', Resource: '*' }
      new CfnPolicy(stack, 'Wide', { policyName: 'wide', policyDocument: { Statement: [statement] } })
      const path = `Rouse-${stage}`
      expect(found(app).sort()).toEqual([
        `AwsSolutions-IAM5[Action::sqs:*] at ${path}/Wide`,
        `AwsSolutions-IAM5[Resource::*] at ${path}/Wide`,
        `AwsSolutions-SQS3 at ${path}/Plain/Resource`,
        `AwsSolutions-SQS4 at ${path}/Plain/Resource`,
      ])
    })
  })

  test('still finds each thing that is acknowledged, and each acknowledgment has a reason', () => {
    inApp(stage, settings, (app) => {
      const all = found(app, Object.assign(new AwsSolutionsChecks(), { isAcknowledged: () => false }))
      const stale = acknowledgedIn(app).filter(
        ({ rule, path }) => !all.some((one) => one.startsWith(`${rule} at ${path}/`)),
      )
      expect(stale).toEqual([])
      for (const { reason } of acknowledgedIn(app)) expect(reason.length).toBeGreaterThan(40)
      expect(acknowledgedIn(app).length).toBeGreaterThanOrEqual(6)
    })
  })
})

const acknowledgedIn = (app: App) =>
  app.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(data as Record<string, string>))
      .map(([rule, reason]) => ({ rule: rule.replace(/^annotation::/i, ''), reason, path: node.path })),
  )
