import type { LineTime } from '@dendro/api'
import type { Block } from '../../events/writer/post.ts'
import type { DatasetPlace } from '../../ingest-rules/arriving-event.ts'
import type { AppliedRule, RuleCounts } from '../../ingest-rules/ingest-rules.ts'
import type { RuleSources } from '../../ingest-rules/rule-run.ts'
import type { LayoutFindings } from '../../lines/layout/catalog.ts'
import type { SlotMap } from '../../lines/layout/slots.ts'
import type { PackedSpans } from '../../resources/data/waiting-spans/waiting-spans.ts'
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

/** The ingest rules of a dataset with what they read, and its names, which their filters may read. */
export type DatasetRules = DatasetPlace & { readonly rules: readonly AppliedRule[]; readonly sources: RuleSources }

/** A batch of events for another dataset, to which the rules behind `after` apply: those that rules have moved, or the counts that rules make. */
export type MovedEvents = DatasetPlace & { readonly batch: number; readonly after: number; readonly isCounts?: true }

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

/** What rules did to the events of a target: their counts, the batches that they moved, and the events that wait. */
export type RuledEvents = { counts: RuleCounts; moved: readonly MovedEvents[]; waiting: readonly PackedSpans[] }

/** Either blocks, with what rules and the parser of the dataset did, or what the layout of the dataset must learn first. */
export type Shredded =
  | { kind: 'blocks'; logId: string; blocks: readonly CountedBlock[]; rows: number; parsed?: ParserStats; ruled?: RuledEvents }
  | ({ kind: 'keys'; logId: string } & LayoutFindings)
/** One for each target, in their order. */
export type ShredReply = { shredded: readonly Shredded[] }

/** Counts the events of a request that is refused before they are split. */
export type CountRequest = { kind: 'count' }
export type CountReply = { events: number }

export type ForgetRequest = { kind: 'forget' }
export type WorkerRequest = ParseRequest | ShredRequest | CountRequest
export type WorkerReply<Q extends WorkerRequest> = Q extends ParseRequest ? ParseReply : Q extends CountRequest ? CountReply : ShredReply

/** What a worker gets when it starts: whether it gets ready for posts until one comes. */
export type WorkerStart = { readonly warmsUp: boolean }

export type FailureMessage =
  | { kind: 'refused'; status: number; details: string; headers: Record<string, string> }
  | { kind: 'bug'; stack: string }
export type ToWorker = { job: number; request: WorkerRequest | ForgetRequest }
/** `trap` is the stack of a failure of the kernel after which the reference has read the events. */
export type FromWorker = { job: number; reply?: ParseReply | ShredReply | CountReply; failure?: FailureMessage; trap?: string }
