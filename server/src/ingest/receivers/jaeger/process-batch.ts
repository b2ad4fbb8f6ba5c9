import type { Pair, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { jsonAttribute, textAttribute, toJson, toPairs } from '../otlp/attributes.ts'
import { TRACES } from '../otlp/export-request.ts'
import { type Attribute, nanoInstant, SCALAR, TEXT } from '../otlp/message.ts'
import { newSpan, type OtlpSpan, spanToRecord } from '../otlp/span.ts'
import { NO_NAME } from '../service-route.ts'

/** The spans of one process. Ids are in hex, with all digits; one of zeros is absent. Times are in nanoseconds. */
export type ProcessBatch = { process: TraceProcess; spans: readonly ProcessSpan[] }
export type TraceProcess = { service: string; tags: readonly Attribute[] }
export type ProcessSpan = {
  traceId: string
  spanId: string
  parentId: string
  name: string
  references: SpanReference[]
  flags: number
  start: bigint
  duration: bigint
  tags: Attribute[]
  logs: SpanLog[]
  /** A span may name a process of its own. */
  process?: TraceProcess
}
export type SpanReference = { isChild: boolean; traceId: string; spanId: string }
export type SpanLog = { time: bigint; fields: Attribute[] }

export const newProcessSpan = (): ProcessSpan => ({
  traceId: '',
  spanId: '',
  parentId: '',
  name: '',
  references: [],
  flags: 0,
  start: 0n,
  duration: 0n,
  tags: [],
  logs: [],
})

/** Numbers that JSON has no form for are texts. */
export const doubleValue = (double: number): Omit<Attribute, 'name'> => ({
  kind: Number.isFinite(double) ? SCALAR : TEXT,
  text: Object.is(double, -0) ? '-0' : String(double),
})

/** Later times have no form in OpenTelemetry. */
const TIME_MAX = 2n ** 64n
const ZEROS = /^0*$/
const FLAGS = 0xff
/** The numbers of OpenTelemetry. A span without a kind is internal. */
const kinds: ReadonlyMap<string | undefined, number> = new Map([
  ['server', 2],
  ['client', 3],
  ['producer', 4],
  ['consumer', 5],
])
const OK = 1
const ERROR = 2
const codes: ReadonlyMap<string | undefined, number> = new Map([
  ['OK', OK],
  ['ERROR', ERROR],
])
/** The tags that stand for fields of OpenTelemetry's spans. */
const ownTags: ReadonlySet<string> = new Set([
  'span.kind',
  'otel.status_code',
  'otel.status_description',
  'w3c.tracestate',
  'otel.scope.name',
  'otel.scope.version',
  'otel.library.name',
  'otel.library.version',
])

/** The events of a batch. Spans without ids are rejected, and the others are stored. */
export function batchToEvents({ process, spans }: ProcessBatch): { parsed: ParsedBody; isTimed: boolean } {
  const batches = new Batches()
  const rejected: RejectedRecord[] = []
  const ofProcess = sharedPairs(process)
  let isTimed = true
  for (const [index, given] of spans.entries()) {
    const name = ZEROS.test(given.traceId) ? 'trace' : ZEROS.test(given.spanId) ? 'span' : undefined
    if (name !== undefined) {
      rejected.push({ index, reason: `the ${name} id must not be 0` })
      continue
    }
    const found = spanToRecord(toSpan(given))
    const { service } = given.process ?? process
    isTimed &&= found.time !== undefined
    const dataset = service === '' || service.startsWith(NO_NAME) ? undefined : service
    const own = [...(given.process ? sharedPairs(given.process) : []), ...scopePairs(given.tags)]
    const record = { ...found, attributes: [...own, ...found.attributes] }
    batches.add(batches.of({ collection: TRACES, dataset }), record, given.process ? [] : ofProcess)
  }
  return { parsed: { ...batches.parsed(), rejected, total: spans.length }, isTimed: isTimed && rejected.length < spans.length }
}

function sharedPairs({ service, tags }: TraceProcess): Pair[] {
  const pairs: Pair[] = []
  toPairs(service === '' ? tags : [textAttribute('service.name', service), ...tags], '$', pairs)
  return pairs
}

function scopePairs(tags: readonly Attribute[]): Pair[] {
  const pairs: Pair[] = []
  for (const member of ['name', 'version']) {
    const text = textOf(tags, `otel.scope.${member}`) ?? textOf(tags, `otel.library.${member}`)
    if (text) pairs.push([`$otel.scope.${member}`, text])
  }
  return pairs
}

const textOf = (tags: readonly Attribute[], name: string): string | undefined => tags.findLast((tag) => tag.name === name)?.text

function toSpan(given: ProcessSpan): OtlpSpan {
  const { tags } = given
  const { parentId, others } = parentOf(given)
  const error = textOf(tags, 'error')
  const code = codes.get(textOf(tags, 'otel.status_code')?.toUpperCase()) ?? (error === 'true' ? ERROR : 0)
  return {
    ...newSpan(),
    traceId: given.traceId,
    spanId: given.spanId,
    parentId,
    traceState: textOf(tags, 'w3c.tracestate') ?? '',
    flags: given.flags & FLAGS,
    name: given.name,
    kind: kinds.get(textOf(tags, 'span.kind')?.toLowerCase()) ?? 1,
    start: instantOf(given.start),
    end: instantOf(given.start) && given.duration >= 0n ? instantOf(given.start + given.duration) : undefined,
    // The status has the same.
    attributes: tags.filter(({ name, text }) => !ownTags.has(name) && !(name === 'error' && text === 'true' && code === ERROR)),
    events: given.logs.map(logJson),
    links: others.map(linkJson),
    status: { code, text: textOf(tags, 'otel.status_description') ?? '' },
  }
}

const instantOf = (nanos: bigint): OtlpSpan['start'] => (nanos > 0n && nanos < TIME_MAX ? nanoInstant(String(nanos)) : undefined)

/** The parent is named by its id, else by the first reference to it in the same trace. All other references are links. */
function parentOf({ parentId, traceId, references }: ProcessSpan): { parentId: string; others: readonly SpanReference[] } {
  const isNear = (reference: SpanReference): boolean => reference.traceId === traceId && !ZEROS.test(reference.spanId)
  const known = ZEROS.test(parentId) ? undefined : parentId
  const parent =
    references.find((reference) => isNear(reference) && reference.isChild && reference.spanId === (known ?? reference.spanId)) ??
    references.find((reference) => isNear(reference) && reference.spanId === (known ?? reference.spanId))
  return { parentId: known ?? parent?.spanId ?? '', others: references.filter((reference) => reference !== parent) }
}

const linkJson = ({ isChild, traceId, spanId }: SpanReference): string =>
  toJson([
    textAttribute('trace_id', traceId),
    textAttribute('span_id', spanId),
    jsonAttribute('attributes', toJson([textAttribute('opentracing.ref_type', isChild ? 'child_of' : 'follows_from')])),
  ])

/** The field `event`, or else `message`, is the name of what happened. */
function logJson({ time, fields }: SpanLog): string {
  const named = fields.find(({ name }) => name === 'event') ?? fields.find(({ name }) => name === 'message')
  const others = fields.filter((field) => field !== named)
  const own = [...(instantOf(time) ? [textAttribute('time_unix_nano', String(time))] : []), textAttribute('name', named?.text ?? '')]
  return toJson(others.length === 0 ? own : [...own, jsonAttribute('attributes', toJson(others))])
}
