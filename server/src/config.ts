import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { totalmem } from 'node:os'
import { roleName } from '@dendro/api'
import { type Place, parsePlace } from './files/open-files.ts'
import { parseAddress } from './events/store/address.ts'
import type { RateLimit } from './http/rate-limit.ts'
import { parseAllowList } from './outgoing/addresses.ts'
import { Secret } from './kernel/secret.ts'
import type { QueryLimit } from './world.ts'

/** A Setting is one configuration value: how it is read, what holds when it is absent, and the sentence the documentation shows. */
type Setting<T> = { read: (text: string) => T; otherwise: T | (() => T); shown: string; sentence: string }

const setting = <T>(read: (text: string) => T, otherwise: T | (() => T), shown: string, sentence: string): Setting<T> => ({
  read,
  otherwise,
  shown,
  sentence,
})

export type Role = 'api' | 'ingest' | 'work'
const ROLES: readonly Role[] = ['api', 'ingest', 'work']
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']
const PORT_MAX = 65_535
const CONNECTIONS_MAX = 1_000
const KEY_BYTES_MIN = 32
/** KEY_LETTERS_MIN refuses what is long and yet easily guessed; of 64 random hexadecimal digits practically all have more. */
const KEY_LETTERS_MIN = 10
const MEMORY_BYTES_MIN = 512 * 2 ** 20

const asText = (text: string): string => text
const asSecret = (text: string): Secret | undefined => new Secret(text)
const maybe = (text: string): string | undefined => text
const asWords = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')

