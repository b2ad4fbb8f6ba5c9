import pg from 'pg'
import type { SupervisedChild } from '../kernel/child.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import { connectWithRetry } from '../kernel/reach.ts'
import { Cache, type CacheOptions } from './cache.ts'
import type { ReceiptRequest } from './change-receipts.ts'
import { followChanges, readChange } from './changes.ts'
import { clientConfig, type Db, dbOn, isRepeatable, isUnavailable, openPool, sqlState, toFailure } from './driver.ts'
import { dumpDaily } from './dump.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { migrate, VERSION_MIN } from './migrate.ts'
import { openPingConnection } from './ping-connection.ts'
import type { MetaChange } from './reads.ts'

export type { Db } from './driver.ts'

type MetaHealth = { status: 'ok' } | { status: 'starting' | 'down'; reason: string }

export type Meta = Db & {
  /**
   * Runs fn in one transaction (read committed). Before it resolves, it removes what is cached of the changed rows, in any organization, and the
   * other processes have done so too, unless one does not answer within a second. fn
   * runs again when PostgreSQL rolled the transaction back because of another one, so it must have no effects except through tx. After a
   * 503 it is unknown whether the transaction was committed; what is cached of orgId is then reloaded.
   */
  write<T>(orgId: string, fn: (tx: Db) => Promise<T>): Promise<T>
  /**
   * Caches the result of load for (organization, name) until a row of a table that load read changes, in this process or another: a row of
   * that organization, or of any for the organization '*'. When load reads no table with change notifications, any change in the
   * organization invalidates it. The value is shared and must not be modified. Cached values remain usable for 5 minutes when the store is
   * unavailable. ageMaxMs limits the age, for tables without notifications. `only` names the one row of a table that matters to the value.
   */
  cached<T>(orgId: string, name: string, load: () => Promise<T>, wish?: CacheOptions<T>): Promise<T>
  /** `cached` for many values at once: missing ones are loaded together. */
  cachedEach: Cache['cachedEach']
  /** `cached` for a list of rows, newest first, of which only changed ones are read again. */
  cachedRows: Cache['cachedRows']
  /** Returns what `cached` would return from memory now, or undefined when it would have to load. */
  remembered<T>(orgId: string, name: string): T | undefined
  /** Calls the listener with each change in any process, where '*' stands for all. Returns the function to unsubscribe. */
  onChange(listener: (orgId: string, table: string, id: string) => void): () => void
  health(): MetaHealth
  /** Pings over its own connection, so that it does not wait for the pool. */
  ping(signal?: AbortSignal): Promise<void>
  /** The connection URL for other processes. May contain a password. */
  url: string
  /** The embedded PostgreSQL, or undefined with an external server. */
  server: SupervisedChild | undefined
  close(): Promise<void>
}

export type MetaOptions = {
  /** The external PostgreSQL server (DENDRO_POSTGRES_URL). Without it the embedded one runs in the data directory. */
  url?: string | undefined
  dataDir: string
  poolMax?: number
}

export type MetaDeps = { clock: Clock; log: Logger; ids: Ids }

const POOL_MAX = 10
/** Connections outside the pool: changes, pings, migrations, dumps, other processes. An unused slot costs little. */
const CONNECTIONS_OUTSIDE_POOL = 50
const CLOSE_MS = 5_000
const TRIES_MAX = 6
const RETRY_MS = 5

/** Opens the metadata store, runs its migrations and subscribes to its changes. */
export async function openMeta(options: MetaOptions, deps: MetaDeps): Promise<Meta> {
  const poolMax = options.poolMax ?? POOL_MAX
  if (options.url !== undefined && !(URL.canParse(options.url) && /^postgres(ql)?:/.test(options.url))) {
    throw new Error('DENDRO_POSTGRES_URL is not a PostgreSQL URL; expected postgresql://user:password@host:5432/database')
  }
  const embedded = options.url === undefined ? await startEmbedded(options.dataDir, poolMax + CONNECTIONS_OUTSIDE_POOL, deps) : undefined
  try {
    const url = embedded?.url ?? options.url ?? ''
    const watched = await prepareServer({ connectionString: url }, deps)
    return await openOn({ url, watched, embedded, poolMax }, deps)
  } catch (cause) {
    await embedded?.close()
    throw cause
  }
}

