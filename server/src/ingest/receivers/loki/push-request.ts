import { Failure } from '../../../kernel/errors.ts'
import type { Instant } from '../../../lines/time-text.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { LABELS_MAX } from './labels.ts'

export type LokiEntry = { time: Instant | undefined; line: Uint8Array; metadata: readonly Pair[]; refused: readonly Pair[] }

/** Bounds the memory of one push in a worker. The smallest parts take two bytes on the wire. */
const PARTS_MAX = 1_000_000

const levelNames: readonly string[] = ['level', 'detected_level', 'severity']
/** Labels that name the dataset, best first. */
const datasetNames: readonly string[] = ['service_name', 'app', 'job', 'container']

/** Collects the streams of a push. */
export class PushRequest {
  readonly #batches = new Batches()
  readonly #tenant: string | undefined
  #partsLeft = PARTS_MAX

  constructor(tenant: string | undefined) {
    this.#tenant = tenant
  }

  /** Counts a stream, an entry or a pair before it takes memory. */
  spend(): void {
    this.#partsLeft -= 1
    if (this.#partsLeft < 0) throw new Failure(413, `more than ${PARTS_MAX} streams, entries and labels in one push`)
  }

  /** Adds a stream. Its labels become attributes, the metadata of an entry keys. */
  add(labels: readonly Pair[], entries: readonly LokiEntry[]): void {
    const find = (names: readonly string[]): string | undefined =>
      names.map((name) => labels.findLast(([label]) => label === name)?.[1]).find((value) => value)
    const records = this.#batches.of({ collection: this.#tenant ?? find(['namespace']), dataset: find(datasetNames) })
    const shared = labels.slice(0, LABELS_MAX).map(([name, value]): Pair => [`$${name}`, value])
    if (labels.length > LABELS_MAX) shared.push(['$loki.dropped_labels', String(labels.length - LABELS_MAX)])
    const level = find(levelNames)
    for (const entry of entries) this.#batches.add(records, toRecord(entry, level), shared)
  }

  parsed(): ParsedBody {
    return this.#batches.parsed()
  }
}

function toRecord({ time, line, metadata, refused }: LokiEntry, streamLevel: string | undefined): ReceivedRecord {
  const level = levelIn(metadata) ?? streamLevel
  if (metadata.length <= LABELS_MAX) return { raw: line, time, level, keys: metadata, attributes: refused }
  const dropped: Pair = ['$loki.dropped_metadata', String(metadata.length - LABELS_MAX)]
  return { raw: line, time, level, keys: metadata.slice(0, LABELS_MAX), attributes: [...refused, dropped] }
}

/** The value of the best level name. Of two equal names the first counts. */
function levelIn(metadata: readonly Pair[]): string | undefined {
  let best = levelNames.length
  let level: string | undefined
  for (const pair of metadata) {
    const rank = levelNames.indexOf(pair[0])
    if (rank < 0 || rank >= best || pair[1] === '') continue
    best = rank
    level = pair[1]
  }
  return level
}
