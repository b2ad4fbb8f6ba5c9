import type { BlockBuilder } from '../block/block.ts'
import { type Arrival, type EventLeaf, isAcceptable, ORIGINAL_TIME } from '../reference/event.ts'
import { cleanText, toSlot } from '../reference/leaf-text.ts'
import { type Severity, severityOf } from '../values/severity.ts'
import type { Instant } from '../values/time-text.ts'
import type { KnownKey, KnownKeys } from './known-keys.ts'
import { KnownTexts } from './known-texts.ts'
import type { RowFacts } from './prepared.ts'
import type { FieldNames, RecordLevel, RecordTable } from './record-table.ts'

/** The facts that all records of a batch share. */
export type BatchFacts = { readonly at: Instant; readonly origin: string; readonly attributes: readonly EventLeaf[] }

const LEVEL = 'level'
const EMPTY_VALUE = Buffer.from(toSlot(''))
/** The position of a field of the record itself: it has no text that is the same for all records. */
type Attribute = {
  readonly key: KnownKey
  /** The number of the field among those of a record, -1 for others. */
  field: number
  /** The text of a field that all records share. */
  text: Uint8Array | undefined
}
const NO_FIELD = -1

/**
 * The facts about records with the same names of fields, computed once, and about the one record that `read` read last. Only its time, its level and
 * the positions of its texts differ from others.
 */
export class PreparedRecord implements RowFacts {
  readonly arrival: Arrival
  /** True when fields decide the time or the message. The lines of such records are prepared one by one. */
  readonly decidesText: boolean
  readonly origin: number
  readonly postHigh = 0
  readonly postLow = 0
  readonly refused = undefined
  readonly skeleton = undefined
  readonly messageRank = -1
  time: Instant
  readonly batch: BatchFacts
  private readonly own: { at: Instant; time: Instant | undefined; severity: Severity | undefined }
  private readonly told = { ms: 0, ns: 0 }
  private readonly saysSeverity: boolean
  private readonly hasZone: boolean
  private readonly attributes: Attribute[] = []
  private readonly paths = new Set<string>()
  private readonly block: BlockBuilder
  private table: RecordTable | undefined
  private first = 0
  private level: RecordLevel | undefined
  private levelBytes: Uint8Array = EMPTY_VALUE
  private levelRead: RecordLevel | undefined
  /** The fields that decide the severity, their texts, and the severity that they gave last: records mostly repeat them. */
  private readonly severityFields: readonly number[]
  private readonly severityTexts = new KnownTexts()
  private severityLevel: RecordLevel | undefined
  private said: Severity = 'none'
  private saidVersion = KnownTexts.NONE

  constructor(names: FieldNames, addsLevel: boolean, batch: BatchFacts, known: KnownKeys, block: BlockBuilder) {
    this.batch = batch
    this.block = block
    const arrival = {
      at: batch.at,
      time: undefined as Instant | undefined,
      severity: undefined as Severity | undefined,
      attributes: batch.attributes,
      origin: names.shared.origin ?? batch.origin,
      post: 0n,
    }
    this.own = arrival
    this.arrival = arrival
    this.time = batch.at
    this.hasZone = names.shared.zone !== undefined
    this.origin = block.origin.indexOf(arrival.origin)
    this.readNames(names, addsLevel, known)
    this.decidesText = this.attributes.some(({ key }) => key.message >= 0 || key.path === ORIGINAL_TIME)
    this.saysSeverity = this.attributes.some(({ key }) => key.tellsSeverity)
    this.severityFields = this.attributes.filter(({ key, field }) => key.tellsSeverity && field >= 0).map(({ field }) => field)
  }

  get tellsSeverity(): boolean {
    return this.saysSeverity && this.own.severity === undefined
  }

  get severity(): Severity {
    return this.own.severity ?? (this.saysSeverity ? this.saidSeverity() : 'none')
  }

  private saidSeverity(): Severity {
    const version = this.severityVersion()
    if (version === KnownTexts.NONE || version !== this.saidVersion) {
      this.said = severityOf((path) => this.textOf(path))
      this.saidVersion = version
    }
    return this.said
  }

  /** A number that changes with the texts that decide the severity, NONE when they are not compared. */
  private severityVersion(): number {
    const { table, first, severityFields, severityTexts } = this
    if (!table) return KnownTexts.NONE
    const { memory, starts, ends } = table
    if (this.severityLevel !== this.level) {
      this.severityLevel = this.level
      severityTexts.forget()
    }
    for (let at = 0; at < severityFields.length; at += 1) {
      const place = first + (severityFields[at] as number)
      const from = starts[place] as number
      const to = ends[place] as number
      if (from < 0) severityTexts.note(at, memory.own, -1 - from, -1 - to)
      else severityTexts.note(at, memory.body, from, to)
    }
    return severityTexts.version
  }

