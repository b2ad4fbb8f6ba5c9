import pg from 'pg'
import type { SupervisedChild } from '../kernel/child.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { untilReached } from '../kernel/reach.ts'
import { Cache, type Wish } from './cache.ts'
import { followChanges, readChange } from './changes.ts'
import { clientConfig, type Db, dbOn, isRepeatable, isUnavailable, openPool, sqlState, toFailure } from './driver.ts'
import { dumpDaily } from './dump.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { migrate, VERSION_MIN } from './migrate.ts'
import { openProbe } from './probe.ts'
import type { Change } from './reads.ts'

export type { Db } from './driver.ts'

type MetaHealth = { status: 'ok' } | { status: 'starting' | 'down'; reason: string }

export type Meta = Db & {
  /**
   * write runs fn in one transaction (read committed) and, before it resolves, forgets what is cached of the rows that it changed, whatever their
   * organization. fn runs again when PostgreSQL gave the transaction up for another, so it must have no effect but through tx. A 503 leaves open whether
   * it was committed: then what is cached of orgId is loaded anew.
   */
  write<T>(orgId: string, fn: (tx: Db) => Promise<T>): Promise<T>
  /**
   * cached keeps what load gave for (organization, name) until a row of a table that load read changes, here or in another process: of that organization,
   * or of any for the organization '*'. Where load reads no table whose changes are told, any change of the organization counts. The value is shared and
   * must not be altered. What was known stays known for 5 minutes when the store is lost. With ageMaxMs it is loaded anew after that time, for what changes
   * without being told; `only` names the one row of a table that matters to the value.
   */
  cached<T>(orgId: string, name: string, load: () => Promise<T>, wish?: Wish<T>): Promise<T>
  /** cachedEach is cached for many at once: those that are not remembered are loaded together. */
  cachedEach: Cache['cachedEach']
  /** remembered is what cached would answer from memory at this moment; undefined when it would have to load. */
  remembered<T>(orgId: string, name: string): T | undefined
  /** onChange calls the listener with each change anywhere, '*' standing for all; it gives back how to stop. */
  onChange(listener: (orgId: string, table: string, id: string) => void): () => void
  health(): MetaHealth
  /** ping asks over a connection of its own, so that it does not wait for the pool. */
  ping(signal?: AbortSignal): Promise<void>
  /** url is how another process connects to the same store; it may hold a password. */
  url: string
  /** server is our own PostgreSQL; without one the store is a server of somebody else. */
  server: SupervisedChild | undefined
  close(): Promise<void>
}

export type MetaOptions = {
  /** url is a PostgreSQL server (DENDRO_POSTGRES_URL); without it our own runs in the data directory. */
  url?: string | undefined
  dataDir: string
  poolMax?: number
}

export type MetaDeps = { clock: Clock; log: Log; ids: Ids }

const POOL_MAX = 10
/** CONNECTIONS_BESIDE are those outside the pool: changes, pings, migrations, dumps, other processes; a place costs little while it is free. */
const CONNECTIONS_BESIDE = 50
const CLOSE_MS = 5_000
const TRIES_MAX = 6
const TRY_AGAIN_MS = 5

/** openMeta opens the metadata store, brings its tables up to this program and follows its changes. */
export async function openMeta(options: MetaOptions, deps: MetaDeps): Promise<Meta> {
  const poolMax = options.poolMax ?? POOL_MAX
  if (options.url !== undefined && !(URL.canParse(options.url) && /^postgres(ql)?:/.test(options.url))) {
    throw new Error('DENDRO_POSTGRES_URL is no address of a PostgreSQL server; one reads postgresql://user:password@host:5432/database')
  }
  const embedded = options.url === undefined ? await startEmbedded(options.dataDir, poolMax + CONNECTIONS_BESIDE, deps) : undefined
  try {
    const url = embedded?.url ?? options.url ?? ''
    const watched = await bringUp({ connectionString: url }, deps)
    return await openOn({ url, watched, embedded, poolMax }, deps)
  } catch (cause) {
    await embedded?.close()
    throw cause
  }
}

type Opening = { url: string; watched: readonly string[]; embedded: EmbeddedServer | undefined; poolMax: number }

