import { join } from 'node:path'
import { openBackupPlace } from './backups/place.ts'
import type { Config } from './config.ts'
import { openLedger } from './events/ledger/ledger.ts'
import { noteRunningDeletions } from './events/purge/purge.ts'
import { openDiskWatch } from './events/store/disk.ts'
import { type EventStore, openEventStore } from './events/store/events.ts'
import { openLateIndexes } from './events/store/late-indexes.ts'
import { openColdTier } from './events/tiers/tiers.ts'
import { openEventWriter } from './events/writer/writer.ts'
import type { BucketLocation } from './files/location.ts'
import { openBlobStore } from './files/open-files.ts'
import { AddressDatabases } from './ingest-rules/address-databases.ts'
import type { Clock } from './kernel/clock.ts'
import { guardSystemClock, isGuarded } from './kernel/guarded-clock.ts'
import { systemIds } from './kernel/ids.ts'
import { type Logger, openLogger } from './kernel/log.ts'
import { openBoth } from './kernel/reach.ts'
import { SharedFiles } from './kernel/shared-files.ts'
import { openVault } from './kernel/vault.ts'
import { version } from './kernel/version.ts'
import { openMeta } from './meta/meta.ts'
import { openNumberClaims } from './meta/number-claims.ts'
import { openPostClaims } from './meta/post-claims.ts'
import { followReferenceClock } from './meta/reference-clock.ts'
import { openUsageCounts } from './meta/usage-counts.ts'
import { parseAllowList } from './outgoing/addresses.ts'
import { openMailer } from './outgoing/mail.ts'
import { openModel } from './outgoing/model.ts'
import { openOutgoing } from './outgoing/outgoing.ts'
import { openAdmission, queryBoundsOf, queryLimitsOf } from './reading/reading.ts'
import { checkAdmin } from './resources/access/users/users.ts'
import type { Deployment, World } from './world.ts'

/** The embedded engine's part of DENDRO_MEMORY; the rest is for this process and its buffers. */
export const ENGINE_SHARE = 0.75
/** SPILLS_AT_ONCE is how many queries may each write to disk what one may. */
const SPILLS_AT_ONCE = 4
/** The part of DENDRO_MEMORY for events that wait to be stored. */
const WAITING_SHARE = 1 / 16

/**
 * An OpenWorld also learns the port that the service listens on: with DENDRO_PORT=0 the system chooses it late. `atLast` runs when only the metadata
 * can still be changed.
 */
export type OpenWorld = World & { listensOn(port: number): void; close(atLast?: () => Promise<unknown>): Promise<void> }

/** `ownsEvents` promises that no other process changes the same datasets, also where the event store is a server. */
export type Replacements = { clock?: Clock; log?: Logger; ownsEvents?: boolean }

