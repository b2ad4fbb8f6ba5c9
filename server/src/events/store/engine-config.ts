import { createHash } from 'node:crypto'
import type { StoreLogin } from './address.ts'

/** DATABASE is the one database of our own engine. */
export const DATABASE = 'dendro'

export type EngineSettings = {
  storeDir: string
  usersFile: string
  port: number
  /** startId is what this very engine answers, so that another program on the same port is not taken for it. */
  startId: string
  memoryBytes: number
  /** spillBytes is what all queries together may write to disk to sort and group. */
  spillBytes: number
  cores: number
}

/** EngineLogins are those of the writer, of queries, and of what reads the ledger. */
export type EngineLogins = { writer: StoreLogin; reader: StoreLogin; ledger: StoreLogin }

const MIB = 2 ** 20
const MARK_CACHE_BYTES = 128 * MIB
const BACKGROUND_THREADS = 8
const KEEP_ALIVE_S = 30
/** READER_SECONDS is the ceiling of a query's time; exports stream for long, everything else asks for less. */
const READER_SECONDS = 600
/** The memory limit of the whole engine. The shares below add up to less, so that only unforeseen use reaches it. */
const SERVER_LIMIT_SHARE = 1.25
/** READERS_SHARE is the part of the engine's memory that all queries may take together; the rest is for inserts, merges, the ledger and pings. */
const READERS_SHARE = 0.4
/** READER_SHARE is the part that one query may take; above SPILL_SHARE of that it sorts and groups on disk. */
const READER_SHARE = 0.3
const SPILL_SHARE = 0.4
/** MERGES_SHARE is the part above which no further merge begins: merges that fail on the limit are made again and again. */
const MERGES_SHARE = 0.3
/** CACHES_SHARE is the part that the largest cache may take; all of them may take 2.75 times as much. */
const CACHES_SHARE = 1 / 16
/** MEMORY_MIN_BYTES is what the engine needs to start, answer and merge at all. */
const MEMORY_MIN_BYTES = 512 * MIB
/** KEPT_FREE_BYTES is what the engine leaves of the disk for the metadata store, which ends itself when it cannot write its log. */
const KEPT_FREE_BYTES = 128 * MIB
/** A failed statement is the business of whoever sent it; in the engine's log it would bring the statement's text into ours. */
const SILENT_LOGGERS = ['executeQuery', 'DynamicQueryHandler']

/**
 * ALLOCATOR makes the engine's allocator soon give back what it does not need: what it keeps counts as memory in use, and after some large
 * queries it kept three times as much as there was in use.
 */
export const ALLOCATOR = { JE_MALLOC_CONF: 'dirty_decay_ms:200,muzzy_decay_ms:0,narenas:4' }

/** engineConfig is the engine's configuration file: loopback only, one HTTP handler, bounded memory, its log on standard error. */
export function engineConfig(settings: EngineSettings): string {
  const memoryBytes = Math.max(settings.memoryBytes, MEMORY_MIN_BYTES)
  const cacheBytes = Math.min(MARK_CACHE_BYTES, Math.floor(memoryBytes * CACHES_SHARE))
  const values = {
    path: settings.storeDir,
    users_config: settings.usersFile,
    listen_host: '127.0.0.1',
    http_port: settings.port,
    keep_alive_timeout: KEEP_ALIVE_S,
    'log-level': 'warning',
    // The prompt that keeps the engine alive (engine-child.ts) is for nobody.
    disable_suggestion: 1,
    history_file: '/dev/null',
    progress: 'off',
    max_server_memory_usage: memoryBytes * SERVER_LIMIT_SHARE,
    merges_mutations_memory_usage_soft_limit: memoryBytes * MERGES_SHARE,
    max_temporary_data_on_disk_size: settings.spillBytes,
    // The limit is for the engine alone. Otherwise what the service and its neighbors take in the same container would count against it, or lower it.
    memory_worker_use_cgroup: 0,
    memory_worker_dynamic_hard_limit: 0,
    // A guess at how memory goes on growing would refuse statements that fit.
    memory_worker_rss_speculative_reserve_ratio: 0,
    mark_cache_size: cacheBytes,
    index_mark_cache_size: cacheBytes / 2,
    primary_index_cache_size: cacheBytes / 2,
    text_index_tokens_cache_size: cacheBytes / 4,
    text_index_header_cache_size: cacheBytes / 4,
    text_index_postings_cache_size: cacheBytes / 4,
    vector_similarity_index_cache_size: 0,
    background_pool_size: Math.min(16, Math.max(2, Math.ceil(settings.cores / 2))),
    background_schedule_pool_size: BACKGROUND_THREADS,
  }
  const silent = SILENT_LOGGERS.map((name) => `<logger><name>${name}</name><level>none</level></logger>`).join('')
  return `<clickhouse>
${elements(values)}
<storage_configuration><disks><default>${elements({ keep_free_space_bytes: KEPT_FREE_BYTES })}</default></disks></storage_configuration>
<logger><console>1</console><levels>${silent}</levels></logger>
<macros><start>${xml(settings.startId)}</start></macros>
<http_handlers><rule><url>/</url><methods>GET,POST</methods>
<handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler></rule></http_handlers>
</clickhouse>
`
}