async function openOn({ url, watched, embedded, poolMax }: Opening, deps: MetaDeps): Promise<Meta> {
  const server = { connectionString: url }
  const pool = openPool(server, poolMax)
  const cache = new Cache(deps.clock, undefined, watched)
  const changes = await followChanges(server, cache, deps)
  const closing = new AbortController()
  const dumping = embedded ? dumpDaily(embedded.dumper, deps, closing.signal) : undefined
  const db = dbOn(pool)
  const probe = openProbe(server)
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    closing.abort()
    probe.close()
    await changes.close()
    // What is still running then is given up, by our own PostgreSQL's shutdown or with the end of this process; so is a dump under way.
    const isEnded = new AbortController()
    const ended = pool.end().finally(() => isEnded.abort())
    await Promise.race([ended, deps.clock.sleep(CLOSE_MS, isEnded.signal).catch(() => undefined)])
    await embedded?.close()
    await dumping
  }

  return {
    ...db,
    write: async (orgId, fn) => {
      const ended: Ended = {
        changed: (changes) => {
          for (const { orgId, table, id } of changes) cache.forget(orgId, table, id)
        },
        unknown: () => cache.doubt(orgId),
      }
      for (let tries = 1; ; tries += 1) {
        try {
          return await transaction(pool, fn, ended)
        } catch (cause) {
          if (!isRepeatable(cause) || tries === TRIES_MAX) throw toFailure(cause)
          await deps.clock.sleep(TRY_AGAIN_MS * 2 ** tries)
        }
      }
    },
    cached: (orgId, name, load, wish) => cache.cached(orgId, name, load, wish),
    cachedEach: (...asked) => cache.cachedEach(...asked),
    remembered: (orgId, name) => cache.remembered(orgId, name),
    onChange: (listener) => cache.onChange(listener),
    health: () => healthOf(embedded, changes.isFollowing()),
    ping: async (signal) => {
      signal?.throwIfAborted()
      const answer = probe.ask()
      // Whoever stops waiting leaves nobody to hear of a failure.
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

/** Ended hears what a transaction changed when it was committed, or that nobody knows whether it was. */
type Ended = { changed(changes: readonly Change[]): void; unknown(): void }

/** COMMIT tells the rows that were changed as it ends the transaction; the database function note_change wrote them down. */
const COMMIT = `select current_setting('dendro.changed', true) as changed; commit`

async function transaction<T>(pool: pg.Pool, fn: (tx: Db) => Promise<T>, ended: Ended): Promise<T> {
  const client = await pool.connect()
  const tx = dbOn(client)
  let isOver = false
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (isOver) throw new Error('a statement came after the end of its transaction')
      return run(...args)
    }
  let failure: unknown
  try {
    await client.query('begin')
    const result = await fn({ all: guarded(tx.all) as Db['all'], one: guarded(tx.one) as Db['one'], run: guarded(tx.run) })
    isOver = true
    ended.changed(await commit(client, ended))
    return result
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

async function commit(client: pg.PoolClient, ended: Ended): Promise<Change[]> {
  try {
    // Two statements in one text have two results.
    const [told] = (await client.query(COMMIT)) as unknown as pg.QueryResult<{ changed: string | null }>[]
    return (told?.rows[0]?.changed ?? '').split('\n').filter(Boolean).map(readChange)
  } catch (cause) {
    if (sqlState(cause) === ABORTED) {
      throw new Error('a statement of the transaction failed and its error was ignored; nothing was written', { cause })
    }
    // The connection may have been lost before or after the commit.
    if (isUnavailable(toFailure(cause)) && !isRepeatable(cause)) ended.unknown()
    throw cause
  }
}

/** bringUp waits for the server, refuses one that is too old, and migrates; it gives the tables whose changes are told. */
async function bringUp(server: pg.ClientConfig, deps: MetaDeps): Promise<string[]> {
  const client = await reach(server, deps)
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

async function reach(server: pg.ClientConfig, deps: MetaDeps): Promise<pg.Client> {
  const attempt = {
    server: new URL(server.connectionString ?? '').host,
    reach: () => connected(server, deps),
    isHopeless: (cause: unknown) => !isUnavailable(toFailure(cause)),
  }
  return untilReached(attempt, deps).catch((cause) => {
    throw refusedBy(server, cause)
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

/** refusedBy names the server without its password. */
function refusedBy(server: pg.ClientConfig, cause: unknown): Error {
  const { host } = new URL(server.connectionString ?? '')
  const said = cause instanceof Error ? cause.message || cause.name : String(cause)
  return new Error(`the PostgreSQL server ${host} cannot be used: ${said}; check DENDRO_POSTGRES_URL and that the server runs`, { cause })
}

function healthOf(embedded: EmbeddedServer | undefined, isFollowing: boolean): MetaHealth {
  const state = embedded?.child.state()
  if (state?.kind === 'starting') return { status: 'starting', reason: 'the metadata store is starting' }
  if (state?.kind === 'down') return { status: 'down', reason: `the metadata store ended (${state.reason}) and is being started again` }
  if (!isFollowing) return { status: 'down', reason: 'the metadata store does not answer' }
  return { status: 'ok' }
}

async function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
