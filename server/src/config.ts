import { totalmem } from 'node:os'
import { KEPT_BYTES } from './events/store/range-cache.ts'
import { ROLES } from './http/process-roles.ts'
import { asListeners } from './ingest/listeners/setting.ts'
import { parseAllowList } from './outgoing/addresses.ts'
import {
  asApiKey,
  asBucket,
  asBytes,
  asClickHouseUrl,
  asColdAges,
  asConnections,
  asCount,
  asCountFromZero,
  asDays,
  asDrainTime,
  asExportLocation,
  asHeaderText,
  asIdentifier,
  asInterval,
  asKey,
  asLimits,
  asMemory,
  asPort,
  asPostgresUrl,
  asProtocolVersion,
  asProxies,
  asRateLimit,
  asRetentionDays,
  asRoles,
  asSeconds,
  asSecret,
  asSecretFile,
  asSecrets,
  asSender,
  asShare,
  asSmtpUrl,
  asSourceDirectories,
  asSwitch,
  asText,
  asTracesUrl,
  asUrl,
  asWords,
  MEMORY_BYTES_MIN,
  maybe,
  oneOf,
} from './setting-values.ts'

/** One environment variable: its parser, its default, and its description in docs/configuration.md. */
type Setting<T> = { read: (text: string) => T; fallback: T | (() => T); shownDefault: string; sentence: string }

