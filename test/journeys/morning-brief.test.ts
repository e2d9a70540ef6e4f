import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import { agent, all, fresh } from './actors.ts'
import { anywhere, type CallOptions, type Json } from './node.ts'

const recipe = fileURLToPath(new URL('../../examples/morning-brief/', import.meta.url))
const day = '2026-03-02'
const group = 'Morning brief 2 Mar'

anywhere('the morning brief of examples/', (rouse) => {
  /** A person whose feed and documents nobody else writes to, with the three agents of the recipe. */
  async function household(waitSeconds: number) {
    const who: CallOptions & { key: string } = {
      key: (await rouse.ok('POST', '/v1/people', { name: fresh('person') })).key,
    }
    const keyFor = async (name: string): Promise<string> => {
      const made = await agent(rouse, { name }, who)
      return (await rouse.ok('POST', `/v1/agents/${made.id}/keys`, {}, who)).key
    }
    const keys: Record<string, string> = {}
    for (const name of ['brief-scout-calendar', 'brief-scout-mail', 'morning-brief']) keys[name] = await keyFor(name)
    const env = { ...process.env, ROUSE_URL: rouse.url, BRIEF_DAY: day, BRIEF_WAIT_SECONDS: `${waitSeconds}` }
    const run = (name: string, script: string, ...argv: string[]) =>
      ran([`${recipe}${script}`, ...argv], { ...env, ROUSE_KEY: keys[name] })
    return {
      who,
      keys,
      env,
      scout: (of: string) => run(`brief-scout-${of}`, 'scout.mjs', of),
      write: () => run('morning-brief', 'writer.mjs', 'calendar', 'mail'),
      cards: (): Promise<Json[]> => all(rouse, `/v1/feed?group=${encodeURIComponent(group)}`, who),
      document: (of: string) => rouse.call('GET', `/v1/documents/briefs/${day}/${of}.md`, undefined, who),
    }
  }

  const titles = ['09:30 Weekly planning', '14:00 Budget review', 'The landlord asks: renew the lease for a year?']

  test('S2-71 scouts and writer run as scheduled agents behind `rouse attach`', async () => {
    const home = await household(20)
    for (const [name, script, ...argv] of [
      ['brief-scout-calendar', 'scout.mjs', 'calendar'],
      ['brief-scout-mail', 'scout.mjs', 'mail'],
      ['morning-brief', 'writer.mjs', 'calendar', 'mail'],
    ] as const) {
      const io = { env: { ...home.env, ROUSE_KEY: home.who.key! } }
      const cron = name === 'morning-brief' ? '0 7 * * 1-5' : '30 6 * * 1-5'
      const asked = ['schedule', 'add', name, '--agent', name, '--prompt', 'Go.', '--cron', cron, '--json']
      const { id } = JSON.parse((await command([...asked, '--tz', 'Europe/Amsterdam'], io)).stdout)
      expect((await command(['schedule', 'run', id], io)).code).toBe(0)
      const served = ['attach', '--agent', name, '--once', '--', process.execPath, `${recipe}${script}`, ...argv]
      const { code, stderr } = await command(served, { env: { ...home.env, ROUSE_KEY: home.keys[name]! } })
      expect([name, code, stderr]).toEqual([name, 0, expect.any(String)])
      const [run] = await all(rouse, `/v1/schedules/${id}/runs`, home.who)
      expect([name, run.result]).toEqual([name, 'ok'])
    }
    const cards = await home.cards()
    expect(cards.map(({ title }) => title)).toEqual(titles)
    expect(cards.map(({ session }) => session).every((id) => id?.startsWith('ses_'))).toBe(true)
  })

  test('S2-72 each scout uploads its document of the day, with evidence per item', async () => {
    const home = await household(0)
    for (const of of ['calendar', 'mail']) expect((await home.scout(of)).code).toBe(0)
    const listed = await all(rouse, `/v1/documents?prefix=briefs/${day}/`, home.who)
    expect(listed.map(({ path }) => path)).toEqual([`briefs/${day}/calendar.md`, `briefs/${day}/mail.md`])
    const { body, headers } = await home.document('calendar')
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(body).toContain('- evidence: event ev-17, 2026-03-02T09:30')
    expect(body.match(/^## /gm)).toHaveLength(2)
    expect(body.match(/^- evidence: ./gm)).toHaveLength(2)
  })

  test('S2-73 the writer waits for a late scout, checks each item and posts those that hold', async () => {
    const home = await household(20)
    await home.scout('calendar')
    const began = Date.now()
    const writing = home.write()
    await sleep(1_500)
    expect(await home.cards()).toEqual([])
    await home.scout('mail')
    const { code, said } = await writing
    expect([code, Date.now() - began >= 1_500, Date.now() - began < 15_000]).toEqual([0, true, true])
    expect(said).toContain(`${group}: 3 cards from calendar, mail`)
    expect(said).toContain('left out: mail: "A rumour without a message behind it" has no evidence')
    const cards = await home.cards()
    expect(cards.map(({ title, label, loop, seen }) => [title, label, loop, seen])).toEqual([
      [titles[0], 'fyi', 'calendar ev-17', 1],
      [titles[1], 'promise', 'calendar ev-18', 1],
      [titles[2], 'decide', 'mail m-204', 1],
    ])
    expect(cards[2].body).toContain('message m-204 of 2026-03-01T17:12: "Lease renewal"')
    // Written once more on the same day, nothing is posted or counted twice.
    expect((await home.write()).code).toBe(0)
    expect((await home.cards()).map(({ seen }) => seen)).toEqual([1, 1, 1])
  })

  test('S2-74 a scout that did not deliver leads the brief', async () => {
    const home = await household(1)
    await home.scout('mail')
    const began = Date.now()
    const { code, said } = await home.write()
    expect([code, Date.now() - began >= 1_000]).toEqual([0, true])
    expect(said).toContain('did not deliver: calendar')
    const cards = await home.cards()
    expect(cards.map(({ title, label }) => [title, label])).toEqual([
      ['The calendar scout did not deliver', 'risk'],
      [titles[2], 'decide'],
    ])
    const summary = await rouse.ok('GET', `/v1/feed/groups/${encodeURIComponent(group)}/summary`, undefined, home.who)
    expect(summary.cards[0].title).toBe('The calendar scout did not deliver')
  })
})

async function ran(argv: string[], env: NodeJS.ProcessEnv): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
  const [code] = await once(child, 'close')
  return { code, said }
}
