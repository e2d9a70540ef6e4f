import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  agentWithSession,
  all,
  create,
  end,
  instant,
  messages,
  moveBy,
  moveTo,
  now,
  read,
  schedule,
  session as sessionOf,
  turnOf,
} from './actors.ts'
import { type Json, type RouseNode, withOwnNodes } from './node.ts'
import { Receiver } from './receiver.ts'

const secret = `whsec_${Buffer.from('thirty-two bytes that are secret').toString('base64')}`
const token = '1234567:hidden-bot-token'
const outside = new Receiver()
/** Nobody is allowed to reach this one. */
const inner = new Receiver()

beforeAll(async () => {
  await outside.up()
  await inner.up()
})
afterAll(() => {
  outside.down()
  inner.down()
})
beforeEach(() => {
  outside.got.length = 0
  outside.reply = () => ({ status: 204 })
})

const env = () => ({
  ROUSE_ALLOW_HOSTS: outside.host,
  ROUSE_TELEGRAM_API: `http://${outside.host}/telegram`,
  AWS_ENDPOINT_URL_SNS: `http://${outside.host}/sns`,
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
})

/** A schedule that runs in an hour, and its run: fired, taken and ended. */
async function ended(rouse: RouseNode, deliver: string[], body: Json = { answer: 'All is well.' }): Promise<Json> {
  const { session } = await agentWithSession(rouse)
  const made = await schedule(rouse, { session: session.id, at: instant(await now(rouse), 60), tz: 'UTC', deliver })
  await moveBy(rouse, '1h')
  await end(rouse, (await turnOf(rouse, session.id)).turn.id, body)
  return made
}
const deliveries = (rouse: RouseNode, id: string): Promise<Json[]> => all(rouse, `/v1/schedules/${id}/deliveries`)

