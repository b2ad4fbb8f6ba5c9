import { ColumnTexts, FIRST_SLOT } from '../kernel/column-texts.ts'
import type { Slot } from '../layout/slots.ts'
import { columns, severities, type TableClass, type TableColumn } from '../layout/table.ts'
import type { Severity } from '../values/severity.ts'
import { DictionaryColumn, joined, NumberColumn, OverflowColumn, PartsColumn, selectTexts, startsOf, TextColumn } from './columns.ts'

/** Organization, dataset and first sequence number of a block; sequence numbers rise by one per row. */
export type BlockNumbers = { readonly orgId: number; readonly logId: string; readonly firstSeq: bigint }

/** The columns of one day, and which of the collected rows they hold. */
export type DayColumns = { day: number; rows: Uint32Array; columns: { name: string; type: string; bytes: Uint8Array<ArrayBuffer> }[] }

const MS_PER_DAY = 86_400_000
const LOW_CARDINALITY_VERSION = 1n
/** Flag: the dictionary comes with the block and replaces an earlier one. */
const HAS_OWN_KEYS = 0x600n

/**
 * Collects the rows of one dataset by column and encodes them as one block of ClickHouse's Native format. An insert may contain many blocks. Columns
 * without values are omitted; the engine fills in the default.
 */
export class BlockBuilder {
  rows = 0
  readonly shape = new DictionaryColumn()
  readonly origin = new DictionaryColumn()
  readonly texts = new ColumnTexts()
  readonly raw = new TextColumn(this.texts)
  readonly more = new OverflowColumn(this.texts)
  readonly parts = new PartsColumn()
  private readonly slots = new Map<string, TextColumn>()
  /** Days since 1970, per row. */
  readonly days = new NumberColumn()
  private readonly timeLow = new NumberColumn()
  private readonly timeHigh = new NumberColumn()
  private readonly skeletonLow = new NumberColumn()
  private readonly skeletonHigh = new NumberColumn()
  private readonly postLow = new NumberColumn()
  private readonly postHigh = new NumberColumn()
  private readonly severity = new NumberColumn()
  private readonly columns: readonly TableColumn[]

  constructor(tableClass: TableClass) {
    this.columns = columns(tableClass)
  }

  slot(slot: Slot): TextColumn {
    let column = this.slots.get(slot)
    if (!column) {
      column = new TextColumn(this.texts, FIRST_SLOT + this.slots.size)
      this.slots.set(slot, column)
    }
    return column
  }

  /** Ends the current row. Columns without a value for it stay empty. */
  end(shape: number, origin: number, severity: Severity): void {
    const row = this.rows
    this.shape.rows.set(row, shape)
    this.origin.rows.set(row, origin)
    this.severity.set(row, severities[severity])
    this.rows = row + 1
  }

  setTime(ms: number, ns: number): void {
    this.days.set(this.rows, Math.floor(ms / MS_PER_DAY))
    // ms * 1e6 + ns is beyond 2^53, so the milliseconds go in two parts of which each product is exact; a remainder would be slow.
    const parts = Math.floor(ms / 65_536)
    const upper = parts * 1_000_000
    const lower = (ms - parts * 65_536) * 1_000_000 + ns + (upper & 0xffff) * 65_536
    this.timeLow.set(this.rows, lower >>> 0)
    this.timeHigh.set(this.rows, Math.floor(upper / 65_536) + Math.floor(lower / 4_294_967_296))
  }

  setSkeleton(high: number, low: number): void {
    this.skeletonHigh.set(this.rows, high)
    this.skeletonLow.set(this.rows, low)
  }

  setPost(high: number, low: number): void {
    this.postHigh.set(this.rows, high)
    this.postLow.set(this.rows, low)
  }

  /** Approximate size of the encoded block. */
  get bytes(): number {
    return this.rows * 64 + this.texts.used + this.parts.count * 2
  }

  /** Encodes the block and clears the builder. */
  encode(numbers: BlockNumbers): Uint8Array<ArrayBuffer> {
    const columns = this.present().map(({ name, type }) => ({ name, type, bytes: joined(this.encoder(name, numbers)()) }))
    const parts = columns.flatMap((column) => [text(column.name), text(column.type), column.bytes])
    const block = joined([varint(columns.length), varint(this.rows), ...parts])
    this.clear()
    return block
  }

