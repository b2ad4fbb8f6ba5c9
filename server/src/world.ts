import type { Ledger } from './events/ledger/ledger.ts'
import type { DiskWatch } from './events/store/disk.ts'
import type { EventStore } from './events/store/events.ts'
import type { EventWriter } from './events/writer/writer.ts'
import type { BlobStore } from './files/files.ts'
import type { Clock } from './kernel/clock.ts'
import type { Ids } from './kernel/ids.ts'
import type { Logger } from './kernel/log.ts'
import type { Secret } from './kernel/secret.ts'
import type { Vault } from './kernel/vault.ts'
import type { Meta } from './meta/meta.ts'
import type { UsageCounts } from './meta/usage-counts.ts'
import type { Mailer } from './outgoing/mail.ts'
import type { LanguageModel } from './outgoing/model.ts'
import type { Outgoing } from './outgoing/outgoing.ts'

/** A QueryLimit limits one cost of a query; roles may have their own limits. */
export type QueryLimit = { otherwise: number; byRole: ReadonlyMap<string, number> }

/** QueryLimits limit the cost of one query: bytes and rows read, time, and memory of the event store. */
export type QueryLimits = { bytes: QueryLimit; rows: QueryLimit; seconds: QueryLimit; memoryBytes: number }

/** QueryBounds limit the concurrent queries of this process: in total, per organization, and per credential. */
export type QueryBounds = { running: number; perOrg: number; runningPerCredential: QueryLimit; waitingPerCredential: QueryLimit }

/** A QueryClass is the purpose of an event read. Each class has its own queue. */
export type QueryClass = 'caller' | 'monitor' | 'tail' | 'export'

/** A QueryOwner is the credential that a query counts for, with its limits. */
export type QueryOwner = { class: QueryClass; orgId: string; credential: string; running: number; waiting: number }

/** A QuerySlot is an admitted query's view of the load: `rank` within its class, `running` in all; `isLast` gives way to every other class. */
export type QuerySlot = { rank: number; running: number; isLast: boolean }

/** A QueryTicket admits one query; all its statements run under it. */
export type QueryTicket = {
  /** hold takes a running or waiting place at once and keeps it until `leave`. It throws a 429 when the queue is full. */
  hold(): { leave(): void }
  /** run waits for a place, at most `waitMs`, and then does the work. It throws a 429 when the queue is full. */
  run<T>(wait: { signal: AbortSignal; waitMs: number }, work: (slot: QuerySlot) => Promise<T>): Promise<T>
}

/** QueryAdmission decides which queries run, wait or are refused. */
export type QueryAdmission = { ticket(owner: QueryOwner): QueryTicket; running(kind: QueryClass): number }

/** Deployment is the part of the configuration that feature modules read. */
export type Deployment = {
  version: string
  region: string
  publicUrl: string | undefined
  firstKey: Secret | undefined
  admin: { email: string; password: Secret } | undefined
  /** inactiveAfterMs is the time without a login after which a user is INACTIVE; undefined for never. */
  inactiveAfterMs: number | undefined
  queryLimits: QueryLimits
  /** skipsMissingShards lets searches run without shards that are down, with a warning; otherwise they are 503. */
  skipsMissingShards: boolean
  queryBounds: QueryBounds
  /** retentionDays is the default retention; undefined keeps events without end. */
  retentionDays: number | undefined
  /** monitorsMax is the maximum number of monitors of an organization; undefined for no limit. */
  monitorsMax: number | undefined
}

/** The World is everything outside the program. Each feature module takes only the members that it needs. */
export type World = {
  clock: Clock
  ids: Ids
  log: Logger
  vault: Vault
  events: EventStore
  /** disk watches the free space of the event store. */
  disk: DiskWatch
  /** writer is the only way to store events. */
  writer: EventWriter
  /** ledger accounts for every received event. */
  ledger: Ledger
  meta: Meta
  /** admission shares the event store fairly between callers. */
  admission: QueryAdmission
  /** usage counts the cost of searches and exports. */
  usage: UsageCounts
  /** The files of exports. */
  blobStore: BlobStore
  mailer: Mailer
  /** The only way to send requests to URLs that callers choose. */
  outgoing: Outgoing
  /** model is the optional language model. */
  model: LanguageModel
  deployment: Deployment
}

/** Enough to read metadata. */
export type MetaWorld = Pick<World, 'meta'>
