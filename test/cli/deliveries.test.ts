import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clock, page, sch, schedule } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())
const call = (...argv: string[]) => rouse(argv, { url: server.url })

const dlv = 'dlv_01JD0000000000000000000009'
const delivery = {
  id: dlv,
  run: 'run_01JD0000000000000000000004',
  to: 'webhook:https://hooks.example.com/x',
  status: 'dead',
  tries: 8,
  nextTryAt: null,
  lastError: 'hooks.example.com answered 503',
  at: '2026-03-27T06:40:00.000Z',
}
const waiting = {
  ...delivery,
  id: `${dlv.slice(0, -1)}A`,
  to: 'telegram:42',
  status: 'waiting',
  tries: 1,
  lastError: null,
}

describe('where runs are told', () => {
  test('--deliver may be given several times, when adding and when editing', async () => {
    const targets = ['--deliver', 'webhook:https://hooks.example.com/x', '--deliver', 'feed:briefs']
    const deliver = ['webhook:https://hooks.example.com/x', 'feed:briefs']
    server.on('POST /v1/schedules', { status: 201, body: { ...schedule, deliver } })
    server.on(`PATCH /v1/schedules/${sch}`, { body: { ...schedule, deliver } })
    const added = await call('schedule', 'add', 'x', '--prompt', 'y', '--every', '1h', ...targets)
    expect(server.to('POST /v1/schedules')[0]?.body).toMatchObject({ deliver })
    expect(added.stdout).toMatch(/deliver\s+webhook:https:\/\/hooks\.example\.com\/x\n\s+feed:briefs/)
    await call('schedule', 'edit', sch, ...targets)
    expect(server.to(`PATCH /v1/schedules/${sch}`)[0]?.body).toEqual({ deliver })
  })

  test('--clear deliver sends null', async () => {
    server.on(`PATCH /v1/schedules/${sch}`, { body: schedule })
    await call('schedule', 'edit', sch, '--clear', 'deliver')
    expect(server.to(`PATCH /v1/schedules/${sch}`)[0]?.body).toEqual({ deliver: null })
  })

  test('the list says what was given up, why, and how to send it again', async () => {
    server.on(
      `GET /v1/schedules/${sch}/deliveries`,
      page({ ...waiting, nextTryAt: '2026-03-27T06:50:00.000Z' }, delivery),
    )
    const { stdout, code } = await call('schedule', 'deliveries', sch)
    expect(code).toBe(0)
    expect(stdout).toMatch(/dlv_\w+A .*telegram:42 .*waiting .*next in 2 min/)
    expect(stdout).toContain('8 tries')
    expect(stdout).toContain(`rouse schedule redeliver ${sch}`)
    const json = await call('schedule', 'deliveries', sch, '--json')
    expect(JSON.parse(json.stdout).data[1]).toEqual(delivery)
  })

  test('none yet', async () => {
    server.on(`GET /v1/schedules/${sch}/deliveries`, page())
    expect((await call('schedule', 'deliveries', sch)).stdout).toContain('--deliver')
  })

  test('one is sent again', async () => {
    server.on(`POST /v1/schedules/${sch}/deliveries/${dlv}/retry`, {
      status: 202,
      body: { ...delivery, status: 'waiting' },
    })
    expect((await call('schedule', 'redeliver', sch, dlv)).stdout).toContain(`Sending ${dlv}`)
  })
})
