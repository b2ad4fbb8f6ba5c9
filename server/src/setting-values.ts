import { readFileSync } from 'node:fs'
import { isAbsolute, normalize } from 'node:path'
import { isUuid, roleName } from '@dendro/api'
import { parseAddress } from './events/store/address.ts'
import type { ColdAges } from './events/tiers/ages.ts'
import type { BucketLocation } from './files/location.ts'
import { type FileLocation, parseFileLocation } from './files/open-files.ts'
import { type ProcessRole, ROLES } from './http/process-roles.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { isNetwork } from './kernel/networks.ts'
import { Secret } from './kernel/secret.ts'
import type { QueryLimit, SourceDirectory } from './world.ts'

const PORT_MAX = 65_535
const CONNECTIONS_MAX = 1_000
const KEY_BYTES_MIN = 32
const SIGNING_CHARS_MIN = 8
/**
 * The minimum number of different characters of a key, which refuses long keys that are easy to guess. Practically all keys of 64 random
 * hexadecimal digits have more.
 */
const KEY_CHARACTERS_MIN = 10
export const MEMORY_BYTES_MIN = 512 * 2 ** 20

export const asText = (text: string): string => text
export const asSecret = (text: string): Secret | undefined => new Secret(text)
export const maybe = (text: string): string | undefined => text
export const asWords = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')

export function asSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error('must be on or off')
  return text === 'on'
}

/** Several secrets of one kind, so that an old and a new one are valid during a change. */
export function asSecrets(text: string): Secret[] {
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.some((secret) => secret.length < SIGNING_CHARS_MIN))
    throw new Error(`must be secrets of at least ${SIGNING_CHARS_MIN} characters`)
  return secrets.map((secret) => new Secret(secret))
}

export function asHeaderText(text: string): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(text)) throw new Error('must be at most 200 printable characters without spaces')
  return text
}

export function asProtocolVersion(text: string): string {
  if (!/^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(text)) throw new Error('must be a version such as 9.1.0')
  return text
}

export function asPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) throw new Error(`must be a port number from 0 to ${PORT_MAX}`)
  return port
}

const NETWORK_WORDS = ['loopback', 'linklocal', 'uniquelocal']

/** Trusted networks; `isNamed` is true when the operator set them. */
export type Proxies = { networks: readonly string[]; isNamed: boolean }

export function asProxies(text: string): Proxies {
  const words = asWords(text)
  if (words.length === 1 && words[0] === 'none') return { networks: [], isNamed: true }
  const odd = words.find((word) => !NETWORK_WORDS.includes(word) && !isNetwork(word))
  if (odd !== undefined) throw new Error(`must name addresses, networks, ${NETWORK_WORDS.join(', ')}, or be none; not ${odd}`)
  return { networks: words, isNamed: true }
}

export function asUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^/]+/.test(text) || !URL.canParse(text)) throw new Error('must be an http or https address')
  return text.replace(/\/+$/, '')
}

export function asTracesUrl(text: string): string | undefined {
  const url = asUrl(text)
  return url !== undefined && new URL(url).pathname === '/' ? `${url}/v1/traces` : url
}

export function asShare(text: string): number {
  const share = Number(text)
  if (text.trim() === '' || !(share >= 0 && share <= 1)) throw new Error('must be a number from 0 to 1')
  return share
}

export function asExportLocation(text: string): FileLocation | undefined {
  return parseFileLocation(text)
}

export function asBucket(text: string): BucketLocation | undefined {
  const location = parseFileLocation(text)
  if (location.kind !== 'bucket') throw new Error('must begin with s3://')
  return location
}

export function asRoles(text: string): ProcessRole[] {
  const words = asWords(text)
  const roles = ROLES.filter((role) => words.includes(role))
  if (roles.length !== words.length || roles.length === 0) throw new Error(`must name some of ${ROLES.join(', ')}`)
  return roles
}

