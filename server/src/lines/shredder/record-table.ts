import { QUOTE } from '../reference/walk.ts'
import { type Severity, severityOfWord } from '../values/severity.ts'
import type { TextMemory } from './text-memory.ts'

type Field = readonly [name: string, text: string]

/** The parts that many records of a post have in common. `pairs` may be filled after the records were added. */
export type SharedFields = { pairs: readonly Field[]; readonly zone?: string | undefined; readonly origin?: string | undefined }
export const NOTHING_SHARED: SharedFields = { pairs: [] }

/** The level of a record, as its protocol names it. */
export type RecordLevel = { readonly text: string; readonly severity: Severity | undefined }

/** The names of the fields of a record in order. Records of one program share few of them. */
export type FieldNames = {
  readonly shared: SharedFields
  readonly keys: readonly string[]
  readonly attributes: readonly string[]
  readonly saysLevel: boolean
}

/** A record of a table as an object. */
type RecordOfTable = {
  raw: Uint8Array
  time: { ms: number; ns: number } | undefined
  timeText?: string
  level: string | undefined
  keys: readonly Field[]
  attributes: readonly Field[]
  zone?: string
  origin?: string
}

const FIRST_FIELDS = 32
const LEVEL = 'level'
const LEVELS_MAX = 256
/** So many records tell how large the others are. */
const LIKE_OTHERS = 64
const MARGIN = 1.1
/** Bounds what a body reserves whose first records are much smaller than the others. */
const GROWTH_MAX = 8
/** Bounds the search for names with one hash. */
const EQUAL_HASHES_MAX = 8

/** The fields of one record, collected in order. */
export class FieldDraft {
  count = 0
  readonly paths: string[] = []
  starts = new Int32Array(FIRST_FIELDS)
  ends = new Int32Array(FIRST_FIELDS)
  readonly #memory: TextMemory

  constructor(memory: TextMemory) {
    this.#memory = memory
  }

  /** Adds a part of the body. */
  add(path: string, start: number, end: number): void {
    const memory = this.#memory
    if (memory.isStorable(start, end)) this.place(path, start, end)
    else this.addText(path, memory.text(start, end))
  }

