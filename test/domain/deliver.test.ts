import { describe, expect, it } from 'vitest'
import { readTarget, readTargets } from '../../shared/domain/deliver.ts'
import {
  afterTry,
  begun,
  cutAtWord,
  deliveryIdOf,
  eventOf,
  isDue,
  judged,
  newSending,
  nextTryOf,
  type Outgoing,
  outgoingRow,
  retryAfterMs,
  type Sending,
  textOf,
  triesMax,
} from '../../shared/domain/delivery.ts'
import type { Refused } from '../../shared/domain/refused.ts'

const now = Date.parse('2026-03-01T08:00:05Z')
const ses = 'ses_01JD0000000000000000000002'

describe('a target', () => {
  for (const [uri, target] of [
    ['webhook:https://hooks.example.com/x?token=a', { kind: 'webhook', url: 'https://hooks.example.com/x?token=a' }],
    ['webhook:HTTP://example.com:8080', { kind: 'webhook', url: 'HTTP://example.com:8080' }],
    ['telegram:123456789', { kind: 'telegram', chat: '123456789' }],
    ['telegram:-1001234567890', { kind: 'telegram', chat: '-1001234567890' }],
    ['telegram:@our_channel', { kind: 'telegram', chat: '@our_channel' }],
    ['sns:arn:aws:sns:eu-west-1:123456789012:runs', { kind: 'sns', topic: 'arn:aws:sns:eu-west-1:123456789012:runs' }],
    [
      'sns:arn:aws-us-gov:sns:us-gov-west-1:123456789012:runs.fifo',
      { kind: 'sns', topic: 'arn:aws-us-gov:sns:us-gov-west-1:123456789012:runs.fifo' },
    ],
    [`session:${ses}`, { kind: 'session', session: ses }],
    ['feed:', { kind: 'feed', group: null }],
    ['feed:Morning brief', { kind: 'feed', group: 'Morning brief' }],
  ] as const)
    it(uri, () => expect(readTarget(uri)).toEqual({ target }))

  for (const [uri, fault] of [
    ['', 'expected webhook:'],
    ['https://example.com', 'expected webhook:'],
    ['mailto:a@example.com', 'expected webhook:'],
    ['Webhook:https://example.com', 'expected webhook:'],
    ['webhook:', 'http'],
    ['webhook:ftp://example.com', 'http'],
    ['webhook:https://', 'http'],
    ['webhook:https:/example.com', 'http'],
    ['webhook:https://a:b@example.com/', 'user name'],
    ['webhook:https://exa mple.com/', 'http'],
    ['webhook:https://example.com/\u202e', 'control character'],
    ['webhook:https://example.com/\n', 'http'],
    ['telegram:', 'chat id'],
    ['telegram:0', 'chat id'],
    ['telegram:12345678901234567', 'chat id'],
    ['telegram:bot', 'chat id'],
    ['telegram:1/../x', 'chat id'],
    ['sns:arn:aws:sqs:eu-west-1:123456789012:runs', 'topic arn'],
    ['sns:arn:aws:sns:evil.com/:123456789012:runs', 'topic arn'],
    ['session:ses_1', 'ses_'],
    ['session:', 'ses_'],
    [`feed:${'a'.repeat(121)}`, '120'],
    [`webhook:https://example.com/${'a'.repeat(500)}`, '500'],
  ] as const)
    it(`${uri.slice(0, 60)} is none: ${fault}`, () =>
      expect(readTarget(uri)).toEqual({ fault: expect.stringContaining(fault) }))

  it('all that is wrong is named, and none of it quoted', () => {
    const refusal = (uris: string[]): Refused => {
      try {
        readTargets(uris)
      } catch (error) {
        return error as Refused
      }
      throw new Error('accepted')
    }
    const refused = refusal(['feed:', 'webhook:ftp://x/hidden', 'feed:', 'telegram:x'])
    expect(refused.code).toBe('body_invalid')
    expect(refused.errors.map(({ path }) => path)).toEqual(['deliver.1', 'deliver.2', 'deliver.3'])
    expect(JSON.stringify(refused)).not.toContain('hidden')
    expect(refusal(Array.from({ length: 11 }, (_, i) => `feed:${i}`)).detail).toContain('at most 10')
    expect(readTargets(['feed:', 'feed:a'])).toHaveLength(2)
    expect(readTargets([])).toEqual([])
  })
})

const out: Outgoing = {
  schedule: 'sch_01JSCHEDULE0000000000000AA',
  run: 'run_01JRUN000000000000000000AA',
  name: 'Morning\nbrief',
  nominalAt: Date.parse('2026-03-01T08:00:00Z'),
  result: 'ok',
  reason: null,
  summary: 'Nothing burns.',
  answer: null,
  conv: '01JCONV00000000000000000AA',
  session: 'ses_01JCONV00000000000000000AA',
  agent: 'agt_01JAGENT0000000000000000AA',
  principal: 'per_01JANN0000000000000000000A',
  at: now,
  targets: [newSending('feed:', now)],
}

