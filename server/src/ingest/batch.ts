import type { RawReply } from '../http/raw-handler.ts'
import type { Failure } from '../kernel/errors.ts'
import type { Secret } from '../kernel/secret.ts'
import type { RecordTable } from '../lines/shredder/record-table.ts'
import type { Instant } from '../lines/values/time-text.ts'

export type Pair = readonly [name: string, text: string]

/** One event as its protocol delivered it. */
export type ReceivedRecord = {
  /** The line as the application wrote it. */
  raw: Uint8Array
  /** The time from the protocol. Without it, the time comes from the line, else from the clock. */
  time: Instant | undefined
  /** How the sender wrote that time. */
  timeText?: string
  /** The protocol's own severity word or name. */
  level: string | undefined
  /** Message keys in addition to the line. */
  keys: readonly Pair[]
  /** The names begin with `$`. */
  attributes: readonly Pair[]
  /** The time zone of a header that names none. */
  zone?: string
  /** The address of its sender, where the records of one request have several. */
  origin?: string
}

/** The events of one dataset: lines of a body, or records of a protocol, as objects or in tables. */
export type ReceivedEvents =
  | { kind: 'lines'; bytes: Uint8Array }
  | { kind: 'records'; records: readonly ReceivedRecord[] }
  | { kind: 'tables'; tables: readonly RecordTable[]; ruled?: readonly RuledTable[] }

/** What ingest rules made of the records of a table. */
export type RuledTable = { readonly dropped: ReadonlySet<number>; readonly changed: ReadonlyMap<number, ReceivedRecord> }

const NO_PAIRS: readonly Pair[] = []

/** A record that is nothing but its line. */
export const recordOfLine = (raw: Uint8Array): ReceivedRecord => ({
  raw,
  time: undefined,
  level: undefined,
  keys: NO_PAIRS,
  attributes: NO_PAIRS,
})

/** The records as objects, none for lines. */
export function* recordsOf(events: ReceivedEvents): Generator<ReceivedRecord> {
  if (events.kind === 'records') yield* events.records
  else if (events.kind === 'tables') {
    for (const [index, table] of events.tables.entries()) {
      const ruled = events.ruled?.[index]
      for (let record = 0; record < table.count; record += 1) {
        if (!ruled?.dropped.has(record)) yield ruled?.changed.get(record) ?? table.at(record)
      }
    }
  }
}

/** The events for one dataset. Its names come from the body; request headers override them, and defaults fill gaps. */
export type DatasetBatch = {
  collection: string | undefined
  dataset: string | undefined
  /** Attributes of every event of the batch. */
  attributes: readonly Pair[]
  events: ReceivedEvents
}

/** A record that could not be stored; `index` is its position in the request. */
export type RejectedRecord = { index: number; reason: string }

/** One batch per dataset, and the rejected records. */
export type ParsedBody = {
  batches: readonly DatasetBatch[]
  rejected: readonly RejectedRecord[]
  /** How many records are of a kind that is not stored. They are not listed: there may be millions in one body. */
  unsupported?: number
  /** Counts records, including rejected ones. Lines are counted when they are split. */
  total: number
  /** Identifies the whole request, if the protocol has an idempotency key. */
  idempotencyKey?: string
  /** Data that parse passes to reply. It must be structured-cloneable. */
  notes?: unknown
}

/** The argument of parse. Header names are in lower case. */
export type IngestRequest = {
  /** The matched tail of the path, such as `/web/_bulk`. */
  path: string
  query: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  contentType: string
  /** Decompressed. */
  body: Uint8Array
}
export type IngestRequestHead = Omit<IngestRequest, 'body'>

/** The result of a request, with rejected records. */
export type IngestOutcome =
  | { kind: 'stored'; accepted: number; rejected: readonly RejectedRecord[]; total: number; duplicates: readonly number[] }
  | { kind: 'refused'; failure: Failure }

export type ReceiverReply = RawReply
export type ParsedSummary = Pick<ParsedBody, 'rejected' | 'total' | 'notes'>

export type ReceiverRoute = {
  methods: readonly string[]
  /** Matches the end of the path; any prefix in front is allowed. */
  tail: RegExp
  /** Replies without reading events. */
  probe?: (request: IngestRequestHead, context?: ReplyContext) => ReceiverReply
  /** The probe needs no credential: its senders have none at that time. */
  isPublic?: true
}

/** Ids of acknowledgements, which a sender may ask for later. They count up per sender and channel. */
export type Acknowledgements = {
  issue(sender: string, channel: string): number
  isIssued(sender: string, channel: string, id: number): boolean
}

/** `malformed` when the header Authorization has a form that no protocol uses. */
export type CredentialState = 'absent' | 'malformed' | 'present'

/** Settings for drains that sign their posts: the secrets, and the text that proves to the drain who owns the endpoint. */
export type DrainSettings = { secrets: readonly Secret[]; verify: string | undefined }

/** What a reply may depend on besides its request. Receivers never see the credential itself. */
export type ReplyContext = {
  /** The id of the identity that sends; '' for one that is not identified. */
  sender: string
  nowMs: number
  credential: CredentialState
  drains: DrainSettings
  /** The version that senders of the Elasticsearch protocol see; undefined for one that suits the sender. */
  protocolVersion?: string | undefined
  /** Undefined while acknowledgements are off. */
  acknowledgements: Acknowledgements | undefined
}

/** Turns a body into events. */
export type MessageParser = {
  name: string
  /** System collections (names with a leading dot) that its batches may name; routing headers cannot override them. */
  systemCollections?: readonly string[]
  /** Pure; runs in a worker thread. A Failure that it throws refuses the post. */
  parse(request: IngestRequest): ParsedBody
  /**
   * Whether an attribute of its events describes their source, so that it is a label of streams. It must have few values; without this, all
   * attributes do.
   */
  isLabel?(attribute: string, request: Pick<IngestRequest, 'path'>): boolean
}

/** Implements one wire protocol over HTTP. */
export type Receiver = MessageParser & {
  routes: readonly ReceiverRoute[]
  limits: { wireBytes: number; bodyBytes: number }
  /** Values of Content-Encoding that parse decodes itself. */
  ownEncodings?: readonly string[]
  /** Finds the end of the last complete entry, 0 for none. With it, uncompressed bodies of any length are stored slice by slice. */
  sliceEnd?(bytes: Uint8Array): number
  /** Posts that belong to this protocol by their headers or parameters, also on paths of the native protocol. */
  claims?(head: Pick<IngestRequestHead, 'path' | 'query' | 'headers'>): boolean
  /** Checks the body as it came over the wire, before it is decompressed. A Failure that it throws refuses the post. */
  checkWire?(request: IngestRequestHead, wire: Uint8Array, context: ReplyContext): void
  /** Replies before the body is read; undefined to read it. */
  early?(request: IngestRequestHead, context: ReplyContext): ReceiverReply | undefined
  /** Formats the outcome; `parsed` is undefined when the body was not parsed. */
  reply(request: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined, context?: ReplyContext): ReceiverReply
}
