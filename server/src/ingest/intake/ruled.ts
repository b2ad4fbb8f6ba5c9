import type { ArrivingEvent, RuleChain, RuleSelection } from '../../ingest-rules/ingest-rules.ts'
import type { Arrival } from '../../lines/reference/event.ts'
import { type EventValues, readValues } from '../../lines/reference/reference.ts'
import { toNs } from '../../lines/values/time-text.ts'
import type { MatchableEvent } from '../../query/matchable-event.ts'
import { type DatasetBatch, type Pair, type ReceivedEvents, type ReceivedRecord, type RuledTable, recordsOf } from '../batch.ts'
import { messageReader } from '../detect/message-reader.ts'
import { arrivalOf, baseOf, detectedIn, isObject, type PostContext } from './arrivals.ts'
import { BodyLines, endOfLine, searchable, splitLines } from './lines.ts'
import type { DatasetRules } from './worker-messages.ts'

/** What the events of a batch share. */
type BatchFacts = { readonly chain: RuleChain; readonly base: Arrival; readonly place: Pick<DatasetRules, 'collection' | 'dataset'> }

/** Applies the rules of a dataset to a batch, before anything else reads its lines. `more` are attributes from the request. */
export function applyRules(
  batch: DatasetBatch,
  chain: RuleChain,
  { common, more, place }: { common: PostContext; more: readonly Pair[]; place: BatchFacts['place'] },
): DatasetBatch {
  // Attributes of all events become those of each, if rules change them.
  const isShared = !chain.changesFields(batch.attributes)
  const attributes = isShared ? batch.attributes : NO_PAIRS
  const facts = { chain, base: baseOf(attributes, common, more), place }
  const events = isShared ? batch.events : { kind: 'records' as const, records: withAttributes(batch) }
  return { ...batch, attributes, events: ruledEvents(events, facts) }
}

const NO_PAIRS: readonly Pair[] = []

function ruledEvents(events: ReceivedEvents, facts: BatchFacts): ReceivedEvents {
  switch (events.kind) {
    case 'lines':
      return { kind: 'lines', bytes: ruledBody(events.bytes, facts) }
    case 'records':
      return { kind: 'records', records: events.records.flatMap((record) => ruledRecord(record, facts) ?? []) }
    case 'tables':
      return { ...events, ruled: events.tables.map((table) => ruledTable(table, facts)) }
  }
}

const LINE_FEED = Buffer.from('\n')
/** The number of bytes of lines that are checked at once, since most contain nothing that rules act on. */
const BLOCK_BYTES = 16_384

/** The body with the lines that are left. It is copied only if a rule acts on one of them. */
function ruledBody(bytes: Uint8Array, { chain, base, place }: BatchFacts): Uint8Array {
  const lines = new BodyLines(bytes)
  const source = searchable(bytes)
  const added = base.attributes.map(({ text }) => `\n${text}`).join('')
  const read = ({ line }: ArrivingEvent) => new ArrivedEvent(line, base, place)
  const pieces: Uint8Array[] = []
  let isChanged = false
  let blockEnd = 0
  let ofBlock: RuleSelection = []
  // The lines since `from` are left as they are.
  let [from, to] = [0, 0]
  const flush = () => {
    if (to > from) pieces.push(bytes.subarray(from, to), LINE_FEED)
  }
  while (lines.advance()) {
    const { start, end } = lines
    if (start >= blockEnd) {
      blockEnd = endOfLine(bytes, Math.min(start + BLOCK_BYTES, bytes.length))
      ofBlock = chain.select(source.toString('utf8', start, blockEnd) + added)
      if (!ofBlock.includes(true)) {
        if (from === to) from = start
        to = blockEnd
        lines.skipTo(blockEnd)
        continue
      }
    }
    const selected = chain.select(source.toString('utf8', start, end) + added, ofBlock)
    const event = { line: bytes.subarray(start, end), keys: NO_PAIRS, attributes: NO_PAIRS }
    const result = selected.includes(true) ? chain.apply<ArrivingEvent>(event, read, selected) : KEPT
    if (result.kind === 'kept') {
      if (from === to) from = start
      to = end
      continue
    }
    flush()
    isChanged = true
    from = end
    to = end
    if (result.kind === 'changed') pieces.push(result.event.line, LINE_FEED)
  }
  flush()
  return isChanged ? Buffer.concat(pieces) : bytes
}

const KEPT = { kind: 'kept' } as const

/** Undefined for a record that a rule drops. */
function ruledRecord(record: ReceivedRecord, { chain, base, place }: BatchFacts): ReceivedRecord | undefined {
  const { raw: line, level, keys, attributes } = record
  const changed = (event: ArrivingEvent): ReceivedRecord => ({
    ...record,
    raw: event.line,
    level: event.level,
    keys: event.keys,
    attributes: event.attributes,
  })
  const texts = [
    searchable(line).toString('utf8'),
    level ?? '',
    ...keys.map(textOf),
    ...attributes.map(textOf),
    ...base.attributes.map(({ text }) => text),
  ]
  const selected = chain.select(texts.join('\n'))
  if (!selected.includes(true)) return record
  const result = chain.apply<ArrivingEvent>(
    { line, level, keys, attributes },
    (event) => new ArrivedEvent(event.line, arrivalOf(changed(event), base), place),
    selected,
  )
  if (result.kind === 'dropped') return undefined
  return result.kind === 'kept' ? record : changed(result.event)
}

const textOf = ([, text]: Pair): string => text

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

const recordOfLine = (raw: Uint8Array): ReceivedRecord => ({ raw, time: undefined, level: undefined, keys: [], attributes: [] })

/** True when nothing of a batch is left. */
export function isEmpty({ events }: DatasetBatch): boolean {
  if (events.kind === 'lines') return events.bytes.length === 0
  if (events.kind === 'records') return events.records.length === 0
  return events.tables.every(({ count }, at) => count === (events.ruled?.[at]?.dropped.size ?? 0))
}

/** An event that is not stored yet, as filters see it. Its values are read when a filter needs them. */
class ArrivedEvent implements MatchableEvent {
  readonly seq = 0n
  readonly skeleton = 0n
  readonly collection: string
  readonly dataset: string
  readonly #line: Uint8Array
  readonly #arrival: Arrival
  #raw: string | undefined
  #values: EventValues | undefined

  constructor(line: Uint8Array, arrival: Arrival, { collection, dataset }: BatchFacts['place']) {
    this.#line = line
    this.#arrival = arrival
    this.collection = collection
    this.dataset = dataset
  }

  get raw(): string {
    const { buffer, byteOffset, length } = this.#line
    this.#raw ??= Buffer.from(buffer, byteOffset, length).toString('utf8')
    return this.#raw
  }

  get leaves(): ReadonlyMap<string, string> {
    return this.#read().leaves
  }

  get timeNs(): bigint {
    return toNs(this.#read().time)
  }

  get severity(): string {
    return this.#read().severity
  }

  get origin(): string {
    return this.#arrival.origin
  }

  #read(): EventValues {
    const line = this.#line
    const found = isObject(line) ? undefined : detectedIn(line, this.#arrival.at)
    this.#values ??= readValues(line, this.#arrival, { found, messages: messageReader })
    return this.#values
  }
}