/** Opens the stores and every other connection to the outside of the program. Only tests replace something. */
export async function openWorld(config: Config, replacements: Replacements = {}): Promise<OpenWorld> {
  const log = replacements.log ?? openLogger(config.DENDRO_LOG_LEVEL)
  const clock = replacements.clock ?? guardSystemClock(log)
  const deps = { clock, log, ids: systemIds }
  const dataDir = config.DENDRO_DATA_DIR
  const admin = adminOf(config)
  checkColdSettings(config)
  const listening = new Set<number>()
  // These come before the stores, so that a bad secret or setting fails at once and leaves nothing open.
  const { vault, blobStore } = openSecretsAndFiles(config)
  const addressFiles = openAddressFiles(config.DENDRO_GEOIP_DIR)
  const mailer = openMailer({ url: config.DENDRO_SMTP_URL, from: config.DENDRO_MAIL_FROM })
  const [events, meta] = await openBoth(
    openEventStore(
      {
        url: config.DENDRO_CLICKHOUSE_URL?.reveal(),
        dataDir,
        memoryBytes: Math.floor(config.DENDRO_MEMORY * ENGINE_SHARE),
        spillBytes: config.DENDRO_QUERY_SPILL * SPILLS_AT_ONCE,
        keptBytes: config.DENDRO_QUERY_KEPT,
        isOwned: replacements.ownsEvents ?? false,
        backups: config.DENDRO_BACKUP_URL,
        cold: coldStorageOf(config),
        storagePolicy: config.DENDRO_CLICKHOUSE_STORAGE_POLICY,
      },
      deps,
    ),
    openMeta({ url: config.DENDRO_POSTGRES_URL?.reveal(), dataDir, poolMax: config.DENDRO_POSTGRES_CONNECTIONS }, deps),
  )
  // Tests share a server: deletions that run there when a service starts are those of other tests, and of other datasets.
  if (events.engine) await noteRunningDeletions(events)
  const reference = isGuarded(clock) ? await followReferenceClock(meta, clock, log) : undefined
  const disk = await openDiskWatch(events, dataDir, deps)
  const lateIndexes = openLateIndexes(events, () => disk.state() === 'ok', deps)
  const bounds = { waitingBytesMax: Math.floor(config.DENDRO_MEMORY * WAITING_SHARE), refusal: disk.refusal }
  const closeStores = async (atLast?: () => Promise<unknown>): Promise<void> => {
    await Promise.all([disk.close(), lateIndexes.close(), reference?.close()])
    try {
      await events.close()
      await atLast?.()
    } finally {
      await meta.close()
    }
  }
  // Embedded stores serve one process at a time, so claims in memory suffice.
  const openClaims = events.engine || meta.server ? undefined : (writerId: string) => openPostClaims(meta, writerId, deps)
  const numberClaims = events.cluster === undefined ? undefined : openNumberClaims(meta)
  const writer = await openEventWriter(events, { ...deps, openClaims, numberClaims }, bounds).catch(async (cause) => {
    await closeStores()
    throw cause
  })
  const ledger = openLedger(events, deps)
  const usage = openUsageCounts(meta, deps)
  const queryBounds = queryBoundsOf(config)
  const backups = backupPolicyOf(config)
  const cold = openCold(config, events, clock)
  return {
    clock,
    log,
    ids: systemIds,
    vault,
    events,
    disk,
    cold,
    writer,
    ledger,
    meta,
    admission: openAdmission(queryBounds, deps),
    usage,
    blobStore,
    backups,
    mailer,
    outgoing: openOutgoing({ allowed: config.DENDRO_WEBHOOK_ALLOW, ownPorts: () => ownPorts(config, events, listening) }),
    forwardBucket: openForwardBucket(config.DENDRO_FORWARD_URL, () => ownPorts(config, events, listening)),
    addressFiles,
    model: openModel(
      { url: config.DENDRO_LLM_URL, key: config.DENDRO_LLM_KEY, name: config.DENDRO_LLM_MODEL },
      { ownPorts: () => ownPorts(config, events, listening) },
    ),
    deployment: {
      version,
      region: config.DENDRO_REGION,
      publicUrl: config.DENDRO_PUBLIC_URL,
      firstKey: config.DENDRO_BOOTSTRAP_API_KEY,
      admin,
      inactiveAfterMs: config.DENDRO_INACTIVE_AFTER,
      skipsMissingShards: config.DENDRO_MISSING_SHARDS === 'skip',
      queryLimits: queryLimitsOf(config),
      queryBounds,
      retentionDays: config.DENDRO_RETENTION_DAYS,
      isCanaryOn: config.DENDRO_CANARY,
      monitorsMax: config.DENDRO_MONITORS_MAX,
      sourceDirectories: config.DENDRO_SOURCE_DIRECTORIES,
    },
    listensOn: (port) => void listening.add(port),
    close: async (atLast) => {
      await writer.close()
      await ledger.close()
      await usage.close()
      await blobStore.close()
      await backups?.place.close()
      await closeStores(atLast)
    },
  }
}