/**
 * usersConfig is the engine's users file. The built-in user must exist without a password, or the engine does not start; its profile lets it
 * hold one session, which its own prompt holds, so nobody else gets in. Only hashes of the passwords stand here.
 */
export function usersConfig({ writer, reader, ledger }: EngineLogins, memoryBytes: number): string {
  const readersBytes = Math.floor(Math.max(memoryBytes, MEMORY_MIN_BYTES) * READERS_SHARE)
  const queryBytes = Math.floor(Math.max(memoryBytes, MEMORY_MIN_BYTES) * READER_SHARE)
  const spillBytes = Math.floor(queryBytes * SPILL_SHARE)
  return `<clickhouse>
<profiles>
<default><allow_introspection_functions>0</allow_introspection_functions></default>
<only_session><max_sessions_for_user>1</max_sessions_for_user></only_session>
<writer></writer>
<reader>
${elements({
  readonly: 2,
  max_memory_usage: queryBytes,
  max_memory_usage_for_user: readersBytes,
  max_execution_time: READER_SECONDS,
  max_bytes_before_external_group_by: spillBytes,
  max_bytes_before_external_sort: spillBytes,
  cancel_http_readonly_queries_on_client_close: 1,
})}
<constraints>
<max_memory_usage><min>1</min><max>${queryBytes}</max></max_memory_usage>
<max_memory_usage_for_user><readonly/></max_memory_usage_for_user>
<max_execution_time><min>0.001</min><max>${READER_SECONDS}</max></max_execution_time>
</constraints>
</reader>
<ledger_reader><readonly>2</readonly><cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close></ledger_reader>
</profiles>
<quotas><default></default></quotas>
<users>
<default><password></password>${user('only_session', ['SYSTEM LISTEN ON *.*'])}</default>
<${writer.user}>${password(writer)}${user('writer', [`ALL ON ${DATABASE}.*`, 'TABLE ENGINE ON *', 'SELECT ON system.*', 'KILL QUERY ON *.*'])}</${writer.user}>
<${reader.user}>${password(reader)}${user('reader', [`SELECT ON ${DATABASE}.*`])}
<databases><${DATABASE}>${ORGANIZATION_ROW_POLICY}</${DATABASE}></databases></${reader.user}>
<${ledger.user}>${password(ledger)}${user('ledger_reader', [`SELECT ON ${DATABASE}.ledger`])}
<databases><${DATABASE}>${ORGANIZATION_ROW_POLICY}</${DATABASE}></databases></${ledger.user}>
</users>
</clickhouse>
`
}

/**
 * ORGANISATION_WALL is the row policy of every table of the database, also of those to come: a reader sees the rows of the organisation that
 * the query carries in its setting log_comment, none without one, and cannot read a table without org_id. The engine reads the name of a
 * table (here empty, which means all) only from the second such element on; the first hides a table that does not exist.
 */
const ORGANIZATION_ROW_POLICY = `<table><filter>0</filter></table><table name=""><filter>org_id = toUInt32OrZero(getSetting('log_comment'))</filter></table>`

const user = (profile: string, grants: readonly string[]): string =>
  `<networks><ip>127.0.0.1</ip></networks><profile>${profile}</profile><quota>default</quota><grants>${grants
    .map((grant) => `<query>GRANT ${grant}</query>`)
    .join('')}</grants>`

const password = (login: StoreLogin): string =>
  `<password_sha256_hex>${createHash('sha256').update(login.password.reveal()).digest('hex')}</password_sha256_hex>`

const elements = (values: Record<string, string | number>): string =>
  Object.entries(values)
    .map(([name, value]) => `<${name}>${xml(String(typeof value === 'number' ? Math.floor(value) : value))}</${name}>`)
    .join('\n')

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }),
)

const xml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES.get(character) ?? character)
