import type { Block } from '../../events/writer/post.ts'
import type { LayoutFindings } from '../../lines/catalog.ts'
import type { SlotMap } from '../../lines/slots.ts'
import type { IngestRequest, Pair, RejectedRecord } from '../batch.ts'
import type { BlockCounts } from './counting.ts'
import type { AssignedParser, ParserStats } from './parsing.ts'

/** ParseRequest transfers a body to a worker, which parses it and keeps the result. */
export type ParseRequest = {
  kind: 'parse'
  receiver: string
  request: IngestRequest /** wantsHash asks for a hash of the body. */
  wantsHash: boolean
}
export type BatchRoute = { collection: string | undefined; dataset: string | undefined }
export type ParseReply = {
  batches: readonly BatchRoute[]
  rejected: readonly RejectedRecord[]
  total: number
  idempotencyKey: string | undefined
  notes: unknown
  /** bodyHash is 0n when neither asked for nor needed. */
  bodyHash: bigint
}

/** A ShredTarget is the dataset of one batch, with data that its events share. */
export type ShredTarget = {
  batch: number
  orgNumber: number
  logId: string
  /** map is undefined for a dataset that has had no events. */
  map: SlotMap | undefined
  attributes: readonly Pair[]
  /** parser is what the dataset's lines are read with first. */
  parser: AssignedParser | undefined
  /** isLast says that no more slots will come: the events are stored with those there are. */
  isLast: boolean
}
export type ShredRequest = { kind: 'shred'; atMs: number; origin: string; targets: readonly ShredTarget[] }

/** A CountedBlock is a block with its counts for the ledger. */
export type CountedBlock = Block & { counts: BlockCounts }

/** A Shredded delivery is either blocks, with what the dataset's parser did, or what the layout of the dataset must know first. */
export type Shredded =
  | { kind: 'blocks'; delivery: number; blocks: readonly CountedBlock[]; rows: number; parsed?: ParserStats }
  | ({ kind: 'keys'; delivery: number } & LayoutFindings)
export type ShredReply = { shredded: readonly Shredded[] }

/** CountRequest counts the events of a request that is refused before they are split. */
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
