import { afterEach, describe, expect, it, vi } from 'vitest'
import { configFromEnv } from '../../shared/adapters/aws/config.ts'
import { openEars } from '../../shared/adapters/aws/ears.ts'
import { tables } from '../../shared/ports/table.ts'

const env = {
  AWS_REGION: 'eu-west-1',
  ROUSE_TABLES: JSON.stringify(Object.fromEntries(Object.keys(tables).map((name) => [name, `rouse-${name}`]))),
  ROUSE_ALARMS_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/0/alarms',
  ROUSE_ALARMS_QUEUE_ARN: 'arn:aws:sqs:eu-west-1:0:alarms',
  ROUSE_FLOWS_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/0/flows',
  ROUSE_SCHEDULER_GROUP: 'rouse',
  ROUSE_SCHEDULER_ROLE_ARN: 'arn:aws:iam::0:role/scheduler',
  ROUSE_QUEUE_PREFIX: 'rouse-',
  ROUSE_SECRETS_PREFIX: '/rouse/secrets/',
}

describe('the configuration', () => {
  it('is read from the environment', () => {
    expect(configFromEnv(env)).toMatchObject({ region: 'eu-west-1', endpoint: null, listenerRoleArn: null, shards: 8 })
    const more = {
      ...env,
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      ROUSE_LISTENER_ROLE_ARN: 'arn:l',
      ROUSE_SHARDS: '2',
    }
    expect(configFromEnv(more)).toMatchObject({
      endpoint: 'http://127.0.0.1:4566',
      listenerRoleArn: 'arn:l',
      shards: 2,
    })
  })

  it.each(Object.keys(env))('without %s is an error that names it', (name) => {
    expect(() => configFromEnv({ ...env, [name]: undefined })).toThrow(name)
  })

  it.each([
    ['ROUSE_TABLES', 'x'],
    ['ROUSE_TABLES', 'null'],
    ['ROUSE_TABLES', '{"access":"a"}'],
    ['ROUSE_SECRETS_PREFIX', '/rouse'],
    ['ROUSE_SHARDS', 'many'],
  ])('with a %s that is %s is an error that names it', (name, value) => {
    expect(() => configFromEnv({ ...env, [name]: value })).toThrow(name)
  })
})

describe('the ears of a function', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('say when to look again: after a second, then ever more seldom, and not once the wait is over', async () => {
    vi.useFakeTimers()
    const began = Date.now()
    const ears = openEars().listen('ses_1')
    const looks: [number, boolean][] = []
    for (let left = 20_000; left > 0; left = 20_000 - (Date.now() - began)) {
      const rung = ears.rung(left)
      await vi.advanceTimersToNextTimerAsync()
      looks.push([Date.now() - began, await rung])
    }
    const pauses = looks.map(([at], i) => at - (looks[i - 1]?.[0] ?? 0))
    expect(pauses[0]).toBe(1000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(3000)
    expect(pauses.slice(0, -1)).toEqual(pauses.slice(0, -1).toSorted((a, b) => a - b))
    expect(looks.at(-1)).toEqual([20_000, false])
    expect(looks.slice(0, -1).every(([, rung]) => rung)).toBe(true)
    expect(await ears.rung(0)).toBe(false)
  })

  it('stop when whoever waits has gone, and when they are closed', async () => {
    const gone = new AbortController()
    const ears = openEars().listen('ses_1')
    const [waiting, closed] = [ears.rung(60_000, gone.signal), openEars().listen('ses_1')]
    gone.abort()
    expect(await waiting).toBe(false)
    expect(await ears.rung(60_000, gone.signal)).toBe(false)
    const other = closed.rung(60_000)
    closed.close()
    expect(await other).toBe(false)
  })
})
