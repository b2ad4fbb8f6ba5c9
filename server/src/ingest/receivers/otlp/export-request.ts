import { Failure } from '../../../kernel/errors.ts'
import type { DatasetBatch, Pair, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { toPairs } from './attributes.ts'
import { logRecord, logToRecord, newLogRecord } from './log-record.ts'
import { type Attribute, addAttribute, type FieldReader, type Message, message, set, text } from './message.ts'
import { newSpan, span, spanToRecord } from './span.ts'

/** RECORDS_MAX and WEIGHT_MAX bound the memory and time of one post in a worker. A shared pair, as of resources and scopes, weighs 1. */
export const RECORDS_MAX = 200_000
const WEIGHT_MAX = 8_000_000
const OWN_WEIGHT = 8
/** The collection of all spans. */
export const TRACES = '.traces'
/** The default name of a service in SDKs. */
const NO_NAME = 'unknown_service'

type Scope = { name: string; version: string; attributes: Attribute[] }
type ScopeRecords = { readonly post: ExportRequest; readonly scope: Scope; readonly records: ReceivedRecord[] }
/** The records of one resource. Its attributes may come before or after its records. */
type ResourceRecords = { readonly post: ExportRequest; readonly attributes: Attribute[]; readonly records: ReceivedRecord[] }

/** Collects the events of a request by dataset. */
export class ExportRequest {
  readonly #ofResources: ResourceRecords[] = []
  readonly #rejected: RejectedRecord[] = []
  readonly #collection: string | undefined
  #total = 0
  #weight = 0
  #isTimed = true

  constructor(collection: string | undefined) {
    this.#collection = collection
  }

  /** True when each event has a time, so that two posts with the same bytes must be repeats. */
  get isTimed(): boolean {
    return this.#isTimed && this.#total > this.#rejected.length
  }

  /** Counts a record, which is either an event or rejected for a reason. */
  addRecord(arrived: ReceivedRecord | string): void {
    if (this.#total === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    if (typeof arrived === 'string') this.#rejected.push({ index: this.#total, reason: arrived })
    else {
      this.#weigh((arrived.keys.length + arrived.attributes.length) * OWN_WEIGHT)
      this.#isTimed &&= arrived.time !== undefined
    }
    this.#total += 1
  }

  /** Puts inherited pairs before those of each record, which take precedence. Records without pairs share one list. */
  inherit(pairs: readonly Pair[], records: readonly ReceivedRecord[]): void {
    this.#weigh(pairs.length * records.length)
    if (pairs.length === 0) return
    for (const record of records) record.attributes = record.attributes.length === 0 ? pairs : [...pairs, ...record.attributes]
  }

  add(ofResource: ResourceRecords): void {
    if (ofResource.records.length > 0) this.#ofResources.push(ofResource)
  }

  parsed(): ParsedBody {
    const byRoute = Map.groupBy(this.#ofResources, ({ attributes }) => JSON.stringify(this.#routeOf(attributes)))
    const batches = [...byRoute.values()].map((parts) => this.#batch(parts))
    return { batches, rejected: this.#rejected, total: this.#total }
  }

  #routeOf(attributes: readonly Attribute[]): Pick<DatasetBatch, 'collection' | 'dataset'> {
    const find = (name: string) => attributes.findLast((attribute) => attribute.name === name)?.text || undefined
    const service = find('service.name')
    const environment = () => find('deployment.environment.name') ?? find('deployment.environment')
    const collection = this.#collection ?? find('service.namespace') ?? environment()
    return { collection, dataset: service?.startsWith(NO_NAME) ? undefined : service }
  }

  /** Stores inherited pairs only once if all records come from one resource. */
  #batch(parts: readonly ResourceRecords[]): DatasetBatch {
    const place = this.#routeOf(parts[0]?.attributes ?? [])
    const [only, second] = parts
    if (only && !second) {
      const attributes = pairsOf(only.attributes)
      this.#weigh(attributes.length * only.records.length)
      return { ...place, attributes, events: { kind: 'records', records: only.records } }
    }
    for (const part of parts) this.inherit(pairsOf(part.attributes), part.records)
    return { ...place, attributes: [], events: { kind: 'records', records: parts.flatMap(({ records }) => records) } }
  }

  #weigh(weight: number): void {
    this.#weight += weight
    if (this.#weight > WEIGHT_MAX) throw new Failure(413, 'more attributes than one post may have')
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

const resource = message<ResourceRecords>([[1, 'attributes', addAttribute]])

const scope = message<Scope>([
  [1, 'name', set('name', text)],
  [2, 'version', set('version', text)],
  [3, 'attributes', addAttribute],
])

/** The differences between requests for logs and for traces: their names, and their records. */
type Signal<R> = {
  names: readonly [resources: string, scopes: string, records: string]
  record: Message<R>
  fresh: () => R
  arrived: (record: R) => ReceivedRecord
}

/** A request: resources contain scopes, and scopes contain records. */
function requestOf<R>({ names, record, fresh, arrived }: Signal<R>): Message<ExportRequest> {
  const [resources, scopes, records] = names
  const readRecord: FieldReader<ScopeRecords> = ({ post, records: taken }, from) => {
    const found = fresh()
    const reason = from.record(record, found)
    const event = reason ?? arrived(found)
    post.addRecord(event)
    if (typeof event !== 'string') taken.push(event)
  }
  const ofScope = message<ScopeRecords>([
    [1, 'scope', (target, from) => from.message(scope, target.scope)],
    [2, records, readRecord],
  ])
  const readScope: FieldReader<ResourceRecords> = ({ post, records: taken }, from) => {
    const held: ScopeRecords = { post, scope: { name: '', version: '', attributes: [] }, records: [] }
    from.message(ofScope, held)
    post.inherit(scopePairs(held.scope), held.records)
    for (const event of held.records) taken.push(event)
  }
  const ofResource = message<ResourceRecords>([
    [1, 'resource', (target, from) => from.message(resource, target)],
    [2, scopes, readScope],
  ])
  const readResource: FieldReader<ExportRequest> = (post, from) => {
    const held: ResourceRecords = { post, attributes: [], records: [] }
    from.message(ofResource, held)
    post.add(held)
  }
  return message<ExportRequest>([[1, resources, readResource]])
}

/** A kind of request. `collection` overrides the one that a resource names. */
export type RequestType = { request: Message<ExportRequest>; collection: string | undefined }

export const logsRequest: RequestType = {
  request: requestOf({ names: ['resourceLogs', 'scopeLogs', 'logRecords'], record: logRecord, fresh: newLogRecord, arrived: logToRecord }),
  collection: undefined,
}
export const tracesRequest: RequestType = {
  request: requestOf({ names: ['resourceSpans', 'scopeSpans', 'spans'], record: span, fresh: newSpan, arrived: spanToRecord }),
  collection: TRACES,
}
