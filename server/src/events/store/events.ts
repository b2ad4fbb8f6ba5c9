import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import type { FileLocation } from '../../files/location.ts'
import type { SupervisedChild } from '../../kernel/child.ts'
import { unavailable } from '../../kernel/errors.ts'
import { every, type Repetition } from '../../kernel/every.ts'
import { connectWithRetry } from '../../kernel/reach.ts'
import { formatAddress, parseAddress } from './address.ts'
import { type Clients, openClients } from './clients.ts'
import { type ColdStorage, TIERED_POLICY } from './cold-disk.ts'
import { checkColdStorage } from './cold-record.ts'
import { type ColdWatch, openColdWatch } from './cold-watch.ts'
import { type Engine, EngineFailure, type EngineOptions, type EventDeps, openEngine } from './engine.ts'
import { type EventChanges, openEventChanges } from './event-changes.ts'
import { clearInterruptedStart, markInitialized } from './first-engine-start.ts'
import { migrate } from './migrate.ts'
import { RangeCaches } from './range-cache.ts'
import type { ReadResult, ReadStatement } from './reads.ts'
import { explainStartError } from './refused-start.ts'
import { answers, detachedParts, type ReaderLimits, readerLimits, shardsAnswer, shardsOf } from './rows.ts'
import { useStoragePolicy } from './storage-policy.ts'

export type EventStoreOptions = {
  /** A ClickHouse server or cluster (DENDRO_CLICKHOUSE_URL). Without it the embedded engine runs in the data directory. */
  url?: string | undefined
  dataDir: string
  /** Limits the embedded engine. */
  memoryBytes: number
  /** Whether no other process changes the events that this one reads, as with the embedded engine. */
  isOwned?: boolean
  /** spillBytes limits what all queries of the embedded engine together write to disk to sort and group. */
  spillBytes?: number
  /** keptBytes limits what is kept of results, to be used again. */
  keptBytes?: number
  /** Where the embedded engine keeps backups. */
  backups?: FileLocation | undefined
  /** Where the embedded engine moves old events. */
  cold?: ColdStorage | undefined
  /** The storage policy of a server for the tables of events. */
  storagePolicy?: string | undefined
}

export type EventHealth = { status: 'ok' } | { status: 'starting' | 'down'; reason: string }

export type EventStore = {
  /** Writer and reader belong to the running engine and change when it restarts: read them from here for every statement. */
  readonly writer: ClickHouseClient
  /** May only select. On the embedded engine it sees only the organization in the query's setting `log_comment`. */
  readonly reader: ClickHouseClient
  /** Runs a statement of a query with the rights of the reader. */
  read(statement: ReadStatement): Promise<ReadResult>
  /** Reads the ledger with the reader's rights but separate memory, so that callers' queries cannot exhaust it. */
  readonly ledger: ClickHouseClient
  /** Opens the same store from another process. It contains passwords; the embedded engine's URL changes with every restart. */
  readonly url: string
  /** The cluster's name for inserts and DDL; undefined on one server. */
  readonly cluster: string | undefined
  readonly readerLimits: ReaderLimits
  /** Undefined where other processes also change events. */
  readonly changes: EventChanges | undefined
  /** Watches the bucket with old events; undefined without one, and with a server. */
  readonly cold: ColdWatch | undefined
  /** What was read of the events, to be used again. */
  readonly caches: RangeCaches
  /** Throws a 503 when the store does not answer within 5 s. */
  ping(signal?: AbortSignal): Promise<void>
  health(): EventHealth
  /** The embedded engine's process; undefined with an external server. */
  readonly engine: SupervisedChild | undefined
  close(): Promise<void>
}

const PING_BOUND_MS = 5_000
const MEMORY_LIMIT = '241'
const LIMITS_BOUND_MS = 30_000
const WATCH_EVERY_MS = 5_000
const DETACHED_EVERY_MS = 3_600_000

/** Opens the event store and migrates its tables. */
export async function openEventStore(options: EventStoreOptions, deps: EventDeps): Promise<EventStore> {
  return options.url === undefined ? openEmbedded(options, deps) : openServer(options.url, options, deps)
}

