import { Failure } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import type { RecordTable, SharedFields } from '../../../lines/shredder/record-table.ts'
import { type Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import type { JsonReader } from '../json/reader.ts'
import { KeyNames } from '../names.ts'

const LINE_FEED = 0x0a

/**
 * The log events of a subscription message, in columns, until the whole message is known to be valid. Their lines are in the memory of the
 * post.
 */
export class LogEvents {
  readonly #reader: JsonReader
  readonly #batches: Batches
  readonly #leaves: JsonLeaves<undefined>
  readonly #time: MemberText
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  readonly #ms: number[] = []
  readonly #ns: number[] = []
  readonly #refusedTimes = new Map<number, string>()

  constructor(reader: JsonReader, batches: Batches) {
    this.#reader = reader
    this.#batches = batches
    const text = new BodyText(reader.bytes)
    const names = new KeyNames(reader.bytes, text, () => undefined)
    this.#leaves = new JsonLeaves(reader, names, text, { isFlat: true, keepsNull: true })
    this.#time = new MemberText(reader, text)
  }

  /** Forgets the events. */
  clear(): void {
    for (const column of [this.#starts, this.#ends, this.#ms, this.#ns]) column.length = 0
    this.#refusedTimes.clear()
  }

  /** Reads an array of events. */
  read(): void {
    const reader = this.#reader
    reader.openArray()
    while (reader.element()) {
      if (this.#starts.length === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} log events in one record`)
      this.#event()
    }
  }

  /** Adds the events to a table. */
  addTo(table: RecordTable, shared: SharedFields): void {
    const { draft } = this.#batches
    for (let event = 0; event < this.#starts.length; event += 1) {
      draft.clear()
      draft.setRawAt(this.#starts[event] as number, this.#ends[event] as number)
      draft.trimRaw(LINE_FEED)
      draft.ms = this.#ms[event] as number
      draft.ns = this.#ns[event] as number
      const refused = this.#refusedTimes.get(event)
      if (refused !== undefined) draft.attributes.addText(ORIGINAL_TIME, refused)
      this.#batches.take(table, shared)
    }
  }

  #event(): void {
    const leaves = this.#leaves
    const time = this.#time
    time.clear()
    let start = 0
    let end = 0
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      leaves.finishValue()
      if (name.path === 'message') {
        start = this.#line()
        end = this.#batches.memory.end
      } else if (name.path === 'timestamp') time.note(leaves.isString)
    }
    this.#addTime(time)
    this.#starts.push(start)
    this.#ends.push(end)
  }

  #line(): number {
    const { bytes, start, stop, escaped } = this.#reader
    if (escaped && this.#leaves.isString) return this.#batches.putUnescaped(bytes, start, stop)
    return this.#batches.memory.putBytes(bytes.subarray(start, stop))
  }

  /** A text that is no time becomes an attribute. */
  #addTime(time: MemberText): void {
    const { draft } = this.#batches
    draft.clear()
    if (!this.#batches.readTimeAt(time, this.#reader.bytes)) {
      const text = time.text()
      this.#batches.setTime(text)
      if (draft.attributes.count > 0 && text !== undefined) this.#refusedTimes.set(this.#ms.length, text)
    }
    this.#ms.push(draft.ms)
    this.#ns.push(draft.ns)
  }
}
