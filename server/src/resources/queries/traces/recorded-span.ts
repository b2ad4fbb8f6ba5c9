import { isObject } from '../../../kernel/json-object.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import type { FoundEvent } from '../../../reading/query.ts'

export type SpanStatus = 'unset' | 'ok' | 'error'

/** A span as its sender recorded it. Times are nanoseconds since 1970; a start that was not accepted as a time is that of arrival. */
export type RecordedSpan = {
  readonly id: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: string
  readonly service: string
  /** What has a clock of its own: a host, or a service where no host is known. */
  readonly machine: string
  readonly status: SpanStatus
  readonly statusMessage: string | undefined
  readonly startNano: bigint
  readonly durationNano: number
}

const statuses: ReadonlyMap<string, SpanStatus> = new Map([
  ['STATUS_CODE_OK', 'ok'],
  ['STATUS_CODE_ERROR', 'error'],
])

/** Reads the span that an event holds. */
export function recordedSpan({ leaves, timeNs }: Pick<FoundEvent, 'leaves' | 'timeNs'>): RecordedSpan {
  const of = (name: string) => leaves.get(`$span.${name}`)
  const service = leaves.get('$service.name') ?? ''
  return {
    id: (of('span_id') ?? '').toLowerCase(),
    parentId: of('parent_span_id')?.toLowerCase(),
    name: of('name') ?? '',
    kind: of('kind') ?? 'SPAN_KIND_INTERNAL',
    service,
    machine: leaves.get('$host.name') ?? leaves.get('$service.instance.id') ?? service,
    status: statuses.get(of('status_code') ?? '') ?? 'unset',
    statusMessage: of('status_message'),
    startNano: leaves.has(ORIGINAL_TIME) ? timeNs : (sentStart(leaves) ?? timeNs),
    durationNano: boundedNanos(Number(wholeNumber(of('duration_nano')) ?? 0n)),
  }
}

/** The start as the sender wrote it, even one of 1970 because its clock was not set. */
export const sentStart = (leaves: FoundEvent['leaves']): bigint | undefined => wholeNumber(leaves.get('$span.start_time_unix_nano'))

/** Times that lie further apart than 104 days are cut, since clients read larger numbers in another form. */
export const boundedNanos = (nanos: number): number => Math.max(-Number.MAX_SAFE_INTEGER, Math.min(nanos, Number.MAX_SAFE_INTEGER))

/** Whether two times lie closer. A clock that was not set, and one of a far future, say nothing about a trace. */
export function isNear(time: bigint, other: bigint): boolean {
  const nanos = Number(time - other)
  return nanos === boundedNanos(nanos)
}

const wholeNumber = (text: string | undefined): bigint | undefined =>
  text !== undefined && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined

type Attributes = Record<string, string>
export type RecordedSpanEvent = { readonly name: string; readonly timeNano: bigint | undefined; readonly attributes: Attributes }
export type SpanLink = { readonly trace_id: string; readonly span_id: string; readonly attributes: Attributes }

/** The events of a span, from their JSON. */
export const spanEvents = (leaves: ReadonlyMap<string, string>): readonly RecordedSpanEvent[] =>
  objectsIn(leaves.get('$span.events')).map((event) => ({
    name: textOf(event.name),
    timeNano: wholeNumber(textOf(event.time_unix_nano)),
    attributes: textsIn(event.attributes),
  }))

/** The links of a span to others. */
export const spanLinks = (leaves: ReadonlyMap<string, string>): readonly SpanLink[] =>
  objectsIn(leaves.get('$span.links')).map((link) => ({
    trace_id: textOf(link.trace_id),
    span_id: textOf(link.span_id),
    attributes: textsIn(link.attributes),
  }))

function objectsIn(json: string | undefined): readonly Record<string, unknown>[] {
  if (json === undefined) return []
  try {
    const parsed: unknown = JSON.parse(json)
    return Array.isArray(parsed) ? parsed.filter(isObject) : []
  } catch {
    // A value that was cut off at the limit of its length.
    return []
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))

/** Objects without prototype accept keys of any name. */
function textsIn(value: unknown): Attributes {
  const texts: Attributes = Object.create(null)
  if (isObject(value)) for (const [name, inner] of Object.entries(value)) texts[name] = textOf(inner)
  return texts
}

const builtIn: ReadonlySet<string> = new Set(
  [
    'trace_id',
    'span_id',
    'parent_span_id',
    'name',
    'kind',
    'duration_nano',
    'start_time_unix_nano',
    'end_time_unix_nano',
    'status_code',
    'status_message',
    'events',
    'links',
  ].map((name) => `$span.${name}`),
)

/** What a span has beyond the members of its own. */
export function attributesOf(leaves: ReadonlyMap<string, string>): Attributes {
  const attributes: Attributes = Object.create(null)
  for (const [path, value] of leaves) if (!builtIn.has(path)) attributes[path] = value
  return attributes
}
