/**
 * Encodes a request in OpenTelemetry's JSON as protobuf, so that each case can be tested in both encodings. It is strict, and repeats the
 * field numbers of the protocol's definition.
 */
export function encodeProtobuf(type: TypeName, value: unknown): Buffer {
  const parts: Buffer[] = []
  for (const [name, inner] of Object.entries(value as Record<string, unknown>)) {
    const field = types[type]?.[name]
    if (field === undefined) throw new Error(`${type} has no ${name}`)
    for (const one of Array.isArray(inner) ? inner : [inner]) parts.push(encodeField(field, one))
  }
  return Buffer.concat(parts)
}

type Kind = 'text' | 'hex' | 'base64' | 'varint' | 'fixed64' | 'fixed32' | 'double'
type Field = readonly [number: number, kind: Kind | { of: TypeName }]
type TypeName = string

const any = { of: 'AnyValue' }
const pair = { of: 'KeyValue' }

const types: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  Logs: { resourceLogs: [1, { of: 'ResourceLogs' }] },
  ResourceLogs: { resource: [1, { of: 'Resource' }], scopeLogs: [2, { of: 'ScopeLogs' }], schemaUrl: [3, 'text'] },
  ScopeLogs: { scope: [1, { of: 'Scope' }], logRecords: [2, { of: 'LogRecord' }], schemaUrl: [3, 'text'] },
  Traces: { resourceSpans: [1, { of: 'ResourceSpans' }] },
  ResourceSpans: { resource: [1, { of: 'Resource' }], scopeSpans: [2, { of: 'ScopeSpans' }], schemaUrl: [3, 'text'] },
  ScopeSpans: { scope: [1, { of: 'Scope' }], spans: [2, { of: 'Span' }], schemaUrl: [3, 'text'] },
  Resource: { attributes: [1, pair], droppedAttributesCount: [2, 'varint'] },
  Scope: { name: [1, 'text'], version: [2, 'text'], attributes: [3, pair], droppedAttributesCount: [4, 'varint'] },
  LogRecord: {
    timeUnixNano: [1, 'fixed64'],
    severityNumber: [2, 'varint'],
    severityText: [3, 'text'],
    body: [5, any],
    attributes: [6, pair],
    droppedAttributesCount: [7, 'varint'],
    flags: [8, 'fixed32'],
    traceId: [9, 'hex'],
    spanId: [10, 'hex'],
    observedTimeUnixNano: [11, 'fixed64'],
    eventName: [12, 'text'],
  },
  Span: {
    traceId: [1, 'hex'],
    spanId: [2, 'hex'],
    traceState: [3, 'text'],
    parentSpanId: [4, 'hex'],
    name: [5, 'text'],
    kind: [6, 'varint'],
    startTimeUnixNano: [7, 'fixed64'],
    endTimeUnixNano: [8, 'fixed64'],
    attributes: [9, pair],
    droppedAttributesCount: [10, 'varint'],
    events: [11, { of: 'Event' }],
    links: [13, { of: 'Link' }],
    status: [15, { of: 'Status' }],
    flags: [16, 'fixed32'],
  },
  Event: { timeUnixNano: [1, 'fixed64'], name: [2, 'text'], attributes: [3, pair] },
  Link: { traceId: [1, 'hex'], spanId: [2, 'hex'], traceState: [3, 'text'], attributes: [4, pair], flags: [6, 'fixed32'] },
  Status: { message: [2, 'text'], code: [3, 'varint'] },
  KeyValue: { key: [1, 'text'], value: [2, any] },
  AnyValue: {
    stringValue: [1, 'text'],
    boolValue: [2, 'varint'],
    intValue: [3, 'varint'],
    doubleValue: [4, 'double'],
    arrayValue: [5, { of: 'List' }],
    kvlistValue: [6, { of: 'Map' }],
    bytesValue: [7, 'base64'],
  },
  List: { values: [1, any] },
  Map: { values: [1, pair] },
}

function encodeField([number, kind]: Field, value: unknown): Buffer {
  const lengthed = (bytes: Buffer) => Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
  if (typeof kind === 'object') return lengthed(encodeProtobuf(kind.of, value))
  if (kind === 'text') return lengthed(Buffer.from(String(value)))
  if (kind === 'hex' || kind === 'base64') return lengthed(Buffer.from(String(value), kind))
  const wire = { varint: 0, fixed64: 1, double: 1, fixed32: 5 }[kind]
  const tag = varint((number << 3) | wire)
  if (kind === 'varint') return Buffer.concat([tag, varint(BigInt.asUintN(64, BigInt(value as string)))])
  const bytes = Buffer.alloc(kind === 'fixed32' ? 4 : 8)
  if (kind === 'double') bytes.writeDoubleLE(Number(value))
  else if (kind === 'fixed64') bytes.writeBigUInt64LE(BigInt(value as string))
  else bytes.writeUInt32LE(Number(value))
  return Buffer.concat([tag, bytes])
}

export function varint(number: bigint | number): Buffer {
  const bytes: number[] = []
  let rest = BigInt(number)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
