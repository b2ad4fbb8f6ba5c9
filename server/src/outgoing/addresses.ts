import { BlockList, isIP, isIPv4 } from 'node:net'

/** The private networks and hosts that the operator allows for outgoing requests (DENDRO_WEBHOOK_ALLOW). */
export type AllowList = { readonly hosts: ReadonlySet<string>; readonly networks: BlockList }

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** Networks that are not part of the public internet, from the IANA special-purpose registries. */
const nonPublicNetworks = listOf(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 ' +
    '192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ' +
    // Inside the global IPv6 range: protocol assignments, documentation, and addresses that embed an unchecked IPv4 address.
    '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20',
)
const globalV6 = listOf('2000::/3')

/** Parses host names, addresses and networks, separated by commas or blanks. */
export function parseAllowList(text: string): AllowList {
  const hosts = new Set<string>()
  const networks = new BlockList()
  for (const entry of text.split(/[\s,]+/).filter((each) => each !== '')) {
    if (isNetwork(entry)) add(networks, entry)
    else if (/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i.test(entry) && !/^[\d.]+$/.test(entry)) hosts.add(entry.toLowerCase())
    else throw new Error(`${entry} is neither the name of a host nor a network such as 10.0.0.0/8`)
  }
  return { hosts, networks }
}

/** Whether outgoing requests may connect to the address: it is public, or the operator allows it. */
export function isAllowedAddress(address: string, allowed: AllowList): boolean {
  const plain = withoutMapping(address)
  return isPublic(plain) || allowed.networks.check(plain, familyOf(plain))
}

/** Whether the address belongs to the public internet. */
export function isPublic(address: string): boolean {
  const plain = withoutMapping(address)
  const family = familyOf(plain)
  if (family === 'ipv6' && !globalV6.check(plain, 'ipv6')) return false
  return !nonPublicNetworks.check(plain, family)
}

/** Returns the IPv4 address of an IPv4-mapped IPv6 address. */
function withoutMapping(address: string): string {
  const bare = address.replace(/%.*$/, '')
  const dotted = /^::(?:ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (dotted !== undefined) return dotted
  const hex = /^::(?:ffff:)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(bare)
  if (!hex) return bare
  const [high, low] = [Number.parseInt(hex[1] ?? '', 16), Number.parseInt(hex[2] ?? '', 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function isNetwork(entry: string): boolean {
  const [address = '', bits] = entry.split('/')
  const version = isIP(address)
  return version !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
}

function listOf(networks: string): BlockList {
  const list = new BlockList()
  for (const network of networks.split(' ')) add(list, network)
  return list
}

function add(list: BlockList, network: string): void {
  const [address = '', bits] = network.split('/')
  if (bits === undefined) list.addAddress(address, familyOf(address))
  else list.addSubnet(address, Number(bits), familyOf(address))
}
