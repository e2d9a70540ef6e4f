import { App } from 'aws-cdk-lib'
import { expect, it } from 'vitest'
import { noSettings, settingsOf } from '../../infra/settings.ts'
import { resources, synthesized } from './synth.ts'

const of = (context: Record<string, unknown>) => settingsOf(new App({ context }).node)
const topic = 'arn:aws:sns:eu-west-1:000000000000:runs'

it('nothing set is nothing set', () => {
  expect(of({})).toEqual(noSettings)
})

it('what is set with -c reaches every function, and topics may be published to by those that deliver', () => {
  const settings = of({
    allowHosts: 'hooks.internal',
    allowOrigins: 'https://rouse.example',
    proactive: '0',
    rateLimit: '50:500',
    retention: '30d',
    snsTopics: `${topic},${topic}-2`,
  })
  const template = synthesized('dev', settings)
  const functions = resources(template, 'AWS::Lambda::Function')
  for (const { Properties } of functions)
    expect(Properties.Environment.Variables).toMatchObject({
      ROUSE_ALLOW_HOSTS: 'hooks.internal',
      ROUSE_ALLOW_ORIGINS: 'https://rouse.example',
      ROUSE_EXPERIMENTAL_PROACTIVE: '0',
      ROUSE_RATE_LIMIT: '50:500',
      ROUSE_RETENTION: '30d',
    })
  const publishing = resources(template, 'AWS::IAM::Policy').filter(({ Properties }) =>
    JSON.stringify(Properties).includes('sns:Publish'),
  )
  expect(publishing).toHaveLength(2)
  for (const { Properties } of publishing) expect(JSON.stringify(Properties)).toContain(`${topic}-2`)
})

it('a retention that is none is refused before anything is deployed', () => {
  expect(() => of({ retentionTraces: 'for ever' })).toThrow(/ROUSE_RETENTION_TRACES.*"for ever"/)
})

it('what API Gateway lets through is set as calls a second and a burst', () => {
  expect(of({ throttle: '50:100' }).throttle).toEqual({ perSecond: 50, burst: 100 })
})

it('without topics no role may publish', () => {
  expect(JSON.stringify(synthesized('dev').toJSON())).not.toContain('sns:')
})

const lambda = 'arn:aws:lambda:eu-west-1:000000000000:function:start'

it('functions that steps may call are told to each function, and called with the roles that run tools for callers and flows', () => {
  const template = synthesized('dev', of({ lambdas: `${lambda},${lambda}:prod` }))
  for (const { Properties } of resources(template, 'AWS::Lambda::Function'))
    expect(Properties.Environment.Variables.ROUSE_LAMBDAS).toBe(`${lambda},${lambda}:prod`)
  const invoking = resources(template, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
    Properties.PolicyDocument.Statement.filter(
      ({ Action, Resource }: { Action: unknown; Resource: unknown }) =>
        Action === 'lambda:InvokeFunction' && JSON.stringify(Resource).includes('start'),
    ),
  )
  expect(invoking.map(({ Resource }) => Resource)).toEqual([lambda, `${lambda}:prod`, lambda, `${lambda}:prod`])
  const roles = resources(template, 'AWS::IAM::Policy').filter(({ Properties }) =>
    JSON.stringify(Properties).includes('lambda:InvokeFunction'),
  )
  expect(roles.map(({ id }) => id.replace(/Role.*/, '')).sort()).toEqual(['Api', 'Flow'])
})

it.each([
  { snsTopics: 'runs' },
  { snsTopics: `${topic}, ${topic}` },
  { lambdas: 'start' },
  { lambdas: `${lambda}:*` },
  { allowHosts: '' },
  { rateLimit: 5 },
  { throttle: '50' },
  { throttle: '0:5' },
  { alarmTopic: 'runs' },
  { alarmEmail: 'ann' },
])('a setting that is none is refused by its name: %j', (context) => {
  expect(() => of(context)).toThrow(`-c ${Object.keys(context)[0]}: expected`)
})
