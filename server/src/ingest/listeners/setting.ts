import { isIP } from 'node:net'
import { Secret } from '../../kernel/secret.ts'
import { isZone } from '../detect/zoned-time.ts'

export type ListenerProtocol = 'syslog' | 'relp' | 'gelf' | 'forward' | 'otlp-grpc'
export type Transport = 'udp' | 'tcp' | 'tls'

/** A socket that receives events, as the setting names it. */
export type ListenerSetting = {
  /** Names it in messages and metrics, without its secrets. */
  name: string
  protocol: ListenerProtocol
  transport: Transport
  host: string
  port: number
  /** The API key of senders that show none of their own. */
  key: Secret | undefined
  collection: string | undefined
  dataset: string | undefined
  /** The addresses that may send; undefined for all. */
  networks: readonly string[] | undefined
  /** The file with the authorities that sign the certificates of senders; undefined when senders need none. */
  clientCa: string | undefined
  /** The shared key of the handshake of Forward, and the user name whose password is `key`. */
  sharedKey: Secret | undefined
  user: string | undefined
  /** The time zone of syslog messages that name none; UTC when undefined. */
  zone: string | undefined
  /** The API keys of Heroku's syslog drains by their tokens, which stand in the host field. */
  drains: ReadonlyMap<string, Secret> | undefined
}

const transportsOf: Readonly<Record<ListenerProtocol, readonly Transport[]>> = {
  syslog: ['udp', 'tcp', 'tls'],
  relp: ['tcp', 'tls'],
  gelf: ['udp', 'tcp', 'tls'],
  forward: ['udp', 'tcp', 'tls'],
  'otlp-grpc': ['tcp', 'tls'],
}
const PARAMETERS = ['key', 'collection', 'dataset', 'networks', 'client_ca', 'shared_key', 'user', 'zone', 'drains']
const EXAMPLE = 'syslog+tcp://0.0.0.0:601?key=…'
const PORT_MAX = 65_535
const NAME_CHARS_MAX = 255
const KEY_BYTES_MIN = 32
/** Networks of `private`: this machine, and addresses that the Internet does not route. */
const PRIVATE = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '::1/128', 'fc00::/7', 'fe80::/10']
const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** Reads addresses such as `syslog+udp://0.0.0.0:514?key=…&dataset=network`, separated by spaces or line ends. */
export function asListeners(text: string): ListenerSetting[] {
  const listeners = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(asListener)
  const names = listeners.filter(({ port }) => port !== 0).map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`names ${twice} twice`)
  return listeners
}

