import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, page, ses } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const id = 'sch_01K8ZZZZZZZZZZZZZZZZZZZZZZ'
const shown = {
  id,
  name: 'Picks changed',
  status: 'active',
  endedReason: null,
  pausedReason: null,
  agent: agt,
  session: ses,
  prompt: 'Read what changed.',
  inWords: 'when a document below picks/ changes',
  settlesAt: null,
  maxPerDay: null,
  until: null,
}

describe('rouse trigger', () => {
  test('add sends what it follows and under which conditions', async () => {
    server.on('POST /v1/triggers', { status: 201, body: shown })
    const said = await call(
      ...['trigger', 'add', 'Picks changed', '--prefix', 'picks/', '--session', ses, '--prompt', 'Read what changed.'],
      ...['--when', 'doc.n > 3', '--settle', '5m', '--max-per-day', '4', '--until', '2027-01-01T00:00:00Z'],
    )
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout).toContain('when a document below picks/ changes')
    expect(server.to('POST /v1/triggers')[0]?.body).toEqual({
      name: 'Picks changed',
      on: { document: { prefix: 'picks/' } },
      prompt: 'Read what changed.',
      session: ses,
      when: 'doc.n > 3',
      settle: '5m',
      maxPerDay: 4,
      until: '2027-01-01T00:00:00Z',
    })
  })

  test('add shows the address of a webhook, and how to call it', async () => {
    const url = 'https://rouse.example/v1/hooks/rwh_x'
    server.on('POST /v1/triggers', { status: 201, body: { ...shown, url, secret: 'whsec_x' } })
    const said = await call('trigger', 'add', 'Called', '--webhook', '--signed', '--prompt', 'Look.')
    expect(said.stdout).toContain(`curl -X POST -d '{"hello":"world"}' ${url}`)
    expect(said.stdout).toContain('whsec_x')
    expect(server.to('POST /v1/triggers')[0]?.body).toMatchObject({ on: { webhook: { signed: true } } })
  })

  test.each([
    ['nothing to follow', ['--prompt', 'x'], 'expected one of --document, --prefix and --webhook, got none'],
    ['two things to follow', ['--prompt', 'x', '--webhook', '--document', 'a'], 'got several'],
    ['a signature of a document', ['--prompt', 'x', '--document', 'a', '--signed'], '--signed has an effect only with'],
    ['no prompt', ['--document', 'a'], 'expected --prompt'],
  ])('add with %s is misuse, and nothing is sent', async (_title, options, words) => {
    const said = await call('trigger', 'add', 'T', ...options)
    expect(said).toMatchObject({ code: 2 })
    expect(said.stderr).toContain(words)
    expect(server.calls).toEqual([])
  })

  test('list, show, edit, pause and remove', async () => {
    server
      .on('GET /v1/triggers', page(shown))
      .on('GET /v1/triggers/:id', { body: shown })
      .on('PATCH /v1/triggers/:id', { body: shown })
      .on('POST /v1/triggers/:id/pause', { body: { ...shown, status: 'paused', pausedReason: 'holiday' } })
      .on('DELETE /v1/triggers/:id', { status: 204 })
    expect((await call('trigger', 'list')).stdout).toContain(id)
    expect((await call('trigger', 'show', id)).stdout).toContain('Read what changed.')
    await call('trigger', 'edit', id, '--settle', '1m')
    expect(server.to('PATCH /v1/triggers/:id')[0]?.body).toEqual({ settle: '1m' })
    expect((await call('trigger', 'edit', id)).stderr).toContain('nothing to change')
    expect((await call('trigger', 'pause', id, '--reason', 'holiday')).stdout).toContain('paused: holiday')
    expect((await call('trigger', 'remove', id)).stdout).toBe(`Removed ${id}.\n`)
  })
})
