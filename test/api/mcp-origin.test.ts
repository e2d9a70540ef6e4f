import { describe, expect, test } from 'vitest'
import { assertOwnOrigin, originsFromEnv } from '../../shared/api/mcp-origin.ts'

const on = (localAddress: string) => ({ incoming: { socket: { localAddress } } })
/** As Lambda hands it over: no connection of ours. */
const gateway = { event: {}, requestContext: { http: { sourceIp: '203.0.113.7' } } }

function doorOf(url: string, origin: string | null, env: unknown, allowed: readonly string[] = []): string {
  const request = new Request(`${url}/mcp`, { method: 'POST', headers: origin === null ? {} : { origin } })
  try {
    assertOwnOrigin(request, env, allowed)
    return 'in'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('Host on a connection that ends on the loopback interface', () => {
  test.each(['http://localhost:4750', 'http://127.0.0.1:4750', 'http://[::1]:4750', 'http://127.1.2.3'])(
    '%s is ours',
    (url) => {
      for (const local of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(doorOf(url, null, on(local))).toBe('in')
    },
  )

  test.each([
    'http://evil.example:4750',
    'http://localhost.evil.example:4750',
    'http://127.0.0.1.evil.example',
    'http://10.0.0.1:4750',
  ])('%s is not', (url) => {
    expect(doorOf(url, null, on('127.0.0.1'))).toBe('host_not_allowed')
  })

  test('the name of a proxy in front is ours when it is allowed, with its port', () => {
    const allowed = ['https://rouse.example.com', 'http://desk.lan:8080']
    expect(doorOf('http://rouse.example.com', null, on('127.0.0.1'), allowed)).toBe('in')
    expect(doorOf('http://desk.lan:8080', null, on('127.0.0.1'), allowed)).toBe('in')
    expect(doorOf('http://desk.lan:8081', null, on('127.0.0.1'), allowed)).toBe('host_not_allowed')
  })
})

describe('Origin', () => {
  test.each([
    ['its own address', 'http://127.0.0.1:4750', 'http://127.0.0.1:4750', 'in'],
    ['another port of this machine', 'http://127.0.0.1:4750', 'http://127.0.0.1:3000', 'origin_not_allowed'],
    ['a page from elsewhere', 'http://127.0.0.1:4750', 'https://evil.example', 'origin_not_allowed'],
    ['a page without an origin', 'http://127.0.0.1:4750', 'null', 'origin_not_allowed'],
    ['no origin at all', 'http://127.0.0.1:4750', 'nonsense', 'origin_not_allowed'],
    ['nothing', 'http://127.0.0.1:4750', '', 'origin_not_allowed'],
  ])('%s', (_what, url, origin, door) => {
    expect(doorOf(url, origin, on('127.0.0.1'))).toBe(door)
  })

  test('on a network a page cannot come in by a name that it has led here, but by an address or an allowed name', () => {
    const lan = on('192.168.1.5')
    expect(doorOf('http://evil.example:4750', 'http://evil.example:4750', lan)).toBe('origin_not_allowed')
    expect(doorOf('http://192.168.1.5:4750', 'http://192.168.1.5:4750', lan)).toBe('in')
    expect(doorOf('http://desk.lan:4750', 'http://desk.lan:4750', lan, ['http://desk.lan:4750'])).toBe('in')
    // What is no page says no origin, and needs no name of ours.
    expect(doorOf('http://desk.lan:4750', null, lan)).toBe('in')
  })

  test('behind API Gateway its name is ours', () => {
    const url = 'https://abc123.execute-api.eu-west-1.amazonaws.com'
    expect(doorOf(url, null, gateway)).toBe('in')
    expect(doorOf(url, url, gateway)).toBe('in')
    expect(doorOf(url, 'https://evil.example', gateway)).toBe('origin_not_allowed')
    expect(doorOf(url, 'https://console.example.com', gateway, ['https://console.example.com'])).toBe('in')
  })
})

describe('ROUSE_ALLOW_ORIGINS', () => {
  test('holds origins with commas between them', () => {
    expect(originsFromEnv({})).toEqual([])
    expect(originsFromEnv({ ROUSE_ALLOW_ORIGINS: ' https://a.example , http://b.example:8080,' })).toEqual([
      'https://a.example',
      'http://b.example:8080',
    ])
  })

  test.each(['a.example', 'https://a.example/', 'https://a.example/path', '*', 'null', 'https://A.example'])(
    '%s is refused, and what was expected is said',
    (text) => {
      expect(() => originsFromEnv({ ROUSE_ALLOW_ORIGINS: text })).toThrow(
        /ROUSE_ALLOW_ORIGINS: expected origins such as/,
      )
    },
  )
})