withOwnNodes('deliveries', (make) => {
  let rouse: RouseNode
  beforeAll(async () => {
    rouse = make()
    // The library judges timestamps by the machine's clock: an hour on, this one stands at its time.
    await rouse.start({ clock: new Date(Date.now() - 3_600_000).toISOString(), env: env() })
    expect((await rouse.call('PUT', '/v1/secrets/WEBHOOK_SECRET', { value: secret })).status).toBe(204)
    expect((await rouse.call('PUT', '/v1/secrets/TELEGRAM_BOT_TOKEN', { value: token })).status).toBe(204)
  })

  test('a webhook has come when the end answers, and its signature holds', async () => {
    const made = await ended(rouse, [`webhook:http://${outside.host}/signed?token=in-the-query`])
    const [request] = outside.at('/signed')
    const event = new Webhook(secret).verify(request!.body, request!.headers as Record<string, string>) as Json
    const [delivery] = await deliveries(rouse, made.id)
    expect(event).toEqual({
      type: 'run.ended',
      timestamp: delivery.at,
      data: {
        schedule: made.id,
        name: 'Nightly review',
        run: delivery.run,
        nominalAt: made.nextAt,
        outcome: 'fired',
        result: 'ok',
        summary: null,
        answer: 'All is well.',
      },
    })
    expect(request!.headers['webhook-id']).toBe(delivery.id)
    expect(() => new Webhook(secret).verify(`${request!.body} `, request!.headers as Record<string, string>)).toThrow()
    expect(delivery).toEqual({
      id: expect.stringMatching(/^dlv_/),
      run: expect.stringMatching(/^run_/),
      to: `webhook:http://${outside.host}/signed?token=in-the-query`,
      status: 'sent',
      tries: 1,
      nextTryAt: null,
      lastError: null,
      at: delivery.at,
    })
  })

  test('500s are tried again as the clock moves, under the same id, each signed anew', async () => {
    outside.reply = (_, nth) => ({ status: nth < 3 ? 500 : 200 })
    const made = await ended(rouse, [`webhook:http://${outside.host}/again`])
    expect(await deliveries(rouse, made.id)).toMatchObject([
      { status: 'waiting', tries: 1, lastError: `${outside.host} answered 500` },
    ])
    await moveBy(rouse, '10m')
    const got = outside.at('/again')
    expect(got).toHaveLength(3)
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(got.map(({ headers }) => headers['webhook-signature'])).size).toBe(3)
    expect(await deliveries(rouse, made.id)).toMatchObject([{ status: 'sent', tries: 3, lastError: null }])
  })

  test('the clock answers when all that it made due has left', async () => {
    outside.reply = () => ({ status: 503, afterMs: 300 })
    const made = await ended(rouse, [`webhook:http://${outside.host}/slow`])
    const [{ nextTryAt }] = await deliveries(rouse, made.id)
    await moveTo(rouse, nextTryAt)
    expect(outside.at('/slow')).toHaveLength(2)
    expect(await deliveries(rouse, made.id)).toMatchObject([{ tries: 2, status: 'waiting' }])
  })

  test('what is given up is seen, and sent again when asked', async () => {
    outside.reply = () => ({ status: 404 })
    const made = await ended(rouse, [`webhook:http://${outside.host}/dead`])
    const [dead] = await deliveries(rouse, made.id)
    expect(dead).toMatchObject({ status: 'dead', tries: 1, nextTryAt: null, lastError: `${outside.host} answered 404` })
    outside.reply = () => ({ status: 200 })
    const again = await rouse.call('POST', `/v1/schedules/${made.id}/deliveries/${dead.id}/retry`)
    expect(again).toMatchObject({ status: 202, body: { id: dead.id, status: 'waiting' } })
    expect(await deliveries(rouse, made.id)).toMatchObject([{ id: dead.id, status: 'sent' }])
    expect(outside.at('/dead').map(({ headers }) => headers['webhook-id'])).toEqual([dead.id, dead.id])
    const more = await rouse.call('POST', `/v1/schedules/${made.id}/deliveries/${dead.id}/retry`, {})
    expect(more).toMatchObject({ status: 409, body: { code: 'delivery_sent' } })
  })

  test('a private address is refused when it can be seen', async () => {
    const { session } = await agentWithSession(rouse)
    for (const url of [
      `http://${inner.host}/`,
      `http://2130706433:${inner.host.split(':')[1]}/`,
      'http://169.254.169.254/latest/',
      'http://[::ffff:10.0.0.1]/',
      'http://localhost/',
    ]) {
      const answer = await create(rouse, { session: session.id, every: '1h', deliver: ['feed:', `webhook:${url}`] })
      expect(answer, url).toMatchObject({
        status: 422,
        body: {
          code: 'body_invalid',
          errors: [{ path: 'deliver.1', message: expect.stringContaining('not reached') }],
        },
      })
    }
  })

  test('and when a redirect leads to one', async () => {
    outside.reply = () => ({ status: 307, headers: { location: `http://${inner.host}/` } })
    const made = await ended(rouse, [`webhook:http://${outside.host}/redirect`])
    expect(await deliveries(rouse, made.id)).toMatchObject([
      { status: 'dead', lastError: expect.stringContaining('127.0.0.1 is a loopback address') },
    ])
    expect(inner.got).toEqual([])
  })

  test('other faults of targets are named with their place', async () => {
    const { session } = await agentWithSession(rouse)
    const refused = async (deliver: unknown) =>
      (await create(rouse, { session: session.id, every: '1h', deliver })).body.errors?.map(({ path }: Json) => path)
    expect(await refused(['mailto:a@b.c', 'feed:', 'feed:'])).toEqual(['deliver.0', 'deliver.2'])
    expect(await refused(Array.from({ length: 11 }, (_, n) => `feed:${n}`))).toEqual(['deliver'])
    expect(await refused([`feed:${'x'.repeat(500)}`])).toEqual(['deliver.0'])
    expect(await refused(['session:ses_01JD0000000000000000000002'])).toEqual(['deliver.0'])
    expect(await refused('feed:')).toEqual(['deliver'])
  })

  test('a schedule shows its targets; an edit changes them, null clears', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, every: '1h', deliver: ['feed:a'] })
    expect(made.deliver).toEqual(['feed:a'])
    const edit = (body: Json) => rouse.ok('PATCH', `/v1/schedules/${made.id}`, body)
    expect((await edit({ name: 'Other' })).deliver).toEqual(['feed:a'])
    expect((await edit({ deliver: ['feed:b', 'feed:c'] })).deliver).toEqual(['feed:b', 'feed:c'])
    expect((await edit({ deliver: null })).deliver).toEqual([])
    expect((await read(rouse, made.id)).deliver).toEqual([])
  })

  test('Telegram gets a text, a topic the event, a session a note and the feed a card', async () => {
    outside.reply = ({ path }) =>
      path.startsWith('/telegram')
        ? { status: 200, body: '{"ok":true}' }
        : {
            status: 200,
            body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>',
          }
    const { session } = await agentWithSession(rouse)
    const topic = 'arn:aws:sns:eu-west-1:123456789012:runs'
    const made = await ended(rouse, ['telegram:-42', `sns:${topic}`, `session:${session.id}`, 'feed:briefs'])
    const text = 'Scheduled run: Nightly review (ok)\n\nAll is well.'
    expect(await deliveries(rouse, made.id)).toMatchObject(Array.from({ length: 4 }, () => ({ status: 'sent' })))
    expect(outside.at('/telegram')).toMatchObject([{ method: 'POST', path: `/telegram/bot${token}/sendMessage` }])
    expect(JSON.parse(outside.at('/telegram')[0]!.body)).toEqual({ chat_id: -42, text })
    const published = new URLSearchParams(outside.at('/sns')[0]!.body)
    expect(published.get('TopicArn')).toBe(topic)
    expect(JSON.parse(published.get('Message')!)).toMatchObject({ type: 'run.ended', data: { schedule: made.id } })
    expect(await messages(rouse, session.id)).toMatchObject([{ kind: 'note', text, automated: true }])
    expect((await rouse.ok('GET', '/v1/feed?group=briefs')).data).toMatchObject([
      { kind: 'post', title: 'Scheduled run: Nightly review (ok)', body: 'All is well.' },
    ])
  })

  test('nothing to do tells nobody', async () => {
    const made = await ended(rouse, [`webhook:http://${outside.host}/none`], { outcome: 'nothing_to_do' })
    await moveBy(rouse, '1h')
    expect(outside.at('/none')).toEqual([])
    expect(await deliveries(rouse, made.id)).toEqual([])
  })

  test('what others cannot see they cannot send again', async () => {
    const made = await ended(rouse, ['feed:'])
    const [{ id }] = await deliveries(rouse, made.id)
    const { key } = await rouse.ok('POST', '/v1/people', { name: 'bob' })
    const where = `/v1/schedules/${made.id}/deliveries`
    expect((await rouse.call('GET', where, undefined, { key })).status).toBe(404)
    expect((await rouse.call('POST', `${where}/${id}/retry`, {}, { key })).status).toBe(404)
    expect((await rouse.call('POST', `${where}/dlv_01JD0000000000000000000002/retry`, {})).status).toBe(404)
    expect((await rouse.call('GET', `${where}?cursor=x`)).status).toBe(400)
  })

  test('secrets are in no answer and no log', async () => {
    outside.reply = ({ path }) => ({ status: path.startsWith('/telegram') ? 401 : 400, body: `${token} ${secret}` })
    const made = await ended(rouse, ['telegram:7', `webhook:http://${outside.host}/x?token=in-the-query`])
    const told = JSON.stringify([
      await deliveries(rouse, made.id),
      await rouse.ok('GET', `/v1/schedules/${made.id}/why`),
      await rouse.ok('GET', '/v1/secrets'),
    ])
    expect(told).toContain('Telegram answered 401')
    for (const text of [told, rouse.said]) {
      expect(text).not.toContain('hidden-bot-token')
      expect(text).not.toContain(secret.slice(6))
    }
    expect(rouse.said).toContain('delivery given up')
    expect(rouse.said).not.toContain('in-the-query')
  })

  test('a restart sends what was left, under the same id', async () => {
    const node = make()
    await node.start({ clock: '2026-03-01T00:00:00Z', env: env() })
    outside.reply = () => ({ status: 500 })
    const made = await ended(node, [`webhook:http://${outside.host}/later`])
    await node.stop('SIGKILL')
    outside.reply = () => ({ status: 200 })
    await node.start({ clock: '2026-03-01T01:05:00Z', env: env() })
    await moveBy(node, '1m')
    expect(await deliveries(node, made.id)).toMatchObject([{ status: 'sent', tries: 2 }])
    expect(new Set(outside.at('/later').map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})

withOwnNodes('deliveries where time passes', (make) => {
  test('a slow receiver holds up neither the end of the turn, nor the next wake, nor the end of the node', async () => {
    const node = make()
    await node.start({ env: env() })
    outside.reply = ({ path }) => ({ status: 204, ...(path === '/slow' ? { afterMs: 5_000 } : {}) })
    const { session } = await agentWithSession(node)
    const other = await sessionOf(node, session.agent, { main: false })
    const run = async (into: string, deliver: string[]) => {
      const made = await schedule(node, { session: into, every: '1h', deliver })
      await node.ok('POST', `/v1/schedules/${made.id}/run`)
      const since = performance.now()
      await end(node, (await turnOf(node, into)).turn.id, { answer: 'Done.' })
      expect(performance.now() - since).toBeLessThan(2_000)
      return made
    }
    const slow = await run(session.id, [`webhook:http://${outside.host}/slow`])
    await outside.heard('/slow')
    await run(other.id, [`webhook:http://${outside.host}/fast`])
    await outside.heard('/fast')
    const soon = await schedule(node, { session: other.id, at: new Date(Date.now() + 300).toISOString() })
    const claimed = await node.ok('POST', `/v1/sessions/${other.id}/claim`, { wait: 5 })
    expect(claimed.message.origin.schedule).toBe(soon.id)
    expect(outside.at('/slow')).toHaveLength(1)
    const { ms, code } = await node.stop()
    expect(code).toBe(0)
    expect(ms).toBeLessThan(4_000)
    // What was under way is known to have been, and is made again.
    outside.reply = () => ({ status: 204 })
    await node.start({ env: env() })
    await outside.heard('/slow', 2)
    expect(new Set(outside.at('/slow').map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(await deliveries(node, slow.id)).toHaveLength(1)
  })

  test('a list of hosts that cannot be read stops the start', async () => {
    const node = make()
    await expect(node.start({ env: { ROUSE_ALLOW_HOSTS: 'http://x' } })).rejects.toThrow('ROUSE_ALLOW_HOSTS: expected')
  })
})
