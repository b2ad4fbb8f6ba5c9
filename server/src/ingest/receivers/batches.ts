import { Failure } from '../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../lines/reference/event.ts'
import { NOTHING_SHARED, RecordDraft, RecordTable, type SharedFields } from '../../lines/shredder/record-table.ts'
import { TextMemory } from '../../lines/shredder/text-memory.ts'
import { TimeReader } from '../../lines/values/fast-time.ts'
import { readPlainTime } from '../../lines/values/plain-time.ts'
import { parseTime } from '../../lines/values/time-text.ts'
import type { DatasetBatch, Pair, ParsedBody, ReceivedRecord } from '../batch.ts'
import { type JsonReader, QUOTE } from './json/reader.ts'
import { unescapeInto } from './json/unescape.ts'

/** RECORDS_MAX and WEIGHT_MAX bound the memory and time of one post in a worker. A pair that many records share weighs 1. */
export const RECORDS_MAX = 200_000
const WEIGHT_MAX = 8_000_000
const OWN_WEIGHT = 8
const TIME_BYTES_MAX = 64
/** Marks a record that is not what its protocol says. It is kept as text; the value is the protocol. */
export const UNREADABLE = '$ingest.unreadable'

export type RecordRoute = Pick<DatasetBatch, 'collection' | 'dataset'>

/** The position of a JSON value, and whether it contains a backslash. */
export type JsonText = { readonly start: number; readonly stop: number; readonly escaped: boolean }

type RoutedBatch = RecordRoute & { table: RecordTable }

const NO_BODY = new Uint8Array()

/** Collects the events of a post by dataset, within its limits. */
export class Batches {
  /** The record that is being read; `take` adds it to a table. */
  readonly draft: RecordDraft
  readonly memory: TextMemory
  readonly #batches = new Map<string, RoutedBatch>()
  readonly #shared = new Map<readonly Pair[], SharedFields>()
  /** Events of one dataset often follow one another, and so do those of one source. */
  #last: RoutedBatch | undefined
  #lastShared = NOTHING_SHARED
  readonly #times = new TimeReader()
  #total = 0
  #weight = 0
  readonly #weightMax: number

  /** Records may name parts of the body as their texts. `isText` is true for a body that is UTF-8 if it is valid. */
  constructor(body: Uint8Array = NO_BODY, isText = true, weightMax = WEIGHT_MAX) {
    this.#weightMax = weightMax
    this.memory = new TextMemory(body, isText)
    this.draft = new RecordDraft(this.memory)
  }

  get total(): number {
    return this.#total
  }

  /** The records of a dataset; `take` and `add` fill them. */
  of({ collection, dataset }: RecordRoute): RecordTable {
    if (this.#last === undefined || this.#last.dataset !== dataset || this.#last.collection !== collection) {
      const key = JSON.stringify([collection, dataset])
      this.#last = this.#batches.get(key) ?? { collection, dataset, table: new RecordTable(this.memory) }
      this.#batches.set(key, this.#last)
    }
    return this.#last.table
  }

