import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { hostname } from 'node:os'

/** The headers of a request and the addresses of its connection. */
export type ConnectionFacts = {
  headers: IncomingHttpHeaders
  socket: {
    remoteAddress?: string | undefined
    localAddress?: string | undefined
    localPort?: number | undefined
    /** True on a connection with TLS. */
    encrypted?: boolean | undefined
  }
}

/** Returns the base of absolute links for a request, without a trailing slash. */
export type BaseUrl = (reach: ConnectionFacts) => string

/** BaseUrlOptions come from the configuration: the public URL, the listen address, and trusted proxies. */
export type BaseUrlOptions = { publicUrl: string | undefined; host: string; proxies: readonly string[] }

/**
 * Chooses the base of links. Links carry one-time tokens to other people, so callers must not control it. It is the configured public URL,
 * else the address from a trusted proxy, else the requested address if it belongs to this machine.
 */
export function openBaseUrl({ publicUrl, host, proxies }: BaseUrlOptions): BaseUrl {
  if (publicUrl !== undefined) return () => publicUrl
  const trusted = listOf(proxies)
  const names = new Set(['localhost', hostname().toLowerCase(), host.toLowerCase()])
  return ({ headers, socket }) => {
    const scheme = socket.encrypted ? 'https' : 'http'
    const usual = ownAddress(host, socket.localPort, scheme)
    if (socket.remoteAddress !== undefined && isIn(trusted, socket.remoteAddress)) return forwardedBase(headers) ?? usual
    const requestedHost = headers.host === undefined ? undefined : splitHost(headers.host)
    const port = requestedHost?.port ?? PORTS[scheme]
    if (!requestedHost || port !== (socket.localPort ?? PORTS[scheme])) return usual
    const isOurs =
      names.has(requestedHost.name) || isIn(loopback, requestedHost.name) || requestedHost.name === bareAddress(socket.localAddress)
    return isOurs ? `${scheme}://${headers.host}` : usual
  }
}

const PORTS = { http: 80, https: 443 }
const PRESETS: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/** The listen address as a base of links. A server that listens on every address gets the loopback address. */
export function ownAddress(host: string, port: number | undefined, scheme: keyof typeof PORTS): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const text = isIP(name) === 6 ? `[${name}]` : name
  return port === undefined || port === PORTS[scheme] ? `${scheme}://${text}` : `${scheme}://${text}:${port}`
}

/** Reads the headers of a trusted proxy. The last of several hosts is the proxy's; those before it come from its client. */
function forwardedBase(headers: IncomingHttpHeaders): string | undefined {
  const scheme = lastOf(headers['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http'
  const host = lastOf(headers['x-forwarded-host']) ?? headers.host
  return host !== undefined && splitHost(host) ? `${scheme}://${host}` : undefined
}

const lastOf = (header: string | string[] | undefined): string | undefined => {
  const text = Array.isArray(header) ? header.at(-1) : header
  return text?.split(',').at(-1)?.trim() || undefined
}

const HOST = /^(?:([\w.-]+)|\[([\da-f:.]+)\])(?::(\d{1,5}))?$/i
const HOST_LENGTH_MAX = 255

function splitHost(text: string): { name: string; port: number | undefined } | undefined {
  const [, name, address, port] = text.length <= HOST_LENGTH_MAX ? (HOST.exec(text) ?? []) : []
  const found = name ?? address
  return found === undefined ? undefined : { name: found.toLowerCase(), port: port === undefined ? undefined : Number(port) }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks.flatMap((word) => PRESETS.get(word) ?? [word])) {
    const [address = '', bits] = network.split('/')
    const isSix = isIP(address) === 6
    list.addSubnet(address, bits === undefined ? (isSix ? 128 : 32) : Number(bits), isSix ? 'ipv6' : 'ipv4')
  }
  return list
}

const loopback = listOf(['loopback'])

function isIn(list: BlockList, text: string): boolean {
  const family = isIP(text)
  return family !== 0 && list.check(text, family === 6 ? 'ipv6' : 'ipv4')
}

/** Turns an IPv4-mapped IPv6 address into the IPv4 address. */
const bareAddress = (address: string | undefined): string | undefined => address?.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