describe('what is sent', () => {
  it('a program gets all of it', () => {
    expect(eventOf(out, 'All is well.')).toEqual({
      type: 'run.ended',
      timestamp: '2026-03-01T08:00:05.000Z',
      data: {
        schedule: out.schedule,
        name: 'Morning\nbrief',
        run: out.run,
        nominalAt: '2026-03-01T08:00:00.000Z',
        outcome: 'fired',
        result: 'ok',
        summary: 'Nothing burns.',
        answer: 'All is well.',
      },
    })
  })

  it('a person reads what ran, how it ended and what was said, each once', () => {
    expect(textOf(out, 'All is well.', 4096)).toBe(
      'Scheduled run: Morning brief (ok)\n\nNothing burns.\n\nAll is well.',
    )
    expect(textOf(out, 'Nothing burns.', 4096)).toBe('Scheduled run: Morning brief (ok)\n\nNothing burns.')
    expect(textOf({ ...out, result: 'failed', reason: 'cancelled_by_overlap', summary: null }, ' ', 4096)).toBe(
      'Scheduled run: Morning brief (failed, cancelled by overlap)',
    )
  })

  it('a long text is cut after a word and marked, never inside a character', () => {
    expect(cutAtWord('one two three', 13)).toBe('one two three')
    expect(cutAtWord('one two three', 12)).toBe('one two …')
    expect(cutAtWord('a'.repeat(20), 10)).toBe('aaaaaaaa …')
    expect(cutAtWord('😀'.repeat(10), 9)).toBe('😀😀😀 …')
    const long = textOf(out, 'word '.repeat(2_000), 4096)
    expect(long.length).toBeLessThanOrEqual(4096)
    expect(long.length).toBeGreaterThan(4080)
    expect(long.endsWith('word …')).toBe(true)
  })

  it('run and target name it: the same again, another for another', () => {
    const id = deliveryIdOf(out, 'feed:')
    expect(id).toMatch(/^dlv_[0-9A-Z]{26}$/)
    expect(deliveryIdOf({ ...out }, 'feed:')).toBe(id)
    expect(deliveryIdOf(out, 'feed:a')).not.toBe(id)
    expect(deliveryIdOf({ ...out, run: `${out.run}x` }, 'feed:')).not.toBe(id)
    expect(outgoingRow(out).slice(2, 12)).toBe(id.slice(4, 14))
  })
})

describe('tries', () => {
  const failed = { kind: 'failed', error: 'no', retry: true, retryAfterMs: null } as const
  const at = { id: 'dlv_1', now }

  it('go further and further apart, a little later than planned, and end as a dead letter', () => {
    let sending: Sending = newSending('feed:', now)
    const waits: number[] = []
    while (sending.status === 'waiting') {
      sending = afterTry(begun(sending, now), failed, at)
      if (sending.nextAt !== null) waits.push((sending.nextAt - now) / 1000)
    }
    expect(waits).toHaveLength(7)
    for (const [i, least] of [5, 30, 120, 600, 3_600, 21_600, 86_400].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(least)
      expect(waits[i]).toBeLessThanOrEqual(least * 1.2)
    }
    expect(sending).toEqual({ to: 'feed:', status: 'dead', tries: triesMax, nextAt: null, error: 'no' })
  })

  it('what has arrived and what is wrong are tried no more', () => {
    const first = begun(newSending('feed:', now), now)
    expect(afterTry(first, { kind: 'sent' }, at)).toMatchObject({ status: 'sent', tries: 1, nextAt: null, error: null })
    expect(afterTry(first, { ...failed, retry: false }, at)).toMatchObject({ status: 'dead', tries: 1, error: 'no' })
  })

  it('the receiver may ask for patience, but not for ever, and not for haste', () => {
    const first = begun(newSending('feed:', now), now)
    const waited = (ms: number) => afterTry(first, { ...failed, retryAfterMs: ms }, at).nextAt! - now
    expect(waited(60_000)).toBe(60_000)
    expect(waited(1)).toBeGreaterThanOrEqual(5_000)
    expect(waited(1e12)).toBe(86_400_000)
  })

  it("one that is under way is nobody else's until it counts as lost; lost too often, it is given up", () => {
    let sending = begun(newSending('feed:', now), now)
    expect(isDue(sending, now + 59_999)).toBe(false)
    expect(isDue(sending, now + 60_000)).toBe(true)
    for (let tries = 1; tries < triesMax; tries++) sending = begun(sending, now)
    expect(sending).toMatchObject({ status: 'waiting', tries: triesMax })
    expect(begun(sending, now)).toMatchObject({ status: 'dead', nextAt: null })
  })

  it('the earliest of a run is when it is looked at', () => {
    const later = { ...newSending('feed:a', now), nextAt: now + 5 }
    const sent = { ...newSending('feed:b', now), status: 'sent', nextAt: null } as const
    expect(nextTryOf({ targets: [later, sent, newSending('feed:', now + 9)] })).toBe(now + 5)
    expect(nextTryOf({ targets: [sent] })).toBeNull()
  })
})

describe('an answer', () => {
  for (const status of [200, 201, 202, 204, 299])
    it(`${status}: arrived`, () => expect(judged(status, 'h', null)).toEqual({ kind: 'sent' }))
  for (const status of [408, 409, 425, 429, 500, 502, 503, 599])
    it(`${status}: later`, () =>
      expect(judged(status, 'h', 7)).toEqual({
        kind: 'failed',
        error: `h answered ${status}`,
        retry: true,
        retryAfterMs: 7,
      }))
  for (const status of [301, 302, 307, 400, 401, 403, 404, 405, 410, 413, 422])
    it(`${status}: never`, () => expect(judged(status, 'h', null)).toMatchObject({ kind: 'failed', retry: false }))

  it('Retry-After is seconds or a date', () => {
    expect(retryAfterMs('120', now)).toBe(120_000)
    expect(retryAfterMs('Sun, 01 Mar 2026 08:01:05 GMT', now)).toBe(60_000)
    for (const text of [undefined, '', '0', '-5', 'soon', 'Sun, 01 Mar 2026 07:00:00 GMT'])
      expect(retryAfterMs(text, now)).toBeNull()
  })
})