async function openEmbedded(given: EventStoreOptions, deps: EventDeps): Promise<EventStore> {
  const changes = openEventChanges()
  // An engine that starts leaves out parts that a crash has damaged.
  const options = { ...given, onStart: () => changes.beginAnywhere().end() }
  const engine = await openMigratedEngine(options, deps).catch(async (cause) => {
    const isBroken = cause instanceof EngineFailure && cause.reason === 'broken'
    if (!isBroken || !(await clearInterruptedStart(options.dataDir))) throw cause
    deps.log.warn({ err: cause }, 'removed the remains of an interrupted first start of the event store')
    return openMigratedEngine(options, deps)
  })
  await markInitialized(options.dataDir)
  return storeOn(engine.clients, deps, {
    engine: engine.child,
    changes,
    keptBytes: options.keptBytes,
    readerLimits: await readLimits(engine.clients()).catch(async (cause) => {
      await engine.close()
      throw cause
    }),
    health: () => engineHealth(engine.child),
    cold: options.cold && openColdWatch(options.cold.location, () => engine.clients().writer, deps.clock),
    close: engine.close,
  })
}

async function openMigratedEngine(options: EngineOptions, deps: EventDeps): Promise<Engine> {
  await checkColdStorage(options.dataDir, options.cold)
  const engine = await openEngine(options, deps)
  try {
    await migrateWithAdvice(engine.clients(), deps, true)
    if (options.cold) await useStoragePolicy(engine.clients(), TIERED_POLICY)
    return engine
  } catch (cause) {
    await engine.close()
    throw cause
  }
}

async function migrateWithAdvice(clients: Clients, deps: EventDeps, isEmbedded: boolean): Promise<void> {
  await migrate(clients, deps).catch((cause) => {
    throw explainStartError(cause, { ...clients.address, isEmbedded: isEmbedded }) ?? cause
  })
}

function engineHealth(engine: SupervisedChild): EventHealth {
  const state = engine.state()
  switch (state.kind) {
    case 'up':
      return { status: 'ok' }
    case 'starting':
      return { status: 'starting', reason: 'the event engine is starting' }
    case 'down':
      return { status: 'down', reason: `the event engine ended (${state.reason}) and is being restarted` }
    case 'stopped':
      return { status: 'down', reason: 'the event engine is stopped' }
  }
}

async function openServer(url: string, { isOwned, keptBytes, storagePolicy }: EventStoreOptions, deps: EventDeps): Promise<EventStore> {
  const clients = openClients(parseAddress(url))
  let limits: ReaderLimits
  try {
    await waitForServer(clients, deps)
    await migrateWithAdvice(clients, deps, false)
    if (storagePolicy !== undefined) await useStoragePolicy(clients, storagePolicy)
    limits = await readLimits(clients)
  } catch (cause) {
    await clients.close()
    throw cause
  }
  let health: EventHealth = { status: 'ok' }
  const watching = new AbortController()
  const watch = every(WATCH_EVERY_MS, repetitionOf(deps, watching.signal), async () => {
    health = await checkHealth(clients, AbortSignal.any([watching.signal, AbortSignal.timeout(PING_BOUND_MS)]))
  })
  return storeOn(() => clients, deps, {
    engine: undefined,
    cold: undefined,
    changes: isOwned ? openEventChanges() : undefined,
    keptBytes,
    readerLimits: limits,
    health: () => health,
    close: async () => {
      watching.abort()
      await watch
      await clients.close()
    },
  })
}

/** Checks the server, and in a cluster every shard: without one shard, results would be incomplete. */
async function checkHealth({ outside, address: { url, cluster } }: Clients, signal: AbortSignal): Promise<EventHealth> {
  try {
    await answers(outside, signal)
  } catch {
    return { status: 'down', reason: `the event store at ${url} does not answer` }
  }
  if (cluster === undefined || (await shardsAnswer(outside, cluster, signal).catch(() => false))) return { status: 'ok' }
  const missing = await missingShards({ writer: outside, cluster })
  return { status: 'down', reason: `a shard of the cluster ${cluster} of the event store does not answer${missing ? `: ${missing}` : ''}` }
}