  /** Encodes the rows of each day, without `seq` and `post`, which the writer adds, and clears the builder. */
  takeDays(owner: Pick<BlockNumbers, 'orgId' | 'logId'>): DayColumns[] {
    const numbers = { ...owner, firstSeq: 0n }
    const days = rowsByDay(this.days.values.subarray(0, this.rows))
    const taken = days.map(([day, rows]): DayColumns => ({ day, rows, columns: [] }))
    for (const { name, type } of this.present().filter(({ name }) => name !== 'seq' && name !== 'post')) {
      const encode = this.encoder(name, numbers)
      for (const { rows, columns } of taken) {
        const parts = encode(days.length === 1 ? undefined : rows)
        if (parts.length > 0) columns.push({ name, type, bytes: joined(parts) })
      }
    }
    this.clear()
    return taken
  }

  clear(): void {
    this.rows = 0
    this.texts.clear()
    for (const column of [this.shape, this.origin, this.more.keys, this.parts]) column.clear()
  }

  private present(): readonly { name: string; type: string }[] {
    return this.columns
      .filter(({ name }) => this.isPresent(name))
      .map(({ name, type }) => ({ name, type: this.slots.has(name) ? 'String' : type }))
  }

  private isPresent(name: string): boolean {
    if (name === 'more') return this.more.count > 0
    if (name === 'parts') return this.parts.count > 0
    if (name === 'raw') return this.raw.rows > 0
    return isSlot(name) ? (this.slots.get(name)?.rows ?? 0) > 0 : true
  }

  /**
   * Reads a column once, so that a post with events of many days takes as long as one of a single day. The encoder returns the parts of the encoded
   * column, or of some rows of it; none when it has no values for them. They are valid until another column is read.
   */
  private encoder(name: string, numbers: BlockNumbers): ColumnEncoder {
    const { rows } = this
    const perRow =
      (encode: (count: number, some: Uint32Array | undefined) => Uint8Array): ColumnEncoder =>
      (some) => [encode(some?.length ?? rows, some)]
    const wide = (low: NumberColumn, high: NumberColumn) => perRow((count, some) => wideNumbers(low.values, high.values, count, some))
    switch (name) {
      case 'org_id':
        return perRow((count) => asBytes(new Uint32Array(count).fill(numbers.orgId)))
      case 'log_id':
        return perRow((count) => Buffer.alloc(16 * count, uuid(numbers.logId)))
      case 'ts':
        return wide(this.timeLow, this.timeHigh)
      case 'seq':
        return perRow((count) => asBytes(BigUint64Array.from({ length: count }, (_, row) => numbers.firstSeq + BigInt(row))))
      case 'sev':
        return perRow((count, some) =>
          Uint8Array.from(some?.map((row) => this.severity.values[row] ?? 0) ?? this.severity.values.subarray(0, count)),
        )
      case 'skeleton':
        return wide(this.skeletonLow, this.skeletonHigh)
      case 'post':
        return wide(this.postLow, this.postHigh)
      case 'origin':
        return versioned(dictionaryEncoder(this.origin, this.origin.rows.values.subarray(0, rows)))
      case 'shape':
        return versioned(dictionaryEncoder(this.shape, this.shape.rows.values.subarray(0, rows)))
      case 'more':
        return this.moreEncoder()
      case 'parts':
        return this.partsEncoder()
      default:
        return textsEncoder((name === 'raw' ? this.raw : this.slots.get(name))?.encoded(rows) ?? [], rows)
    }
  }

  private moreEncoder(): ColumnEncoder {
    const { more } = this
    const keys = dictionaryEncoder(more.keys, more.keyOfEach())
    const ends = more.ends(this.rows)
    const values = textsEncoder(more.values(), more.count)
    return versioned(listEncoder(ends, (items) => [...keys(items), ...values(items)]))
  }

  private partsEncoder(): ColumnEncoder {
    const { parts, rows } = this
    parts.fill(rows)
    const ends = BigUint64Array.from(parts.ends.values.subarray(0, rows), BigInt)
    return versioned(listEncoder(ends, dictionaryEncoder(parts.texts, parts.texts.rows.values.subarray(0, parts.count))))
  }
}

/** Encodes all rows of a column, or some. */
type ColumnEncoder = (some?: Uint32Array) => readonly Uint8Array[]

/** The rows of each day in ascending order. */
function rowsByDay(days: Uint32Array): [day: number, rows: Uint32Array][] {
  const first = days[0]
  if (first === undefined) return []
  if (days.every((day) => day === first)) return [[first, days.map((_, row) => row)]]
  const rows = Map.groupBy(days.keys(), (row) => days[row] as number)
  return [...rows].map(([day, own]): [number, Uint32Array] => [day, Uint32Array.from(own)]).sort(([a], [b]) => a - b)
}

