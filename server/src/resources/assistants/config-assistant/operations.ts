import type { ConfigChanges, ConfigSource } from '@dendro/api'

/** A Place is where events go; what is undefined is left to the agent's events or is `default`. */
export type Place = { readonly collection: string | undefined; readonly dataset: string | undefined }
export type Route = { readonly match: string; readonly place: { readonly collection: string | undefined; readonly dataset: string } }
export type PlacedRoute = { readonly match: string; readonly place: { readonly collection: string; readonly dataset: string } }
export type Tls = NonNullable<NonNullable<ConfigChanges['options']>['tls']>
export type SourceKind = ConfigSource['kind']
export type Platform = NonNullable<ConfigChanges['platform']>

/** An Operation is one thing to do to a configuration. Writing a file is doing them to an empty one, so both ways are one. */
export type Operation =
  | { readonly kind: 'send'; readonly url: string; readonly place: Place; readonly tags: Readonly<Record<string, string>> }
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

/** Told collects what is said about a configuration: what was done and why, and what could not be done. */
export type Told = { did(reason: string): void; cannot(refusal: string): void }

/** A Destination is this deployment as an agent reaches it. */
export type Destination = { readonly url: string }

export const KEY_VARIABLE = 'DENDRO_API_KEY'

/** Defaults of a new file: gzip halves nothing that matters, a batch waits a second, and nothing is given up before it got through. */
const USUAL = { batchSize: 1_000, batchSeconds: 1, retrySeconds: 0 }

/** operationsFor puts wishes in the order in which they are done; `isNew` adds what every new file needs. */
export function operationsFor(wish: ConfigChanges, { url }: Destination, isNew: boolean): Operation[] {
  const { options = {}, platform = 'linux' } = wish
  const { compression, multiline, parse, redact = [], drop = [], retry_seconds, routes = [] } = options
  const isPlaced = wish.collection !== undefined || wish.dataset !== undefined || wish.tags !== undefined
  const size = options.batch_size ?? (isNew ? USUAL.batchSize : undefined)
  const seconds = options.batch_seconds ?? (isNew ? USUAL.batchSeconds : undefined)
  const retry = retry_seconds ?? (isNew ? USUAL.retrySeconds : undefined)
  const all: (Operation | undefined)[] = [
    isNew || isPlaced
      ? { kind: 'send', url, place: { collection: wish.collection, dataset: wish.dataset }, tags: wish.tags ?? {} }
      : undefined,
    ...(wish.sources ?? []).map((source): Operation => ({ kind: 'source', source, multiline, platform })),
    ...drop.map((match): Operation => ({ kind: 'drop', match })),
    // What is masked in the line cannot come back by keys that are taken out of it.
    ...redact.map((what): Operation => ({ kind: 'redact', what })),
    parse && { kind: 'parse', form: parse },
    options.sample_percent === undefined ? undefined : { kind: 'sample', percent: options.sample_percent },
    options.include_traces ? { kind: 'traces' } : undefined,
    size === undefined && seconds === undefined ? undefined : { kind: 'batch', size, seconds },
    compression && { kind: 'compress', by: compression },
    retry === undefined ? undefined : { kind: 'retry', seconds: retry },
    options.tls && { kind: 'tls', tls: options.tls },
    routes.length > 0 ? { kind: 'routes', routes: routes.map((route) => routeOf(route, wish.collection)) } : undefined,
  ]
  return all.filter((operation) => operation !== undefined)
}

type AskedRoute = NonNullable<NonNullable<ConfigChanges['options']>['routes']>[number]

const routeOf = ({ match, collection, dataset }: AskedRoute, otherwise: string | undefined): Route => ({
  match,
  place: { collection: collection ?? otherwise, dataset },
})

/** placedRoutes go to the collection of everything else where they name none. */
export const placedRoutes = (routes: readonly Route[], otherwise: string | undefined): PlacedRoute[] =>
  routes.map(({ match, place }) => ({ match, place: { dataset: place.dataset, collection: place.collection ?? otherwise ?? 'default' } }))

/** collectionIn is the collection in the address of an output. */
export function collectionIn(address: string): string | undefined {
  const name = /\/ingest\/([^/?]+)/.exec(address)?.[1]
  return name === undefined ? undefined : decodeURIComponent(name)
}

/** placeNamed is a place with both names, for agents whose events name none. */
export const placeNamed = ({ collection = 'default', dataset = 'default' }: Place): { collection: string; dataset: string } => ({
  collection,
  dataset,
})

/** placeText names a place in a sentence; where nothing is said the service takes the name that OTLP gives to each service. */
export function placeText(place: Place): string {
  if (place.dataset !== undefined) return `dataset ${place.dataset} of collection ${placeNamed(place).collection}`
  return place.collection === undefined
    ? 'the dataset named like the service'
    : `collection ${place.collection}, the dataset named like the service`
}
