/**
 * Whether an IP address is one that anybody on the internet could reach: what is not, an outbound step must not reach either, since
 * whoever names the address is not whoever owns the network that Rouse stands in.
 *
 * Source: the IANA special-purpose registries for IPv4 and IPv6. Differs: what they call globally reachable inside 192.0.0.0/24 and
 * 2001::/23 is refused too, since nobody serves webhooks there.
 */

/**
 * @param text  an address without brackets
 * @returns     null when it is public, else what it is
 */
export function notPublic(text: string): string | null {
  const v4 = ipv4(text)
  if (v4 !== null) return notPublicV4(v4)
  const v6 = ipv6(text)
  return v6 === null ? 'no address' : notPublicV6(v6)
}

/** Also where a block is part of a larger one: the first that fits names it. */
const blocksV4 = [
  ['169.254.169.254', 32, "a cloud's metadata address"],
  ['168.63.129.16', 32, "a cloud's own address"],
  ['0.0.0.0', 8, 'an unspecified address'],
  ['10.0.0.0', 8, 'a private address'],
  ['100.64.0.0', 10, "a carrier's shared address"],
  ['127.0.0.0', 8, 'a loopback address'],
  ['169.254.0.0', 16, 'a link-local address'],
  ['172.16.0.0', 12, 'a private address'],
  ['192.0.0.0', 24, 'a reserved address'],
  ['192.0.2.0', 24, 'a documentation address'],
  ['192.88.99.0', 24, 'a reserved address'],
  ['192.168.0.0', 16, 'a private address'],
  ['198.18.0.0', 15, 'a benchmarking address'],
  ['198.51.100.0', 24, 'a documentation address'],
  ['203.0.113.0', 24, 'a documentation address'],
  ['224.0.0.0', 4, 'a multicast address'],
  ['240.0.0.0', 4, 'a reserved address'],
] as const

const compiledV4 = blocksV4.map(([base, bits, what]) => ({ base: ipv4(base)!, size: 2 ** (32 - bits), what }))

function notPublicV4(address: number): string | null {
  return compiledV4.find(({ base, size }) => address >= base && address < base + size)?.what ?? null
}

const blocksV6 = [
  ['fd00:ec2::254', 128, "a cloud's metadata address"],
  ['::', 128, 'an unspecified address'],
  ['::1', 128, 'a loopback address'],
  ['::', 96, 'an IPv4-compatible address'],
  ['64:ff9b:1::', 48, 'a private address'],
  ['100::', 64, 'a discard address'],
  ['2001::', 32, 'a Teredo address'],
  ['2001::', 23, 'a reserved address'],
  ['2001:db8::', 32, 'a documentation address'],
  ['2002::', 16, 'a 6to4 address'],
  ['3fff::', 20, 'a documentation address'],
  ['fc00::', 7, 'a private address'],
  ['fe80::', 10, 'a link-local address'],
  ['fec0::', 10, 'a private address'],
  ['ff00::', 8, 'a multicast address'],
] as const

const compiledV6 = blocksV6.map(([base, bits, what]) => ({ base: ipv6(base)!, drop: BigInt(128 - bits), what }))
const within = (address: bigint, base: string, bits: number): boolean => {
  const drop = BigInt(128 - bits)
  return address >> drop === ipv6(base)! >> drop
}

function notPublicV6(address: bigint): string | null {
  // These two reach the IPv4 address that they carry: a mapped one on this machine's own stack, NAT64's through a gateway, which an
  // IPv6-only network resolves every public IPv4 host to.
  if (within(address, '::ffff:0:0', 96) || within(address, '64:ff9b::', 96))
    return notPublicV4(Number(address & 0xffff_ffffn))
  const block = compiledV6.find(({ base, drop }) => address >> drop === base >> drop)
  if (block !== undefined) return block.what
  // Only 2000::/3 was ever given out.
  return within(address, '2000::', 3) ? null : 'a reserved address'
}

/** Four decimal numbers and nothing else: other spellings are for whoever parses URLs, and must not pass here. */
function ipv4(text: string): number | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1)
  if (parts === undefined || parts.some((part) => Number(part) > 255 || (part.length > 1 && part[0] === '0')))
    return null
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Null for a zone id too: `fe80::1%eth0` names one machine's own network. */
function ipv6(text: string): bigint | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  if (dotted !== null) {
    const low = ipv4(dotted[2]!)
    return low === null ? null : ipv6(`${dotted[1]}${(low >>> 16).toString(16)}:${(low & 0xffff).toString(16)}`)
  }
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const given = head!.length + (tail?.length ?? 0)
  if (tail === undefined ? given !== 8 : given > 7) return null
  const groups = [...head!, ...Array.from({ length: 8 - given }, () => '0'), ...(tail ?? [])]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
