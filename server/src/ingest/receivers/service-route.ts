import type { RecordRoute } from './batches.ts'

/** What a key of a record names: `service.name` the dataset, `service.namespace` the collection, also as members of `service`. */
export type ServiceRole = 'dataset' | 'collection' | undefined

export const serviceRoleOf = (path: string): ServiceRole =>
  path === 'service.name' ? 'dataset' : path === 'service.namespace' ? 'collection' : undefined

/** The default name of a service in SDKs. */
export const NO_NAME = 'unknown_service'

/** The dataset and collection that a record names by its service. Only texts are names. */
export class ServiceRoute {
  dataset: string | undefined
  collection: string | undefined

  clear(): void {
    this.dataset = undefined
    this.collection = undefined
  }

  note(role: Exclude<ServiceRole, undefined>, text: string): void {
    if (text !== '' && !(role === 'dataset' && text.startsWith(NO_NAME))) this[role] = text
  }

  /** Fills the gaps of other names. */
  after({ collection, dataset }: RecordRoute): RecordRoute {
    return { collection: collection ?? this.collection, dataset: dataset ?? this.dataset }
  }

  /** Takes precedence over other names. */
  before({ collection, dataset }: RecordRoute): RecordRoute {
    return { collection: this.collection ?? collection, dataset: this.dataset ?? dataset }
  }
}