/** Refuses weak secrets. */
export function asKey(text: string): Secret | undefined {
  if (Buffer.byteLength(text) < KEY_BYTES_MIN)
    throw new Error(`must be at least ${KEY_BYTES_MIN} bytes, such as the output of \`openssl rand -hex 32\``)
  if (new Set(text).size < KEY_CHARACTERS_MIN) {
    throw new Error(`must have at least ${KEY_CHARACTERS_MIN} different characters, such as the output of \`openssl rand -hex 32\``)
  }
  return new Secret(text)
}

export function asApiKey(text: string): Secret | undefined {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('must be of ASCII characters without spaces, as a header can carry them')
  return asKey(text)
}

export function asSecretFile(path: string): Secret | undefined {
  const text = readText(path)
  if (text === '') throw new Error(`names an empty file, ${path}`)
  return asKey(text)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new Error(`names a file that cannot be read, ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
}

export function asPostgresUrl(text: string): Secret | undefined {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Error('must look like postgres://user:password@host:5432/database')
  }
  return new Secret(text)
}

export function asConnections(text: string): number {
  const connections = Number(text)
  if (!/^\d+$/.test(text) || connections < 2 || connections > CONNECTIONS_MAX) {
    throw new Error(`must be a whole number from 2 to ${CONNECTIONS_MAX}`)
  }
  return connections
}

/** Parses the address as the event store does, so that an invalid one fails before anything is opened. */
export function asClickHouseUrl(text: string): Secret | undefined {
  try {
    parseAddress(text)
  } catch (cause) {
    const why = cause instanceof URIError ? 'invalid percent-encoding' : cause instanceof Error ? cause.message : 'unreadable'
    throw new Error(`must look like http(s)://user:password@host:8123/database: ${why}`, { cause })
  }
  return new Secret(text)
}

export function asSmtpUrl(text: string): Secret | undefined {
  if (!/^smtps?:\/\/[^/]/.test(text) || !URL.canParse(text)) throw new Error('must look like smtp(s)://user:password@host:port')
  return new Secret(text)
}

export function asSender(text: string): string {
  if (!/^[^\p{Cc}]*[^\s\p{Cc}]@[^\s\p{Cc}]+$/u.test(text)) throw new Error('must be an address as in Dendro <dendro@example.com>')
  return text
}

export function asMemory(text: string): number {
  const bytes = asBytes(text)
  if (bytes < MEMORY_BYTES_MIN) throw new Error('must be at least 512M')
  return bytes
}

export function asRateLimit(text: string): RateLimit {
  if (text === 'off' || text === '0') return { requests: 6_000, windowMs: 60_000, enforced: false }
  const match = /^(\d+)\/(\d+)([smh])$/.exec(text)
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 }[match?.[3] ?? '']
  const requests = Number(match?.[1])
  const windowMs = Number(match?.[2]) * (unitMs ?? 0)
  if (!match || requests < 1 || windowMs < 1) throw new Error('must look like 6000/1m, or be off')
  return { requests, windowMs, enforced: true }
}

export function asDays(text: string): number | undefined {
  if (text === 'off' || text === '0') return undefined
  const days = Number(/^(\d{1,4})d$/.exec(text)?.[1])
  if (!(days >= 1)) throw new Error('must look like 90d, or be off')
  return days * 86_400_000
}

/** The ages at which events become cold. A shorter age for some would never count, because all events of a day that lie together move together. */
export function asColdAges(text: string): ColdAges {
  const [first = '', ...others] = text.split(',').map((word) => word.trim())
  const otherwiseMs = asDays(first)
  const byId = new Map<string, number>()
  for (const other of others) {
    const [, id, age = ''] = /^([0-9a-f-]{36})=(\d{1,4}d)$/i.exec(other) ?? []
    const ageMs = asDays(age === '' ? 'x' : age)
    if (id === undefined || !isUuid(id) || ageMs === undefined)
      throw new Error('must look like 30d or 30d,ID=90d with the id of a dataset or an organization')
    if (otherwiseMs === undefined) throw new Error('must not name datasets when it is off')
    if (ageMs <= otherwiseMs) throw new Error(`must name longer ages than ${first} for single datasets and organizations`)
    byId.set(id.toLowerCase(), ageMs)
  }
  return { otherwiseMs, byId }
}

