import type { BackupPlace } from './backups/place.ts'
import type { Ledger } from './events/ledger/ledger.ts'
import type { DiskWatch } from './events/store/disk.ts'
import type { EventStore } from './events/store/events.ts'
import type { ColdTier } from './events/tiers/tiers.ts'
import type { EventWriter } from './events/writer/writer.ts'
import type { BlobStore } from './files/files.ts'
import type { BucketLocation } from './files/location.ts'
import type { Clock } from './kernel/clock.ts'
import type { Ids } from './kernel/ids.ts'
import type { Logger } from './kernel/log.ts'
import type { Secret } from './kernel/secret.ts'
import type { SharedFiles } from './kernel/shared-files.ts'
import type { Vault } from './kernel/vault.ts'
import type { Meta } from './meta/meta.ts'
import type { UsageCounts } from './meta/usage-counts.ts'
import type { Mailer } from './outgoing/mail.ts'
import type { LanguageModel } from './outgoing/model.ts'
import type { Outgoing } from './outgoing/outgoing.ts'

/** Limits one cost of a query; roles may have their own limits. */
export type QueryLimit = { otherwise: number; byRole: ReadonlyMap<string, number> }

/** QueryLimits limit the cost of one query: bytes and rows read, time, and memory and disk of the event store. */
export type QueryLimits = { bytes: QueryLimit; rows: QueryLimit; seconds: QueryLimit; memoryBytes: number; spillBytes: number }

/**
 * QueryBounds limit the concurrent queries of this process: in total, per organization, and per credential. While several organizations are
 * active, each may run `perOrgShared`, and `reserved` slots are for those that run nothing. Of the queries of an organization that have run for less
 * than `recentlyStarted.forMs`, at most `recentlyStarted.atOnce` run at once.
 */
export type QueryBounds = {
  running: number
  perOrg: number
  perOrgShared: number
  reserved: number
  recentlyStarted?: { atOnce: number; forMs: number }
  runningPerCredential: QueryLimit
  waitingPerCredential: QueryLimit
}

/** The purpose of an event read. Each class has its own queue. */
export type QueryClass = 'caller' | 'monitor' | 'tail' | 'export'

/** The credential that a query counts for, with its limits. */
export type QueryOwner = { class: QueryClass; orgId: string; credential: string; running: number; waiting: number }

/** An admitted query's view of the load: `rank` within its class, `running` in all; `isLast` gives way to every other class. */
export type QuerySlot = { rank: number; running: number; isLast: boolean }

/** Admits one query; all its statements run under it. */
export type QueryTicket = {
  /** Takes a running or waiting place at once and keeps it until `leave`. It throws a 429 when the queue is full. */
  hold(): { leave(): void }
  /** Waits for a place, at most `waitMs`, and then does the work. It throws a 429 when the queue is full. */
  run<T>(wait: { signal: AbortSignal; waitMs: number }, work: (slot: QuerySlot) => Promise<T>): Promise<T>
}

/** Decides which queries run, wait or are refused. */
export type QueryAdmission = {
  ticket(owner: QueryOwner): QueryTicket
  running(kind: QueryClass): number
  waiting(kind: QueryClass): number
}

/** A directory that the operator opens to an organization; undefined for a directory that has a folder for each. */
export type SourceDirectory = { readonly path: string; readonly orgId: string | undefined }

/** The part of the configuration that feature modules read. */
export type Deployment = {
  version: string
  region: string
  publicUrl: string | undefined
  firstKey: Secret | undefined
  admin: { email: string; password: Secret } | undefined
  /** The time without a login after which a user is INACTIVE; undefined for never. */
  inactiveAfterMs: number | undefined
  queryLimits: QueryLimits
  /** Lets searches run without shards that are down, with a warning; otherwise they are 503. */
  skipsMissingShards: boolean
  queryBounds: QueryBounds
  /** The default retention; undefined keeps events without end. */
  retentionDays: number | undefined
  /** Whether an event is written and searched each minute. */
  isCanaryOn: boolean
  /** The maximum number of monitors of an organization; undefined for no limit. */
  monitorsMax: number | undefined
  /** The directories that organizations may read sources from. */
  sourceDirectories: readonly SourceDirectory[]
}

/** Where and when backups are made; undefined where the operator wants none. */
export type BackupPolicy = {
  place: BackupPlace
  everyMs: number | undefined
  verifyEveryMs: number | undefined
  keepMs: number | undefined
}

/** Everything outside the program. Each feature module takes only the members that it needs. */
export type World = {
  clock: Clock
  ids: Ids
  log: Logger
  vault: Vault
  events: EventStore
  /** Watches the free space of the event store. */
  disk: DiskWatch
  /** Where old events lie; undefined where all are on the disk. */
  cold: ColdTier | undefined
  /** The only way to store events. */
  writer: EventWriter
  /** Accounts for every received event. */
  ledger: Ledger
  meta: Meta
  /** Shares the event store fairly between callers. */
  admission: QueryAdmission
  /** Counts the cost of searches and exports. */
  usage: UsageCounts
  /** The files of exports. */
  blobStore: BlobStore
  backups: BackupPolicy | undefined
  mailer: Mailer
  /** The only way to send requests to URLs that callers choose. */
  outgoing: Outgoing
  /** The bucket that the operator offers for forwarded events, and the only way to it. */
  forwardBucket: { readonly location: BucketLocation; readonly outgoing: Outgoing } | undefined
  /** Databases of network addresses, for ingest rules; undefined where the operator offers none. */
  addressFiles: SharedFiles | undefined
  /** The optional language model. */
  model: LanguageModel
  deployment: Deployment
}

/** Enough to read metadata. */
export type MetaWorld = Pick<World, 'meta'>
