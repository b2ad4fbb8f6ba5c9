import { totalmem } from 'node:os'
import { parseAllowList } from './outgoing/addresses.ts'
import {
  asApiKey,
  asBytes,
  asClickHouseUrl,
  asConnections,
  asCount,
  asCountFromZero,
  asDays,
  asExportLocation,
  asKey,
  asLimits,
  asMemory,
  asPort,
  asPostgresUrl,
  asProxies,
  asRateLimit,
  asRetentionDays,
  asRoles,
  asSeconds,
  asSecret,
  asSecretFile,
  asSender,
  asSmtpUrl,
  asText,
  asUrl,
  asWords,
  MEMORY_BYTES_MIN,
  maybe,
  oneOf,
  ROLES,
} from './setting-values.ts'

/** A Setting is one configuration value: how it is read, what holds when it is absent, and the sentence the documentation shows. */
type Setting<T> = { read: (text: string) => T; otherwise: T | (() => T); shown: string; sentence: string }

const setting = <T>(read: (text: string) => T, otherwise: T | (() => T), shown: string, sentence: string): Setting<T> => ({
  read,
  otherwise,
  shown,
  sentence,
})

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

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
    asExportLocation,
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
