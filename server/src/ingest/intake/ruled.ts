import type { ArrivingEvent, DatasetPlace } from '../../ingest-rules/arriving-event.ts'
import { isLine, type RuleChain, type RuleSelection, textOfEvent, type WaitingRule } from '../../ingest-rules/ingest-rules.ts'
import type { RuleRun } from '../../ingest-rules/rule-run.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { type FoundLists, type LiteralSearch, SEARCH_BYTES_MAX } from '../../lines/search/literal-search.ts'
import {
  type DatasetBatch,
  type Pair,
  type ReceivedEvents,
  type ReceivedRecord,
  type RuledTable,
  recordOfLine,
  recordsOf,
} from '../batch.ts'
import { arrivalOf, baseOf, type PostContext } from './arrivals.ts'
import { ArrivedEvent } from './arrived-event.ts'
import { BodyLines, endOfLine, searchable, splitLines } from './lines.ts'

/** A dataset with its rules at work, and the prefixes of its open maps. */
export type RuledDataset = {
  readonly chain: RuleChain
  readonly run: Pick<RuleRun, 'familyOf'>
  readonly place: DatasetPlace
  readonly open: ReadonlySet<string>
}

/** What the events of a batch share. */
type BatchFacts = RuledDataset & {
  readonly base: Arrival
  readonly moved: MovedRecords
  readonly waiting: WaitingRecords
}

/** The records that rules move to another dataset, by the rule that moves them. */
type MovedRecords = Map<string, { readonly to: DatasetPlace; readonly after: number; readonly records: ReceivedRecord[] }>

/** The records that wait until their traces are decided, by the rule that lets them wait. */
type WaitingRecords = Map<string, { readonly rule: WaitingRule; readonly records: ReceivedRecord[] }>

/** Records that wait, with the attributes that they share. */
export type WaitingBatch = { readonly rule: WaitingRule; readonly attributes: readonly Pair[]; readonly records: readonly ReceivedRecord[] }

/** Events that rules move to another dataset, to which the rules behind `after` apply. */
export type MovedBatch = { readonly batch: DatasetBatch & DatasetPlace; readonly after: number }

/** Applies the rules of a dataset to a batch, before anything else reads its lines. `more` are attributes from the request. */
export function applyRules(
  batch: DatasetBatch,
  dataset: RuledDataset,
  { common, more }: { common: PostContext; more: readonly Pair[] },
): { batch: DatasetBatch; moved: readonly MovedBatch[]; waiting: readonly WaitingBatch[] } {
  // Attributes of all events become those of each, if rules change them.
  const isShared = !dataset.chain.changesFields(batch.attributes)
  const attributes = isShared ? batch.attributes : NO_PAIRS
  const moved: MovedRecords = new Map()
  const waiting: WaitingRecords = new Map()
  const facts = { ...dataset, base: baseOf(attributes, common, more), moved, waiting }
  const events = isShared ? batch.events : { kind: 'records' as const, records: withAttributes(batch) }
  const ruled = { ...batch, attributes, events: ruledEvents(events, facts) }
  return {
    batch: ruled,
    moved: [...moved.values()].map(({ to, after, records }) => ({
      batch: { ...to, attributes, events: { kind: 'records', records } },
      after,
    })),
    waiting: [...waiting.values()].map((one) => ({ ...one, attributes })),
  }
}

const NO_PAIRS: readonly Pair[] = []

function ruledEvents(events: ReceivedEvents, facts: BatchFacts): ReceivedEvents {
  switch (events.kind) {
    case 'lines':
      return ruledBody(events.bytes, facts)
    case 'records':
      return { kind: 'records', records: events.records.flatMap((record) => ruledRecord(record, facts) ?? []) }
    case 'tables':
      return { ...events, ruled: events.tables.map((table) => ruledTable(table, facts)) }
  }
}

function move({ moved }: BatchFacts, { to, after }: { to: DatasetPlace; after: number }, record: ReceivedRecord): void {
  const key = `${after} ${to.collection} ${to.dataset}`
  const batch = moved.get(key) ?? { to, after, records: [] }
  batch.records.push(record)
  moved.set(key, batch)
}

