import { Failure } from '../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../lines/event.ts'
import { parseTime } from '../../lines/time-text.ts'
import type { DatasetBatch, Pair, ParsedBody, ReceivedRecord } from '../batch.ts'

/** RECORDS_MAX and WEIGHT_MAX bound the memory and time of one post in a worker. A pair that many records share weighs 1. */
export const RECORDS_MAX = 200_000
const WEIGHT_MAX = 8_000_000
const OWN_WEIGHT = 8

export type RecordRoute = Pick<DatasetBatch, 'collection' | 'dataset'>

type RoutedBatch = RecordRoute & { records: ReceivedRecord[] }

/** Collects the events of a post by dataset, within its limits. */
export class Batches {
  readonly #batches = new Map<string, RoutedBatch>()
  readonly #byDataset = new Map<string, ReceivedRecord[]>()
  /** Events of one dataset often follow one another. */
  #last: RoutedBatch | undefined
  #total = 0
  #weight = 0

  get total(): number {
    return this.#total
  }

  /** The records of a dataset; add() fills them. */
  of({ collection, dataset }: RecordRoute): ReceivedRecord[] {
    if (this.#last === undefined || this.#last.dataset !== dataset || this.#last.collection !== collection) {
      const key = JSON.stringify([collection, dataset])
      this.#last = this.#batches.get(key) ?? { collection, dataset, records: [] }
      this.#batches.set(key, this.#last)
    }
    return this.#last.records
  }

  /** The same for protocols that name no collection. */
  ofDataset(dataset: string | undefined): ReceivedRecord[] {
    const known = this.#byDataset.get(dataset ?? '')
    if (known) return known
    const records = this.of({ collection: undefined, dataset })
    this.#byDataset.set(dataset ?? '', records)
    return records
  }

  /** Adds a record. `shared` pairs come before its own attributes, which take precedence. */
  add(records: ReceivedRecord[], record: ReceivedRecord, shared: readonly Pair[] = []): void {
    if (this.#total === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} events in one post`)
    this.#total += 1
    this.#weight += shared.length + (record.keys.length + record.attributes.length) * OWN_WEIGHT
    if (this.#weight > WEIGHT_MAX) throw new Failure(413, 'more values than one post may have')
    if (shared.length > 0) record.attributes = record.attributes.length === 0 ? shared : [...shared, ...record.attributes]
    records.push(record)
  }

  parsed(): ParsedBody {
    const filled = [...this.#batches.values()].filter(({ records }) => records.length > 0)
    const batches = filled.map(
      ({ records, ...route }): DatasetBatch => ({ ...route, attributes: [], events: { kind: 'records', records } }),
    )
    return { batches, rejected: [], total: this.#total }
  }
}

/** The time of a text in any notation, and the attribute that keeps a text which is none. */
export function timeOf(text: string | undefined): { time: ReceivedRecord['time']; refused: readonly Pair[] } {
  if (text === undefined || text === '') return { time: undefined, refused: NONE }
  const time = parseTime(text)
  return { time, refused: time ? NONE : [[ORIGINAL_TIME, text]] }
}

const NONE: readonly Pair[] = []
