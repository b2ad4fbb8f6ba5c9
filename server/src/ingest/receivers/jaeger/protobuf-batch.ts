import { badRequest, Failure } from '../../../kernel/errors.ts'
import { RECORDS_MAX } from '../batches.ts'
import { type Attribute, EMPTY, SCALAR, TEXT, UnreadableRecord, ValueBudget } from '../otlp/message.ts'
import { ProtobufReader } from '../otlp/protobuf-reader.ts'
import {
  doubleValue,
  newProcessSpan,
  type ProcessBatch,
  type ProcessSpan,
  type SpanLog,
  type SpanReference,
  type TraceProcess,
} from './process-batch.ts'

const NS_PER_S = 1_000_000_000n
const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const CHILD_OF = 0
const VARINT = 0
const BIT64 = 1
const BYTES = 2
/** The fields of a tag that hold its value, by its type: text, boolean, integer, number, bytes. */
const TEXT_VALUE = 3

/** Reads a `PostSpansRequest`, which has one batch. */
export function readProtobufBatch(body: Uint8Array): ProcessBatch {
  const reader = new ProtobufReader(body)
  try {
    return new BatchFields(reader).read(body.length)
  } catch (thrown) {
    if (!(thrown instanceof UnreadableRecord)) throw thrown
    throw badRequest(`not valid protobuf: ${thrown.message} at byte ${reader.at}`, { cause: thrown })
  }
}

class BatchFields {
  readonly #reader: ProtobufReader
  readonly #budget = new ValueBudget()

  constructor(reader: ProtobufReader) {
    this.#reader = reader
  }

  read(end: number): ProcessBatch {
    let process: TraceProcess = { service: '', tags: [] }
    const spans: ProcessSpan[] = []
    this.#fields(end, (ofRequest) => {
      if (ofRequest !== 1) return false
      return this.#message((field) => {
        if (field === 1) spans.push(this.#span(spans.length))
        else if (field === 2) process = this.#process()
        else return false
        return true
      })
    })
    return { process, spans }
  }

  /** Reads the fields up to `end`; those of which `read` says false are skipped. Its recursion is that of the types of messages. */
  #fields(end: number, read: (field: number) => boolean): void {
    const reader = this.#reader
    const outer = reader.end
    reader.end = end
    while (reader.next()) {
      this.#budget.spend()
      if (!read(reader.field)) reader.skip()
    }
    reader.end = outer
  }

  #message(read: (field: number) => boolean): true {
    this.#fields(this.#length(), read)
    return true
  }

  #span(known: number): ProcessSpan {
    if (known === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} spans in one post`)
    const span = newProcessSpan()
    this.#message((field) => {
      if (field === 1) span.traceId = this.#id(TRACE_DIGITS)
      else if (field === 2) span.spanId = this.#id(SPAN_DIGITS)
      else if (field === 3) span.name = this.#text()
      else if (field === 4) span.references.push(this.#reference())
      else if (field === 5) span.flags = this.#number()
      else if (field === 6) span.start = this.#nanos()
      else if (field === 7) span.duration = this.#nanos()
      else if (field === 8) span.tags.push(this.#tag())
      else if (field === 9) span.logs.push(this.#log())
      else if (field === 10) span.process = this.#process()
      else return false
      return true
    })
    return span
  }

  #reference(): SpanReference {
    const reference = { isChild: true, traceId: '', spanId: '' }
    this.#message((field) => {
      if (field === 1) reference.traceId = this.#id(TRACE_DIGITS)
      else if (field === 2) reference.spanId = this.#id(SPAN_DIGITS)
      else if (field === 3) reference.isChild = this.#number() === CHILD_OF
      else return false
      return true
    })
    return reference
  }

  #process(): TraceProcess {
    const process = { service: '', tags: [] as Attribute[] }
    this.#message((field) => {
      if (field === 1) process.service = this.#text()
      else if (field === 2) process.tags.push(this.#tag())
      else return false
      return true
    })
    return process
  }

  #log(): SpanLog {
    const log: SpanLog = { time: 0n, fields: [] }
    this.#message((field) => {
      if (field === 1) log.time = this.#nanos()
      else if (field === 2) log.fields.push(this.#tag())
      else return false
      return true
    })
    return log
  }

  /** The type of a tag says which of its fields is the value; one that has its zero value is not sent. */
  #tag(): Attribute {
    let name = ''
    let type = 0
    const values: Omit<Attribute, 'name'>[] = [
      { kind: TEXT, text: '' },
      { kind: SCALAR, text: 'false' },
      { kind: SCALAR, text: '0' },
      { kind: SCALAR, text: '0' },
      { kind: TEXT, text: '' },
    ]
    this.#message((field) => {
      const place = field - TEXT_VALUE
      if (field === 1) name = this.#text()
      else if (field === 2) type = this.#number()
      else if (place === 0) values[place] = { kind: TEXT, text: this.#text() }
      else if (place === 1) values[place] = { kind: SCALAR, text: String(this.#expect(VARINT).bool()) }
      else if (place === 2) values[place] = { kind: SCALAR, text: this.#expect(VARINT).integer() }
      else if (place === 3) values[place] = doubleValue(this.#expect(BIT64).double())
      else if (place === 4) values[place] = { kind: TEXT, text: this.#bytes().toString('base64') }
      else return false
      return true
    })
    return { name, ...(values[type] ?? { kind: EMPTY, text: '' }) }
  }

  /** Seconds and nanoseconds. */
  #nanos(): bigint {
    let [seconds, nanos] = [0n, 0n]
    this.#message((field) => {
      if (field === 1) seconds = BigInt(this.#expect(VARINT).integer())
      else if (field === 2) nanos = BigInt(this.#expect(VARINT).integer())
      else return false
      return true
    })
    return seconds * NS_PER_S + nanos
  }

  #id(digits: number): string {
    const hex = this.#bytes().toString('hex')
    return hex.length > digits ? '' : hex.padStart(digits, '0')
  }

  #number(): number {
    return this.#expect(VARINT).uint32()
  }

  #text(): string {
    return this.#bytes().toString()
  }

  #bytes(): Buffer {
    const reader = this.#reader
    const end = this.#length()
    const { buffer, byteOffset } = reader.bytes
    const bytes = Buffer.from(buffer, byteOffset + reader.at, end - reader.at)
    reader.at = end
    return bytes
  }

  #length(): number {
    return this.#expect(BYTES).length()
  }

  #expect(wire: number): ProtobufReader {
    if (this.#reader.wire !== wire) throw new UnreadableRecord(`field ${this.#reader.field} has the wrong wire type`)
    return this.#reader
  }
}
