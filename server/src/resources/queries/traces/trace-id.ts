import type { Filter } from '@dendro/language/tree'

const DIGITS = 32
const SHORT_DIGITS = 16
const BYTES = 16
const HEX = /^[0-9a-f]+$/
const BASE64 = /^[A-Za-z0-9+/_-]{22}(==)?$/

/** Returns the 32 lower-case digits of a trace id in any usual form. Undefined when it is none. */
export function parseTraceId(given: string): string | undefined {
  const plain = given.trim()
  const digits = plain.toLowerCase().replace(/^0x/, '').replaceAll('-', '')
  if (HEX.test(digits) && (digits.length === DIGITS || digits.length === SHORT_DIGITS)) return unlessZero(digits.padStart(DIGITS, '0'))
  if (!BASE64.test(plain)) return undefined
  const bytes = Buffer.from(plain, 'base64')
  return bytes.length === BYTES ? unlessZero(bytes.toString('hex')) : undefined
}

/** Programs of Tempo and Jaeger leave out the leading zeros of an id. */
export const withLeadingZeros = (given: string): string => (/^[0-9a-f]{1,31}$/i.test(given) ? given.padStart(DIGITS, '0') : given)

const unlessZero = (digits: string): string | undefined => (/^0+$/.test(digits) ? undefined : digits)

/** The texts that events may have for an id. Letters are all of one case. */
function textsOf(traceId: string): readonly string[] {
  const dashed = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const zeros = '0'.repeat(DIGITS - SHORT_DIGITS)
  const forms = traceId.startsWith(zeros) ? [traceId, dashed, traceId.slice(zeros.length)] : [traceId, dashed]
  return [...new Set(forms.flatMap((form) => [form, form.toUpperCase()]))]
}

/** The fields that hold a trace id in the formats of common loggers. */
const fields = ['trace_id', 'traceId', 'trace.id', 'traceid', 'TraceId', 'dd.trace_id'] as const
const spanFields = ['span_id', 'spanId', 'span.id', 'spanid', 'SpanId', 'dd.span_id'] as const

const NOWHERE = { position: 0, length: 0 }

const hasId = (key: string, traceId: string): Filter => ({
  kind: 'in',
  key,
  values: textsOf(traceId).map((text) => ({ kind: 'text', text })),
  negated: false,
  at: NOWHERE,
})

/** The field of spans that holds their trace id. */
export const TRACE_ID_KEY = '$span.trace_id'

/** The filter for the spans of a trace. */
export const spansOfTrace = (traceId: string): Filter => hasId(TRACE_ID_KEY, traceId)

/** The filter for the events of a trace in datasets of any kind. */
export const eventsOfTrace = (traceId: string): Filter => ({ kind: 'or', of: fields.map((key) => hasId(key, traceId)) })

/** The id of the span that an event names. */
export function namedSpan(leaves: ReadonlyMap<string, string>): string | undefined {
  for (const field of spanFields) {
    const id = leaves.get(field) ?? leaves.get(`$${field}`)
    if (id) return id.toLowerCase()
  }
  return undefined
}

/** The field that spans have and other events have not. */
export const SPAN_ID_KEY = '$span.span_id'

export const isSpan = (negated: boolean): Filter => ({ kind: 'exists', key: SPAN_ID_KEY, negated, at: NOWHERE })
