import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clock, page, sch } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(['feed', ...argv], { url: server.url })
const crd = 'crd_01JD0000000000000000000009'
const group = 'Morning brief 27 Mar'

const card = {
  id: crd,
  kind: 'post',
  title: 'Sign the lease',
  body: null,
  group,
  label: 'decide',
  loop: null,
  seen: 1,
  autoSendOn: null,
  daysLeft: null,
  actions: ['dismiss'],
  status: 'open',
  reason: null,
  schedule: null,
  session: null,
  agent: null,
  run: null,
  at: '2026-03-27T06:36:00.000Z',
  createdAt: '2026-03-27T06:36:00.000Z',
}
const feed = (labels: object, ...cards: object[]) => ({ body: { ...page(...cards).body, labels } })

describe('feed post', () => {
  const sent = () => server.to('POST /v1/feed').at(-1)?.body
  const willPost = (over: object = {}) => server.on('POST /v1/feed', { status: 201, body: { ...card, ...over } })

  test('S2-69 title, group, label and loop are sent as they are given, and nothing else', async () => {
    willPost()
    const said = await call('post', 'Sign the lease', '--group', group, '--label', 'decide', '--loop', 'lease')
    expect(said).toMatchObject({ code: 0, stderr: '', stdout: `Posted ${crd} to "${group}".\n` })
    expect(sent()).toEqual({ title: 'Sign the lease', group, label: 'decide', loop: 'lease' })
    await call('post', 'Alone')
    expect(sent()).toEqual({ title: 'Alone' })
  })

  test('S2-75 a card that was seen before is said to have moved', async () => {
    willPost({ seen: 3 })
    expect((await call('post', 'Lease', '--loop', 'lease')).stdout).toBe(`Moved ${crd} to "${group}": seen 3 times.\n`)
  })

  test('S2-76 with --auto-send-on it says how to stop the countdown', async () => {
    willPost({ group: null, autoSendOn: '2026-04-01', daysLeft: 5, actions: ['stop', 'dismiss'] })
    const said = await call('post', 'Reply to Kim', '--auto-send-on', '2026-04-01', '--idempotency-key', 'k1')
    expect(sent()).toEqual({ title: 'Reply to Kim', autoSendOn: '2026-04-01' })
    expect(server.to('POST /v1/feed')[0]?.headers['idempotency-key']).toBe('k1')
    expect(said.stdout).toBe(`Posted ${crd}.\nCounts down to 2026-04-01; \`rouse feed act ${crd} stop\` stops it.\n`)
  })

  test('the body is given, read from a file, or from the standard input, and only one of these', async () => {
    willPost()
    await call('post', 'x', '--body', 'given')
    expect(sent()).toEqual({ title: 'x', body: 'given' })
    const file = join(mkdtempSync(join(tmpdir(), 'rouse-')), 'body.md')
    writeFileSync(file, 'from a file\n')
    await call('post', 'x', '--body-file', file)
    expect(sent()).toEqual({ title: 'x', body: 'from a file' })
    await rouse(['feed', 'post', 'x', '--body-file', '-'], { url: server.url, stdin: 'piped\n' })
    expect(sent()).toEqual({ title: 'x', body: 'piped' })
    const calls = server.calls.length
    expect(await call('post', 'x', '--body', 'a', '--body-file', file)).toMatchObject({
      code: 2,
      stderr: '✗ --body and --body-file exclude each other\n',
    })
    const absent = await call('post', 'x', '--body-file', '/nowhere/body.md')
    expect(absent).toMatchObject({ code: 2, stderr: '✗ --body-file /nowhere/body.md cannot be read: ENOENT\n' })
    expect(await rouse(['feed', 'post', 'x', '--body-file', '-'], { url: server.url })).toMatchObject({ code: 2 })
    expect(server.calls).toHaveLength(calls)
  })

  test('an unknown label is a usage error that lists the labels; what the server refuses is told', async () => {
    const said = await call('post', 'x', '--label', 'urgent')
    expect(said).toMatchObject({ code: 2, stdout: '' })
    expect(said.stderr).toContain('money, promise, decide, nudge, risk, fyi')
    expect(server.calls).toEqual([])
    server.on('POST /v1/feed', refusal(422, 'body_invalid', 'autoSendOn: expected today (2026-03-27) or a later day'))
    const refused = await call('post', 'x', '--auto-send-on', '2026-03-01')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('✗ autoSendOn: expected today (2026-03-27) or a later day (body_invalid)')
  })
})

