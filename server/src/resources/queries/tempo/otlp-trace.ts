import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { resourceAttributes, type TraceSpan } from '../traces/traces.ts'

type Attributes = Readonly<Record<string, string>>
type ResourceSpans = {
  readonly resource: Attributes
  readonly spans: readonly { readonly span: TraceSpan; readonly attributes: Attributes }[]
}

/** Spans with the same resource belong together in OpenTelemetry's form. */
function byResource(spans: readonly TraceSpan[]): readonly ResourceSpans[] {
  const divided = spans.map((span) => ({ span, ...resourceAttributes(span) }))
  const groups = Map.groupBy(divided, ({ ofResource }) => JSON.stringify(ofResource))
  return [...groups.values()].map((group) => ({
    resource: group[0]?.ofResource ?? {},
    spans: group.map(({ span, ofSpan }) => ({ span, attributes: ofSpan })),
  }))
}

const KINDS = [
  'SPAN_KIND_UNSPECIFIED',
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_SERVER',
  'SPAN_KIND_CLIENT',
  'SPAN_KIND_PRODUCER',
  'SPAN_KIND_CONSUMER',
]
const CODES = { unset: 0, ok: 1, error: 2 } as const
const endOf = ({ startNano, durationNano }: TraceSpan): bigint => startNano + BigInt(durationNano)

/** The resource spans in the JSON of protobuf messages, whose bytes are in base64. */
export const resourceSpansJson = (spans: readonly TraceSpan[]): readonly unknown[] =>
  byResource(spans).map(({ resource, spans: own }) => ({
    resource: { attributes: attributesJson(resource) },
    scopeSpans: [{ scope: {}, spans: own.map(({ span, attributes }) => spanJson(span, attributes)) }],
  }))

const spanJson = (span: TraceSpan, attributes: Attributes) => ({
  traceId: base64(span.traceId),
  spanId: base64(span.id),
  ...(span.parentId ? { parentSpanId: base64(span.parentId) } : {}),
  name: span.name,
  kind: span.kind,
  startTimeUnixNano: String(span.startNano),
  endTimeUnixNano: String(endOf(span)),
  attributes: attributesJson(attributes),
  events: span.events.map((event) => ({
    timeUnixNano: String(event.timeNano ?? span.startNano),
    name: event.name,
    attributes: attributesJson(event.attributes),
  })),
  links: span.links.map((link) => ({
    traceId: base64(link.trace_id),
    spanId: base64(link.span_id),
    attributes: attributesJson(link.attributes),
  })),
  status: { code: `STATUS_CODE_${span.status.toUpperCase()}`, message: span.statusMessage ?? '' },
})

export const attributesJson = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

/** A message `Trace` in protobuf: its only field are the resource spans. */
export function traceProtobuf(spans: readonly TraceSpan[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const { resource, spans: own } of byResource(spans)) {
    message(writer, 1, (group) => {
      message(group, 1, (to) => writeAttributes(to, 1, resource))
      message(group, 2, (scope) => {
        for (const { span, attributes } of own) message(scope, 2, (to) => writeSpan(to, span, attributes))
      })
    })
  }
  return writer.finish()
}

export const PARTIAL = 'The trace has more spans than are shown.'
const PARTIAL_STATUS = 1

/** The answer of the second version: the trace is its first field. */
export function traceReplyProtobuf(spans: readonly TraceSpan[], isComplete: boolean): Uint8Array {
  const writer = new BinaryWriter()
  writer.tag(1, WireType.LengthDelimited).bytes(traceProtobuf(spans))
  if (!isComplete) writer.tag(3, WireType.Varint).int32(PARTIAL_STATUS).tag(4, WireType.LengthDelimited).string(PARTIAL)
  return writer.finish()
}

function message(writer: BinaryWriter, field: number, write: (to: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork()
  write(writer)
  writer.join()
}

function writeSpan(to: BinaryWriter, span: TraceSpan, attributes: Attributes): void {
  hex(to, 1, span.traceId)
  hex(to, 2, span.id)
  if (span.parentId) hex(to, 4, span.parentId)
  to.tag(5, WireType.LengthDelimited).string(span.name)
  to.tag(6, WireType.Varint).int32(Math.max(0, KINDS.indexOf(span.kind)))
  to.tag(7, WireType.Bit64).fixed64(span.startNano)
  to.tag(8, WireType.Bit64).fixed64(endOf(span))
  writeAttributes(to, 9, attributes)
  for (const event of span.events) {
    message(to, 11, (inner) => {
      inner.tag(1, WireType.Bit64).fixed64(event.timeNano ?? span.startNano)
      inner.tag(2, WireType.LengthDelimited).string(event.name)
      writeAttributes(inner, 3, event.attributes)
    })
  }
  for (const link of span.links) {
    message(to, 13, (inner) => {
      hex(inner, 1, link.trace_id)
      hex(inner, 2, link.span_id)
      writeAttributes(inner, 4, link.attributes)
    })
  }
  message(to, 15, (inner) => {
    if (span.statusMessage !== undefined) inner.tag(2, WireType.LengthDelimited).string(span.statusMessage)
    inner.tag(3, WireType.Varint).int32(CODES[span.status])
  })
}

const hex = (to: BinaryWriter, field: number, text: string): void => {
  to.tag(field, WireType.LengthDelimited).bytes(Buffer.from(text, 'hex'))
}

function writeAttributes(to: BinaryWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    message(to, field, (pair) => {
      pair.tag(1, WireType.LengthDelimited).string(key)
      message(pair, 2, (any) => {
        any.tag(1, WireType.LengthDelimited).string(value)
      })
    })
  }
}
