import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actor, claim, end, moveBy, say, turnOf } from './actors.ts'
import { type RouseNode, withOwnNodes } from './node.ts'
import { Receiver } from './receiver.ts'
import { monitor, readMonitor } from './watching.ts'

const example = readFileSync(
  fileURLToPath(new URL('../../examples/currency-watcher/rate.json', import.meta.url)),
  'utf8',
)

/** A bank that says one rate until it is told another. */
const bank = new Receiver()
let usd = 1.08
beforeAll(() => bank.up())
afterAll(() => bank.down())

withOwnNodes('the currency watcher of examples/', (make) => {
  let rouse: RouseNode
  beforeAll(async () => {
    rouse = make()
    await rouse.start({ clock: '2026-03-02T08:00:00Z', env: { ROUSE_ALLOW_HOSTS: bank.host } })
    bank.reply = () => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 1, base: 'EUR', date: '2026-03-02', rates: { USD: usd } }),
    })
  })

  test('it looks each hour, says nothing, and wakes the agent once when the rate is reached', async () => {
    const who = await actor(rouse)
    const tool = JSON.parse(example.replace('https://api.frankfurter.dev', `http://${bank.host}`))
    await rouse.ok('PUT', `/v1/agents/${who.agent.id}/tools/rate`, tool, { key: who.key })
    await say(rouse, who.session.id, 'Tell me when a euro is worth 1.20 dollars.')
    const { turn } = await turnOf(rouse, who.session.id)
    const made = await monitor(
      rouse,
      {
        note: 'The user wanted to hear when a euro is worth 1.20 dollars. Say so, with the rate.',
        watch: { tool: { name: 'rate', args: { from: 'EUR', to: 'USD' }, every: '1h' } },
        when: 'output >= 1.20',
        expiresIn: '7d',
      },
      who.as,
    )
    await end(rouse, turn.id, { answer: 'I will tell you.' })
    await rouse.ok('POST', `/v1/sessions/${who.session.id}/ticks/park`, {})

    await moveBy(rouse, '5h')
    expect(await claim(rouse, who.session.id)).toBeNull()
    expect(bank.got.map(({ path }) => path)).toEqual(Array(5).fill('/v1/latest?base=EUR&symbols=USD'))

    usd = 1.21
    await moveBy(rouse, '3h')
    const { turn: woken, message } = await turnOf(rouse, who.session.id)
    expect(message.text.split('\n')[0]).toMatch(/^\[monitor event\]/)
    expect(message.text).toContain('Say so, with the rate.')
    expect(message.text).toContain('1.21')
    await end(rouse, woken.id, { answer: 'A euro is worth 1.21 dollars.' })
    expect((await readMonitor(rouse, made.id)).status).toBe('fired')
    expect(bank.got).toHaveLength(6)

    await rouse.ok('POST', `/v1/sessions/${who.session.id}/ticks/park`, {})
    await moveBy(rouse, '1d')
    expect(bank.got).toHaveLength(6)
    expect(await claim(rouse, who.session.id)).toBeNull()
  })
})
