import { BlockList, isIP, isIPv4 } from 'node:net'

const MAPPED = /^::ffff:(?=\d)/i
const IPV4_BITS = 32
const IPV6_BITS = 128

/** An address as it is compared: without a zone, and an IPv4 address without the prefix that IPv6 sockets give it. */
export function plainAddress(address: string): string {
  const plain = address.replace(MAPPED, '')
  return isIPv4(plain) ? plain : address.replace(/%.*$/, '')
}

/** True for an address, or a network such as 10.0.0.0/8 or 2001:db8::/32. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = { 4: IPV4_BITS, 6: IPV6_BITS }[isIP(address)]
  return rest.length === 0 && bitsMax !== undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))
}

/** Whether an address lies in one of the networks. Anything that is no address lies in none. */
export function networkCheck(networks: readonly string[]): (address: string) => boolean {
  const [ofFour, ofSix] = [new BlockList(), new BlockList()]
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (isIPv4(address)) ofFour.addSubnet(address, bits === undefined ? IPV4_BITS : Number(bits), 'ipv4')
    else ofSix.addSubnet(address, bits === undefined ? IPV6_BITS : Number(bits), 'ipv6')
  }
  return (address) => {
    const plain = plainAddress(address)
    const version = isIP(plain)
    return version !== 0 && (version === 4 ? ofFour.check(plain, 'ipv4') : ofSix.check(plain, 'ipv6'))
  }
}
