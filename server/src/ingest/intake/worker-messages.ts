import type { Block } from '../../events/writer/post.ts'
import type { Observation, SlotMap } from '../../lines/slots.ts'
import type { IngestRequest, Pair, Rejected } from '../batch.ts'
import type { BlockCounts } from './counting.ts'
import type { AssignedParser, ParserCounts } from './parsing.ts'

/** ParseQuestion hands a whole post to a worker, which reads it and keeps what it has read. */
export type ParseQuestion = {
  kind: 'parse'
  receiver: string
  request: IngestRequest /** wantsHash asks for a hash of the body. */
  wantsHash: boolean
}
export type DeliverySummary = { collection: string | undefined; dataset: string | undefined }
export type ParseReply = {
  deliveries: readonly DeliverySummary[]
  rejected: readonly Rejected[]
  total: number
  identity: string | undefined
  notes: unknown
  /** bodyHash is 0n when neither asked for nor needed. */
  bodyHash: bigint
}

/** A Target says where one delivery goes, and what all its events have in common. */
export type Target = {
  delivery: number
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
export type ShredQuestion = { kind: 'shred'; atMs: number; origin: string; targets: readonly Target[] }

/** A CountedBlock is a block with what the ledger is told when it is stored. */
export type CountedBlock = Block & { counts: BlockCounts }

/** A Shredded delivery is either blocks, with what the dataset's parser did, or the keys that need slots first. */
export type Shredded =
  | { kind: 'blocks'; delivery: number; blocks: readonly CountedBlock[]; rows: number; parsed?: ParserCounts }
  | { kind: 'keys'; delivery: number; observed: readonly Observation[] }
export type ShredReply = { shredded: readonly Shredded[] }

/** CountQuestion asks how many events a post has that is refused before they are split. */
export type CountQuestion = { kind: 'count' }
export type CountReply = { events: number }

export type ForgetQuestion = { kind: 'forget' }
export type Question = ParseQuestion | ShredQuestion | CountQuestion
export type Reply<Q extends Question> = Q extends ParseQuestion ? ParseReply : Q extends CountQuestion ? CountReply : ShredReply

export type FailureMessage =
  | { kind: 'refused'; status: number; details: string; headers: Record<string, string> }
  | { kind: 'bug'; stack: string }
export type Asked = { job: number; question: Question | ForgetQuestion }
export type Told = { job: number; reply?: ParseReply | ShredReply | CountReply; failure?: FailureMessage }