/** Opens the secrets and the file storage, which all processes of a deployment must share. */
export const openSecretsAndFiles = (config: Config): Pick<World, 'vault' | 'blobStore'> => ({
  vault: openVault({
    dataDir: config.DENDRO_DATA_DIR,
    masterKey: config.DENDRO_MASTER_KEY ?? config.DENDRO_MASTER_KEY_FILE,
    jwtSecret: config.DENDRO_JWT_SECRET,
  }),
  blobStore: openBlobStore(config.DENDRO_EXPORT_URL ?? { kind: 'directory', dir: join(config.DENDRO_DATA_DIR, 'exports') }),
})

function openAddressFiles(directory: string | undefined): World['addressFiles'] {
  if (directory === undefined) return undefined
  try {
    const databases = new AddressDatabases()
    return new SharedFiles(directory, '.mmdb', (files) => void databases.of(files))
  } catch (cause) {
    throw new Error(`DENDRO_GEOIP_DIR has files that cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

const backupPolicyOf = (config: Config): World['backups'] =>
  config.DENDRO_BACKUP_URL && {
    place: openBackupPlace(config.DENDRO_BACKUP_URL),
    everyMs: config.DENDRO_BACKUP_EVERY,
    verifyEveryMs: config.DENDRO_BACKUP_VERIFY,
    keepMs: config.DENDRO_BACKUP_KEEP,
  }

const coldStorageOf = ({ DENDRO_COLD_STORAGE: location }: Config) => location && { location }

const openCold = (config: Config, events: EventStore, clock: Clock): World['cold'] =>
  config.DENDRO_COLD_STORAGE || config.DENDRO_CLICKHOUSE_STORAGE_POLICY ? openColdTier(events, config.DENDRO_COLD_AFTER, clock) : undefined

/** Requests to the bucket go to the configured host only, which may have a private address. */
function openForwardBucket(location: BucketLocation | undefined, ownPorts: () => readonly number[]): World['forwardBucket'] {
  if (!location) return undefined
  const host = location.endpoint === undefined ? '' : new URL(location.endpoint).hostname.replace(/^\[|\]$/g, '')
  const hosts = location.hostStyle && host !== '' ? [host, `${location.bucket}.${host}`] : [host]
  return { location, outgoing: openOutgoing({ allowed: parseAllowList(hosts.join(',')), ownPorts }) }
}

/** Which of the two settings is used depends on the event store. */
function checkColdSettings({
  DENDRO_CLICKHOUSE_URL: url,
  DENDRO_COLD_STORAGE: cold,
  DENDRO_CLICKHOUSE_STORAGE_POLICY: policy,
}: Config): void {
  if (cold && url)
    throw new Error(
      'DENDRO_COLD_STORAGE is for the embedded event store; a server has disks of its own, which DENDRO_CLICKHOUSE_STORAGE_POLICY names',
    )
  if (policy !== undefined && !url)
    throw new Error('DENDRO_CLICKHOUSE_STORAGE_POLICY is for a server; the embedded event store has DENDRO_COLD_STORAGE')
}

/** Reads the administrator for the first start. Every start checks it, so that a bad setting never goes unnoticed. */
function adminOf(config: Config): Deployment['admin'] {
  const { DENDRO_ADMIN_EMAIL: email, DENDRO_ADMIN_PASSWORD: password } = config
  if (!email && !password) return undefined
  if (!email || !password) throw new Error('DENDRO_ADMIN_EMAIL and DENDRO_ADMIN_PASSWORD belong together')
  checkAdmin({ email, password })
  return { email, password }
}

/** The ports of the service and its stores; outgoing requests must not reach them (SSRF). */
function ownPorts(config: Config, events: EventStore, listening: ReadonlySet<number>): number[] {
  const stores = [events.url, config.DENDRO_POSTGRES_URL?.reveal()].filter((url) => url !== undefined && URL.canParse(url))
  return [config.DENDRO_PORT, ...listening, ...stores.map((url) => Number(new URL(url ?? '').port))].filter((port) => port > 0)
}