const setting = <T>(read: (text: string) => T, fallback: T | (() => T), shownDefault: string, sentence: string): Setting<T> => ({
  read,
  fallback,
  shownDefault,
  sentence,
})

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/** Lists every environment variable of Dendro. Deployments depend on the names, so they never change. */
export const settings = {
  DENDRO_HOST: setting(asText, '127.0.0.1', '127.0.0.1', 'Address to listen on.'),
  DENDRO_PORT: setting(asPort, 8080, '8080', 'Port for the REST API, the web app and HTTP ingestion.'),
  DENDRO_PUBLIC_URL: setting(
    asUrl,
    undefined,
    'an address of this server',
    'Base URL of absolute links, such as those in invitations. Without it, links use the requested address if it belongs to this machine.',
  ),
  DENDRO_DATA_DIR: setting(asText, './data', './data', 'Directory of the embedded stores, exports and generated secrets.'),
  DENDRO_ROLES: setting(
    asRoles,
    [...ROLES],
    'api,ingest,work',
    'What this process does: `api` is the REST API and the web app, `ingest` takes events, `work` runs jobs and monitors.',
  ),
  DENDRO_DRAIN_TIME: setting(
    asDrainTime,
    0,
    '0s',
    'How long a process that is asked to stop goes on serving requests, while `/ready` is 503 and proxies take it out of their lists: such as 10s, at most 5m.',
  ),
  DENDRO_CLICKHOUSE_URL: setting(
    asClickHouseUrl,
    undefined,
    'embedded',
    'ClickHouse server or cluster for events: http(s)://user:password@host:port/database, with ?cluster=name for cluster tables.',
  ),
  DENDRO_CLICKHOUSE_STORAGE_POLICY: setting(
    asIdentifier,
    undefined,
    'none',
    'Storage policy of that server for events; it must have a volume `cold`, to which old events move. See scale.md.',
  ),
  DENDRO_COLD_STORAGE: setting(
    asBucket,
    undefined,
    'none',
    'Bucket to which the embedded event store moves old events: s3://key:secret@bucket/prefix?endpoint=https://host:9000&region=eu-west-1. See scale.md.',
  ),
  DENDRO_COLD_AFTER: setting(
    asColdAges,
    { otherwiseMs: 30 * 86_400_000, byId: new Map() },
    '30d',
    'Age at which events move to cold storage, such as 30d; longer for datasets or organizations by id, as in 30d,ID=90d; off moves all events back to the disk.',
  ),
  DENDRO_POSTGRES_URL: setting(asPostgresUrl, undefined, 'embedded', 'PostgreSQL server (14 or newer) for metadata.'),
  DENDRO_POSTGRES_CONNECTIONS: setting(
    asConnections,
    10,
    '10',
    'Maximum number of PostgreSQL connections for requests of this process, 2 to 1000; one more listens for changes.',
  ),
  DENDRO_BOOTSTRAP_API_KEY: setting(
    asApiKey,
    undefined,
    'random',
    'First AdminApi key of the first organization, instead of a random one; at least 32 bytes.',
  ),
  DENDRO_ADMIN_EMAIL: setting(maybe, undefined, 'none', 'E-mail address of the first Administrator, who is created on the first start.'),
  DENDRO_ADMIN_PASSWORD: setting(asSecret, undefined, 'none', 'Password of the first Administrator; weak passwords are refused.'),
  DENDRO_MASTER_KEY: setting(
    asKey,
    undefined,
    'generated in the data directory',
    'Key that hashes and encrypts stored secrets, at least 32 bytes.',
  ),
  DENDRO_MASTER_KEY_FILE: setting(asSecretFile, undefined, 'none', 'File with the master key.'),
  DENDRO_JWT_SECRET: setting(asKey, undefined, 'generated in the data directory', 'Secret that signs login tokens, at least 32 bytes.'),
  DENDRO_EXTRA_KEY_HEADERS: setting(asWords, [], 'none', 'Additional headers that may carry the API key, separated by commas.'),
  DENDRO_EXTRA_ROUTING_PREFIXES: setting(
    asWords,
    [],
    'none',
    'Additional prefixes, besides x-service-, of the routing headers (…collection, …dataset, …tags), separated by commas.',
  ),
  DENDRO_HEC_ACKNOWLEDGEMENTS: setting(
    asSwitch,
    false,
    'off',
    'Acknowledgements of the HTTP event collector for senders with a channel: on or off. A process knows only the ids that it issued itself.',
  ),
  DENDRO_ELASTICSEARCH_VERSION: setting(
    asProtocolVersion,
    undefined,
    'the version of a Beat that asks, else 8.19.0',
    'Version that senders of the Elasticsearch protocol see, such as 9.1.0.',
  ),
  DENDRO_VERCEL_SECRETS: setting(
    asSecrets,
    [],
    'none',
    'Secrets of Vercel drains, separated by commas. With them, every post of a drain must be signed with one of them.',
  ),
  DENDRO_VERCEL_VERIFY: setting(
    asHeaderText,
    undefined,
    'none',
    'Text that Vercel shows for the verification of a new drain; it is returned as x-vercel-verify.',
  ),
  DENDRO_TRUSTED_PROXIES: setting(
    asProxies,
    { networks: ['loopback'], isNamed: false },
    'loopback',
    'Proxies whose X-Forwarded-For is trusted: addresses or networks such as 10.0.0.0/8, separated by commas; loopback, linklocal, uniquelocal; none. Proxies set here are also trusted for the base of links.',
  ),
  DENDRO_LISTENERS: setting(
    asListeners,
    [],
    'none',
    'Sockets for syslog, RELP, GELF, Fluent Forward and OTLP over gRPC, such as syslog+udp://0.0.0.0:514?key=…, separated by spaces; see listeners.md.',
  ),
  DENDRO_TLS_CERT: setting(
    maybe,
    undefined,
    'none: HTTP without TLS',
    'File with the certificate chain for DENDRO_PORT, in PEM; the port then speaks HTTPS only. A replaced file is used within ten seconds, without a restart.',
  ),
  DENDRO_TLS_KEY: setting(maybe, undefined, 'none', 'File with the private key of that certificate, in PEM.'),
  DENDRO_TLS_CERT_FILE: setting(
    maybe,
    undefined,
    'DENDRO_TLS_CERT',
    'File with the certificate chain of the TLS listeners, in PEM; replaced as that of DENDRO_PORT.',
  ),
  DENDRO_TLS_KEY_FILE: setting(maybe, undefined, 'none', 'File with the private key of that certificate, in PEM.'),
  DENDRO_RATE_LIMIT: setting(
    asRateLimit,
    { requests: 6_000, windowMs: 60_000, enforced: true },
    '6000/1m',
    'Requests per credential and window, such as 100/5m; off disables the limit.',
  ),
  DENDRO_SMTP_URL: setting(
    asSmtpUrl,
    undefined,
    'none',
    'Mail relay for invitations and notifications: smtp(s)://user:password@host:port.',
  ),
  DENDRO_MAIL_FROM: setting(asSender, 'Dendro <dendro@localhost>', 'Dendro <dendro@localhost>', 'Sender address of mail.'),
  DENDRO_WEBHOOK_ALLOW: setting(
    parseAllowList,
    parseAllowList(''),
    'none',
    'Private networks, addresses and hosts that webhooks may reach, such as 10.0.0.0/8, hooks.internal; public addresses are always allowed.',
  ),
  DENDRO_EXPORT_URL: setting(
    asExportLocation,
    undefined,
    'exports in the data directory',
    'Storage of export files: s3://key:secret@bucket/prefix?endpoint=https://host:9000&region=eu-west-1, or file:///directory. Without a key, the credentials of the machine are used.',
  ),
  DENDRO_CANARY: setting(
    asSwitch,
    true,
    'on',
    'Whether the deployment writes an event each minute and searches it until it is found, for `GET /health` and the metrics. It lies in `.canary` of the first organization for a day.',
  ),
  DENDRO_TRACES_URL: setting(
    asTracesUrl,
    undefined,
    'none: no spans',
    'Endpoint of OTLP over HTTP for spans of the requests that this process serves, such as http://collector:4318/v1/traces; it may be the service itself.',
  ),
  DENDRO_TRACES_KEY: setting(asSecret, undefined, 'none', 'Bearer token for that endpoint: for Dendro an API key that may send events.'),
  DENDRO_TRACES_SHARE: setting(
    asShare,
    0.1,
    '0.1',
    'The share of requests that are recorded, from 0 to 1. The header `traceparent` of a caller decides instead where there is one.',
  ),
  DENDRO_BACKUP_URL: setting(
    asExportLocation,
    undefined,
    'none: no backups',
    'Directory or bucket for backups of both stores: file:///directory or s3://key:secret@bucket/prefix?endpoint=https://host:9000&region=eu-west-1.',
  ),
  DENDRO_BACKUP_EVERY: setting(
    asInterval,
    undefined,
    'off',
    'How often a backup is made, such as 6h or 1d; off makes them on request only.',
  ),
  DENDRO_BACKUP_VERIFY: setting(
    asInterval,
    7 * 86_400_000,
    '7d',
    'How often the latest backup is read completely and compared, while backups are made regularly; off verifies on request only.',
  ),
  DENDRO_BACKUP_KEEP: setting(
    asDays,
    30 * 86_400_000,
    '30d',
    'How long backups are kept, such as 30d. The latest one, and those that kept ones build upon, stay longer; off keeps all.',
  ),
  DENDRO_FORWARD_URL: setting(
    asBucket,
    undefined,
    'none',
    'Bucket for forwarded events whose configuration has no credentials: s3://key:secret@bucket/prefix?endpoint=https://host:9000&region=eu-west-1. Without a key, the credentials of the machine are used.',
  ),
  DENDRO_GEOIP_DIR: setting(
    maybe,
    undefined,
    'none',
    'Directory with databases of network addresses in the format MMDB (cities or countries, autonomous systems), for ingest rules. A replaced file is used within ten seconds, without a restart.',
  ),
  DENDRO_SOURCE_DIRECTORIES: setting(
    asSourceDirectories,
    [],
    'none',
    'Directories of this machine that sources may read, separated by commas: /path/{organization} opens to each organization the folder with its id, ORGANIZATION-ID=/path opens one to that organization; see sources.md.',
  ),
  DENDRO_LLM_URL: setting(
    asUrl,
    undefined,
    'none',
    'Base URL of a language model with the chat completions interface, such as http://127.0.0.1:8000/v1, for summaries in reports. Optional.',
  ),
  DENDRO_LLM_KEY: setting(asSecret, undefined, 'none', 'Bearer token of the language model endpoint.'),
  DENDRO_LLM_MODEL: setting(maybe, undefined, 'none', 'Name of the language model.'),
  DENDRO_INACTIVE_AFTER: setting(
    asDays,
    undefined,
    'off',
    'Users who have not logged in for this long, such as 90d, are INACTIVE until their next login.',
  ),
  DENDRO_RETENTION_DAYS: setting(asRetentionDays, 365, '365', 'Default retention of events in days; off keeps them without end.'),
  DENDRO_MONITORS_MAX: setting(
    (text) => (text === 'off' ? undefined : asCount(text)),
    undefined,
    'off',
    'Maximum number of monitors of an organization, shown in its limits.',
  ),
  DENDRO_QUERY_TIME: setting(
    asLimits(asSeconds),
    { otherwise: 60, byRole: new Map() },
    '60s',
    'Time limit of a query, also by role such as 60s,ReadOnly=20s; an asynchronous search has ten times as long, at most 600s. An API key may have a lower limit.',
  ),
  DENDRO_QUERY_BYTES: setting(
    asLimits(asBytes),
    { otherwise: 2 ** 40, byRole: new Map() },
    '1024G',
    'Uncompressed bytes that a query may read, also by role such as 1024G,ReadOnly=100G. An API key may have a lower limit.',
  ),
  DENDRO_QUERY_ROWS: setting(
    asLimits(asCount),
    { otherwise: 20_000_000_000, byRole: new Map() },
    '20000000000',
    'Events that a query may scan, also by role. An API key may have a lower limit.',
  ),
  DENDRO_MISSING_SHARDS: setting(
    oneOf(['refuse', 'skip']),
    'refuse',
    'refuse',
    'Result of a search while a shard of the event store is down: refuse returns 503, skip returns the data of the other shards with a warning.',
  ),
  DENDRO_QUERY_MEMORY: setting(
    asBytes,
    () => Math.min(2 ** 30, Math.floor(totalmem() / 8)),
    '1G, or an eighth of the machine',
    'Memory of the event store that a query may use.',
  ),
  DENDRO_QUERY_SPILL: setting(
    asBytes,
    2 * 2 ** 30,
    '2G',
    'Disk space that a query may use to sort and group what exceeds its memory. In the embedded event store all queries together may use four times as much.',
  ),
  DENDRO_QUERY_KEPT: setting(
    asBytes,
    KEPT_BYTES,
    '56M',
    'Memory of each process for results of queries on the embedded event store, which later queries use again; 0 keeps none.',
  ),
  DENDRO_QUERY_RUNNING: setting(
    asLimits(asCount),
    { otherwise: 4, byRole: new Map() },
    '4',
    'Queries that a credential may run at once in each process, also by role such as 4,ReadOnly=2; further queries wait. An API key may have a lower limit.',
  ),
  DENDRO_QUERY_WAITING: setting(
    asLimits(asCountFromZero),
    { otherwise: 8, byRole: new Map() },
    '8',
    'Queries of a credential that may wait, also by role; more are refused with 429. An API key may have a lower limit.',
  ),
  DENDRO_QUERY_RUNNING_ORG: setting(
    asCount,
    undefined,
    'three quarters of DENDRO_QUERY_RUNNING_ALL; in the embedded event store one per core while another organization asks too',
    'Queries that an organization may run at once in each process; eight times as many may wait.',
  ),
  DENDRO_QUERY_RUNNING_ALL: setting(
    asCount,
    undefined,
    'four per core, at least 8',
    'Queries that each process runs at once, shared fairly between organizations.',
  ),
  DENDRO_REGION: setting(asText, 'eu', 'eu', 'Region name of this deployment.'),
  DENDRO_LOG_LEVEL: setting(oneOf(LOG_LEVELS), 'info', 'info', 'Log level of this service: trace, debug, info, warn, error or silent.'),
  DENDRO_MEMORY: setting(
    asMemory,
    () => Math.max(MEMORY_BYTES_MIN, Math.floor(totalmem() / 2)),
    'half of the machine',
    'Memory for the embedded engine, caches and ingestion together, such as 4G; at least 512M.',
  ),
} as const

export type Config = { [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer T> ? T : never }

/** The only reader of the environment. An invalid value stops the start with an error that names the setting. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const entries = Object.entries(settings as Record<string, Setting<unknown>>).map(([name, { read, fallback }]) => {
    const text = env[name]
    if (text === undefined || text === '') return [name, typeof fallback === 'function' ? fallback() : fallback]
    try {
      return [name, read(text)]
    } catch (cause) {
      throw new Error(`${name} ${cause instanceof Error ? cause.message : 'cannot be read'}`, { cause })
    }
  })
  return Object.fromEntries(entries) as Config
}

/** Finds DENDRO_ variables that are not read: misspelled, or of another version. */
export const unknownSettings = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).filter((name) => name.startsWith('DENDRO_') && !name.startsWith('DENDRO_TEST_') && !Object.hasOwn(settings, name))
