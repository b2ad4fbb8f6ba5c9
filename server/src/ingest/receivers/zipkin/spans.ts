import { createHash } from 'node:crypto'
import { badRequest } from '../../../kernel/errors.ts'
import { isObject } from '../../../kernel/json-object.ts'
import type { Instant } from '../../../lines/values/time-text.ts'
import type { ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { textAttribute, toJson } from '../otlp/attributes.ts'
import { TRACES } from '../otlp/export-request.ts'
import { type Attribute, nanoInstant, nanoText } from '../otlp/message.ts'
import { newSpan, type OtlpSpan, spanToRecord } from '../otlp/span.ts'
import { NO_NAME } from '../service-route.ts'

const TRACE_DIGITS = 32
const HEX_TRACE = /^[0-9a-f]{1,32}$/
const HEX_SPAN = /^[0-9a-f]{1,16}$/
const SPAN_DIGITS = 16
const NS_PER_US = 1_000n
/** The numbers of OpenTelemetry. A span without a kind is internal. */
const kinds: ReadonlyMap<unknown, number> = new Map([
  ['SERVER', 2],
  ['CLIENT', 3],
  ['PRODUCER', 4],
  ['CONSUMER', 5],
])
const STATUS_ERROR = 2

class UnreadableSpan extends Error {}

/** Reads an array of spans. Those that have no ids are rejected, and the others are stored. */
export function readSpans(body: Uint8Array): ParsedBody {
  const spans = arrayIn(body)
  const batches = new Batches()
  const rejected: RejectedRecord[] = []
  for (const [index, given] of spans.entries()) {
    try {
      const span = toSpan(given)
      const service = textAt(isObject(given) ? given.localEndpoint : undefined, 'serviceName')
      const dataset = service === '' || service.startsWith(NO_NAME) ? undefined : service
      batches.add(batches.of({ collection: TRACES, dataset }), spanToRecord(span))
    } catch (thrown) {
      if (!(thrown instanceof UnreadableSpan)) throw thrown
      rejected.push({ index, reason: thrown.message })
    }
  }
  return { ...batches.parsed(), rejected, total: spans.length }
}

function arrayIn(body: Uint8Array): readonly unknown[] {
  if (body.length === 0) return []
  const parsed = parsedJson(body)
  if (!Array.isArray(parsed)) throw badRequest('the body must be a JSON array of spans')
  return parsed
}

function parsedJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch (cause) {
    throw badRequest('the body is not valid JSON', { cause })
  }
}

function toSpan(given: unknown): OtlpSpan {
  if (!isObject(given)) throw new UnreadableSpan('a span must be an object')
  const traceId = idOf(given.traceId, 'traceId', HEX_TRACE).padStart(TRACE_DIGITS, '0')
  const id = idOf(given.id, 'id', HEX_SPAN).padStart(SPAN_DIGITS, '0')
  const start = microseconds(given.timestamp)
  const length = microseconds(given.duration)
  const span: OtlpSpan = {
    ...newSpan(),
    traceId,
    spanId: id,
    name: textOf(given.name),
    kind: kinds.get(textOf(given.kind).toUpperCase()) ?? 1,
  }
  if (given.parentId !== undefined && given.parentId !== null) {
    span.parentId = idOf(given.parentId, 'parentId', HEX_SPAN).padStart(SPAN_DIGITS, '0')
  }
  if (given.shared === true) Object.assign(span, ofServer(traceId, id))
  span.start = start === undefined ? undefined : instantOf(start)
  span.end = start === undefined || length === undefined ? undefined : instantOf(start + length)
  span.attributes = attributesOf(given)
  span.events = annotationsOf(given.annotations)
  const error = textAt(given.tags, 'error')
  if (isObject(given.tags) && Object.hasOwn(given.tags, 'error') && error !== 'false') {
    span.status = { code: STATUS_ERROR, text: error === 'true' ? '' : error }
  }
  return span
}

/** A server may share the id of the client's span that called it. Its span gets an id of its own, below that of the client. */
const ofServer = (traceId: string, id: string): Pick<OtlpSpan, 'spanId' | 'parentId'> => ({
  spanId: createHash('sha256').update(`${traceId}${id}server`).digest('hex').slice(0, SPAN_DIGITS),
  parentId: id,
})

function idOf(value: unknown, name: string, form: RegExp): string {
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (!form.test(text) || /^0+$/.test(text)) throw new UnreadableSpan(`${name} must be hex digits, not all 0`)
  return text
}

function microseconds(value: unknown): bigint | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  const whole = typeof number === 'number' ? Math.trunc(number) : -1
  return Number.isSafeInteger(whole) && whole >= 0 ? BigInt(whole) : undefined
}

const instantOf = (micros: bigint): Instant | undefined => nanoInstant(String(micros * NS_PER_US))

function attributesOf({ tags, localEndpoint, remoteEndpoint }: Record<string, unknown>): Attribute[] {
  const pairs: (readonly [string, string])[] = [
    ['service.name', textAt(localEndpoint, 'serviceName')],
    ['network.local.address', addressOf(localEndpoint)],
    ['network.local.port', textAt(localEndpoint, 'port')],
    ['peer.service', textAt(remoteEndpoint, 'serviceName')],
    ['network.peer.address', addressOf(remoteEndpoint)],
    ['network.peer.port', textAt(remoteEndpoint, 'port')],
  ]
  const own = pairs.filter(([, text]) => text !== '')
  const others = isObject(tags) ? Object.entries(tags).map(([name, value]) => [name, textOf(value)] as const) : []
  return [...own, ...others].map(([name, text]) => textAttribute(name, text))
}

const addressOf = (endpoint: unknown): string => textAt(endpoint, 'ipv4') || textAt(endpoint, 'ipv6')

function annotationsOf(given: unknown): string[] {
  if (!Array.isArray(given)) return []
  return given.filter(isObject).map(({ timestamp, value }) => {
    const micros = microseconds(timestamp)
    const time = micros === undefined ? undefined : instantOf(micros)
    return toJson([...(time ? [textAttribute('time_unix_nano', nanoText(time))] : []), textAttribute('name', textOf(value))])
  })
}

const textAt = (holder: unknown, name: string): string => (isObject(holder) && Object.hasOwn(holder, name) ? textOf(holder[name]) : '')
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
