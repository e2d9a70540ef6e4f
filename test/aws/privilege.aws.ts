import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { covers, type Grant, grantsOf, type Statement } from '../privilege/allow.ts'
import { Cloud } from '../privilege/cloud.ts'
import { lives } from '../privilege/lives.ts'
import { type Need, needsOf, type Recorded } from '../privilege/needs.ts'
import { account, type RoleName, region, roleNames } from '../privilege/stack.ts'
import { unseen } from '../privilege/unseen.ts'

vi.mock('../../functions/world.ts', async () => (await import('../privilege/cloud.ts')).worldModule())

/**
 * Each role may do what its function does, and no more.
 *
 * The five functions run as the template sets them up, and everything that the SDK sends on its way to AWS is held against the policies of the
 * same template, in both directions. The store is one in memory and not the emulator, which would need an hour for as many calls.
 */
let cloud: Cloud
let recorded: readonly Recorded[]

beforeAll(async () => {
  cloud = await Cloud.open()
  // First as long as alarms arrive, then as if none did: the sweep finds the same, with a role of its own.
  for (const finder of ['alarms', 'sweep'] as const)
    for (const [title, life] of Object.entries(lives)) {
      await cloud.begin(finder)
      await life(cloud).catch((error: Error) => {
        throw new Error(`${title}, found by ${finder}: ${error.message}`, { cause: error })
      })
    }
  recorded = cloud.door.recorded()
})
afterAll(() => cloud?.close())

const show = ({ action, resource }: { readonly action: string; readonly resource: string }) => `${action} ${resource}`

describe.each(roleNames)('%s', (role) => {
  test('is allowed everything that it calls', () => {
    const grants = grantsOf(cloud.stack.statementsOf(role))
    const own = recorded.filter(({ by }) => by === role)
    expect(own.length).toBeGreaterThan(1)
    expect(own.filter((need) => !grants.some((grant) => covers(grant, need))).map(show)).toEqual([])
  })

  test('calls everything that it is allowed, but for what no call shows', () => {
    const silent = unseen.filter(({ by }) => by === role)
    const left = grantsOf(cloud.stack.statementsOf(role)).filter(
      (grant) => !isUsed(grant, role) && !silent.some((one) => show(one) === show(grant)),
    )
    expect(left.map(show)).toEqual([])
  })

  test('has in the list of what no call shows only what it is allowed and what is not seen', () => {
    const grants = grantsOf(cloud.stack.statementsOf(role))
    for (const one of unseen.filter(({ by }) => by === role)) {
      expect(grants.map(show)).toContain(show(one))
      expect(isUsed({ ...one, equals: {} }, role), show(one)).toBe(false)
      expect(one.why.length).toBeGreaterThan(30)
    }
  })
})

/** One key is asked for by another call than several are, which reads no more: the two go together. */
const alike: Readonly<Record<string, string>> = {
  'dynamodb:GetItem': 'dynamodb:BatchGetItem',
  'dynamodb:BatchGetItem': 'dynamodb:GetItem',
}

const isUsed = (grant: Grant, role: RoleName): boolean =>
  recorded.some(
    (need) =>
      need.by === role &&
      (covers(grant, need) || covers({ ...grant, action: alike[grant.action] ?? grant.action }, need)),
  )

describe('the proof', () => {
  const sweep = () => grantsOf(cloud.stack.statementsOf('Sweep'))
  const isAllowed = (grants: readonly Grant[], needs: readonly Need[]) =>
    needs.every((need) => grants.some((grant) => covers(grant, need)))

  test('would find a call of another table, of another index, of another action and of another queue', () => {
    const get = (TableName: string) => needsOf('dynamodb', 'GetItem', { TableName })
    const find = (IndexName: string) => needsOf('dynamodb', 'Query', { TableName: 'rouse-schedules', IndexName })
    const send = (name: string) => needsOf('sqs', 'SendMessage', { QueueUrl: `https://sqs/${account}/${name}` })
    expect([get('rouse-schedules'), find('due'), send('rouse-dev-alarms')].map((n) => isAllowed(sweep(), n))).toEqual([
      true,
      true,
      true,
    ])
    const TransactItems = [{ Put: { TableName: 'rouse-schedules' } }, { Put: { TableName: 'rouse-traces' } }]
    const others = [
      get('rouse-traces'),
      find('schedulesByMaker'),
      send('rouse-dev-alarms-dead'),
      needsOf('sqs', 'ReceiveMessage', { QueueUrl: `https://sqs/${account}/rouse-dev-alarms` }),
      needsOf('dynamodb', 'TransactWriteItems', { TransactItems }),
      needsOf('dynamodb', 'GetItem', { TableName: 'rouse-schedules' }, 'us-east-1'),
    ]
    expect(others.map((needs) => isAllowed(sweep(), needs))).toEqual(others.map(() => false))
  })

  test('would find a role that is handed to another service', () => {
    const input = {
      GroupName: 'rouse-dev',
      Name: 'x',
      Target: { RoleArn: `arn:aws:iam::${account}:role/SchedulerRole` },
    }
    const [create, pass] = needsOf('scheduler', 'CreateSchedule', input)
    expect(isAllowed(sweep(), [create!, pass!])).toBe(true)
    expect(isAllowed(sweep(), [{ ...pass!, context: { 'iam:PassedToService': 'ec2.amazonaws.com' } }])).toBe(false)
  })

  test('does not pass over a call or a statement that it does not know', () => {
    expect(() => needsOf('dynamodb', 'Scan', {})).toThrow('does not know: dynamodb:Scan')
    const denial: Statement = { Effect: 'Deny', Action: 'sqs:*', Resource: '*' }
    expect(() => grantsOf([denial])).toThrow('does not judge')
  })
})

test('the policy in docs/queues.md lets an agent inside AWS read its queue as a worker does, and nothing else', () => {
  const page = readFileSync(new URL('../../docs/queues.md', import.meta.url), 'utf8')
  const [, policy] = /```json\n(\{\n {2}"Version"[\s\S]+?)```/.exec(page) ?? []
  const heard = recorded.filter(({ by }) => by === 'Listener')
  const session = heard[0]!.resource.split('-session-')[1]!
  const filled = policy!
    .replaceAll('<region>', region)
    .replaceAll('<account>', account)
    .replaceAll('<stage>', 'dev')
    .replaceAll('<id>', session)
  expect(filled).not.toMatch(/[<>]/)
  const grants = grantsOf(JSON.parse(filled).Statement)
  const of = heard.filter(({ resource }) => resource.endsWith(session))
  expect(of.filter((need) => !grants.some((grant) => covers(grant, need))).map(show)).toEqual([])
  expect(grants.filter((grant) => !of.some((need) => covers(grant, need))).map(show)).toEqual([])
  const another = { ...of[0]!, resource: of[0]!.resource.replace(session, `ses_${'0'.repeat(26)}`) }
  expect(grants.some((grant) => covers(grant, another))).toBe(false)
})
