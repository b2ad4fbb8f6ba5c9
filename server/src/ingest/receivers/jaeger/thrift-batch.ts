import { Failure } from '../../../kernel/errors.ts'
import { RECORDS_MAX } from '../batches.ts'
import { type Attribute, EMPTY, SCALAR, TEXT } from '../otlp/message.ts'
import {
  doubleValue,
  newProcessSpan,
  type ProcessBatch,
  type ProcessSpan,
  type SpanLog,
  type SpanReference,
  type TraceProcess,
} from './process-batch.ts'
import { BINARY, BOOL, DOUBLE, I32, I64, LIST, STRUCT, ThriftReader } from './thrift-reader.ts'

const NS_PER_US = 1_000n
const ID_DIGITS = 16
const CHILD_OF = 0
/** The fields of a tag that hold its value are numbered as its types are: text, number, boolean, integer, bytes. */
const TEXT_VALUE = 3

/** Reads the struct `Batch`, which is the whole body. */
export function readThriftBatch(body: Uint8Array): ProcessBatch {
  const reader = new ThriftReader(body)
  const batch = new BatchReader(reader).read()
  if (reader.left > 0) throw reader.fail('there are bytes behind the batch')
  return batch
}

class BatchReader {
  readonly #from: ThriftReader

  constructor(from: ThriftReader) {
    this.#from = from
  }

  read(): ProcessBatch {
    const from = this.#from
    let process: TraceProcess = { service: '', tags: [] }
    let spans: ProcessSpan[] = []
    while (from.field()) {
      if (from.is(1, STRUCT)) process = this.#process()
      else if (from.is(2, LIST)) spans = this.#spans()
      else from.skip()
    }
    return { process, spans }
  }

  #spans(): ProcessSpan[] {
    const count = this.#from.structs()
    if (count > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} spans in one post`)
    return this.#each(count, () => this.#span())
  }

  #each<T>(count: number, read: () => T): T[] {
    const found: T[] = []
    for (let index = 0; index < count; index += 1) found.push(read())
    return found
  }

  #process(): TraceProcess {
    const from = this.#from
    const process = { service: '', tags: [] as Attribute[] }
    while (from.field()) {
      if (from.is(1, BINARY)) process.service = from.binary().toString()
      else if (from.is(2, LIST)) process.tags = this.#tags()
      else from.skip()
    }
    return process
  }

  #span(): ProcessSpan {
    const from = this.#from
    const span = newProcessSpan()
    let [low, high] = ['', '']
    while (from.field()) {
      if (from.is(1, I64)) low = idOf(from.i64())
      else if (from.is(2, I64)) high = idOf(from.i64())
      else if (from.is(3, I64)) span.spanId = idOf(from.i64())
      else if (from.is(4, I64)) span.parentId = idOf(from.i64())
      else if (from.is(5, BINARY)) span.name = from.binary().toString()
      else if (from.is(6, LIST)) span.references = this.#each(from.structs(), () => this.#reference())
      else if (from.is(7, I32)) span.flags = from.i32()
      else if (from.is(8, I64)) span.start = from.i64() * NS_PER_US
      else if (from.is(9, I64)) span.duration = from.i64() * NS_PER_US
      else if (from.is(10, LIST)) span.tags = this.#tags()
      else if (from.is(11, LIST)) span.logs = this.#each(from.structs(), () => this.#log())
      else from.skip()
    }
    span.traceId = wide(high, low)
    return span
  }

  #reference(): SpanReference {
    const from = this.#from
    const reference = { isChild: true, traceId: '', spanId: '' }
    let [low, high] = ['', '']
    while (from.field()) {
      if (from.is(1, I32)) reference.isChild = from.i32() === CHILD_OF
      else if (from.is(2, I64)) low = idOf(from.i64())
      else if (from.is(3, I64)) high = idOf(from.i64())
      else if (from.is(4, I64)) reference.spanId = idOf(from.i64())
      else from.skip()
    }
    return { ...reference, traceId: wide(high, low) }
  }

  #log(): SpanLog {
    const from = this.#from
    const log: SpanLog = { time: 0n, fields: [] }
    while (from.field()) {
      if (from.is(1, I64)) log.time = from.i64() * NS_PER_US
      else if (from.is(2, LIST)) log.fields = this.#tags()
      else from.skip()
    }
    return log
  }

  #tags(): Attribute[] {
    return this.#each(this.#from.structs(), () => this.#tag())
  }

  /** The type of a tag says which of its fields is the value. */
  #tag(): Attribute {
    const from = this.#from
    let name = ''
    let type = 0
    const values: (Omit<Attribute, 'name'> | undefined)[] = []
    while (from.field()) {
      const place = from.id - TEXT_VALUE
      if (from.is(1, BINARY)) name = from.binary().toString()
      else if (from.is(2, I32)) type = from.i32()
      else if (from.is(TEXT_VALUE, BINARY)) values[place] = { kind: TEXT, text: from.binary().toString() }
      else if (from.is(TEXT_VALUE + 1, DOUBLE)) values[place] = doubleValue(from.double())
      else if (from.is(TEXT_VALUE + 2, BOOL)) values[place] = { kind: SCALAR, text: String(from.bool()) }
      else if (from.is(TEXT_VALUE + 3, I64)) values[place] = { kind: SCALAR, text: String(from.i64()) }
      else if (from.is(TEXT_VALUE + 4, BINARY)) values[place] = { kind: TEXT, text: from.binary().toString('base64') }
      else from.skip()
    }
    return { name, ...(values[type] ?? { kind: EMPTY, text: '' }) }
  }
}

const idOf = (id: bigint): string => BigInt.asUintN(64, id).toString(ID_DIGITS).padStart(ID_DIGITS, '0')
const wide = (high: string, low: string): string => high.padStart(ID_DIGITS, '0') + low.padStart(ID_DIGITS, '0')
