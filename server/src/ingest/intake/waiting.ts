import { zstdCompressSync } from 'node:zlib'
import { bothFacts, factsOfSpan, packFacts, type TraceFacts, traceIdOf } from '../../ingest-rules/trace-facts.ts'
import type { PackedSpans } from '../../resources/data/waiting-spans/waiting-spans.ts'
import type { Pair, ReceivedRecord } from '../batch.ts'
import type { WaitingBatch } from './ruled.ts'

/** A record as it waits. `trace` is the number of its trace among those of its batch. */
export type WaitingRecord = Omit<ReceivedRecord, 'raw' | 'time'> & { raw: string; time: ReceivedRecord['time']; trace: number }
/** The records of a batch, as JSON. */
export type WaitingBody = { attributes: readonly Pair[]; records: readonly WaitingRecord[] }

/** Bounds what is in memory when a piece is stored: the JSON of a body may be several times as long as the body. */
const PIECE_BYTES = 4 * 2 ** 20
const PIECE_RECORDS = 10_000

/**
 * Packs records that wait, so that they can be kept until their traces are decided: in pieces, which are stored one by one. Those without a time have
 * that of their arrival.
 */
export function packWaiting({ rule, attributes, records }: WaitingBatch, atMs: number): PackedSpans[] {
  const packed: PackedSpans[] = []
  const { id: ruleId, after, sampling } = rule
  let piece = new Piece(attributes)
  const end = (): void => {
    if (piece.records.length > 0) packed.push({ ruleId, after, sampling, ...piece.packed() })
    piece = new Piece(attributes)
  }
  for (const record of records) {
    piece.add(record, atMs)
    if (piece.bytes > PIECE_BYTES || piece.records.length === PIECE_RECORDS) end()
  }
  end()
  return packed
}

class Piece {
  bytes = 0
  readonly records: string[] = []
  readonly #attributes: readonly Pair[]
  readonly #traces = new Map<string, TraceFacts>()
  readonly #numbers = new Map<string, number>()

  constructor(attributes: readonly Pair[]) {
    this.#attributes = attributes
  }

  add(record: ReceivedRecord, atMs: number): void {
    const id = traceIdOf(record.attributes) ?? ''
    const facts = factsOfSpan(record.attributes, record.raw.length)
    const known = this.#traces.get(id)
    this.#traces.set(id, known ? bothFacts(known, facts) : facts)
    const trace = this.#numbers.get(id) ?? this.#numbers.size
    this.#numbers.set(id, trace)
    const raw = Buffer.from(record.raw).toString('base64')
    const waiting: WaitingRecord = { ...record, raw, time: record.time ?? { ms: atMs, ns: 0 }, trace }
    const json = JSON.stringify(waiting)
    this.records.push(json)
    this.bytes += json.length
  }

  packed(): Pick<PackedSpans, 'events' | 'body' | 'bodyBytes' | 'traces'> {
    const body = Buffer.from(`{"attributes":${JSON.stringify(this.#attributes)},"records":[${this.records.join()}]}`)
    return { events: this.records.length, body: zstdCompressSync(body), bodyBytes: body.length, traces: packFacts(this.#traces) }
  }
}