/** settings are all names that Dendro reads from its environment; people script against them, so they are fixed. */
export const settings = {
  DENDRO_HOST: setting(asText, '127.0.0.1', '127.0.0.1', 'Address to listen on; loopback unless you say otherwise.'),
  DENDRO_PORT: setting(asPort, 8080, '8080', 'Port for the REST API, the web app and HTTP ingestion.'),
  DENDRO_PUBLIC_URL: setting(
    asUrl,
    undefined,
    'an address of our own',
    'Base of absolute links, those of invitations included; without it they lead to the address that was asked for where it is one of ours.',
  ),
  DENDRO_DATA_DIR: setting(asText, './data', './data', 'Where the embedded stores, exports and generated secrets lie.'),
  DENDRO_ROLES: setting(asRoles, [...ROLES], 'api,ingest,work', 'What this process does.'),
  DENDRO_CLICKHOUSE_URL: setting(
    asClickHouseUrl,
    undefined,
    'own child process',
    'A ClickHouse server or cluster for the events: http(s)://user:password@host:port/database, with ?cluster=name for cluster tables.',
  ),
  DENDRO_POSTGRES_URL: setting(asPostgresUrl, undefined, 'own child process', 'A PostgreSQL server (14 or newer) for the metadata.'),
  DENDRO_POSTGRES_CONNECTIONS: setting(
    asConnections,
    10,
    '10',
    'How many connections for requests this process keeps to PostgreSQL at most, 2 to 1000; it has one more that hears of changes.',
  ),
  DENDRO_BOOTSTRAP_API_KEY: setting(
    asApiKey,
    undefined,
    'random',
    'The first AdminApi key of the first organisation, instead of a random one; at least 32 bytes.',
  ),
  DENDRO_ADMIN_EMAIL: setting(maybe, undefined, 'none', 'E-mail of the first Administrator, made on the first start.'),
  DENDRO_ADMIN_PASSWORD: setting(asSecret, undefined, 'none', 'Password of the first Administrator; a weak one is refused.'),
  DENDRO_MASTER_KEY: setting(
    asKey,
    undefined,
    'generated in the data directory',
    'The key under which stored secrets are hashed and encrypted, at least 32 bytes.',
  ),
  DENDRO_MASTER_KEY_FILE: setting(asSecretFile, undefined, 'none', 'A file that holds the master key.'),
  DENDRO_JWT_SECRET: setting(asKey, undefined, 'generated in the data directory', 'The secret that signs tokens, at least 32 bytes.'),
  DENDRO_EXTRA_KEY_HEADERS: setting(asWords, [], 'none', 'Further header names accepted for the API key, separated by commas.'),
  DENDRO_EXTRA_ROUTING_PREFIXES: setting(
    asWords,
    [],
    'none',
    'Further prefixes beside x-service- for the headers that say where events go (…collection, …dataset, …tags), separated by commas.',
  ),
  DENDRO_TRUSTED_PROXIES: setting(
    asProxies,
    { networks: ['loopback'], isNamed: false },
    'loopback',
    'Proxies whose X-Forwarded-For names the caller: addresses or networks as in 10.0.0.0/8, separated by commas; loopback, linklocal, uniquelocal; none. What is set here is also believed about where links lead.',
  ),
  DENDRO_RATE_LIMIT: setting(
    asRateLimit,
    { requests: 6_000, windowMs: 60_000, enforced: true },
    '6000/1m',
    'Requests per credential and window, as in 100/5m; off switches it off.',
  ),
  DENDRO_SMTP_URL: setting(
    asSmtpUrl,
    undefined,
    'none',
    'The mail relay for invitations and notifications: smtp(s)://user:password@host:port.',
  ),
  DENDRO_MAIL_FROM: setting(asSender, 'Dendro <dendro@localhost>', 'Dendro <dendro@localhost>', 'The sender of mail.'),
  DENDRO_WEBHOOK_ALLOW: setting(
    parseAllowList,
    parseAllowList(''),
    'none',
    'Private networks, addresses and hosts that webhooks may reach, as in 10.0.0.0/8, hooks.internal; public addresses are always allowed.',
  ),
  DENDRO_EXPORT_URL: setting(
    asPlace,
    undefined,
    'exports in the data directory',
    'Where files of exports are kept: s3://key:secret@bucket/prefix?endpoint=https://host:9000&region=eu-west-1, or file:///directory; without a key the credentials of the machine are used.',
  ),
  DENDRO_LLM_URL: setting(
    asUrl,
    undefined,
    'none',
    'The base of a model endpoint with the chat completions interface, as in http://127.0.0.1:8000/v1, for the narrative parts of reports; everything works without it.',
  ),
  DENDRO_LLM_KEY: setting(asSecret, undefined, 'none', 'The bearer token of the model endpoint.'),
  DENDRO_LLM_MODEL: setting(maybe, undefined, 'none', 'The name of the model to ask for.'),
  DENDRO_INACTIVE_AFTER: setting(
    asDays,
    undefined,
    'off',
    'A user who has not logged in for this long, as in 90d, is shown as INACTIVE; logging in makes him ACTIVE again.',
  ),
  DENDRO_RETENTION_DAYS: setting(
    asRetentionDays,
    365,
    '365',
    'For how many days events are kept where no retention rule says it; off keeps them for ever.',
  ),
  DENDRO_MONITORS_MAX: setting(
    (text) => (text === 'off' ? undefined : asCount(text)),
    undefined,
    'off',
    'How many monitors an organisation may have; one more is refused. It is shown among the limits of each.',
  ),
  DENDRO_QUERY_TIME: setting(
    asLimits(asSeconds),
    { otherwise: 60, byRole: new Map() },
    '60s',
    'How long one question may take, also by role as in 60s,ReadOnly=20s; an asynchronous search has ten times as long, at most 600s.',
  ),
  DENDRO_QUERY_BYTES: setting(
    asLimits(asBytes),
    { otherwise: 2 ** 40, byRole: new Map() },
    '1024G',
    'How many bytes one question may read before compression, also by role as in 1024G,ReadOnly=100G.',
  ),
  DENDRO_QUERY_ROWS: setting(
    asLimits(asCount),
    { otherwise: 20_000_000_000, byRole: new Map() },
    '20000000000',
    'How many events one question may look at, also by role.',
  ),
  DENDRO_MISSING_SHARDS: setting(
    oneOf(['refuse', 'skip']),
    'refuse',
    'refuse',
    'What a search gets while a shard of the event store is away: refuse answers 503, skip answers from the others with a warning.',
  ),
  DENDRO_QUERY_MEMORY: setting(
    asBytes,
    () => Math.min(2 ** 30, Math.floor(totalmem() / 8)),
    '1G, or an eighth of the machine',
    'How much memory of the event store one question may take.',
  ),
  DENDRO_QUERY_RUNNING: setting(
    asLimits(asCount),
    { otherwise: 4, byRole: new Map() },
    '4',
    'How many queries one credential may run at once in each process, also by role as in 4,ReadOnly=2; further ones wait.',
  ),
  DENDRO_QUERY_WAITING: setting(
    asLimits(asCountFromZero),
    { otherwise: 8, byRole: new Map() },
    '8',
    'How many queries of one credential may wait, also by role; one more is refused with 429.',
  ),
  DENDRO_QUERY_RUNNING_ORG: setting(
    asCount,
    undefined,
    'three quarters of DENDRO_QUERY_RUNNING_ALL',
    'How many queries one organization may run at once in each process; eight times as many may wait.',
  ),
  DENDRO_QUERY_RUNNING_ALL: setting(
    asCount,
    undefined,
    'four per core, at least 8',
    'How many queries each process runs at once; organizations take turns.',
  ),
  DENDRO_REGION: setting(asText, 'eu', 'eu', 'The name of the region of this deployment.'),
  DENDRO_LOG_LEVEL: setting(
    oneOf(LOG_LEVELS),
    'info',
    'info',
    'How much the service writes to its own log: trace, debug, info, warn, error or silent.',
  ),
  DENDRO_MEMORY: setting(
    asMemory,
    () => Math.max(MEMORY_BYTES_MIN, Math.floor(totalmem() / 2)),
    'half of the machine',
    'Memory shared out between engine, caches and intake, as in 4G; at least 512M.',
  ),
} as const

