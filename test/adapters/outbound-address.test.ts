import { describe, expect, it } from 'vitest'
import { notPublic } from '../../shared/adapters/outbound/address.ts'
import { allowList, look, vet } from '../../shared/adapters/outbound/guard.ts'

describe('an address is public', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82b::200e',
    '2001:4860:4860::8888',
    '2001:200::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
  ])
    it(address, () => expect(notPublic(address)).toBeNull())
})

describe('an address is none that anybody could reach', () => {
  const cases: readonly (readonly [address: string, what: string])[] = [
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.0', 'shared'],
    ['100.100.100.200', 'shared'],
    ['100.127.255.255', 'shared'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'cloud'],
    ['169.254.0.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'link-local'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'reserved'],
    ['192.168.1.1', 'private'],
    ['198.18.0.0', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['0:0:0:0:0:0:0:0', 'unspecified'],
    ['::1', 'loopback'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', 'loopback'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::8.8.8.8', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::FFFF:7F00:1', 'loopback'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['::ffff:0:10.0.0.1', 'reserved'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['64:ff9b:1::8.8.8.8', 'private'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
    ['2001:20::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'metadata'],
    ['fdff:ffff::1', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'no address'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
    ['', 'no address'],
    ['127.1', 'no address'],
    ['2130706433', 'no address'],
    ['0177.0.0.1', 'no address'],
    ['0x7f.0.0.1', 'no address'],
    ['8.8.8.8 ', 'no address'],
    ['1::2::3', 'no address'],
    ['1:2:3:4:5:6:7', 'no address'],
    ['1:2:3:4:5:6:7:8:9', 'no address'],
    ['::ffff:256.0.0.1', 'no address'],
    ['::ffff:127.0.0.1%lo', 'no address'],
    ['12345::', 'no address'],
  ]
  for (const [address, what] of cases) it(`${address}: ${what}`, () => expect(notPublic(address)).toContain(what))
})

describe('a URL is refused as it is written', () => {
  for (const [url, why] of [
    ['', 'not a URL'],
    ['hooks.example.com', 'not a URL'],
    ['//hooks.example.com/', 'not a URL'],
    ['http://', 'not a URL'],
    ['ftp://example.com/', 'http or https'],
    ['file:///etc/passwd', 'http or https'],
    ['gopher://127.0.0.1:6379/_x', 'http or https'],
    ['javascript:alert(1)', 'http or https'],
    ['data:text/plain,x', 'http or https'],
    ['https://user@example.com/', 'user name'],
    ['https://user:secret@example.com/', 'user name'],
    ['https://:secret@example.com/', 'user name'],
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0x7f.0.0.1/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://017700000001/', 'loopback'],
    ['http://①②⑦.0.0.1/', 'loopback'],
    ['http://127。0。0。1/', 'loopback'],
    ['http://%31%32%37.0.0.1/', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://0.0.0.0:8080/', 'unspecified'],
    ['http://10.0.0.8/', 'private'],
    ['http://169.254.169.254/latest/meta-data/', 'metadata'],
    ['http://2852039166/', 'metadata'],
    ['http://0xA9FEA9FE/', 'metadata'],
    ['http://[::]/', 'unspecified'],
    ['http://[::1]/', 'loopback'],
    ['http://[0:0:0:0:0:0:0:1]:8080/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[::ffff:7f00:1]/', 'loopback'],
    ['http://[::127.0.0.1]/', 'IPv4-compatible'],
    ['http://[64:ff9b::169.254.169.254]/', 'metadata'],
    ['http://[2002:a00:1::]/', '6to4'],
    ['http://[fd00:ec2::254]/', 'metadata'],
    ['http://[fe80::1%25eth0]/', 'not a URL'],
    ['http://localhost/', 'this machine'],
    ['http://LOCALHOST./', 'this machine'],
    ['http://api.localhost/', 'this machine'],
    ['http://example.com:99999/', 'not a URL'],
    ['http://exa mple.com/', 'not a URL'],
  ] as const)
    it(`${url} (${why})`, () => {
      const seen = look(url, [])
      expect(seen).toMatchObject({ refused: expect.stringContaining(why), final: true })
    })

  for (const url of [
    'https://hooks.example.com/x?token=a',
    'http://example.com:8080/',
    'http://8.8.8.8/',
    'https://[2606:4700::1]/',
  ])
    it(`${url} passes`, () => expect(look(url, [])).toBeInstanceOf(URL))
})

describe('what the configuration allows', () => {
  const allow = allowList(' 127.0.0.1:9000, hooks.internal ,[::1]:9001, ::2, LOCALHOST:80,10.0.0.7')
  it('is read as hosts with and without a port', () => {
    expect(allow).toEqual([
      { host: '127.0.0.1', port: 9000 },
      { host: 'hooks.internal', port: null },
      { host: '::1', port: 9001 },
      { host: '::2', port: null },
      { host: 'localhost', port: 80 },
      { host: '10.0.0.7', port: null },
    ])
    expect(allowList(undefined)).toEqual([])
    expect(allowList(' , ')).toEqual([])
  })

  for (const bad of ['http://127.0.0.1', 'a b', '127.0.0.1:x', 'host:99999', 'user@host', '10.0.0.0/8', '*'])
    it(`${bad} is no such entry`, () => {
      expect(() => allowList(bad)).toThrow('ROUSE_ALLOW_HOSTS: expected host or host:port')
    })

  for (const url of [
    'http://127.0.0.1:9000/x',
    'http://127.1:9000/x',
    'http://[::1]:9001/',
    'http://localhost/',
    'https://10.0.0.7/',
    'http://10.0.0.7:8080/',
  ])
    it(`${url} is reached`, () => expect(look(url, allow)).toBeInstanceOf(URL))
  for (const url of [
    'http://127.0.0.1:9001/',
    'http://127.0.0.2:9000/',
    'http://[::1]:9000/',
    'http://localhost:81/',
    'https://localhost/',
  ])
    it(`${url} is not`, () => expect(look(url, allow)).toMatchObject({ final: true }))

  it('credentials and other schemes stay refused', () => {
    expect(look('http://a:b@127.0.0.1:9000/', allow)).toMatchObject({ refused: expect.stringContaining('user name') })
    expect(look('ftp://127.0.0.1:9000/', allow)).toMatchObject({ refused: expect.stringContaining('http') })
  })
})

describe('a name is judged by all that it resolves to', () => {
  const at =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

  it('public ones are what is connected to', async () => {
    expect(
      await vet('https://hooks.example.com/', { allow: [], resolve: at('8.8.8.8', '2606:4700::1') }),
    ).toMatchObject({
      addresses: [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1', family: 6 },
      ],
    })
  })

  for (const addresses of [
    ['127.0.0.1'],
    ['8.8.8.8', '10.0.0.1'],
    ['8.8.8.8', '::1'],
    ['::ffff:10.0.0.1'],
    ['8.8.8.8', 'x'],
  ])
    it(`${addresses.join(' and ')}: refused`, async () =>
      expect(await vet('https://hooks.example.com/', { allow: [], resolve: at(...addresses) })).toMatchObject({
        refused: expect.stringContaining('hooks.example.com is '),
        final: true,
      }))

  it('one that cannot be resolved may be there later', async () => {
    const gone = async () => Promise.reject(new Error('ENOTFOUND'))
    expect(await vet('https://gone.example.com/', { allow: [], resolve: gone })).toEqual({
      refused: 'gone.example.com could not be resolved',
      final: false,
    })
    expect(await vet('https://gone.example.com/', { allow: [], resolve: at() })).toMatchObject({ final: false })
  })

  it('an allowed name may point anywhere, and an allowed address may have any name', async () => {
    const resolve = at('10.0.0.7')
    expect(await vet('http://hooks.internal/', { allow: allowList('hooks.internal'), resolve })).toHaveProperty(
      'addresses',
    )
    expect(await vet('http://other.internal/', { allow: allowList('hooks.internal'), resolve })).toHaveProperty(
      'refused',
    )
    expect(await vet('http://other.internal:9/', { allow: allowList('10.0.0.7:9'), resolve })).toHaveProperty(
      'addresses',
    )
    expect(await vet('http://other.internal:8/', { allow: allowList('10.0.0.7:9'), resolve })).toHaveProperty('refused')
  })

  it('an address is never asked for by name', async () => {
    const resolve = async () => Promise.reject(new Error('asked'))
    expect(await vet('http://8.8.8.8/', { allow: [], resolve })).toMatchObject({
      addresses: [{ address: '8.8.8.8', family: 4 }],
    })
  })
})
