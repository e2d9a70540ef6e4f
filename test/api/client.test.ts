import { describe, expect, it } from 'vitest'
import { connect } from '../../apps/client/connect.ts'

/** A client whose calls are answered here, and what it sent. */
function heard(o: { readonly session?: string } = {}) {
  const sent: Request[] = []
  const rouse = connect({
    url: 'http://127.0.0.1:4750/',
    key: 'rsp_1',
    ...o,
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      sent.push(new Request(input, init))
      return Response.json({ data: [], nextCursor: null })
    },
  })
  return { rouse, sent }
}

describe('rouse/client', () => {
  it('calls with its key, its session and what the call has', async () => {
    const { rouse, sent } = heard({ session: 'ses_1' })
    await rouse.v1.agents.$post({ json: { name: 'assistant' }, header: { 'Idempotency-Key': 'once' } })
    await rouse.v1.schedules.$get({ query: { limit: 5, status: 'active' } })
    const [made, listed] = sent
    expect([made!.method, made!.url, await made!.json()]).toEqual([
      'POST',
      'http://127.0.0.1:4750/v1/agents',
      { name: 'assistant' },
    ])
    const headers = ['authorization', 'x-rouse-session', 'idempotency-key'].map((name) => made!.headers.get(name))
    expect(headers).toEqual(['Bearer rsp_1', 'ses_1', 'once'])
    expect(listed!.url).toBe('http://127.0.0.1:4750/v1/schedules?limit=5&status=active')
  })

  it('lets no name lead to another address', async () => {
    const { rouse, sent } = heard()
    await rouse.v1.documents[':path{.+}'].$get({ param: { path: 'briefs/what?#%.json' } })
    expect(new URL(sent[0]!.url).pathname).toBe('/v1/documents/briefs%2Fwhat%3F%23%25.json')
    for (const path of ['', '.', '..'])
      expect(() => rouse.v1.documents[':path{.+}'].$get({ param: { path } })).toThrow('path: expected a name')
  })

  it('types what is sent and what is answered', async () => {
    const { rouse } = heard()
    const answer = await rouse.v1.agents.$get({})
    if (answer.ok) expect((await answer.json()).data.map(({ name }) => name)).toEqual([])
    // @ts-expect-error a name is a text
    await rouse.v1.agents.$post({ json: { name: 1 } })
    // @ts-expect-error there is no such query
    await rouse.v1.schedules.$get({ query: { colour: 'red' } })
    // @ts-expect-error a schedule has no colour
    const colour = async () => (await (await rouse.v1.schedules[':id'].$get({ param: { id: 'x' } })).json()).colour
    expect(await colour()).toBe(undefined)
  })
})