export type Config = { [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer T> ? T : never }

/** readConfig is the only reader of the environment; a value that does not fit stops the start with a sentence that names it. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const entries = Object.entries(settings as Record<string, Setting<unknown>>).map(([name, { read, otherwise }]) => {
    const text = env[name]
    if (text === undefined || text === '') return [name, typeof otherwise === 'function' ? otherwise() : otherwise]
    try {
      return [name, read(text)]
    } catch (cause) {
      throw new Error(`${name} ${cause instanceof Error ? cause.message : 'cannot be read'}`, { cause })
    }
  })
  return Object.fromEntries(entries) as Config
}

/** unknownSettings are names that look like ours and are not read: a misspelling, or a setting of another version. */
export const unknownSettings = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).filter((name) => name.startsWith('DENDRO_') && !name.startsWith('DENDRO_TEST_') && !Object.hasOwn(settings, name))

function asPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) throw new Error(`must be a port number from 0 to ${PORT_MAX}`)
  return port
}

const NETWORK_WORDS = ['loopback', 'linklocal', 'uniquelocal']

/** Proxies are networks; `isNamed` tells what the operator set from what holds otherwise. */
export type Proxies = { networks: readonly string[]; isNamed: boolean }

function asProxies(text: string): Proxies {
  const words = asWords(text)
  if (words.length === 1 && words[0] === 'none') return { networks: [], isNamed: true }
  const odd = words.find((word) => !NETWORK_WORDS.includes(word) && !isNetwork(word))
  if (odd !== undefined) throw new Error(`must name addresses, networks, ${NETWORK_WORDS.join(', ')}, or be none; not ${odd}`)
  return { networks: words, isNamed: true }
}

function isNetwork(word: string): boolean {
  const [address = '', bits, ...rest] = word.split('/')
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && bitsMax > 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))
}

function asUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^/]+/.test(text) || !URL.canParse(text)) throw new Error('must be an http or https address')
  return text.replace(/\/+$/, '')
}

function asPlace(text: string): Place | undefined {
  return parsePlace(text)
}

function asRoles(text: string): Role[] {
  const words = asWords(text)
  const roles = ROLES.filter((role) => words.includes(role))
  if (roles.length !== words.length || roles.length === 0) throw new Error(`must name some of ${ROLES.join(', ')}`)
  if (roles.length !== ROLES.length) throw new Error(`must name all of ${ROLES.join(', ')}: a process cannot do a part of the work yet`)
  return roles
}

/** asKey refuses a secret that could be guessed: whoever guesses it needs nothing else. */
function asKey(text: string): Secret | undefined {
  if (Buffer.byteLength(text) < KEY_BYTES_MIN)
    throw new Error(`must be at least ${KEY_BYTES_MIN} bytes, as \`openssl rand -hex 32\` gives them`)
  if (new Set(text).size < KEY_LETTERS_MIN) {
    throw new Error(`must have at least ${KEY_LETTERS_MIN} different characters, as \`openssl rand -hex 32\` gives them`)
  }
  return new Secret(text)
}

function asApiKey(text: string): Secret | undefined {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('must be of ASCII characters without spaces, as a header can carry them')
  return asKey(text)
}