  addText(path: string, text: string): void {
    const start = this.#memory.put(text)
    this.place(path, start, this.#memory.end)
  }

  /** Adds a text that is in the memory already. */
  place(path: string, start: number, end: number): void {
    const { count } = this
    if (count === this.starts.length) {
      this.starts = grown(this.starts)
      this.ends = grown(this.ends)
    }
    this.paths[count] = path
    this.starts[count] = start
    this.ends[count] = end
    this.count = count + 1
  }

  /** The fields as texts. */
  pairs(): Field[] {
    return this.paths.slice(0, this.count).map((path, at) => [path, this.#memory.text(this.starts[at] as number, this.ends[at] as number)])
  }

  has(path: string): boolean {
    for (let at = 0; at < this.count; at += 1) if (this.paths[at] === path) return true
    return false
  }
}

/** The record that a receiver is reading. One object serves all records of a post. */
export class RecordDraft {
  readonly memory: TextMemory
  /** Message keys in addition to the line. */
  readonly keys: FieldDraft
  /** Their names begin with `$`. */
  readonly attributes: FieldDraft
  rawStart = 0
  rawEnd = 0
  /** True for a line that certainly contains no quote. */
  isUnquoted = false
  /** The time from the protocol, NaN for none. */
  ms = Number.NaN
  ns = 0
  /** Where that time is written, at the same place for one that is nowhere. */
  timeStart = 0
  timeEnd = 0
  level: RecordLevel | undefined
  private readonly levels = new Map<string, RecordLevel>()

  constructor(memory: TextMemory) {
    this.memory = memory
    this.keys = new FieldDraft(memory)
    this.attributes = new FieldDraft(memory)
  }

  /** Begins the next record. */
  clear(): void {
    this.keys.count = 0
    this.attributes.count = 0
    this.rawStart = 0
    this.rawEnd = 0
    this.isUnquoted = false
    this.ms = Number.NaN
    this.timeStart = 0
    this.timeEnd = 0
    this.level = undefined
  }

  /** Sets the line to a part of the body. */
  setRawAt(start: number, end: number, isUnquoted = false): void {
    this.rawStart = start
    this.rawEnd = end
    this.isUnquoted = isUnquoted
  }

  /** Removes a byte from the end of the line. */
  trimRaw(byte: number): void {
    const { rawStart, rawEnd, memory } = this
    if (rawStart === rawEnd) return
    if (rawStart >= 0 && memory.body[rawEnd - 1] === byte) this.rawEnd -= 1
    else if (rawStart < 0 && memory.own[-1 - rawEnd - 1] === byte) this.rawEnd += 1
  }

  setRaw(bytes: Uint8Array): void {
    this.rawStart = this.memory.putBytes(bytes)
    this.rawEnd = this.memory.end
    this.isUnquoted = false
  }

  setLevel(text: string | undefined): void {
    this.level = text === undefined ? undefined : this.levelOf(text)
  }

  private levelOf(text: string): RecordLevel {
    const known = this.levels.get(text)
    if (known) return known
    const level = { text, severity: severityOfWord(text) }
    if (this.levels.size >= LEVELS_MAX) this.levels.clear()
    this.levels.set(text, level)
    return level
  }

  setTime(time: { readonly ms: number; readonly ns: number } | undefined): void {
    this.ms = time ? time.ms : Number.NaN
    this.ns = time ? time.ns : 0
  }

  /** Keeps the text of the time. */
  setTimeText(text: string): void {
    this.timeStart = this.memory.put(text)
    this.timeEnd = this.memory.end
  }

  /** Takes over a record that was read as an object. */
  copy({ raw, time, timeText, level, keys, attributes }: RecordOfTable): void {
    this.clear()
    this.setRaw(raw)
    this.setTime(time)
    if (timeText !== undefined) this.setTimeText(timeText)
    this.setLevel(level)
    for (const [path, text] of keys) this.keys.addText(path, text)
    for (const [path, text] of attributes) this.attributes.addText(path, text)
  }
}

/**
 * The records of one dataset of a post, in columns: no record is an object while it waits for its split. The texts of fields are positions in the memory
 * of the post; the names of the fields are a list that many records share.
 */
export class RecordTable {
  readonly memory: TextMemory
  count = 0
  rawStarts = new Int32Array(FIRST_FIELDS)
  rawEnds = new Int32Array(FIRST_FIELDS)
  ms = new Float64Array(FIRST_FIELDS)
  ns = new Int32Array(FIRST_FIELDS)
  timeStarts = new Int32Array(FIRST_FIELDS)
  timeEnds = new Int32Array(FIRST_FIELDS)
  /** The place of a record's first field among all fields. */
  firsts = new Int32Array(FIRST_FIELDS)
  readonly names: FieldNames[] = []
  readonly levels: (RecordLevel | undefined)[] = []
  /** 1 for a record whose level is not among its fields or in its line, and becomes a field of its own. */
  addsLevel = new Uint8Array(FIRST_FIELDS)
  starts = new Int32Array(FIRST_FIELDS)
  ends = new Int32Array(FIRST_FIELDS)
  private fields = 0
  private readonly known = new Map<number, FieldNames[]>()
  private last: FieldNames | undefined

  constructor(memory: TextMemory) {
    this.memory = memory
  }

  add(draft: RecordDraft, shared: SharedFields = NOTHING_SHARED): void {
    const { count } = this
    if (count === this.ms.length) this.growRecords()
    const { keys, attributes, level } = draft
    const names = this.namesOf(shared, keys, attributes)
    this.rawStarts[count] = draft.rawStart
    this.rawEnds[count] = draft.rawEnd
    this.ms[count] = draft.ms
    this.ns[count] = draft.ns
    this.timeStarts[count] = draft.timeStart
    this.timeEnds[count] = draft.timeEnd
    this.firsts[count] = this.fields
    this.names.push(names)
    this.levels.push(level)
    this.addsLevel[count] = level !== undefined && !names.saysLevel && !this.rawSaysLevel(draft) ? 1 : 0
    this.addFields(keys)
    this.addFields(attributes)
    this.count = count + 1
  }

  raw(record: number): Uint8Array {
    return this.memory.bytes(this.rawStarts[record] as number, this.rawEnds[record] as number)
  }

  at(record: number): RecordOfTable {
    const { shared, keys, attributes } = this.names[record] as FieldNames
    const { memory, starts, ends } = this
    const first = this.firsts[record] as number
    const textAt = (field: number): string => memory.text(starts[field] as number, ends[field] as number)
    const own = attributes.map((name, at): Field => [name, textAt(first + keys.length + at)])
    const ms = this.ms[record] as number
    const [timeStart, timeEnd] = [this.timeStarts[record] as number, this.timeEnds[record] as number]
    return {
      raw: this.raw(record),
      time: Number.isNaN(ms) ? undefined : { ms, ns: this.ns[record] as number },
      ...(timeStart !== timeEnd && { timeText: memory.text(timeStart, timeEnd) }),
      level: this.levels[record]?.text,
      keys: keys.map((name, at): Field => [name, textAt(first + at)]),
      attributes: own.length === 0 ? shared.pairs : [...shared.pairs, ...own],
      ...(shared.zone !== undefined && { zone: shared.zone }),
      ...(shared.origin !== undefined && { origin: shared.origin }),
    }
  }

  private addFields({ count, starts, ends }: FieldDraft): void {
    while (this.fields + count > this.starts.length) {
      const size = this.sizeFor(this.starts.length)
      this.starts = grown(this.starts, size)
      this.ends = grown(this.ends, size)
    }
    for (let at = 0; at < count; at += 1) {
      this.starts[this.fields + at] = starts[at] as number
      this.ends[this.fields + at] = ends[at] as number
    }
    this.fields += count
  }

  private namesOf(shared: SharedFields, keys: FieldDraft, attributes: FieldDraft): FieldNames {
    if (this.last && isOf(this.last, shared, keys, attributes)) return this.last
    if (this.last?.shared !== shared) this.known.clear()
    const hash = hashOf(keys, hashOf(attributes, 0))
    let candidates = this.known.get(hash)
    if (!candidates) {
      candidates = []
      this.known.set(hash, candidates)
    }
    let names = candidates.findLast((one) => isOf(one, shared, keys, attributes))
    if (!names) {
      const [own, said] = [keys.paths.slice(0, keys.count), attributes.paths.slice(0, attributes.count)]
      names = { shared, keys: own, attributes: said, saysLevel: own.includes(LEVEL) }
      if (candidates.length < EQUAL_HASHES_MAX) candidates.push(names)
    }
    this.last = names
    return names
  }

  /** True when the line contains the level, as a key of JSON. */
  private rawSaysLevel({ rawStart: start, rawEnd: end, isUnquoted }: RecordDraft): boolean {
    if (isUnquoted) return false
    const { memory } = this
    const [bytes, from, to] = start < 0 ? [memory.own, -1 - start, -1 - end] : [memory.body, start, end]
    for (let at = from; at < to; at += 1) {
      if (bytes[at] !== QUOTE) continue
      return Buffer.from(bytes.buffer, bytes.byteOffset + at, to - at).includes('"level"')
    }
    return false
  }

  /** The size for columns that are full: as much as the rest of the body will need if it is like its beginning. */
  private sizeFor(full: number): number {
    const read = this.rawEnds[this.count - 1] ?? 0
    if (this.count < LIKE_OTHERS || read <= 0) return full * 2
    return Math.min(Math.max(full * 2, Math.ceil((full * this.memory.body.length * MARGIN) / read)), full * GROWTH_MAX)
  }

  private growRecords(): void {
    const size = this.sizeFor(this.count)
    this.rawStarts = grown(this.rawStarts, size)
    this.rawEnds = grown(this.rawEnds, size)
    this.ns = grown(this.ns, size)
    this.timeStarts = grown(this.timeStarts, size)
    this.timeEnds = grown(this.timeEnds, size)
    this.firsts = grown(this.firsts, size)
    const ms = new Float64Array(size)
    ms.set(this.ms)
    this.ms = ms
    const addsLevel = new Uint8Array(size)
    addsLevel.set(this.addsLevel)
    this.addsLevel = addsLevel
  }
}

function isOf(names: FieldNames, shared: SharedFields, keys: FieldDraft, attributes: FieldDraft): boolean {
  return names.shared === shared && isSameList(names.keys, keys) && isSameList(names.attributes, attributes)
}

/** Equal names of one post are mostly one string, which is compared by its address. */
function isSameList(names: readonly string[], { paths, count }: FieldDraft): boolean {
  if (names.length !== count) return false
  for (let at = 0; at < count; at += 1) if (names[at] !== paths[at]) return false
  return true
}

function hashOf({ paths, count }: FieldDraft, seed: number): number {
  let hash = seed ^ count
  for (let field = 0; field < count; field += 1) {
    const path = paths[field] as string
    for (let at = 0; at < path.length; at += 1) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193)
  }
  return hash
}

function grown(old: Int32Array<ArrayBuffer>, size = old.length * 2): Int32Array<ArrayBuffer> {
  const array = new Int32Array(size)
  array.set(old)
  return array
}
