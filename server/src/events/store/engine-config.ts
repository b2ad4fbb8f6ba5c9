import { createHash } from 'node:crypto'
import type { FileLocation } from '../../files/location.ts'
import type { StoreLogin } from './address.ts'
import { bucketDisk } from './bucket-disk.ts'
import { COLD_READS, type ColdStorage, coldDisks, tieredVolumes } from './cold-disk.ts'

/** The only database of the embedded engine. */
export const DATABASE = 'dendro'

/** The disk of the store that only backups use, in the embedded engine and, by configuration, on a server. */
export const BACKUP_DISK = 'backups'

export type EngineSettings = {
  storeDir: string
  usersFile: string
  port: number
  /** The id that this engine answers with, so that another program on the same port is not mistaken for it. */
  startId: string
  memoryBytes: number
  /** spillBytes is what all queries together may write to disk to sort and group. */
  spillBytes: number
  cores: number
  /** Where backups are kept; undefined without backups. */
  backups?: FileLocation | undefined
  cold?: ColdStorage | undefined
}

/** The logins of the writer, of queries, and of ledger reads. */
export type EngineLogins = { writer: StoreLogin; reader: StoreLogin; ledger: StoreLogin }

const MIB = 2 ** 20
const MARK_CACHE_BYTES = 128 * MIB
const BACKGROUND_THREADS = 8
const KEEP_ALIVE_S = 30
/** The time limit of a query. Exports stream for long; other queries set less. */
const READER_SECONDS = 600
/** The memory limit of the whole engine. The shares below add up to less, so that only unforeseen use reaches it. */
const SERVER_LIMIT_SHARE = 1.25
/** The part of the engine's memory that all queries may take together. The rest is for inserts, merges, the ledger and pings. */
const READERS_SHARE = 0.4
/** The part that one query may take. Above SPILL_SHARE of it the query sorts and groups on disk. */
const READER_SHARE = 0.3
const SPILL_SHARE = 0.4
/** The part above which no further merge starts, since merges that fail on the limit are retried forever. */
const MERGES_SHARE = 0.3
/** The part of the largest cache; all caches together may take 2.75 times as much. */
const CACHES_SHARE = 1 / 16
/** The minimum for the engine to start, answer and merge. */
const MEMORY_MIN_BYTES = 512 * MIB
/** Disk space that the engine leaves for the metadata store, which stops when it cannot write its log. */
const KEPT_FREE_BYTES = 128 * MIB
/**
 * Defaults of all tables (ADR 66). The lengths of texts lie with their bytes, not in a stream of their own: both compress better together. No plan of a query uses
 * statistics of columns.
 */
const TABLE_DEFAULTS = { string_serialization_version: 'single_stream', auto_statistics_types: '' }
/** The sender of a failed statement gets its error. The engine's log would bring the statement's text into ours. */
const SILENT_LOGGERS = ['executeQuery', 'DynamicQueryHandler']

/**
 * Makes the engine's allocator return unused memory soon. Retained memory counts as used, and after some large queries it was three times
 * the memory in use.
 */
export const ALLOCATOR = { JE_MALLOC_CONF: 'dirty_decay_ms:200,muzzy_decay_ms:0,narenas:4' }

/** The engine's configuration file: loopback only, one HTTP handler, bounded memory, its log on standard error. */
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
    // The prompt that keeps the engine alive (engine-child.ts) has no user.
    disable_suggestion: 1,
    history_file: '/dev/null',
    progress: 'off',
    max_server_memory_usage: memoryBytes * SERVER_LIMIT_SHARE,
    merges_mutations_memory_usage_soft_limit: memoryBytes * MERGES_SHARE,
    max_temporary_data_on_disk_size: settings.spillBytes,
    // The limit is for the engine alone. With the cgroup's figures, the memory of the service and of others in the container would count
    // against it.
    memory_worker_use_cgroup: 0,
    memory_worker_dynamic_hard_limit: 0,
    // Speculative reservations would refuse statements that fit.
    memory_worker_rss_speculative_reserve_ratio: 0,
    mark_cache_size: cacheBytes,
    index_mark_cache_size: cacheBytes / 2,
    primary_index_cache_size: cacheBytes / 2,
    // Every search for an id reads the indexes of words. Reading them from the files takes as long as the rest of the search.
    index_uncompressed_cache_size: (cacheBytes * 3) / 4,
    // No table has such indexes.
    text_index_tokens_cache_size: 0,
    text_index_header_cache_size: 0,
    text_index_postings_cache_size: 0,
    vector_similarity_index_cache_size: 0,
    background_pool_size: Math.min(16, Math.max(2, Math.ceil(settings.cores / 2))),
    background_schedule_pool_size: BACKGROUND_THREADS,
  }
  const silent = SILENT_LOGGERS.map((name) => `<logger><name>${name}</name><level>none</level></logger>`).join('')
  return `<clickhouse>
${elements(values)}
<storage_configuration><disks><default>${elements({ keep_free_space_bytes: KEPT_FREE_BYTES })}</default>${backupDisk(settings.backups)}${disksOf(settings.cold)}</disks>
<policies>${tieredVolumes(settings.cold !== undefined)}</policies></storage_configuration>
${settings.backups ? `<backups>${elements({ allowed_disk: BACKUP_DISK })}</backups>` : ''}
<logger><console>1</console><levels>${silent}</levels></logger>
<merge_tree>${elements(TABLE_DEFAULTS)}</merge_tree>
<macros><start>${xml(settings.startId)}</start></macros>
<http_handlers><rule><url>/</url><methods>GET,POST</methods>
<handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler></rule></http_handlers>
</clickhouse>
`
}