function asSecretFile(path: string): Secret | undefined {
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

function asPostgresUrl(text: string): Secret | undefined {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Error('must look like postgres://user:password@host:5432/database')
  }
  return new Secret(text)
}

function asConnections(text: string): number {
  const connections = Number(text)
  if (!/^\d+$/.test(text) || connections < 2 || connections > CONNECTIONS_MAX) {
    throw new Error(`must be a whole number from 2 to ${CONNECTIONS_MAX}`)
  }
  return connections
}

/** asClickHouseUrl reads the address as the event store will, so that a wrong one is refused before anything is opened. */
function asClickHouseUrl(text: string): Secret | undefined {
  try {
    parseAddress(text)
  } catch (cause) {
    const why =
      cause instanceof URIError ? 'a sign in it is percent-encoded wrongly' : cause instanceof Error ? cause.message : 'unreadable'
    throw new Error(`must look like http(s)://user:password@host:8123/database: ${why}`, { cause })
  }
  return new Secret(text)
}

function asSmtpUrl(text: string): Secret | undefined {
  if (!/^smtps?:\/\/[^/]/.test(text) || !URL.canParse(text)) throw new Error('must look like smtp(s)://user:password@host:port')
  return new Secret(text)
}

function asSender(text: string): string {
  if (!/^[^\p{Cc}]*[^\s\p{Cc}]@[^\s\p{Cc}]+$/u.test(text)) throw new Error('must be an address as in Dendro <dendro@example.com>')
  return text
}

function asMemory(text: string): number {
  const bytes = asBytes(text)
  if (bytes < MEMORY_BYTES_MIN) throw new Error('must be at least 512M')
  return bytes
}

function asRateLimit(text: string): RateLimit {
  if (text === 'off' || text === '0') return { requests: 6_000, windowMs: 60_000, enforced: false }
  const match = /^(\d+)\/(\d+)([smh])$/.exec(text)
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 }[match?.[3] ?? '']
  const requests = Number(match?.[1])
  const windowMs = Number(match?.[2]) * (unitMs ?? 0)
  if (!match || requests < 1 || windowMs < 1) throw new Error('must look like 6000/1m, or be off')
  return { requests, windowMs, enforced: true }
}

function asDays(text: string): number | undefined {
  if (text === 'off' || text === '0') return undefined
  const days = Number(/^(\d{1,4})d$/.exec(text)?.[1])
  if (!(days >= 1)) throw new Error('must look like 90d, or be off')
  return days * 86_400_000
}

const RETENTION_DAYS_MAX = 36_500

function asRetentionDays(text: string): number | undefined {
  if (text === 'off') return undefined
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > RETENTION_DAYS_MAX)
    throw new Error(`must be a number of days from 1 to ${RETENTION_DAYS_MAX}, or off to keep events for ever`)
  return days
}

function asBytes(text: string): number {
  const match = /^(\d+)([KMG]?)B?$/i.exec(text)
  const unit = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[match?.[2]?.toUpperCase() ?? '']
  if (!match || !unit) throw new Error('must look like 512M or 4G')
  return Number(match[1]) * unit
}

const SECONDS_MAX = 600

function asSeconds(text: string): number {
  const [, count, unit] = /^(\d+)(s|m)$/.exec(text) ?? []
  const seconds = Number(count) * (unit === 'm' ? 60 : 1)
  if (!(seconds >= 1 && seconds <= SECONDS_MAX)) throw new Error(`must look like 60s or 5m, at most ${SECONDS_MAX}s`)
  return seconds
}

function asCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) throw new Error('must be a whole number from 1')
  return count
}

function asCountFromZero(text: string): number {
  return text === '0' ? 0 : asCount(text)
}

/** asLimits reads a bound and, behind commas, the bounds that certain roles have instead. */
function asLimits(one: (text: string) => number): (text: string) => QueryLimit {
  return (text) => {
    const [otherwise = '', ...rest] = text.split(',').map((part) => part.trim())
    const byRole = rest.map((part): [string, number] => {
      const at = part.indexOf('=')
      if (at < 1) throw new Error(`must name a role and its bound as in ReadOnly=…, not ${part}`)
      return [roleName(part.slice(0, at).trim()), one(part.slice(at + 1).trim())]
    })
    return { otherwise: one(otherwise), byRole: new Map(byRole) }
  }
}

function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new Error(`must be one of ${words.join(', ')}`)
    return text
  }
}