  /** Reads a record; false for one whose time is not acceptable, or is in its line in a zone that its sender names. */
  read(table: RecordTable, record: number): boolean {
    const { own, told } = this
    this.table = table
    this.first = table.firsts[record] as number
    this.level = table.levels[record]
    own.severity = this.level?.severity
    told.ms = table.ms[record] as number
    told.ns = table.ns[record] as number
    if (Number.isNaN(told.ms)) {
      own.time = undefined
      this.time = own.at
      return !this.hasZone
    }
    own.time = told
    this.time = told
    return isAcceptable(told, own.at)
  }

  get hasAttributes(): boolean {
    return this.attributes.length > 0
  }

  has(path: string): boolean {
    return this.paths.has(path)
  }

  addAttributes(row: number): void {
    const { attributes, table, first, block } = this
    if (!table) throw new Error('a record must be read before its attributes are added')
    const { memory, starts, ends } = table
    for (let at = 0; at < attributes.length; at += 1) {
      const { key, field, text } = attributes[at] as Attribute
      let source: Uint8Array
      let from = 0
      let to: number
      if (field >= 0) {
        from = starts[first + field] as number
        to = ends[first + field] as number
        if (from === to) {
          source = EMPTY_VALUE
          from = 0
          to = 1
        } else if (from >= 0) source = memory.body
        else {
          source = memory.own
          from = -1 - from
          to = -1 - to
        }
      } else {
        source = text ?? this.levelText()
        to = source.length
      }
      if (key.column) key.column.add(row, source, from, to)
      else block.more.add(row, key.path, source, from, to)
    }
  }

  textOf(path: string): string | undefined {
    const found = this.attributes.find(({ key }) => key.path === path)
    const { table } = this
    if (!found || !table) return undefined
    const place = this.first + found.field
    if (found.field >= 0) return table.memory.text(table.starts[place] as number, table.ends[place] as number)
    const text = Buffer.from(found.text ?? this.levelText()).toString('utf8')
    return text === toSlot('') ? '' : text
  }

  private levelText(): Uint8Array {
    if (this.levelRead !== this.level) {
      this.levelRead = this.level
      this.levelBytes = bytesOf(this.level?.text ?? '')
    }
    return this.levelBytes
  }

  /** Collects the attributes; the last of two with one path counts, at the place of the first. */
  private readNames({ shared, keys, attributes }: FieldNames, addsLevel: boolean, known: KnownKeys): void {
    const serial = known.nextSet()
    const put = (name: string, field: number, text: Uint8Array | undefined): void => {
      const key = known.of(name)
      if (key.set !== serial) {
        key.set = serial
        key.at = this.attributes.length
        this.attributes.push({ key, field, text })
        this.paths.add(key.path)
        return
      }
      const earlier = this.attributes[key.at] as Attribute
      earlier.field = field
      earlier.text = text
    }
    for (const { path, text } of this.batch.attributes) put(path, NO_FIELD, bytesOf(text))
    if (addsLevel) put(LEVEL, NO_FIELD, undefined)
    for (const [at, name] of keys.entries()) put(name, at, undefined)
    for (const [name, text] of shared.pairs) put(name, NO_FIELD, bytesOf(text))
    for (const [at, name] of attributes.entries()) put(name, keys.length + at, undefined)
  }
}

const bytesOf = (text: string): Uint8Array => Buffer.from(toSlot(cleanText(text)), 'utf8')

/** The prepared records of one block, by the names of their fields. */
export class PreparedRecords {
  readonly #plain = new Map<FieldNames, PreparedRecord>()
  readonly #withLevel = new Map<FieldNames, PreparedRecord>()
  #last: { names: FieldNames; addsLevel: boolean; prepared: PreparedRecord } | undefined

  /** Prepares a record of a table. */
  of(table: RecordTable, record: number, batch: BatchFacts, known: KnownKeys, block: BlockBuilder): PreparedRecord {
    const names = table.names[record] as FieldNames
    const addsLevel = table.addsLevel[record] === 1
    const last = this.#last
    if (last && last.names === names && last.addsLevel === addsLevel && last.prepared.batch === batch) return last.prepared
    const all = addsLevel ? this.#withLevel : this.#plain
    let prepared = all.get(names)
    if (prepared?.batch !== batch) {
      prepared = new PreparedRecord(names, addsLevel, batch, known, block)
      all.set(names, prepared)
    }
    this.#last = { names, addsLevel, prepared }
    return prepared
  }

  clear(): void {
    this.#plain.clear()
    this.#withLevel.clear()
    this.#last = undefined
  }
}
