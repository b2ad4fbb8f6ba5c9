import { Failure } from '../../kernel/errors.ts'
import type { DatasetBatch, ReceivedRecord } from '../batch.ts'

/** RECORDS_MAX and VALUES_MAX bound the memory of one post in a worker. */
export const RECORDS_MAX = 500_000
export const VALUES_MAX = 1_000_000

type Route = Pick<DatasetBatch, 'collection' | 'dataset'>

/** Collects the records of one post by dataset. */
export class RoutedRecords {
  readonly #byDataset = new Map<string, { place: Route; records: ReceivedRecord[] }>()
  #total = 0
  #valuesLeft = VALUES_MAX

  get total(): number {
    return this.#total
  }

  add(dataset: string | undefined, record: ReceivedRecord, collection?: string): void {
    this.#total += 1
    if (this.#total > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    this.#valuesLeft -= record.keys.length + record.attributes.length
    if (this.#valuesLeft < 0) throw new Failure(413, `more than ${VALUES_MAX} values in one post`)
    const key = collection === undefined ? (dataset ?? '') : `${collection}\0${dataset ?? ''}`
    const known = this.#byDataset.get(key)
    if (known) known.records.push(record)
    else this.#byDataset.set(key, { place: { collection, dataset }, records: [record] })
  }

  batches(): DatasetBatch[] {
    return [...this.#byDataset.values()].map(({ place, records }) => ({ ...place, attributes: [], events: { kind: 'records', records } }))
  }
}
