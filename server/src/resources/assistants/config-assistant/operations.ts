import type { ConfigChanges, ConfigSource } from '@dendro/api'

/** The target collection and dataset. Undefined parts come from the agent's events or are `default`. */
export type DatasetTarget = { readonly collection: string | undefined; readonly dataset: string | undefined }
export type Route = { readonly match: string; readonly place: { readonly collection: string | undefined; readonly dataset: string } }
export type ResolvedRoute = { readonly match: string; readonly place: { readonly collection: string; readonly dataset: string } }
export type Tls = NonNullable<NonNullable<ConfigChanges['options']>['tls']>
export type SourceKind = ConfigSource['kind']
export type Platform = NonNullable<ConfigChanges['platform']>

/** One change of a configuration. A new file is a list of changes to an empty one. */
export type ConfigOperation =
  | { readonly kind: 'send'; readonly url: string; readonly place: DatasetTarget; readonly tags: Readonly<Record<string, string>> }
  | { readonly kind: 'source'; readonly source: ConfigSource; readonly multiline: string | undefined; readonly platform: Platform }
  | { readonly kind: 'parse'; readonly form: 'json' | 'logfmt' }
  | { readonly kind: 'redact'; readonly what: string }
  | { readonly kind: 'drop'; readonly match: string }
  | { readonly kind: 'sample'; readonly percent: number }
  | { readonly kind: 'traces' }
  | { readonly kind: 'batch'; readonly size: number | undefined; readonly seconds: number | undefined }
  | { readonly kind: 'compress'; readonly by: 'gzip' | 'zstd' | 'none' }
  | { readonly kind: 'retry'; readonly seconds: number }
  | { readonly kind: 'tls'; readonly tls: Tls }
  | { readonly kind: 'routes'; readonly routes: readonly Route[] }

/** Collects what was changed and why (done), and what could not be changed (warn). */
export type ChangeReport = { done(reason: string): void; warn(refusal: string): void }

/** The address of this deployment for agents. */
export type Destination = { readonly url: string }

export const KEY_VARIABLE = 'DENDRO_API_KEY'

/** Defaults of a new file: gzip halves nothing that matters, a batch waits a second, and nothing is given up before it got through. */
const USUAL = { batchSize: 1_000, batchSeconds: 1, retrySeconds: 0 }

/** Lists the requested changes in the order in which they are applied; `isNew` adds what every new file needs. */
export function operationsFor(
  changes: ConfigChanges,
  { url }: Destination,
  isNew: boolean,
  usualSize: number = USUAL.batchSize,
): ConfigOperation[] {
  const { options = {}, platform = 'linux' } = changes
  const { compression, multiline, parse, redact = [], drop = [], retry_seconds, routes = [] } = options
  const isPlaced = changes.collection !== undefined || changes.dataset !== undefined || changes.tags !== undefined
  const size = options.batch_size ?? (isNew ? usualSize : undefined)
  const seconds = options.batch_seconds ?? (isNew ? USUAL.batchSeconds : undefined)
  const retry = retry_seconds ?? (isNew ? USUAL.retrySeconds : undefined)
  const all: (ConfigOperation | undefined)[] = [
    isNew || isPlaced
      ? { kind: 'send', url, place: { collection: changes.collection, dataset: changes.dataset }, tags: changes.tags ?? {} }
      : undefined,
    ...(changes.sources ?? []).map((source): ConfigOperation => ({ kind: 'source', source, multiline, platform })),
    ...drop.map((match): ConfigOperation => ({ kind: 'drop', match })),
    // Keys extracted from the line must not restore what is redacted in it.
    ...redact.map((what): ConfigOperation => ({ kind: 'redact', what })),
    parse && { kind: 'parse', form: parse },
    options.sample_percent === undefined ? undefined : { kind: 'sample', percent: options.sample_percent },
    options.include_traces ? { kind: 'traces' } : undefined,
    size === undefined && seconds === undefined ? undefined : { kind: 'batch', size, seconds },
    compression && { kind: 'compress', by: compression },
    retry === undefined ? undefined : { kind: 'retry', seconds: retry },
    options.tls && { kind: 'tls', tls: options.tls },
    routes.length > 0 ? { kind: 'routes', routes: routes.map((route) => routeOf(route, changes.collection)) } : undefined,
  ]
  return all.filter((operation) => operation !== undefined)
}

type RequestedRoute = NonNullable<NonNullable<ConfigChanges['options']>['routes']>[number]

const routeOf = ({ match, collection, dataset }: RequestedRoute, otherwise: string | undefined): Route => ({
  match,
  place: { collection: collection ?? otherwise, dataset },
})

/** Routes without a collection use the collection of all other events. */
export const routesWithCollection = (routes: readonly Route[], otherwise: string | undefined): ResolvedRoute[] =>
  routes.map(({ match, place }) => ({ match, place: { dataset: place.dataset, collection: place.collection ?? otherwise ?? 'default' } }))

/** The collection and dataset in the address of an output. */
export function placeIn(address: string): DatasetTarget {
  const [, collection, dataset] = /\/ingest\/([^/?]+)(?:\/([^/?]+))?/.exec(address) ?? []
  return { collection: decoded(collection), dataset: decoded(dataset) }
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The target of an output after a change: parts that the change does not name stay as they were. */
export const placeAfter = (change: DatasetTarget, before: DatasetTarget): { collection: string; dataset: string } =>
  withDefaults({ collection: change.collection ?? before.collection, dataset: change.dataset ?? before.dataset })

/** Fills in default names, for agents whose events carry none. */
export const withDefaults = ({ collection = 'default', dataset = 'default' }: DatasetTarget): { collection: string; dataset: string } => ({
  collection,
  dataset,
})

/** Describes a target in a sentence. Without a dataset the service uses the OTLP service name. */
export function targetText(place: DatasetTarget): string {
  if (place.dataset !== undefined) return `dataset ${place.dataset} of collection ${withDefaults(place).collection}`
  return place.collection === undefined
    ? 'the dataset named like the service'
    : `collection ${place.collection}, the dataset named like the service`
}
