import type { Instant } from '../../../lines/values/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { jsonAttribute, textAttribute, toJson, toPairs } from './attributes.ts'
import {
  type Attribute,
  addAttribute,
  type FieldReader,
  instant,
  type Message,
  message,
  nanoText,
  number,
  set,
  spanId,
  text,
  traceId,
} from './message.ts'

export type OtlpSpan = {
  traceId: string
  spanId: string
  parentId: string
  traceState: string
  flags: number
  name: string
  kind: number
  start: Instant | undefined
  end: Instant | undefined
  attributes: Attribute[]
  dropped: number
  /** JSON objects. */
  events: string[]
  links: string[]
  status: SpanStatus
}
type SpanStatus = { code: number; text: string }

export const newSpan = (): OtlpSpan => ({
  traceId: '',
  spanId: '',
  parentId: '',
  traceState: '',
  flags: 0,
  name: '',
  kind: 0,
  start: undefined,
  end: undefined,
  attributes: [],
  dropped: 0,
  events: [],
  links: [],
  status: { code: 0, text: '' },
})

type SpanEvent = { time: Instant | undefined; name: string; attributes: Attribute[] }
type SpanLink = { traceId: string; spanId: string; attributes: Attribute[] }

const status = message<SpanStatus>([
  [2, 'message', set('text', text)],
  [3, 'code', set('code', number)],
])

const spanEvent = message<SpanEvent>([
  [1, 'timeUnixNano', set('time', instant)],
  [2, 'name', set('name', text)],
  [3, 'attributes', addAttribute],
])

const spanLink = message<SpanLink>([
  [1, 'traceId', set('traceId', traceId)],
  [2, 'spanId', set('spanId', spanId)],
  [4, 'attributes', addAttribute],
])

const addEvent: FieldReader<OtlpSpan> = (target, from) => {
  const event: SpanEvent = { time: undefined, name: '', attributes: [] }
  from.message(spanEvent, event)
  const time = event.time ? [textAttribute('time_unix_nano', nanoText(event.time))] : []
  target.events.push(partJson([...time, textAttribute('name', event.name)], event.attributes))
}

const addLink: FieldReader<OtlpSpan> = (target, from) => {
  const link: SpanLink = { traceId: '', spanId: '', attributes: [] }
  from.message(spanLink, link)
  target.links.push(partJson([textAttribute('trace_id', link.traceId), textAttribute('span_id', link.spanId)], link.attributes))
}

const partJson = (own: readonly Attribute[], attributes: readonly Attribute[]): string =>
  toJson(attributes.length === 0 ? own : [...own, jsonAttribute('attributes', toJson(attributes))])

export const span: Message<OtlpSpan> = message<OtlpSpan>([
  [1, 'traceId', set('traceId', traceId)],
  [2, 'spanId', set('spanId', spanId)],
  [3, 'traceState', set('traceState', text)],
  [4, 'parentSpanId', set('parentId', spanId)],
  [5, 'name', set('name', text)],
  [6, 'kind', set('kind', number)],
  [7, 'startTimeUnixNano', set('start', instant)],
  [8, 'endTimeUnixNano', set('end', instant)],
  [9, 'attributes', addAttribute],
  [10, 'droppedAttributesCount', set('dropped', number)],
  [11, 'events', addEvent],
  [13, 'links', addLink],
  [15, 'status', (target, from) => from.message(status, target.status)],
  [16, 'flags', set('flags', number)],
])

/** A missing kind counts as internal, as the protocol suggests. */
const kinds = [
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_SERVER',
  'SPAN_KIND_CLIENT',
  'SPAN_KIND_PRODUCER',
  'SPAN_KIND_CONSUMER',
]
const codes = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR']
const CODE_ERROR = 2

/** Turns a span into an event: its line is the span's name, and everything else becomes attributes. */
export function spanToRecord(found: OtlpSpan): ReceivedRecord {
  const attributes: Pair[] = []
  const dropped = found.dropped + toPairs(found.attributes, '$', attributes)
  const { code, text } = found.status
  const own: readonly Pair[] = [
    ['$span.trace_id', found.traceId],
    ['$span.span_id', found.spanId],
    ['$span.parent_span_id', found.parentId],
    ['$span.name', found.name],
    ['$span.kind', kinds[found.kind] ?? `SPAN_KIND_${found.kind}`],
    ['$span.duration_nano', durationNano(found)],
    ['$span.start_time_unix_nano', found.start ? nanoText(found.start) : ''],
    ['$span.end_time_unix_nano', found.end ? nanoText(found.end) : ''],
    ['$span.status_code', codes[code] ?? `STATUS_CODE_${code}`],
    ['$span.status_message', text],
    ['$span.trace_state', found.traceState],
    ['$span.events', found.events.length > 0 ? `[${found.events.join(',')}]` : ''],
    ['$span.links', found.links.length > 0 ? `[${found.links.join(',')}]` : ''],
    ['$otel.flags', found.flags > 0 ? String(found.flags) : ''],
    ['$otel.dropped_attributes', dropped > 0 ? String(dropped) : ''],
  ]
  for (const pair of own) if (pair[1] !== '') attributes.push(pair)
  const level = code === CODE_ERROR ? 'ERROR' : undefined
  return { raw: Buffer.from(found.name), time: found.start ?? found.end, level, keys: [], attributes }
}

function durationNano({ start, end }: OtlpSpan): string {
  if (!start || !end) return ''
  const nanos = BigInt(end.ms - start.ms) * 1_000_000n + BigInt(end.ns - start.ns)
  return nanos < 0n ? '' : nanos.toString()
}
