import { BlockList, isIPv4 } from 'node:net'

const MAPPED = '::ffff:'

/** The address of a sender; IPv4 addresses on IPv6 sockets lose their prefix. */
export const plainAddress = (address: string): string =>
  address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length)) ? address.slice(MAPPED.length) : address

/** Checks addresses of senders against networks such as 10.0.0.0/8; without networks, all may send. */
export function senderCheck(networks: readonly string[] | undefined): (address: string) => boolean {
  if (networks === undefined) return () => true
  const allowed = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    allowed.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return (address) => allowed.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}
