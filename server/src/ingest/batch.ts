import type { RawReply } from '../http/raw-handler.ts'
import type { Failure } from '../kernel/errors.ts'
import type { Instant } from '../lines/time-text.ts'

export type Pair = readonly [name: string, text: string]

/** A ReceivedRecord is one event as its protocol delivered it. */
export type ReceivedRecord = {
  /** raw is the line as the application wrote it. */
  raw: Uint8Array
  /** time comes from the protocol; without it, it is read from the line, else from the clock. */
  time: Instant | undefined
  /** level is the protocol's own severity word or name. */
  level: string | undefined
  /** keys are message keys in addition to the line. */
  keys: readonly Pair[]
  /** attributes carry their `$` already. */
  attributes: readonly Pair[]
}

/** ReceivedEvents are the events of one dataset: lines of a body, or records of a protocol. */
export type ReceivedEvents = { kind: 'lines'; bytes: Uint8Array } | { kind: 'records'; records: readonly ReceivedRecord[] }

/** A DatasetBatch goes to one dataset. Its names come from the body; request headers override them, and defaults fill gaps. */
export type DatasetBatch = {
  collection: string | undefined
  dataset: string | undefined
  /** attributes belong to every event of the batch. */
  attributes: readonly Pair[]
  events: ReceivedEvents
}

/** A RejectedRecord could not be stored; `index` is its position in the request. */
export type RejectedRecord = { index: number; reason: string }

/** A ParsedBody has a batch per dataset, and the rejected records. */
export type ParsedBody = {
  batches: readonly DatasetBatch[]
  rejected: readonly RejectedRecord[]
  /** total counts records, including rejected ones; lines are counted when they are split. */
  total: number
  /** idempotencyKey identifies the whole request, if the protocol has one. */
  idempotencyKey?: string
  /** notes carry data from parse to reply; they must be structured-cloneable. */
  notes?: unknown
}

/** IngestRequest is the argument of parse; header names are in lower case. */
export type IngestRequest = {
  /** path is the tail of the path that matched, such as `/web/_bulk`. */
  path: string
  query: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  contentType: string
  /** body is decompressed. */
  body: Uint8Array
}
export type IngestRequestHead = Omit<IngestRequest, 'body'>

/** An IngestOutcome is the result of a request, with rejected records. */
export type IngestOutcome =
  | { kind: 'stored'; accepted: number; rejected: readonly RejectedRecord[]; total: number; duplicates: readonly number[] }
  | { kind: 'refused'; failure: Failure }

export type ReceiverReply = RawReply
export type ParsedSummary = Pick<ParsedBody, 'rejected' | 'total' | 'notes'>

export type ReceiverRoute = {
  methods: readonly string[]
  /** tail matches the end of the path; any prefix in front is allowed. */
  tail: RegExp
  /** probe replies without reading events. */
  probe?: (request: IngestRequestHead) => ReceiverReply
}

/** A Receiver speaks one wire protocol. */
export type Receiver = {
  name: string
  routes: readonly ReceiverRoute[]
  limits: { wireBytes: number; bodyBytes: number }
  /** systemCollections (names with a leading dot) may be named by its batches; routing headers cannot override them. */
  systemCollections?: readonly string[]
  /** parse runs in a worker thread and is pure; a Failure that it throws refuses the post. */
  parse(request: IngestRequest): ParsedBody
  /** reply formats the outcome; `parsed` is undefined when the body was not parsed. */
  reply(request: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined): ReceiverReply
}
