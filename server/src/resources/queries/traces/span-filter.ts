import type { contract, QueryOf } from '@dendro/api'
import { readDuration } from '@dendro/language/nanoseconds'
import type { Filter, FilterOperator, Literal } from '@dendro/language/tree'
import { badField } from '../../../kernel/errors.ts'
import type { TimeBounds } from '../../../query/bounds.ts'
import { parseFilter } from '../../../query/query.ts'
import { and } from '../../data/event-queries/event-queries.ts'
import { isSpan, TRACE_ID_KEY } from './trace-id.ts'

type TracesQuery = QueryOf<typeof contract.traces.find>
type SpanConditions = Pick<TracesQuery, 'where' | 'service' | 'operation' | 'status' | 'min_duration' | 'max_duration' | 'spans'> & {
  readonly also?: Filter
}

export const DURATION_KEY = '$span.duration_nano'
const NOWHERE = { position: 0, length: 0 }
const codes = { ok: 'STATUS_CODE_OK', error: 'STATUS_CODE_ERROR' } as const

const text = (value: string): Literal => ({ kind: 'text', text: value })
/** The spans whose key has a text. */
export const hasText = (key: string, value: string): Filter => compare(key, '=', text(value))
const compare = (key: string, operator: FilterOperator, value: Literal): Filter => ({ kind: 'compare', key, operator, value, at: NOWHERE })
const allOf = (filters: readonly Filter[]): Filter => filters.reduce(and)

export const isFailed: Filter = hasText('$span.status_code', codes.error)
export const isRoot: Filter = { kind: 'exists', key: '$span.parent_span_id', negated: true, at: NOWHERE }
export const inTraces = (ids: readonly string[], negated = false): Filter => hasOneOf(TRACE_ID_KEY, ids, negated)
/** The spans whose key has one of the values. */
export const hasOneOf = (key: string, values: readonly string[], negated = false): Filter => ({
  kind: 'in',
  key,
  values: values.map(text),
  negated,
  at: NOWHERE,
})

/** The spans whose keys have one of several combinations of values; null stands for no value. */
export const isOneOf = (keys: readonly string[], combinations: readonly (readonly (string | null)[])[]): Filter => ({
  kind: 'or',
  of: combinations.map((values) => allOf(keys.map((key, at) => hasValue(key, values[at] ?? null)))),
})

const hasValue = (key: string, value: string | null): Filter =>
  value === null ? { kind: 'exists', key, negated: true, at: NOWHERE } : hasText(key, value)

/** The spans that last from `from` nanoseconds to less than `to`. */
export const lasts = (from: number, to: number | undefined): Filter =>
  allOf([atLeast(from), ...(to === undefined ? [] : [compare(DURATION_KEY, '<', number(to))])])

const number = (value: number): Literal => ({ kind: 'number', text: String(value) })
const atLeast = (nanos: number): Filter => compare(DURATION_KEY, '>=', number(nanos))

/** The spans that begin in a range. */
export const isWithin = ({ fromMs, toMs }: TimeBounds): Filter =>
  and(compare('@timestamp', '>=', number(fromMs)), compare('@timestamp', '<', number(toMs)))

/** What a span must meet: everything that is asked but its duration, and its duration. */
export type SpanFilter = { readonly ofAnyDuration: Filter; readonly whole: Filter }

export function spanFilter(conditions: SpanConditions): SpanFilter {
  const { where, service, operation, status, min_duration, max_duration, spans, also } = conditions
  const ofAnyDuration = allOf([
    isSpan(false),
    ...(also === undefined ? [] : [also]),
    ...(where?.trim() ? [parseFilter(where, 'where').filter] : []),
    ...(service ? [hasText('$service.name', service)] : []),
    ...(operation ? [hasText('$span.name', operation)] : []),
    ...(status === undefined ? [] : [ofStatus(status)]),
    ...(spans === 'root' ? [isRoot] : []),
  ])
  const [from, to] = [durationOf('min_duration', min_duration), durationOf('max_duration', max_duration)]
  if (from !== undefined && to !== undefined && from > to) {
    throw badField('min_duration', 'must not be longer than max_duration', 'OUT_OF_RANGE')
  }
  const bounds = [...(from === undefined ? [] : [atLeast(from)]), ...(to === undefined ? [] : [compare(DURATION_KEY, '<=', number(to))])]
  return { ofAnyDuration, whole: allOf([ofAnyDuration, ...bounds]) }
}

function durationOf(field: string, given: string | undefined): number | undefined {
  const nanos = given === undefined ? undefined : readDuration(given)
  if (given !== undefined && nanos === undefined) throw badField(field, 'must be less than 2500h', 'OUT_OF_RANGE')
  return nanos
}

/** The spans with a status; unset is one that is neither of the others. */
export function ofStatus(status: NonNullable<TracesQuery['status']>): Filter {
  if (status !== 'unset') return hasText('$span.status_code', codes[status])
  const isSet: Filter = { kind: 'in', key: '$span.status_code', values: [text(codes.ok), text(codes.error)], negated: false, at: NOWHERE }
  return { kind: 'not', of: isSet }
}