type OpenOptions = { url: string; watched: readonly string[]; embedded: EmbeddedServer | undefined; poolMax: number }

async function openOn({ url, watched, embedded, poolMax }: OpenOptions, deps: MetaDeps): Promise<Meta> {
  const server = { connectionString: url }
  const pool = openPool(server, poolMax)
  const cache = new Cache(deps.clock, undefined, watched)
  const changes = await followChanges(server, cache, deps)
  const closing = new AbortController()
  const dumping = embedded ? dumpDaily(embedded.dumper, deps, closing.signal) : undefined
  const db = dbOn(pool)
  // /health asks at most once a second, and must not call a server well that takes nobody new.
  const probe = openPingConnection(server, 1)
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    closing.abort()
    probe.close()
    await changes.close()
    // Statements and dumps that are still running are aborted, by the shutdown of the embedded PostgreSQL or with the end of this process.
    const isEnded = new AbortController()
    const ended = pool.end().finally(() => isEnded.abort())
    await Promise.race([ended, deps.clock.sleep(CLOSE_MS, isEnded.signal).catch(() => undefined)])
    await embedded?.close()
    await dumping
  }

  return {
    ...db,
    write: async (orgId, fn) => {
      const ended: TransactionEnd = {
        changed: (changes) => {
          for (const { orgId, table, id } of changes) cache.forget(orgId, table, id)
        },
        unknown: () => cache.doubt(orgId),
      }
      for (let tries = 1; ; tries += 1) {
        try {
          const { result, isReceived } = await transaction(pool, fn, ended, embedded ? undefined : changes.askReceipts())
          await isReceived
          return result
        } catch (cause) {
          if (!isRepeatable(cause) || tries === TRIES_MAX) throw toFailure(cause)
          await deps.clock.sleep(RETRY_MS * 2 ** tries)
        }
      }
    },
    cached: (orgId, name, load, wish) => cache.cached(orgId, name, load, wish),
    cachedEach: (...args) => cache.cachedEach(...args),
    cachedRows: (...args) => cache.cachedRows(...args),
    remembered: (orgId, name) => cache.remembered(orgId, name),
    onChange: (listener) => cache.onChange(listener),
    health: () => healthOf(embedded, changes.isFollowing()),
    ping: async (signal) => {
      signal?.throwIfAborted()
      const answer = probe.ping()
      // When the signal aborts, nobody handles a later failure of the ping.
      answer.catch(() => undefined)
      await (signal ? Promise.race([answer, rejection(signal)]) : answer)
    },
    url,
    server: embedded?.child,
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

/** Called with the changes of a committed transaction, or when it is unknown whether it was committed. */
type TransactionEnd = { changed(changes: readonly MetaChange[]): void; unknown(): void }

/** Returns the changed rows, which the database function note_change collected. */
const CHANGED = `select current_setting('dendro.changed', true) as changed`

/** `isReceived` resolves when the other processes use the changes. */
type Committed<T> = { result: T; isReceived: Promise<void> | undefined }

async function transaction<T>(
  pool: pg.Pool,
  fn: (tx: Db) => Promise<T>,
  ended: TransactionEnd,
  receipts: ReceiptRequest | undefined,
): Promise<Committed<T>> {
  const client = await pool.connect()
  const tx = dbOn(client)
  let isOver = false
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (isOver) throw new Error('a statement was sent after its transaction ended')
      return run(...args)
    }
  let failure: unknown
  try {
    await client.query('begin')
    const result = await fn({ all: guarded(tx.all) as Db['all'], one: guarded(tx.one) as Db['one'], run: guarded(tx.run) })
    isOver = true
    const { changed, followers } = await commit(client, ended, receipts)
    ended.changed(changed)
    return { result, isReceived: receipts?.receivedBy(followers) }
  } catch (cause) {
    isOver = true
    failure = cause
    await client.query('rollback').catch((lost) => {
      failure = lost
    })
    throw cause
  } finally {
    client.release(failure !== undefined && isUnavailable(toFailure(failure)))
  }
}