/** Encodes lists: the number of items at the end of each row, and the items. */
function listEncoder(ends: BigUint64Array, encodeItems: ColumnEncoder): ColumnEncoder {
  return (some) => {
    if (!some) return [asBytes(ends), ...encodeItems()]
    const { taken, items } = itemsOf(ends, some)
    return items.length === 0 ? [] : [asBytes(taken), ...encodeItems(items)]
  }
}

/** The number of items at the end of each row that is taken, and their items. */
function itemsOf(ends: BigUint64Array, some: Uint32Array): { taken: BigUint64Array; items: Uint32Array } {
  const items: number[] = []
  const taken = new BigUint64Array(some.length)
  for (const [at, row] of some.entries()) {
    for (let item = row === 0 ? 0 : Number(ends[row - 1]); item < Number(ends[row]); item += 1) items.push(item)
    taken[at] = BigInt(items.length)
  }
  return { taken, items: Uint32Array.from(items) }
}

/** Encodes a column of which the engine wants to know how its dictionary is written. */
function versioned(encode: ColumnEncoder): ColumnEncoder {
  return (some) => {
    const parts = encode(some)
    return parts.length === 0 ? parts : [u64(LOW_CARDINALITY_VERSION), ...parts]
  }
}

const isSlot = (name: string): boolean => /^[cs]\d/.test(name)

function textsEncoder(parts: readonly Uint8Array[], count: number): ColumnEncoder {
  let found: { bytes: Uint8Array; starts: Uint32Array } | undefined
  return (some) => {
    if (!some) return parts
    if (!found) {
      const bytes = joined(parts)
      found = { bytes, starts: startsOf(bytes, count) }
    }
    return selectTexts(found.bytes, found.starts, some)
  }
}

/** Encodes a dictionary and the indexes into it; for some rows, only those texts that they use. */
function dictionaryEncoder(column: DictionaryColumn, numbers: Uint32Array): ColumnEncoder {
  const all = [...column.distinct()]
  return (some) => {
    if (!some) return encodeIndexes(numbers, all)
    const used = new Map<number, number>()
    const renumbered = some.map((row) => {
      const number = numbers[row] ?? 0
      const known = used.get(number) ?? used.size
      used.set(number, known)
      return known
    })
    return encodeIndexes(
      renumbered,
      [...used.keys()].map((number) => all[number] ?? ''),
    )
  }
}

function encodeIndexes(numbers: Uint32Array, texts: readonly string[]): Uint8Array[] {
  const size = texts.length
  const [width, indexes] =
    size <= 2 ** 8 ? [0n, Uint8Array.from(numbers)] : size <= 2 ** 16 ? [1n, Uint16Array.from(numbers)] : [2n, numbers]
  return [u64(width | HAS_OWN_KEYS), u64(BigInt(size)), ...texts.map(text), u64(BigInt(numbers.length)), asBytes(indexes)]
}

/** Numbers of 64 bits in two halves, of all rows or of some. */
function wideNumbers(low: Uint32Array, high: Uint32Array, count: number, some: Uint32Array | undefined): Uint8Array {
  const halves = new Uint32Array(count * 2)
  for (let at = 0; at < count; at += 1) {
    const row = some ? (some[at] as number) : at
    halves[at * 2] = low[row] ?? 0
    halves[at * 2 + 1] = high[row] ?? 0
  }
  return asBytes(halves)
}

const asBytes = (array: Uint8Array | Uint16Array | Uint32Array | BigUint64Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

const u64 = (value: bigint): Uint8Array => asBytes(BigUint64Array.of(value))

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Uint8Array.of(...bytes, rest)
}

function text(value: string): Uint8Array {
  const bytes = Buffer.from(value, 'utf8')
  return Buffer.concat([varint(bytes.length), bytes])
}

/** UUIDs are stored as two 64-bit numbers in little-endian order. */
function uuid(written: string): Uint8Array {
  const bytes = Buffer.from(written.replaceAll('-', ''), 'hex')
  if (bytes.length !== 16) throw new Error(`${JSON.stringify(written)} is not a UUID`)
  return Buffer.concat([bytes.subarray(0, 8).toReversed(), bytes.subarray(8).toReversed()])
}
