import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { actor, agent, fresh, instant, letAgentsUseSessions, now, schedule, session } from './actors.ts'
import { type CallOptions, type Json, onClock, withOwnNodes } from './node.ts'
import { monitor } from './watching.ts'

/** One content line, unfolded and unescaped. */
interface Line {
  readonly name: string
  readonly params: string
  readonly value: string
}

/** Reads a calendar by the letter of RFC 5545, 3.1 and 3.3.11, and fails at what is not. */
function parsed(bytes: Buffer): Line[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  expect(text.endsWith('\r\n')).toBe(true)
  const physical = text.slice(0, -2).split('\r\n')
  for (const line of physical) {
    // No bare CR or LF, no line over 75 octets, none that is broken within a character.
    expect(line).not.toMatch(/[\r\n]/)
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(line.isWellFormed()).toBe(true)
  }
  return physical
    .join('\r\n')
    .replaceAll(/\r\n[ \t]/g, '')
    .split('\r\n')
    .map((line) => {
      const [, name = '', params = '', value = ''] = /^([A-Z-]+)((?:;[^:]*)?):(.*)$/.exec(line) ?? []
      expect(name, `a content line: ${line}`).not.toBe('')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(value).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f]/)
      return { name, params, value }
    })
}

const unescaped = (value: string): string => {
  expect(value.replaceAll(/\\[\\;,nN]/g, '')).not.toMatch(/[\\;,]/)
  return value.replaceAll(/\\([\\;,nN])/g, (_, char: string) => (/n/i.test(char) ? '\n' : char))
}

/** The events of a calendar, each with its properties; components must be nested and closed as they should. */
function eventsIn(bytes: Buffer): Record<string, string>[] {
  const events: Record<string, string>[] = []
  const open: string[] = []
  for (const { name, value } of parsed(bytes)) {
    if (name === 'BEGIN') {
      open.push(value)
      if (value === 'VEVENT') events.push({})
    } else if (name === 'END') expect(open.pop()).toBe(value)
    else if (open.at(-1) === 'VEVENT') {
      const event = events.at(-1)!
      expect(event[name], `${name} twice`).toBeUndefined()
      event[name] = ['SUMMARY', 'DESCRIPTION'].includes(name) ? unescaped(value) : value
    }
  }
  expect(open).toEqual([])
  expect(readElsewhere(bytes)).toEqual(
    events.map(({ UID, SUMMARY, DESCRIPTION, DTSTART, DTEND }) => ({
      UID,
      SUMMARY,
      DESCRIPTION: DESCRIPTION ?? null,
      DTSTART,
      DTEND,
    })),
  )
  return events
}

/** The same by a parser that is not ours. */
const readElsewhere = (bytes: Buffer) =>
  new ICAL.Component(ICAL.parse(bytes.toString('utf8'))).getAllSubcomponents('vevent').map((component) => {
    const event = new ICAL.Event(component)
    const basic = (time: ICAL.Time) =>
      time
        .toJSDate()
        .toISOString()
        .replaceAll(/[-:]|\.000/g, '')
    return {
      UID: event.uid,
      SUMMARY: event.summary,
      DESCRIPTION: event.description,
      DTSTART: basic(event.startDate),
      DTEND: basic(event.endDate),
    }
  })