const ABORTED = '25P02'

async function commit(
  client: pg.PoolClient,
  ended: TransactionEnd,
  receipts: ReceiptRequest | undefined,
): Promise<{ changed: MetaChange[]; followers: readonly number[] }> {
  try {
    // Two statements in one text return two results.
    const [settings] = (await client.query(`${receipts?.statement(CHANGED) ?? CHANGED}; commit`)) as unknown as pg.QueryResult<{
      changed: string | null
      followers?: number[] | null
    }>[]
    const { changed, followers } = settings?.rows[0] ?? {}
    return { changed: (changed ?? '').split('\n').filter(Boolean).map(readChange), followers: followers ?? [] }
  } catch (cause) {
    void receipts?.receivedBy([])
    if (sqlState(cause) === ABORTED) {
      throw new Error('a statement of the transaction failed and its error was ignored; nothing was written', { cause })
    }
    // The connection may have been lost before or after the commit.
    if (isUnavailable(toFailure(cause)) && !isRepeatable(cause)) ended.unknown()
    throw cause
  }
}

/** Waits for the server, checks its version and runs migrations. Returns the tables with change notifications. */
async function prepareServer(server: pg.ClientConfig, deps: MetaDeps): Promise<string[]> {
  const client = await connectForMigrations(server, deps)
  try {
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
    )
    const version: { number: number; name: string } = rows[0]
    if (version.number < VERSION_MIN) throw new Error(`the PostgreSQL server is version ${version.name}; Dendro needs 14 or newer`)
    await migrate(client, deps)
    const watched = await client.query<{ name: string }>(
      `select relname as name from pg_trigger join pg_class on pg_class.oid = tgrelid where tgname = 'tell_change'`,
    )
    return watched.rows.map(({ name }) => name)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function connectForMigrations(server: pg.ClientConfig, deps: MetaDeps): Promise<pg.Client> {
  const attempt = {
    server: new URL(server.connectionString ?? '').host,
    connect: () => connected(server, deps),
    isPermanent: (cause: unknown) => !isUnavailable(toFailure(cause)),
  }
  return connectWithRetry(attempt, deps).catch((cause) => {
    throw unusableServer(server, cause)
  })
}

async function connected(server: pg.ClientConfig, { log }: MetaDeps): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(server))
  client.on('error', (cause) => log.debug({ err: cause }, 'connection for migrations lost'))
  try {
    await client.connect()
    return client
  } catch (cause) {
    client.end().catch(() => undefined)
    throw cause
  }
}

/** Names the server without its password. */
function unusableServer(server: pg.ClientConfig, cause: unknown): Error {
  const { host } = new URL(server.connectionString ?? '')
  const said = cause instanceof Error ? cause.message || cause.name : String(cause)
  return new Error(`the PostgreSQL server ${host} cannot be used: ${said}; check DENDRO_POSTGRES_URL and that the server runs`, { cause })
}

function healthOf(embedded: EmbeddedServer | undefined, isFollowing: boolean): MetaHealth {
  const state = embedded?.child.state()
  if (state?.kind === 'starting') return { status: 'starting', reason: 'the metadata store is starting' }
  if (state?.kind === 'down') return { status: 'down', reason: `the metadata store ended (${state.reason}) and is being restarted` }
  if (!isFollowing) return { status: 'down', reason: 'the metadata store does not answer' }
  return { status: 'ok' }
}

async function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