function wait({ waiting }: BatchFacts, rule: WaitingRule, record: ReceivedRecord): void {
  const batch = waiting.get(rule.id) ?? { rule, records: [] }
  batch.records.push(record)
  waiting.set(rule.id, batch)
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** The number of bytes of lines that are checked at once, since most contain nothing that rules act on. */
const BLOCK_BYTES = 16_384

/** Searching a shorter body is not worth its preparation. */
const SEARCH_BYTES_MIN = 4_096
/** The number of bytes that are searched at once. */
const WINDOW_BYTES = 2 ** 20

/** The events that are left of a body. It is copied only if a rule acts on one of them. */
function ruledBody(bytes: Uint8Array, facts: BatchFacts): ReceivedEvents {
  const added = textOfAll(facts.base.attributes)
  const search = bytes.length < SEARCH_BYTES_MIN ? undefined : facts.chain.search(added)
  const lines = new RuledLines(bytes, added, facts)
  if (!search) lines.applyToBlocks(0, bytes.length)
  for (let start = 0; search && start < bytes.length; ) {
    const end = endOfLine(bytes, Math.min(start + WINDOW_BYTES, bytes.length))
    if (end - start > SEARCH_BYTES_MAX) lines.applyToBlocks(start, end)
    else lines.applyToFound(search, start, end)
    start = end + 1
  }
  return lines.rest.events()
}

/** Applies rules to the lines of a body. */
class RuledLines {
  readonly rest: RestOfBody
  readonly #bytes: Uint8Array
  readonly #source: Buffer
  readonly #added: string
  readonly #facts: BatchFacts

  constructor(bytes: Uint8Array, added: string, facts: BatchFacts) {
    this.#bytes = bytes
    this.#source = searchable(bytes)
    this.rest = new RestOfBody(bytes, this.#source)
    this.#added = added
    this.#facts = facts
  }

  /** Reads only the lines that a search finds. */
  applyToFound(search: LiteralSearch, start: number, end: number): void {
    const { chain } = this.#facts
    chain.noteSearched(end - start)
    let from = start
    for (const line of search.lines(this.#bytes.subarray(start, end))) {
      const [lineStart, lineEnd] = [start + line.start, start + line.end]
      if (lineStart > from) this.rest.keep(from, lineStart - 1)
      this.#applyToFound(search, line.found, lineStart, this.#bytes[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd)
      from = lineEnd + 1
    }
    if (from < end) this.rest.keep(from, end)
  }

  /** Reads blocks of lines, and the lines of those on which rules may act. */
  applyToBlocks(start: number, end: number): void {
    const { chain } = this.#facts
    const lines = new BodyLines(this.#bytes.subarray(0, end))
    if (start > 0) lines.skipTo(start - 1)
    let blockEnd = start
    let ofBlock: RuleSelection = []
    while (lines.advance()) {
      if (lines.start >= blockEnd) {
        blockEnd = endOfLine(this.#bytes, Math.min(lines.start + BLOCK_BYTES, end))
        ofBlock = chain.select(this.#source.toString('utf8', lines.start, blockEnd) + this.#added)
        if (!ofBlock.includes(true)) {
          this.rest.keep(lines.start, blockEnd)
          lines.skipTo(blockEnd)
          continue
        }
      }
      const event = this.#eventAt(lines.start, lines.end)
      this.#applyTo(event, lines, { selected: chain.select(textOfEvent(event, this.#added), ofBlock) })
    }
  }

  #applyToFound(search: LiteralSearch, found: FoundLists, start: number, end: number): void {
    const event = this.#eventAt(start, end)
    this.#applyTo(event, { start, end }, { selected: this.#facts.chain.selectFound(found, event, this.#added), search, found })
  }

  #eventAt(start: number, end: number): ArrivingEvent {
    return { line: this.#bytes.subarray(start, end), keys: NO_PAIRS, attributes: NO_PAIRS }
  }

  #applyTo(
    event: ArrivingEvent,
    { start, end }: KeptLines,
    { selected, ...searched }: { selected: RuleSelection; search?: LiteralSearch; found?: FoundLists },
  ): void {
    const facts = this.#facts
    const { chain, base } = facts
    const added = this.#added
    const read = (one: ArrivingEvent) => new ArrivedEvent(one.line, arrivalOf(recordOfEvent(one), base), facts)
    const result = selected.includes(true) ? chain.apply<ArrivingEvent>(event, read, { selected, added, ...searched }) : KEPT
    if (result.kind === 'kept') this.rest.keep(start, end)
    else if (result.kind === 'changed') this.rest.add(result.event)
    else {
      this.rest.leaveOut()
      if (result.kind === 'moved') move(facts, result, recordOfEvent(result.event))
      if (result.kind === 'waiting') wait(facts, result.rule, recordOfEvent(result.event))
    }
  }
}

/** Lines of a body between two positions. */
type KeptLines = { readonly start: number; readonly end: number }

/** Collects what is left of a body. It stays a body, unless an event has more than its line. */
class RestOfBody {
  readonly #bytes: Uint8Array
  readonly #source: Buffer
  readonly #pieces: (KeptLines | Uint8Array | ReceivedRecord)[] = []
  #isChanged = false
  #hasRecords = false
  #length = 0
  // The lines since #from are left as they are.
  #from = 0
  #to = 0

  constructor(bytes: Uint8Array, source: Buffer) {
    this.#bytes = bytes
    this.#source = source
  }

  /** Keeps the lines between two positions. */
  keep(start: number, end: number): void {
    if (this.#from === this.#to) this.#from = start
    this.#to = end
  }

  /** Leaves out the line that follows. */
  leaveOut(): void {
    if (this.#to > this.#from) {
      this.#pieces.push({ start: this.#from, end: this.#to })
      this.#length += this.#to - this.#from + 1
    }
    this.#isChanged = true
    this.#from = this.#to
  }

  add(event: ArrivingEvent): void {
    this.leaveOut()
    const isWhole = isLine(event)
    if (!isWhole) this.#hasRecords = true
    this.#pieces.push(isWhole ? event.line : recordOfEvent(event))
    this.#length += event.line.length + 1
  }

  events(): ReceivedEvents {
    if (!this.#isChanged) return { kind: 'lines', bytes: this.#bytes }
    this.leaveOut()
    return this.#hasRecords ? { kind: 'records', records: this.#records() } : { kind: 'lines', bytes: this.#joined() }
  }

  /** The lines, each with its end. A body has thousands of pieces, so that they are copied by position. */
  #joined(): Buffer {
    const joined = Buffer.allocUnsafe(this.#length)
    let at = 0
    for (const piece of this.#pieces) {
      if ('raw' in piece) continue
      if ('start' in piece) at += this.#source.copy(joined, at, piece.start, piece.end)
      else {
        joined.set(piece, at)
        at += piece.length
      }
      joined[at] = LINE_FEED
      at += 1
    }
    return joined
  }

  #records(): ReceivedRecord[] {
    const records: ReceivedRecord[] = []
    for (const piece of this.#pieces) {
      if ('raw' in piece) records.push(piece)
      else {
        const lines = 'start' in piece ? this.#bytes.subarray(piece.start, piece.end) : piece
        for (const line of splitLines(lines)) records.push(recordOfLine(line))
      }
    }
    return records
  }
}

const KEPT = { kind: 'kept' } as const

/** Undefined for a record that a rule drops or moves. */
function ruledRecord(record: ReceivedRecord, facts: BatchFacts): ReceivedRecord | undefined {
  const { chain, base } = facts
  const { raw: line, level, keys, attributes } = record
  const changed = (event: ArrivingEvent): ReceivedRecord => ({
    ...record,
    raw: event.line,
    level: event.level,
    keys: event.keys,
    attributes: event.attributes,
  })
  const event: ArrivingEvent = { line, level, keys, attributes }
  const added = textOfAll(base.attributes)
  const selected = chain.select(textOfEvent(event, added))
  if (!selected.includes(true)) return record
  const read = (one: ArrivingEvent) => new ArrivedEvent(one.line, arrivalOf(changed(one), base), facts)
  const result = chain.apply(event, read, { selected, added })
  if (result.kind === 'dropped') return undefined
  if (result.kind === 'kept') return record
  const left = changed(result.event)
  if (result.kind === 'waiting') {
    wait(facts, result.rule, left)
    return undefined
  }
  if (result.kind !== 'moved') return left
  move(facts, result, left)
  return undefined
}

/** The text that each event has for the attributes of all. */
const textOfAll = (attributes: Arrival['attributes']): string => attributes.map(({ path, text }) => `\n${path}\n${text}`).join('')

function ruledTable(table: { count: number; at(record: number): ReceivedRecord }, facts: BatchFacts): RuledTable {
  const dropped = new Set<number>()
  const changed = new Map<number, ReceivedRecord>()
  for (let at = 0; at < table.count; at += 1) {
    const record = table.at(at)
    const ruled = ruledRecord(record, facts)
    if (ruled === undefined) dropped.add(at)
    else if (ruled !== record) changed.set(at, ruled)
  }
  return { dropped, changed }
}

/** The records of a batch, each with the attributes of the batch. */
function withAttributes({ events, attributes }: DatasetBatch): ReceivedRecord[] {
  const records = events.kind === 'lines' ? Array.from(splitLines(events.bytes), recordOfLine) : [...recordsOf(events)]
  return records.map((record) => ({ ...record, attributes: [...attributes, ...record.attributes] }))
}

const recordOfEvent = ({ line, level, keys, attributes }: ArrivingEvent): ReceivedRecord => ({
  raw: line,
  time: undefined,
  level,
  keys,
  attributes,
})

/** True when nothing of a batch is left. */
export function isEmpty({ events }: DatasetBatch): boolean {
  if (events.kind === 'lines') return events.bytes.length === 0
  if (events.kind === 'records') return events.records.length === 0
  return events.tables.every(({ count }, at) => count === (events.ruled?.[at]?.dropped.size ?? 0))
}
