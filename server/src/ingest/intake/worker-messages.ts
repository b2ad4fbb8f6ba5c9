import type { LineTime } from '@dendro/api'
import type { Block } from '../../events/writer/post.ts'
import type { AppliedRule, RuleCounts } from '../../ingest-rules/ingest-rules.ts'
import type { LayoutFindings } from '../../lines/layout/catalog.ts'
import type { SlotMap } from '../../lines/layout/slots.ts'
import type { IngestRequest, Pair, RejectedRecord } from '../batch.ts'
import type { BlockCounts } from './counting.ts'
import type { AssignedParser, ParserStats } from './parsing.ts'

/** Transfers a body to a worker, which parses it and keeps the result. */
export type ParseRequest = {
  kind: 'parse'
  receiver: string
  request: IngestRequest /** `wantsHash` requests a hash of the body. */
  wantsHash: boolean
}
export type BatchRoute = { collection: string | undefined; dataset: string | undefined }
export type ParseReply = {
  batches: readonly BatchRoute[]
  rejected: readonly RejectedRecord[]
  unsupported: number | undefined
  total: number
  idempotencyKey: string | undefined
  notes: unknown
  /** 0n when neither requested nor needed. */
  bodyHash: bigint
}

/** The ingest rules of a dataset, and its names, which their filters may read. */
export type DatasetRules = { readonly rules: readonly AppliedRule[]; readonly collection: string; readonly dataset: string }

/** A dataset with its batches, and data that its events share. */
export type ShredTarget = {
  batches: readonly number[]
  orgNumber: number
  logId: string
  /** Undefined for a dataset without events. */
  map: SlotMap | undefined
  attributes: readonly Pair[]
  /** The parser that runs before detection. */
  parser: AssignedParser | undefined
  /** The rules that apply before anything else; undefined for none. */
  rules: DatasetRules | undefined
  /** Where the lines tell their time. */
  lineTime: LineTime | undefined
  /** True when no more slots will come: the events are stored with the existing ones. */
  isLast: boolean
}
export type ShredRequest = { kind: 'shred'; atMs: number; origin: string; targets: readonly ShredTarget[] }

/** A block with its counts for the ledger. */
export type CountedBlock = Block & { counts: BlockCounts }

/** Either blocks, with the counts of the dataset's rules and parser, or what the layout of the dataset must learn first. */
export type Shredded =
  | { kind: 'blocks'; logId: string; blocks: readonly CountedBlock[]; rows: number; parsed?: ParserStats; ruled?: RuleCounts }
  | ({ kind: 'keys'; logId: string } & LayoutFindings)
export type ShredReply = { shredded: readonly Shredded[] }

/** Counts the events of a request that is refused before they are split. */
export type CountRequest = { kind: 'count' }
export type CountReply = { events: number }

export type ForgetRequest = { kind: 'forget' }
export type WorkerRequest = ParseRequest | ShredRequest | CountRequest
export type WorkerReply<Q extends WorkerRequest> = Q extends ParseRequest ? ParseReply : Q extends CountRequest ? CountReply : ShredReply

export type FailureMessage =
  | { kind: 'refused'; status: number; details: string; headers: Record<string, string> }
  | { kind: 'bug'; stack: string }
export type ToWorker = { job: number; request: WorkerRequest | ForgetRequest }
export type FromWorker = { job: number; reply?: ParseReply | ShredReply | CountReply; failure?: FailureMessage }
