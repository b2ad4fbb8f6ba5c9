import { Failure } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import { NOTHING_SHARED, type RecordTable, type SharedFields } from '../../../lines/shredder/record-table.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { LABELS_MAX } from './labels.ts'

/** Bounds the memory of one push in a worker. The smallest parts take two bytes on the wire. */
const PARTS_MAX = 1_000_000

const levelNames: readonly string[] = ['level', 'detected_level', 'severity']
/** Labels that name the dataset, best first. */
const datasetNames: readonly string[] = ['service_name', 'app', 'job', 'container']

/** A stream: where its records go, and what they share. */
type Stream = { readonly table: RecordTable; readonly shared: SharedFields; readonly level: string | undefined }

/** Collects the streams of a push. The entry that is being read is in the draft of the batches. */
export class PushRequest {
  readonly batches: Batches
  readonly #tenant: string | undefined
  #partsLeft = PARTS_MAX
  #stream: Stream | undefined
  /** The best level among the metadata of the entry. */
  #level: string | undefined
  #levelRank = levelNames.length
  #dropped = 0

  constructor(tenant: string | undefined, body: Uint8Array, isText: boolean) {
    this.#tenant = tenant
    this.batches = new Batches(body, isText)
  }

  /** Counts a stream, an entry or a pair before it takes memory. */
  spend(): void {
    this.#partsLeft -= 1
    if (this.#partsLeft < 0) throw new Failure(413, `more than ${PARTS_MAX} streams, entries and labels in one push`)
  }

  /** Begins a stream. Its labels become attributes, the metadata of an entry keys. */
  begin(labels: readonly Pair[]): void {
    this.#stream = this.#streamOf(labels)
  }

  #streamOf(labels: readonly Pair[]): Stream {
    const find = (names: readonly string[]): string | undefined =>
      names.map((name) => labels.findLast(([label]) => label === name)?.[1]).find((value) => value)
    const table = this.batches.of({ collection: this.#tenant ?? find(['namespace']), dataset: find(datasetNames) })
    const pairs = labels.slice(0, LABELS_MAX).map(([name, value]): Pair => [`$${name}`, value])
    if (labels.length > LABELS_MAX) pairs.push(['$loki.dropped_labels', String(labels.length - LABELS_MAX)])
    return { table, shared: pairs.length === 0 ? NOTHING_SHARED : { pairs }, level: find(levelNames) }
  }

  beginEntry(): void {
    this.batches.draft.clear()
    this.beginMetadata()
  }

  beginMetadata(): void {
    this.batches.draft.keys.count = 0
    this.#level = undefined
    this.#levelRank = levelNames.length
    this.#dropped = 0
  }

  /** Adds metadata from a part of the body. */
  addAt(name: string, start: number, end: number): void {
    if (this.#hasSpace()) this.batches.draft.keys.add(name, start, end)
    const rank = levelNames.indexOf(name)
    if (rank >= 0) this.#noteLevel(rank, this.batches.memory.text(start, end))
  }

  addText(name: string, text: string): void {
    if (this.#hasSpace()) this.batches.draft.keys.addText(name, text)
    this.#noteLevel(levelNames.indexOf(name), text)
  }

  #hasSpace(): boolean {
    if (this.batches.draft.keys.count < LABELS_MAX) return true
    this.#dropped += 1
    return false
  }

  /** Of two equal names the first counts. */
  #noteLevel(rank: number, text: string): void {
    if (rank < 0 || rank >= this.#levelRank || text === '') return
    this.#levelRank = rank
    this.#level = text
  }

  endEntry(refused?: string): void {
    const { draft } = this.batches
    if (!this.#stream) throw new Error('an entry has no stream')
    const { table, shared, level } = this.#stream
    draft.setLevel(this.#level ?? level)
    if (refused !== undefined) draft.attributes.addText(ORIGINAL_TIME, refused)
    if (this.#dropped > 0) draft.attributes.addText('$loki.dropped_metadata', String(this.#dropped))
    this.batches.take(table, shared)
  }

  parsed(): ParsedBody {
    return this.batches.parsed()
  }
}
