import type { RawReply } from '../http/raw-handler.ts'
import type { Failure } from '../kernel/errors.ts'
import type { Instant } from '../lines/time-text.ts'

export type Pair = readonly [name: string, text: string]

/** An Arrived is one event as its protocol brought it. */
export type ReceivedRecord = {
  /** raw is the line as the application wrote it. */
  raw: Uint8Array
  /** time is what the protocol says; without it the line is asked, then the clock. */
  time: Instant | undefined
  /** level is the protocol's own severity word or name. */
  level: string | undefined
  /** keys are message keys beside the line. */
  keys: readonly Pair[]
  /** attributes carry their `$` already. */
  attributes: readonly Pair[]
}

/** Arrivals are the events of one dataset: lines of a body as they stand, or records that a protocol took apart. */
export type ReceivedEvents = { kind: 'lines'; bytes: Uint8Array } | { kind: 'records'; records: readonly ReceivedRecord[] }

/** A Delivery goes to one dataset. Its names are what the format says: headers of the request win over them, defaults fill what is missing. */
export type DatasetBatch = {
  collection: string | undefined
  dataset: string | undefined
  /** attributes belong to every event of the delivery. */
  attributes: readonly Pair[]
  events: ReceivedEvents
}

/** A Rejected is a record that could not be taken, by its place in the post. */
export type RejectedRecord = { index: number; reason: string }

/** A Parsed body: deliveries per dataset, and the records that could not be read. */
export type ParsedBody = {
  batches: readonly DatasetBatch[]
  rejected: readonly RejectedRecord[]
  /** total counts records, the rejected ones too; lines are counted by who splits them. */
  total: number
  /** identity is that of the whole post, where the protocol has one. */
  idempotencyKey?: string
  /** notes are what parse wants to remember for the answer; they must be structured-cloneable. */
  notes?: unknown
}

/** IngestRequest is what the intake hands to parse; names of headers are in lower case. */
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

/** An Outcome is what became of a request, per record where the protocol wants it. */
export type IngestOutcome =
  | { kind: 'stored'; accepted: number; rejected: readonly RejectedRecord[]; total: number; duplicates: readonly number[] }
  | { kind: 'refused'; failure: Failure }

export type ReceiverReply = RawReply
export type ParsedSummary = Pick<ParsedBody, 'rejected' | 'total' | 'notes'>

export type ReceiverRoute = {
  methods: readonly string[]
  /** tail matches the end of the path; any prefix in front is allowed. */
  tail: RegExp
  /** probe answers without reading events. */
  probe?: (request: IngestRequestHead) => ReceiverReply
}

/** A Receiver speaks one wire protocol. */
export type Receiver = {
  name: string
  routes: readonly ReceiverRoute[]
  limits: { wireBytes: number; bodyBytes: number }
  /** systemCollections are those beginning with a dot that its deliveries may name; headers of a request do not move events out of them. */
  systemCollections?: readonly string[]
  /** parse runs in a worker thread and is pure; a Failure that it throws refuses the post. */
  parse(request: IngestRequest): ParsedBody
  /** answer words the outcome; `parsed` is undefined when the body was not parsed. */
  reply(request: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined): ReceiverReply
}
