import { Failure } from '../../../kernel/errors.ts'
import type { Arrived, Delivery, Pair, Parsed, Rejected } from '../../batch.ts'
import { toPairs } from './attributes.ts'
import { logArrived, logRecord, newLogRecord } from './log-record.ts'
import { type Attribute, addAttribute, type Message, message, type Read, set, text } from './message.ts'
import { newSpan, span, spanArrived } from './span.ts'

/** RECORDS_MAX and WEIGHT_MAX bound the memory and time that one post can take in a worker. A pair weighs 1 where it is shared, as those of resources and scopes are. */
export const RECORDS_MAX = 200_000
const WEIGHT_MAX = 8_000_000
const OWN_WEIGHT = 8
/** TRACES is the collection of all spans. */
export const TRACES = '.traces'
/** SDKs say this when nobody gave the service a name. */
const NO_NAME = 'unknown_service'

type Scope = { name: string; version: string; attributes: Attribute[] }
type OfScope = { readonly post: Post; readonly scope: Scope; readonly records: Arrived[] }
/** OfResource holds what came from one resource; its attributes may stand before or after its records. */
type OfResource = { readonly post: Post; readonly attributes: Attribute[]; readonly records: Arrived[] }

/** A Post gathers what a request brings, by dataset. */
export class Post {
  readonly #ofResources: OfResource[] = []
  readonly #rejected: Rejected[] = []
  readonly #collection: string | undefined
  #total = 0
  #weight = 0
  #isTimed = true

  constructor(collection: string | undefined) {
    this.#collection = collection
  }

  /** isTimed is true when each event has a time, so that two posts of the same bytes must be one that was sent twice. */
  get isTimed(): boolean {
    return this.#isTimed && this.#total > this.#rejected.length
  }

  /** take counts a record, which is either an event or rejected for a reason. */
  take(arrived: Arrived | string): void {
    if (this.#total === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    if (typeof arrived === 'string') this.#rejected.push({ index: this.#total, reason: arrived })
    else {
      this.#weigh((arrived.keys.length + arrived.attributes.length) * OWN_WEIGHT)
      this.#isTimed &&= arrived.time !== undefined
    }
    this.#total += 1
  }

  /** inherit puts pairs before those of each record, which count more. Records without any share one list. */
  inherit(pairs: readonly Pair[], records: readonly Arrived[]): void {
    this.#weigh(pairs.length * records.length)
    if (pairs.length === 0) return
    for (const record of records) record.attributes = record.attributes.length === 0 ? pairs : [...pairs, ...record.attributes]
  }

  add(ofResource: OfResource): void {
    if (ofResource.records.length > 0) this.#ofResources.push(ofResource)
  }

  parsed(): Parsed {
    const byPlace = Map.groupBy(this.#ofResources, ({ attributes }) => JSON.stringify(this.#placeOf(attributes)))
    const deliveries = [...byPlace.values()].map((parts) => this.#delivery(parts))
    return { deliveries, rejected: this.#rejected, total: this.#total }
  }

  #placeOf(attributes: readonly Attribute[]): Pick<Delivery, 'collection' | 'dataset'> {
    const find = (name: string) => attributes.findLast((attribute) => attribute.name === name)?.text || undefined
    const service = find('service.name')
    const environment = () => find('deployment.environment.name') ?? find('deployment.environment')
    const collection = this.#collection ?? find('service.namespace') ?? environment()
    return { collection, dataset: service?.startsWith(NO_NAME) ? undefined : service }
  }

  /** #delivery says only once what all its records inherit, if they come from one resource. */
  #delivery(parts: readonly OfResource[]): Delivery {
    const place = this.#placeOf(parts[0]?.attributes ?? [])
    const [only, second] = parts
    if (only && !second) {
      const attributes = pairsOf(only.attributes)
      this.#weigh(attributes.length * only.records.length)
      return { ...place, attributes, arrivals: { kind: 'records', records: only.records } }
    }
    for (const part of parts) this.inherit(pairsOf(part.attributes), part.records)
    return { ...place, attributes: [], arrivals: { kind: 'records', records: parts.flatMap(({ records }) => records) } }
  }

  #weigh(weight: number): void {
    this.#weight += weight
    if (this.#weight > WEIGHT_MAX) throw new Failure(413, 'more attributes in one post than can be taken at once')
  }
}

function pairsOf(attributes: readonly Attribute[]): Pair[] {
  const pairs: Pair[] = []
  toPairs(attributes, '$', pairs)
  return pairs
}

function scopePairs({ name, version, attributes }: Scope): Pair[] {
  const pairs = pairsOf(attributes)
  if (name) pairs.push(['$otel.scope.name', name])
  if (version) pairs.push(['$otel.scope.version', version])
  return pairs
}

const resource = message<OfResource>([[1, 'attributes', addAttribute]])

const scope = message<Scope>([
  [1, 'name', set('name', text)],
  [2, 'version', set('version', text)],
  [3, 'attributes', addAttribute],
])

/** A Signal is what requests for logs and for traces differ in: their names, and their records. */
type Signal<R> = {
  names: readonly [resources: string, scopes: string, records: string]
  record: Message<R>
  fresh: () => R
  arrived: (record: R) => Arrived
}

/** requestOf is a request, in which resources hold scopes, and scopes hold records. */
function requestOf<R>({ names, record, fresh, arrived }: Signal<R>): Message<Post> {
  const [resources, scopes, records] = names
  const takeRecord: Read<OfScope> = ({ post, records: taken }, from) => {
    const found = fresh()
    const reason = from.record(record, found)
    const event = reason ?? arrived(found)
    post.take(event)
    if (typeof event !== 'string') taken.push(event)
  }
  const ofScope = message<OfScope>([
    [1, 'scope', (target, from) => from.message(scope, target.scope)],
    [2, records, takeRecord],
  ])
  const takeScope: Read<OfResource> = ({ post, records: taken }, from) => {
    const held: OfScope = { post, scope: { name: '', version: '', attributes: [] }, records: [] }
    from.message(ofScope, held)
    post.inherit(scopePairs(held.scope), held.records)
    for (const event of held.records) taken.push(event)
  }
  const ofResource = message<OfResource>([
    [1, 'resource', (target, from) => from.message(resource, target)],
    [2, scopes, takeScope],
  ])
  const takeResource: Read<Post> = (post, from) => {
    const held: OfResource = { post, attributes: [], records: [] }
    from.message(ofResource, held)
    post.add(held)
  }
  return message<Post>([[1, resources, takeResource]])
}

/** A RequestType is a kind of request, and the collection that its events go to whatever their resource says. */
export type RequestType = { request: Message<Post>; collection: string | undefined }

export const logsRequest: RequestType = {
  request: requestOf({ names: ['resourceLogs', 'scopeLogs', 'logRecords'], record: logRecord, fresh: newLogRecord, arrived: logArrived }),
  collection: undefined,
}
export const tracesRequest: RequestType = {
  request: requestOf({ names: ['resourceSpans', 'scopeSpans', 'spans'], record: span, fresh: newSpan, arrived: spanArrived }),
  collection: TRACES,
}
