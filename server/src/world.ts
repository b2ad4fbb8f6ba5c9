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

/** A QueryLimit bounds one thing that a question may cost; roles may have bounds of their own. */
export type QueryLimit = { otherwise: number; byRole: ReadonlyMap<string, number> }

/** QueryLimits are what one question may cost: bytes and rows that are read, time, and memory of the event store. */
export type QueryLimits = { bytes: QueryLimit; rows: QueryLimit; seconds: QueryLimit; memoryBytes: number }

/** QueryBounds are how many queries this process runs at once, in all and for one organization; and for one credential how many run and wait. */
export type QueryBounds = { running: number; perOrg: number; runningPerCredential: QueryLimit; waitingPerCredential: QueryLimit }

/** A QueryClass says for whom an event read is made: a caller who waits, a monitor, the live tails of an organization, an export. */
export type QueryClass = 'caller' | 'monitor' | 'tail' | 'export'

/** A QueryOwner is whom a query counts for, and how many queries its credential may run and let wait. */
export type QueryOwner = { class: QueryClass; orgId: string; credential: string; running: number; waiting: number }

/** A QuerySlot says how many queries a granted one shares the store with: `rank` of its own side, `running` of all. */
export type QuerySlot = { rank: number; running: number }

/** A QueryTicket is the place of one query among all that this process runs; all statements of the query run within it. */
export type QueryTicket = {
  /** hold takes a running or waiting place at once and keeps it until `leave`; it throws a 429 where no more may wait. */
  hold(): { leave(): void }
  /** run waits for the place, at most `waitMs`, and does the work in it; it throws a 429 where no more may wait. */
  run<T>(wait: { signal: AbortSignal; waitMs: number }, work: (slot: QuerySlot) => Promise<T>): Promise<T>
}

/** QueryAdmission decides which queries read events now, which wait and which are refused. */
export type QueryAdmission = { ticket(owner: QueryOwner): QueryTicket; running(kind: QueryClass): number }

/** Deployment is what the operator decided and the slices need to know. */
export type Deployment = {
  version: string
  region: string
  publicUrl: string | undefined
  firstKey: Secret | undefined
  admin: { email: string; password: Secret } | undefined
  /** inactiveAfterMs is how long without a login makes a user INACTIVE; undefined when nothing does. */
  inactiveAfterMs: number | undefined
  queryLimits: QueryLimits
  /** skipsMissingShards answers searches without the shards that are away, and says so; otherwise they are 503. */
  skipsMissingShards: boolean
  queryBounds: QueryBounds
  /** retentionDays is how long events are kept where no rule says it; undefined when for ever. */
  retentionDays: number | undefined
  /** monitorsMax is how many monitors an organisation may have; undefined when any number. */
  monitorsMax: number | undefined
}

/** The World is everything outside the program; every slice takes from it just what it needs. */
export type World = {
  clock: Clock
  ids: Ids
  log: Logger
  vault: Vault
  events: EventStore
  /** disk is the one that the event store writes to. */
  disk: DiskWatch
  /** writer is the one way by which events get into the store. */
  writer: EventWriter
  /** ledger accounts for every event that was sent. */
  ledger: Ledger
  meta: Meta
  /** admission keeps one caller's queries from taking the event store away from others. */
  admission: QueryAdmission
  /** usage adds up what searches and exports take. */
  usage: UsageCounts
  /** depot keeps the files of exports. */
  blobStore: BlobStore
  mailer: Mailer
  /** outgoing is the one way to places that callers name. */
  outgoing: Outgoing
  /** model writes what reads better than facts; everything works without it. */
  model: LanguageModel
  deployment: Deployment
}