  /** Adds the draft. `shared` pairs come before its own attributes, which take precedence. */
  take(table: RecordTable, shared: SharedFields = NOTHING_SHARED): void {
    const { draft } = this
    if (this.#total === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} events in one post`)
    this.#total += 1
    this.#weight += shared.pairs.length + (draft.keys.count + draft.attributes.count) * OWN_WEIGHT
    if (this.#weight > this.#weightMax) throw new Failure(413, 'more values than one post may have')
    table.add(draft, shared)
  }

  /** Adds a record that was read as an object. */
  add(table: RecordTable, record: ReceivedRecord, shared: readonly Pair[] = NONE): void {
    this.draft.copy(record)
    this.take(table, this.sharedOf(shared, record.zone, record.origin))
  }

  /** Returns one object for each list of pairs. */
  sharedOf(pairs: readonly Pair[], zone?: string, origin?: string): SharedFields {
    const last = this.#lastShared
    if (last.pairs === pairs && last.zone === zone && last.origin === origin) return last
    const isPlain = zone === undefined && origin === undefined
    const known = isPlain ? this.#shared.get(pairs) : undefined
    this.#lastShared = known ?? (pairs.length === 0 && isPlain ? NOTHING_SHARED : { pairs, zone, origin })
    if (isPlain) this.#shared.set(pairs, this.#lastShared)
    return this.#lastShared
  }

  /** Sets the line of the draft to a value of the body that a reader read last, a JSON string without its escapes. */
  setLine({ start, stop, escaped }: JsonText, isString = true): void {
    const { draft, memory } = this
    if (isString && escaped) draft.setRawAt(this.putUnescaped(memory.body, start, stop), memory.end)
    else draft.setRawAt(start, stop, isString)
  }

  /** Reads a value that should be an object into the draft, as a text: the protocol cannot reject it alone. */
  readOther(reader: JsonReader, protocol: string): void {
    const isString = reader.peek() === QUOTE
    if (isString) reader.string()
    else reader.skip()
    this.setOther(0, 0, protocol)
    this.setLine(reader, isString)
  }

  /** Makes a part of the body, which cannot be read, the line of the draft. */
  setOther(start: number, end: number, protocol: string): void {
    const { draft } = this
    draft.clear()
    draft.setRawAt(start, end)
    draft.attributes.addText(UNREADABLE, protocol)
  }

  /** Puts a part of a JSON string into the memory without its escapes, and returns its position; `memory.end` is its end. */
  putUnescaped(bytes: Uint8Array, start: number, stop: number): number {
    const { memory } = this
    const place = memory.reserve(stop - start)
    return memory.placed(unescapeInto(bytes, start, stop, memory.own, place) - place)
  }

  /** Sets the time of the draft from a text in any notation; one that is none becomes an attribute. */
  setTime(text: string | undefined): void {
    if (text === undefined || text === '') return
    if (!this.tryTime(text)) this.draft.attributes.addText(ORIGINAL_TIME, text)
  }

  /** Sets the time of the draft from a text in any notation; to none, and false, for a text that is none. */
  tryTime(text: string): boolean {
    const time = parseTime(text)
    this.draft.setTime(time)
    if (time) this.draft.setTimeText(text)
    return time !== undefined
  }

  /** Sets the time of the draft from a JSON value of the body; `text` gives the value as text. */
  setTimeAt(value: JsonText & { text: () => string | undefined }): void {
    if (!this.readTimeAt(value)) this.setTime(value.text())
  }

  /** Sets the time of the draft from a JSON value, without a string for usual notations. False for a value that `setTime` must read. */
  readTimeAt({ start, stop, escaped }: JsonText, bytes = this.memory.body): boolean {
    if (escaped || start === stop) return false
    const { draft } = this
    if (!readPlainTime(bytes, start, stop, draft)) {
      const times = this.#times
      if (stop - start > TIME_BYTES_MAX || !times.read(bytes, start, stop)) return false
      draft.ms = times.ms
      draft.ns = times.ns
    }
    if (bytes === this.memory.body) {
      draft.timeStart = start
      draft.timeEnd = stop
    }
    return true
  }

  parsed(): ParsedBody {
    const filled = this.all().filter(({ events }) => events.kind === 'tables' && events.tables.some(({ count }) => count > 0))
    return { batches: filled, rejected: [], total: this.#total }
  }

  /** The batches of all datasets that the post names, also of those without a readable record. */
  all(): DatasetBatch[] {
    return [...this.#batches.values()].map(({ table, ...route }) => ({
      ...route,
      attributes: [],
      events: { kind: 'tables', tables: [table] },
    }))
  }
}

/** The time of a text in any notation, and the attribute that keeps a text which is none. */
export function timeOf(text: string | undefined): { time: ReceivedRecord['time']; refused: readonly Pair[] } {
  if (text === undefined || text === '') return { time: undefined, refused: NONE }
  const time = parseTime(text)
  return { time, refused: time ? NONE : [[ORIGINAL_TIME, text]] }
}

const NONE: readonly Pair[] = []