export function asIdentifier(text: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(text)) throw new Error('must be a name of letters, digits and _')
  return text
}

const INTERVAL_UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
const INTERVAL_MS_MIN = 600_000
const INTERVAL_MS_MAX = 366 * 86_400_000

export function asInterval(text: string): number | undefined {
  if (text === 'off') return undefined
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * (INTERVAL_UNITS_MS.get(unit) ?? Number.NaN)
  if (!(ms >= INTERVAL_MS_MIN && ms <= INTERVAL_MS_MAX)) throw new Error('must look like 30m, 6h or 1d, from 10m to 366d, or be off')
  return ms
}

const RETENTION_DAYS_MAX = 36_500

export function asRetentionDays(text: string): number | undefined {
  if (text === 'off') return undefined
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > RETENTION_DAYS_MAX)
    throw new Error(`must be a number of days from 1 to ${RETENTION_DAYS_MAX}, or off to keep events forever`)
  return days
}

export function asBytes(text: string): number {
  const match = /^(\d+)([KMG]?)B?$/i.exec(text)
  const unit = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[match?.[2]?.toUpperCase() ?? '']
  if (!match || !unit) throw new Error('must look like 512M or 4G')
  return Number(match[1]) * unit
}

const SECONDS_MAX = 600

/** NaN for other texts. */
function secondsOf(text: string): number {
  const [, count, unit] = /^(\d+)(s|m)$/.exec(text) ?? []
  return Number(count) * (unit === 'm' ? 60 : 1)
}

export function asSeconds(text: string): number {
  const seconds = secondsOf(text)
  if (!(seconds >= 1 && seconds <= SECONDS_MAX)) throw new Error(`must look like 60s or 5m, at most ${SECONDS_MAX}s`)
  return seconds
}

const DRAIN_SECONDS_MAX = 300

export function asDrainTime(text: string): number {
  const seconds = secondsOf(text)
  if (!(seconds <= DRAIN_SECONDS_MAX)) throw new Error('must look like 10s or 1m, at most 5m')
  return seconds
}

export function asCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) throw new Error('must be a whole number from 1')
  return count
}

export function asCountFromZero(text: string): number {
  return text === '0' ? 0 : asCount(text)
}

/** Reads a limit and, after commas, limits by role. */
export function asLimits(one: (text: string) => number): (text: string) => QueryLimit {
  return (text) => {
    const [otherwise = '', ...rest] = text.split(',').map((part) => part.trim())
    const byRole = rest.map((part): [string, number] => {
      const at = part.indexOf('=')
      if (at < 1) throw new Error(`must name a role and its limit, such as ReadOnly=…, not ${part}`)
      return [roleName(part.slice(0, at).trim()), one(part.slice(at + 1).trim())]
    })
    return { otherwise: one(otherwise), byRole: new Map(byRole) }
  }
}

export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new Error(`must be one of ${words.join(', ')}`)
    return text
  }
}

const ORGANIZATION = '{organization}'

/** Reads `<id of an organization>=/path` and `/path/{organization}`, separated by commas. */
export const asSourceDirectories = (text: string): SourceDirectory[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(asSourceDirectory)

function asSourceDirectory(entry: string): SourceDirectory {
  const [, orgId, given = ''] = /^(?:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})=)?(.*)$/i.exec(entry) ?? []
  const path = normalize(given).replace(/(?<=.)\/+$/, '')
  if (!isAbsolute(path))
    throw new Error('must name directories by absolute paths, perhaps after the id of an organization and an equals sign')
  if (orgId === undefined && !path.endsWith(`/${ORGANIZATION}`)) {
    throw new Error(`must end in /${ORGANIZATION}, or begin with the id of an organization and an equals sign`)
  }
  return { path, orgId: orgId?.toLowerCase() }
}
