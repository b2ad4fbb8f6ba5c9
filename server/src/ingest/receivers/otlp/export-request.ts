import { Failure } from '../../../kernel/errors.ts'
import { RecordDraft, RecordTable, type SharedFields } from '../../../lines/shredder/record-table.ts'
import { TextMemory } from '../../../lines/shredder/text-memory.ts'
import type { DatasetBatch, Pair, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { NO_NAME } from '../service-route.ts'
import { toPairs } from './attributes.ts'
import { logRecord, logToRecord, newLogRecord } from './log-record.ts'
import { type Attribute, addAttribute, type FieldReader, type FieldSource, type Message, message, set, text } from './message.ts'
import { newSpan, span, spanToRecord } from './span.ts'

/** RECORDS_MAX and WEIGHT_MAX bound the memory and time of one post in a worker. A shared pair, as of resources and scopes, weighs 1. */
export const RECORDS_MAX = 200_000
const WEIGHT_MAX = 8_000_000
const OWN_WEIGHT = 8
/** The collection of all spans. */
export const TRACES = '.traces'

type Scope = { name: string; version: string; attributes: Attribute[] }
/** The records of one scope. Its attributes may come before or after them, so they are filled in at its end. */
type ScopeRecords = { readonly post: ExportRequest; readonly scope: Scope; readonly shared: SharedFields; readonly table: RecordTable }
/** The records of one resource, and what those of each scope share. Its attributes may come before or after its records. */
type ResourceRecords = {
  readonly post: ExportRequest
  readonly attributes: Attribute[]
  readonly scopes: { readonly shared: SharedFields; readonly count: number }[]
  readonly table: RecordTable
}

/** Collects the events of a request by dataset. */
export class ExportRequest {
  readonly #ofResources: ResourceRecords[] = []
  readonly #rejected: RejectedRecord[] = []
  readonly #collection: string | undefined
  readonly draft: RecordDraft
  #total = 0
  #weight = 0
  #isTimed = true

  /** `isText` is true for a body that is UTF-8 if it is valid. */
  constructor(collection: string | undefined, body: Uint8Array, isText: boolean) {
    this.#collection = collection
    this.draft = new RecordDraft(new TextMemory(body, isText))
  }

  /** True when each event has a time, so that two posts with the same bytes must be repeats. */
  get isTimed(): boolean {
    return this.#isTimed && this.#total > this.#rejected.length
  }

  /** Adds the draft. */
  take({ table, shared }: Pick<ScopeRecords, 'table' | 'shared'>): void {
    const { draft } = this
    this.#count()
    this.#weigh((draft.keys.count + draft.attributes.count) * OWN_WEIGHT)
    this.#isTimed &&= !Number.isNaN(draft.ms)
    table.add(draft, shared)
  }

  reject(reason: string): void {
    this.#rejected.push({ index: this.#total, reason })
    this.#count()
  }

  #count(): void {
    if (this.#total === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    this.#total += 1
  }

  /** Puts inherited pairs before those of each record, which take precedence. */
  inherit(pairs: readonly Pair[], { shared, count }: ResourceRecords['scopes'][number]): void {
    this.#weigh(pairs.length * count)
    if (pairs.length > 0) shared.pairs = [...pairs, ...shared.pairs]
  }

  newResource(): ResourceRecords {
    return { post: this, attributes: [], scopes: [], table: new RecordTable(this.draft.memory) }
  }

  add(ofResource: ResourceRecords): void {
    if (ofResource.table.count > 0) this.#ofResources.push(ofResource)
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
    const tables = parts.map(({ table }) => table)
    if (only && !second) {
      const attributes = pairsOf(only.attributes)
      this.#weigh(attributes.length * only.table.count)
      return { ...place, attributes, events: { kind: 'tables', tables } }
    }
    for (const { attributes, scopes } of parts) {
      const pairs = pairsOf(attributes)
      for (const ofScope of scopes) this.inherit(pairs, ofScope)
    }
    return { ...place, attributes: [], events: { kind: 'tables', tables } }
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
  /** Reads a record of the usual form at once. */
  read: (from: FieldSource, draft: RecordDraft) => boolean
}

/** A request: resources contain scopes, and scopes contain records. */
function requestOf<R>({ names, record, fresh, arrived, read }: Signal<R>): Message<ExportRequest> {
  const [resources, scopes, records] = names
  const readRecord: FieldReader<ScopeRecords> = (held, from) => {
    const { post } = held
    if (!read(from, post.draft)) {
      const found = fresh()
      const reason = from.record(record, found)
      if (reason !== undefined) {
        post.reject(reason)
        return
      }
      post.draft.copy(arrived(found))
    }
    post.take(held)
  }
  const ofScope = message<ScopeRecords>([
    [1, 'scope', (target, from) => from.message(scope, target.scope)],
    [2, records, readRecord],
  ])
  const readScope: FieldReader<ResourceRecords> = ({ post, scopes, table }, from) => {
    const held: ScopeRecords = { post, scope: { name: '', version: '', attributes: [] }, shared: { pairs: [] }, table }
    const before = table.count
    from.message(ofScope, held)
    const ofRecords = { shared: held.shared, count: table.count - before }
    post.inherit(scopePairs(held.scope), ofRecords)
    if (ofRecords.count > 0) scopes.push(ofRecords)
  }
  const ofResource = message<ResourceRecords>([
    [1, 'resource', (target, from) => from.message(resource, target)],
    [2, scopes, readScope],
  ])
  const readResource: FieldReader<ExportRequest> = (post, from) => {
    const held = post.newResource()
    from.message(ofResource, held)
    post.add(held)
  }
  return message<ExportRequest>([[1, resources, readResource]])
}

/** A kind of request. `collection` overrides the one that a resource names. */
export type RequestType = { request: Message<ExportRequest>; collection: string | undefined }

export const logsRequest: RequestType = {
  request: requestOf({
    names: ['resourceLogs', 'scopeLogs', 'logRecords'],
    record: logRecord,
    fresh: newLogRecord,
    arrived: logToRecord,
    read: (from, draft) => from.log(draft),
  }),
  collection: undefined,
}
export const tracesRequest: RequestType = {
  request: requestOf({
    names: ['resourceSpans', 'scopeSpans', 'spans'],
    record: span,
    fresh: newSpan,
    arrived: spanToRecord,
    read: () => false,
  }),
  collection: TRACES,
}