describe('feed list', () => {
  test('S2-70 a heading per group in the order of the server, the label chips above', async () => {
    const incident = {
      ...card,
      kind: 'incident',
      title: 'Your scheduled run "Review" did not run',
      group: null,
      label: null,
      reason: 'agent_not_connected',
      schedule: sch,
      actions: ['run-now', 'dismiss'],
    }
    const body = 'one\ntwo\nthree\nfour\nfive'
    const first = { ...card, seen: 3, body, autoSendOn: '2026-03-28', daysLeft: 1, actions: ['stop', 'dismiss'] }
    const second = { ...card, title: 'Paid', label: 'fyi', status: 'dismissed', actions: [] }
    server.on('GET /v1/feed', feed({ decide: 1, fyi: 1 }, first, second, incident))
    expect((await call('list')).stdout).toBe(`labels  decide 1 · fyi 1

Morning brief 27 Mar
  [decide] Sign the lease · seen 3 times · sends in 1 day (2026-03-28)
    one
    two
    three
    … 2 more lines: rouse feed show ${crd}
    ${crd} · 12 min ago · stop, dismiss
  [fyi] Paid · dismissed
    ${crd} · 12 min ago

in no group
  Your scheduled run "Review" did not run
    why: agent not connected
    ${crd} · 12 min ago · run-now, dismiss
`)
  })

  test('filters and paging go to the server, and --json prints its answer', async () => {
    const answer = feed({ fyi: 1 }, card)
    server.on('GET /v1/feed', answer)
    const said = await call('list', '--group', group, '--label', 'fyi', '--status', 'all', '--limit', '5', '--json')
    expect(server.to('GET /v1/feed')[0]?.query).toEqual({ group, label: 'fyi', status: 'all', limit: '5' })
    expect(JSON.parse(said.stdout)).toEqual(answer.body)
  })

  test('an empty feed says how to fill it, an empty selection that there are no such cards', async () => {
    server.on('GET /v1/feed', feed({}))
    expect((await call('list')).stdout).toBe('No cards yet. `rouse feed post <title>` puts one there.\n')
    expect((await call('list', '--label', 'risk')).stdout).toBe('No such cards.\n')
  })

  test("a card's text cannot forge a line or move the cursor", async () => {
    const forged = { ...card, title: 'a\n\u001b[2J[fyi] b', group: 'G\r\nH', body: 'x\u001b]0;y\u0007' }
    server.on('GET /v1/feed', feed({}, forged))
    expect((await call('list')).stdout).toContain('G H\n  [decide] a [2J[fyi] b\n    x]0;y\n')
  })
})

describe('the other feed commands', () => {
  test.each([
    ['allow', `Allowed ${crd}.`],
    ['deny', `Denied ${crd}.`],
    ['stop', `Stopped the countdown of ${crd}: nothing is sent by itself.`],
    ['dismiss', `Dismissed ${crd}.`],
    ['run-now', `Asked for run_1; \`rouse schedule runs ${sch}\` shows what became of it.`],
  ])('act %s', async (action, line) => {
    server.on(`POST /v1/feed/${crd}/actions/${action}`, { body: { ...card, schedule: sch, run: 'run_1' } })
    expect(await call('act', crd, action)).toMatchObject({ code: 0, stdout: `${line}\n` })
  })

  test('an action that does not exist is a usage error, one that the card does not take is refused', async () => {
    expect(await call('act', crd, 'burn')).toMatchObject({ code: 2 })
    expect(server.calls).toEqual([])
    server.on(`POST /v1/feed/${crd}/actions/stop`, refusal(409, 'card_settled', `card ${crd} was dismissed`))
    expect(await call('act', crd, 'stop')).toMatchObject({
      code: 1,
      stderr: `✗ card ${crd} was dismissed (card_settled)\n`,
    })
    server.on(`POST /v1/feed/${crd}/actions/stop`, refusal(403, 'person_only', "only a person's key may act on a card"))
    expect((await call('act', crd, 'stop')).stderr).toContain("Use a person's key")
  })

  test('show prints all the text', async () => {
    server.on(`GET /v1/feed/${crd}`, { body: { ...card, body: 'one\n\ntwo\nthree\nfour' } })
    expect((await call('show', crd)).stdout).toBe(
      `  [decide] Sign the lease\n    one\n\n    two\n    three\n    four\n    ${crd} · 12 min ago · dismiss\n`,
    )
  })

  test('S2-69 group-summary prints what is open, per label and card', async () => {
    const cards = [
      { ...card, loop: 'lease', seen: 2 },
      { ...card, title: 'Reply', label: null, autoSendOn: '2026-03-27', daysLeft: 0 },
      { ...card, title: 'Late', label: 'risk', autoSendOn: '2026-03-20', daysLeft: -7 },
    ]
    const summary = { group, at: card.at, open: 5, settled: 1, labels: { decide: 1, risk: 1 }, cards, more: 2 }
    server.on('GET /v1/feed/groups/:group/summary', { body: summary })
    const said = await call('group-summary', group)
    expect(server.to('GET /v1/feed/groups/:group/summary')[0]?.path).toBe(`/v1/feed/groups/${group}/summary`)
    expect(said.stdout).toBe(`Morning brief 27 Mar: 5 open, 1 settled, last 12 min ago
labels  decide 1 · risk 1
  [decide] Sign the lease · seen 2 times · loop lease ${crd}
  Reply · sends today ${crd}
  [risk] Late · was to be sent on 2026-03-20 ${crd}
  … and 2 more
`)
    server.on('GET /v1/feed/groups/:group/summary', {
      body: { group: 'Nothing', at: null, open: 0, settled: 0, labels: {}, cards: [], more: 0 },
    })
    expect((await call('group-summary', 'Nothing')).stdout).toBe('Nothing: 0 open\n')
  })

  test.each([['feed --help'], ['feed post --help'], ['feed list --help'], ['feed act --help']])(
    'rouse %s exits with 0',
    async (argv) => {
      expect(await rouse(argv.split(' '), { env: {} })).toMatchObject({ code: 0, stderr: '' })
    },
  )
})