/** Names the shards of which no replica answers, such as "shard 2 of 3"; undefined when all answer, or when that is unknown. */
export async function missingShards({ writer, cluster }: Pick<EventStore, 'writer' | 'cluster'>): Promise<string | undefined> {
  if (cluster === undefined) return undefined
  const { all, missing } = await shardsOf(writer, cluster, AbortSignal.timeout(PING_BOUND_MS)).catch(() => ({ all: 0, missing: [] }))
  return missing.length === 0 ? undefined : `${missing.length === 1 ? 'shard' : 'shards'} ${missing.join(', ')} of ${all}`
}

/** Error codes of rejected logins; retrying cannot help. */
const REFUSALS: ReadonlySet<string> = new Set(['192', '193', '194', '195', '497', '516'])

const isRefusal = (cause: unknown): cause is ClickHouseError => cause instanceof ClickHouseError && REFUSALS.has(cause.code)

async function waitForServer(clients: Clients, deps: EventDeps): Promise<void> {
  const { url } = clients.address
  const attempt = { server: url, connect: () => answers(clients.outside, AbortSignal.timeout(PING_BOUND_MS)), isPermanent: isRefusal }
  try {
    await connectWithRetry(attempt, deps)
  } catch (cause) {
    if (isRefusal(cause)) {
      throw new Error(`the event store at ${url} refuses this user or password (${cause.type}); check DENDRO_CLICKHOUSE_URL`, { cause })
    }
    throw new Error(`the event store at ${url} did not answer within a minute; check DENDRO_CLICKHOUSE_URL and that the server runs`, {
      cause,
    })
  }
}

/** readLimits reads the limits of the reader once. A query that asked for them would hang with a store that hangs. */
async function readLimits({ reader, address: { url } }: Clients): Promise<ReaderLimits> {
  return readerLimits(reader, AbortSignal.timeout(LIMITS_BOUND_MS)).catch((cause) => {
    if (!isRefusal(cause)) throw cause
    throw new Error(`the event store at ${url} refuses the reader or its password (${cause.type}); check reader in DENDRO_CLICKHOUSE_URL`, {
      cause,
    })
  })
}

type OpenedStore = Pick<EventStore, 'engine' | 'readerLimits' | 'changes' | 'cold' | 'health' | 'close'> &
  Pick<EventStoreOptions, 'keptBytes'>

function storeOn(clients: () => Clients, deps: EventDeps, opened: OpenedStore): EventStore {
  const watching = new AbortController()
  const watch = every(DETACHED_EVERY_MS, repetitionOf(deps, watching.signal), () => reportDetached(clients(), deps, watching.signal))
  return {
    get writer() {
      return clients().writer
    },
    get reader() {
      return clients().reader
    },
    read: (statement) => {
      const run = (one: ReadStatement) => clients().reads.run(one)
      return opened.cold ? opened.cold.guard(statement, run) : run(statement)
    },
    get ledger() {
      return clients().ledger
    },
    get url() {
      return formatAddress(clients().address)
    },
    get cluster() {
      return clients().address.cluster
    },
    engine: opened.engine,
    readerLimits: opened.readerLimits,
    changes: opened.changes,
    cold: opened.cold,
    caches: new RangeCaches(opened.changes, opened.keptBytes),
    health: opened.health,
    ping: async (signal) => {
      const bound = AbortSignal.timeout(PING_BOUND_MS)
      await answers(clients().outside, signal ? AbortSignal.any([signal, bound]) : bound).catch((cause) => {
        // A store that is out of memory still answers.
        if (cause instanceof ClickHouseError && cause.code === MEMORY_LIMIT) return
        throw unavailable('the event store does not answer', { cause })
      })
    },
    close: async () => {
      watching.abort()
      await watch
      await opened.cold?.close()
      await opened.close()
    },
  }
}

/** Logs damaged parts, which the engine detaches silently. */
async function reportDetached(clients: Clients, { log }: EventDeps, signal: AbortSignal): Promise<void> {
  const found = await detachedParts(clients.writer, AbortSignal.any([signal, AbortSignal.timeout(PING_BOUND_MS)]))
  for (const { table, reason, parts } of found) log.warn({ table, reason, parts }, 'the event engine detached damaged parts')
}

const repetitionOf = ({ clock, log }: EventDeps, signal: AbortSignal): Repetition => ({
  clock,
  log,
  signal,
  first: 'now',
  failed: 'the event store could not be checked',
})