onClock('the calendar feed', '2026-03-02T09:00:00Z', (rouse) => {
  const someone = async (): Promise<Json> => {
    const made = await rouse.ok('POST', '/v1/people', { name: fresh('person'), tz: 'Europe/Amsterdam' })
    const as: CallOptions = { key: made.key }
    const mine = await agent(rouse, {}, as)
    return { ...made, as, agent: mine, session: await session(rouse, mine.id, { title: 'Desk' }, as) }
  }
  const token = (o: CallOptions, body: Json = {}): Promise<Json> => rouse.ok('POST', '/v1/calendar-tokens', body, o)
  const fetched = async (url: string) => {
    const answer = await fetch(url)
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  const read = async (url: string): Promise<Record<string, string>[]> => {
    const { answer, bytes } = await fetched(url)
    expect(answer.status).toBe(200)
    return eventsIn(bytes)
  }

  test('it is a calendar of RFC 5545, to be kept by nobody in between', async () => {
    const who = await someone()
    await schedule(rouse, { agent: who.agent.id, cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' }, who.as)
    const { url } = await token(who.as)
    const { answer, bytes } = await fetched(url)
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    expect(answer.headers.get('cache-control')).toMatch(/^private\b/)
    const lines = parsed(bytes)
    const value = (name: string) => lines.filter((line) => line.name === name).map((line) => line.value)
    expect(lines[0]).toEqual({ name: 'BEGIN', params: '', value: 'VCALENDAR' })
    expect([value('VERSION'), value('METHOD'), value('PRODID').length]).toEqual([['2.0'], ['PUBLISH'], 1])
    expect([value('X-WR-CALNAME'), value('X-PUBLISHED-TTL')]).toEqual([['Rouse'], ['PT1H']])
    for (const event of eventsIn(bytes)) {
      for (const name of ['UID', 'DTSTAMP', 'DTSTART', 'SUMMARY']) expect(event[name]).toBeTruthy()
      for (const name of ['DTSTAMP', 'DTSTART', 'DTEND']) expect(event[name]).toMatch(/^\d{8}T\d{6}Z$/)
      expect(event.DTEND! > event.DTSTART!).toBe(true)
    }
  })

  test('it shows two weeks, at the right instant on both sides of the clock change', async () => {
    const who = await someone()
    await rouse.ok('POST', '/v1/clock', { to: '2026-03-23T09:00:00Z' })
    await schedule(rouse, { agent: who.agent.id, cron: '0 8 * * 6,0', tz: 'Europe/Amsterdam', name: 'Weekend' }, who.as)
    const { url } = await token(who.as)
    expect((await read(url)).map((event) => event.DTSTART)).toEqual([
      '20260328T070000Z',
      '20260329T060000Z',
      '20260404T060000Z',
      '20260405T060000Z',
    ])
  })

  test('the same time of the same schedule keeps its UID, and no two share one', async () => {
    const who = await someone()
    await schedule(rouse, { agent: who.agent.id, every: '12h' }, who.as)
    await schedule(rouse, { agent: who.agent.id, every: '12h' }, who.as)
    const { url } = await token(who.as)
    const uids = async () => (await read(url)).map(({ UID }) => UID!)
    const before = await uids()
    expect(new Set(before).size).toBe(before.length)
    await rouse.ok('POST', '/v1/clock', { by: '30h' })
    const after = await uids()
    expect(before.filter((uid) => after.includes(uid)).length).toBe(before.length - 4)
  })

  test('only names are in it, unless details were asked for when it was made', async () => {
    const who = await someone()
    const at = await now(rouse)
    await schedule(
      rouse,
      { agent: who.agent.id, at: instant(at, 60), name: 'Brief', prompt: 'Ask about Mr X.' },
      who.as,
    )
    await monitor(rouse, { session: who.session.id, note: 'The test result', watch: { time: { in: '2h' } } }, who.as)
    const plain = await token(who.as)
    expect((await read(plain.url)).map(({ SUMMARY }) => SUMMARY)).toEqual(['Brief', 'Reminder'])
    const { bytes } = await fetched(`${plain.url}&detail=1`)
    expect(bytes.toString('utf8')).not.toMatch(/Mr X|test result/)
    const detailed = await token(who.as, { detail: true })
    const events = await read(detailed.url)
    expect(events[0]!.DESCRIPTION).toContain('Ask about Mr X.')
    expect(events[1]!.SUMMARY).toBe('The test result')
  })

  test.each([
    ['line breaks', 'x\r\nEND:VEVENT\r\nBEGIN:VEVENT\nSUMMARY:y\rz', 'x END:VEVENT BEGIN:VEVENT SUMMARY:y z'],
    ['what separates', 'a;b,c\\n:"d"\\', 'a;b,c\\n:"d"\\'],
    ['emoji wherever a line may break', `${'a'.repeat(7)}${'👩‍👩‍👧‍👦'.repeat(14)}`, null],
    ['three bytes wherever a line may break', `b${'€'.repeat(119)}`, null],
    ['two bytes wherever a line may break', `${'é'.repeat(120)}`, null],
    ['blanks where lines break', `${' x'.repeat(60)}`, `${' x'.repeat(60)}`.trim()],
  ])('a name with %s stays one name', async (_, name, shown) => {
    const who = await someone()
    await schedule(rouse, { agent: who.agent.id, every: '7d', name }, who.as)
    const { url } = await token(who.as, { detail: true })
    expect((await read(url)).map(({ SUMMARY }) => SUMMARY)[0]).toBe(shown ?? name)
  })

  test('a prompt cannot leave its description', async () => {
    const who = await someone()
    const prompt = `Line one\r\n${'END:VCALENDAR\n'.repeat(20)}😀\tTab, and ${'long '.repeat(2000)}`
    await schedule(rouse, { agent: who.agent.id, every: '7d', prompt }, who.as)
    const { url } = await token(who.as, { detail: true })
    const [event] = await read(url)
    expect(event!.DESCRIPTION).toContain('END:VCALENDAR\nEND:VCALENDAR\n')
  })

  test('what is on hold says so, and looks of monitors are left out', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    await schedule(rouse, { every: '6d', name: 'Mine' }, who.as)
    await letAgentsUseSessions(rouse, false)
    const { url } = await token({})
    const names = (await read(url)).filter(({ SUMMARY }) => SUMMARY!.startsWith('Mine')).map(({ SUMMARY }) => SUMMARY)
    expect(names).toEqual(['Mine (on hold)', 'Mine (on hold)'])
    await letAgentsUseSessions(rouse)
  })

  test('an address is shown once, listed without its token, and dead once it is revoked', async () => {
    const who = await someone()
    const made = await token(who.as)
    expect(made).toEqual({
      id: expect.stringMatching(/^cal_/),
      url: expect.stringMatching(/\/v1\/calendar\.ics\?token=rca_[\w-]{40,}$/),
      detail: false,
    })
    expect((await rouse.ok('GET', '/v1/calendar-tokens', undefined, who.as)).data).toEqual([
      { id: made.id, detail: false, createdAt: await now(rouse), lastUsedAt: null },
    ])
    await read(made.url)
    const [listed] = (await rouse.ok('GET', '/v1/calendar-tokens', undefined, who.as)).data
    expect(listed.lastUsedAt).toBe(await now(rouse))
    expect((await rouse.call('DELETE', `/v1/calendar-tokens/${made.id}`)).status).toBe(404)
    expect((await rouse.call('DELETE', `/v1/calendar-tokens/${made.id}`, undefined, who.as)).status).toBe(204)
    expect((await rouse.call('DELETE', `/v1/calendar-tokens/${made.id}`, undefined, who.as)).status).toBe(404)
    for (const url of [made.url, `${rouse.url}/v1/calendar.ics?token=rca_x`, `${rouse.url}/v1/calendar.ics`]) {
      const { answer, bytes } = await fetched(url)
      expect([answer.status, JSON.parse(bytes.toString('utf8')).code]).toEqual([404, 'not_found'])
    }
  })

  test('its token opens nothing else, and no key opens a calendar', async () => {
    const who = await someone()
    const { url } = await token(who.as)
    const secret = new URL(url).searchParams.get('token')!
    expect((await rouse.call('GET', '/v1/agenda', undefined, { key: secret })).status).toBe(401)
    expect((await fetched(`${rouse.url}/v1/calendar.ics?token=${who.key}`)).answer.status).toBe(404)
    expect(rouse.said).not.toContain(secret)
    const keys = await rouse.ok('GET', '/v1/keys', undefined, who.as)
    expect(keys.data.map(({ id }: Json) => id.slice(0, 4))).toEqual(['key_'])
  })

  test('only a person makes, lists and revokes calendars', async () => {
    const { key, agent: mine } = await actor(rouse)
    expect(mine.id).toMatch(/^agt_/)
    for (const [method, path, body] of [
      ['POST', '', {}],
      ['GET', '', undefined],
      ['DELETE', '/cal_01ARZ3NDEKTSV4RRFFQ69G5FAV', undefined],
    ] as const) {
      const { status, body: problem } = await rouse.call(method, `/v1/calendar-tokens${path}`, body, { key })
      expect([status, problem.code]).toEqual([403, 'person_only'])
    }
  })

  test('twenty are the most, and revoking one makes room', async () => {
    const who = await someone()
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => rouse.call('POST', '/v1/calendar-tokens', {}, who.as)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(20).fill(201), 409, 409])
    expect(answers.find(({ status }) => status === 409)!.body.code).toBe('calendar_limit')
    const made = answers.find(({ status }) => status === 201)!.body
    await rouse.ok('DELETE', `/v1/calendar-tokens/${made.id}`, undefined, who.as)
    expect((await rouse.call('POST', '/v1/calendar-tokens', {}, who.as)).status).toBe(201)
  })

  test('a repeated call makes no second one, and shows its address to nobody', async () => {
    const who = await someone()
    const o = { ...who.as, headers: { 'idempotency-key': fresh('once') } }
    expect((await rouse.call('POST', '/v1/calendar-tokens', {}, o)).status).toBe(201)
    const again = await rouse.call('POST', '/v1/calendar-tokens', {}, o)
    expect([again.status, again.body.code]).toEqual([409, 'secret_shown_once'])
    expect((await rouse.ok('GET', '/v1/calendar-tokens', undefined, who.as)).data).toHaveLength(1)
  })
})

withOwnNodes('the calendar feed under a rate limit', (make) => {
  test('each address has as many calls as a key', async () => {
    const rouse = make()
    await rouse.start({ clock: '2026-03-02T09:00:00Z', env: { ROUSE_RATE_LIMIT: '1:6' } })
    const [one, other] = [
      await rouse.ok('POST', '/v1/calendar-tokens', {}),
      await rouse.ok('POST', '/v1/calendar-tokens', {}),
    ]
    const answers = await Promise.all(Array.from({ length: 9 }, () => fetch(one.url)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await fetch(other.url)).status).toBe(200)
  })
})
