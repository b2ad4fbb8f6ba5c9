import pg from 'pg'
import type { SupervisedChild } from '../child.ts'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../log.ts'
import { untilReached } from '../reach.ts'
import { Cache } from './cache.ts'
import { followChanges } from './changes.ts'
import { clientConfig, type Db, dbOn, isRepeatable, isUnavailable, openPool, toFailure } from './driver.ts'
import { dumpDaily } from './dump.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { migrate, VERSION_MIN } from './migrate.ts'
import { openProbe } from './probe.ts'

export type { Db } from './driver.ts'

type MetaHealth = { status: 'ok' } | { status: 'starting' | 'down'; reason: string }

export type Meta = Db & {
  /**
   * write runs fn in one transaction (read committed) and, before it resolves, forgets everything cached for the organisation. fn runs again
   * when PostgreSQL gave the transaction up for another, so it must have no effect but through tx. A 503 leaves open whether it was committed.
   */
  write<T>(orgId: string, fn: (tx: Db) => Promise<T>): Promise<T>
  /**
   * cached keeps what load gave for (organisation, name) until something of that organisation changes, here or in another process; for the
   * organisation '*' until anything changes. The value is shared and must not be altered. What was known stays known for 5 minutes when the
   * store is lost. With ageMaxMs it is loaded anew after that time: for what changes without being told.
   */
  cached<T>(orgId: string, name: string, load: () => Promise<T>, ageMaxMs?: number): Promise<T>
  /** remembered is what cached would answer from memory at this moment; undefined when it would have to load. */
  remembered<T>(orgId: string, name: string): T | undefined
  /** onChange calls the listener with an organisation, or '*' for all, whenever something of it changed anywhere; it gives back how to stop. */
  onChange(listener: (orgId: string) => void): () => void
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
    await bringUp({ connectionString: url }, deps)
    return await openOn(url, embedded, poolMax, deps)
  } catch (cause) {
    await embedded?.close()
    throw cause
  }
}

async function openOn(url: string, embedded: EmbeddedServer | undefined, poolMax: number, deps: MetaDeps): Promise<Meta> {
  const server = { connectionString: url }
  const pool = openPool(server, poolMax)
  const cache = new Cache(deps.clock)
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
      for (let tries = 1; ; tries += 1) {
        try {
          return await transaction(pool, fn)
        } catch (cause) {
          if (!isRepeatable(cause) || tries === TRIES_MAX) throw toFailure(cause)
          await deps.clock.sleep(TRY_AGAIN_MS * 2 ** tries)
        } finally {
          // Also after a failure: a connection lost at the end leaves open whether the transaction was committed.
          cache.forget(orgId)
        }
      }
    },
    cached: (orgId, name, load, ageMaxMs) => cache.cached(orgId, name, load, ageMaxMs),
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

async function transaction<T>(pool: pg.Pool, fn: (tx: Db) => Promise<T>): Promise<T> {
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
    const { command } = await client.query('commit')
    // PostgreSQL answers so, without an error, when a statement had failed and fn went on all the same.
    if (command !== 'COMMIT') throw new Error('a statement of the transaction failed and its error was ignored; nothing was written')
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

/** bringUp waits for the server, refuses one that is too old, and migrates. */
async function bringUp(server: pg.ClientConfig, deps: MetaDeps): Promise<void> {
  const client = await reach(server, deps)
  try {
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
    )
    const version: { number: number; name: string } = rows[0]
    if (version.number < VERSION_MIN) throw new Error(`the PostgreSQL server is version ${version.name}; Dendro needs 14 or newer`)
    await migrate(client, deps)
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