/**
 * The engine's users file. The built-in user must exist without a password, or the engine does not start. Its profile allows one session,
 * which the engine's own prompt holds, so no one else can log in. The file holds only password hashes.
 */
export function usersConfig({ writer, reader, ledger }: EngineLogins, memoryBytes: number): string {
  const readersBytes = Math.floor(Math.max(memoryBytes, MEMORY_MIN_BYTES) * READERS_SHARE)
  const queryBytes = Math.floor(Math.max(memoryBytes, MEMORY_MIN_BYTES) * READER_SHARE)
  const spillBytes = Math.floor(queryBytes * SPILL_SHARE)
  return `<clickhouse>
<profiles>
<default><allow_introspection_functions>0</allow_introspection_functions></default>
<only_session><max_sessions_for_user>1</max_sessions_for_user></only_session>
<writer>${elements(COLD_READS)}</writer>
<reader>
${elements({
  ...COLD_READS,
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
<ledger_reader>${elements(COLD_READS)}<readonly>2</readonly><cancel_http_readonly_queries_on_client_close>1</cancel_http_readonly_queries_on_client_close></ledger_reader>
</profiles>
<quotas><default></default></quotas>
<users>
<default><password></password>${user('only_session', ['SYSTEM LISTEN ON *.*'])}</default>
<${writer.user}>${password(writer)}${user('writer', [`ALL ON ${DATABASE}.*`, 'TABLE ENGINE ON *', 'SELECT ON system.*', 'KILL QUERY ON *.*'])}</${writer.user}>
<${reader.user}>${password(reader)}${user('reader', [`SELECT ON ${DATABASE}.*`])}
<databases><${DATABASE}>${ORGANIZATION_ROW_POLICY}</${DATABASE}></databases></${reader.user}>
<${ledger.user}>${password(ledger)}${user('ledger_reader', [`SELECT ON ${DATABASE}.ledger`, `SELECT ON ${DATABASE}.spend_samples`])}
<databases><${DATABASE}>${ORGANIZATION_ROW_POLICY}</${DATABASE}></databases></${ledger.user}>
</users>
</clickhouse>
`
}

/**
 * The row policy of every present and future table of the database. A reader sees the rows of the organization in the query's setting
 * log_comment, none without one, and cannot read a table without org_id. The engine reads the table name (empty means all) only from the
 * second such element on, so the first names a table that does not exist.
 */
const ORGANIZATION_ROW_POLICY = `<table><filter>0</filter></table><table name=""><filter>org_id = toUInt32OrZero(getSetting('log_comment'))</filter></table>`

const user = (profile: string, grants: readonly string[]): string =>
  `<networks><ip>127.0.0.1</ip></networks><profile>${profile}</profile><quota>default</quota><grants>${grants
    .map((grant) => `<query>GRANT ${grant}</query>`)
    .join('')}</grants>`

const password = (login: StoreLogin): string =>
  `<password_sha256_hex>${createHash('sha256').update(login.password.reveal()).digest('hex')}</password_sha256_hex>`

/** Requests to the bucket of backups end within a minute, so that a bucket that hangs never holds a backup for longer. */
const BACKUP_PATIENCE = { connectMs: 5_000, requestMs: 20_000, tries: 3 }

function backupDisk(place: FileLocation | undefined): string {
  if (place === undefined) return ''
  const disk =
    place.kind === 'directory'
      ? { type: 'local', path: `${place.dir}/`, skip_access_check: 1 }
      : bucketDisk(place, 'plain', BACKUP_PATIENCE)
  return `<${BACKUP_DISK}>${elements(disk)}</${BACKUP_DISK}>`
}

/** The disks and the storage policy of cold storage. */
const disksOf = (cold: ColdStorage | undefined): string =>
  Object.entries(cold ? coldDisks(cold) : {})
    .map(([name, disk]) => `<${name}>${elements(disk)}</${name}>`)
    .join('')

const elements = (values: Record<string, string | number>): string =>
  Object.entries(values)
    .map(([name, value]) => `<${name}>${xml(String(typeof value === 'number' ? Math.floor(value) : value))}</${name}>`)
    .join('\n')

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }),
)

const xml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES.get(character) ?? character)