const ADDRESS = /^([a-z-]+)\+([a-z]+):\/\/(?:\[([^\]/?#]+)\]|([^:/?#@[\]]+)):(\d{1,5})\/?(?:\?([^#]*))?$/

function asListener(word: string): ListenerSetting {
  const [, protocolText = '', transportText = '', address6, address4 = '', portText = '', query = ''] = ADDRESS.exec(word) ?? []
  const shown = word.replace(/\?.*$/, '')
  const protocol = (Object.keys(transportsOf) as ListenerProtocol[]).find((one) => one === protocolText)
  if (protocol === undefined) throw new Error(`must be addresses such as ${EXAMPLE}; ${shown} is none`)
  const transport = transportsOf[protocol].find((one) => one === transportText)
  if (transport === undefined) throw new Error(`must name ${transportsOf[protocol].join(' or ')} for ${protocol}, not ${transportText}`)
  const host = address6 ?? address4
  if (address6 !== undefined && isIP(address6) !== 6) throw new Error(`must have an IPv6 address between brackets; ${shown} has none`)
  const port = Number(portText)
  if (port > PORT_MAX) throw new Error(`must have port numbers up to ${PORT_MAX}; ${shown} has not`)
  const name = `${protocol}+${transport}://${address6 === undefined ? host : `[${host}]`}:${port}`
  return withAccess({ name, protocol, transport, host, port }, new URLSearchParams(query))
}

type Place = Pick<ListenerSetting, 'name' | 'protocol' | 'transport' | 'host' | 'port'>

function withAccess(place: Place, given: URLSearchParams): ListenerSetting {
  const { name, protocol, transport } = place
  const unknown = [...given.keys()].find((parameter) => !PARAMETERS.includes(parameter))
  if (unknown !== undefined) throw new Error(`knows no parameter ${unknown}; ${name} may have ${PARAMETERS.join(', ')}`)
  const twice = [...given.keys()].find((parameter) => given.getAll(parameter).length > 1)
  if (twice !== undefined) throw new Error(`must have ${twice} once in ${name}`)
  const textOf = (parameter: string): string | undefined => given.get(parameter) || undefined
  const [key, sharedKey, user, clientCa] = ['key', 'shared_key', 'user', 'client_ca'].map(textOf)
  if (key !== undefined && Buffer.byteLength(key) < KEY_BYTES_MIN)
    throw new Error(`must have an API key as key in ${name}: it is too short`)
  const isHeartbeat = protocol === 'forward' && transport === 'udp'
  const useless = isHeartbeat && [...given.keys()].find((parameter) => parameter !== 'networks')
  if (useless) throw new Error(`must have networks only in ${name}, which answers heartbeats and takes no events; not ${useless}`)
  if (key === undefined && !isHeartbeat && (protocol === 'gelf' || protocol === 'forward')) {
    throw new Error(`must have an API key as key in ${name}: senders of ${protocol} have none of their own`)
  }
  if (protocol !== 'forward' && (sharedKey ?? user) !== undefined)
    throw new Error(`must have shared_key and user for forward only, not in ${name}`)
  if (user !== undefined && sharedKey === undefined) throw new Error(`must have shared_key next to user in ${name}`)
  if (clientCa !== undefined && transport !== 'tls') throw new Error(`must have client_ca for tls only, not in ${name}`)
  const zone = textOf('zone')
  if (zone !== undefined && protocol !== 'syslog' && protocol !== 'relp')
    throw new Error(`must have zone for syslog and relp only, not in ${name}`)
  if (zone !== undefined && !isZone(zone)) throw new Error(`must have a time zone such as Europe/Berlin as zone in ${name}`)
  if (given.has('drains') && protocol !== 'syslog') throw new Error(`must have drains for syslog only, not in ${name}`)
  const isProven = clientCa !== undefined || sharedKey !== undefined || (key === undefined && !isHeartbeat)
  return {
    ...place,
    key: key === undefined ? undefined : new Secret(key),
    collection: nameOf('collection', textOf('collection'), name),
    dataset: nameOf('dataset', textOf('dataset'), name),
    networks: networksOf(textOf('networks') ?? (isProven ? 'any' : 'private'), name),
    clientCa,
    sharedKey: sharedKey === undefined ? undefined : new Secret(sharedKey),
    user,
    zone,
    drains: drainsOf(textOf('drains'), name),
  }
}

function nameOf(parameter: string, text: string | undefined, listener: string): string | undefined {
  if (text === undefined) return undefined
  if (text.startsWith('.') || text.length > NAME_CHARS_MAX || /\p{Cc}/u.test(text) || text.trim() !== text) {
    throw new Error(`must have a valid name as ${parameter} in ${listener}`)
  }
  return text
}

/** Reads `<token>:<key>` of drains, separated by commas. */
function drainsOf(text: string | undefined, listener: string): ReadonlyMap<string, Secret> | undefined {
  if (text === undefined) return undefined
  const pairs = text.split(',').map((word): [string, Secret] => {
    const [, token = '', key = ''] = /^([!-9;-~]+):([!-~]+)$/.exec(word) ?? []
    if (token === '' || Buffer.byteLength(key) < KEY_BYTES_MIN)
      throw new Error(`must have pairs of a token and an API key, such as d.1234:dk_…, as drains in ${listener}`)
    return [token, new Secret(key)]
  })
  if (new Set(pairs.map(([token]) => token)).size < pairs.length) throw new Error(`must have each token once in the drains of ${listener}`)
  return new Map(pairs)
}

/** Reads `any`, or networks, addresses, `private` and `loopback`, separated by commas. */
function networksOf(text: string, listener: string): readonly string[] | undefined {
  if (text === 'any') return undefined
  return text.split(',').flatMap((word) => {
    if (word === 'private') return PRIVATE
    if (word === 'loopback') return LOOPBACK
    const [address = '', bits, ...rest] = word.split('/')
    const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    const width = bits ?? String(bitsMax)
    if (rest.length > 0 || bitsMax < 0 || !/^\d{1,3}$/.test(width) || Number(width) > bitsMax) {
      throw new Error(`must have networks such as 10.0.0.0/8, private, loopback or any in ${listener}; not ${word}`)
    }
    return [`${address}/${width}`]
  })
}
