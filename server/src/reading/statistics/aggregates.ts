import { ARRIVAL_KEY, isInstantKey } from '@dendro/language/instant'
import type { AggregateCall } from '@dendro/language/tree'
import { SEQ_EPOCH_MS } from '../../kernel/sequence-time.ts'
import { keyLocations } from '../fields/field-locations.ts'
import { fromCostlyText, fromKeyText, keyExists, keyText, storedValue } from '../fields/field-text.ts'
import { builtIn, type TableContext } from '../filter/filter.ts'
import type { StatsRow, StatValue } from '../query.ts'
import type { BinaryRows } from '../run/row-binary.ts'
import { column, constant, digits, param, type SqlFragment, sql } from '../sql/sql.ts'

/**
 * An aggregate function of the store. `of` returns its arguments in one table. It is either computed at once, or as a state per table
 * that is merged.
 */
type Measure = { readonly aggregate: Aggregate; readonly of: (context: TableContext) => SqlFragment }
type Aggregate = {
  readonly name:
    | 'count'
    | 'countIf'
    | 'sum'
    | 'avg'
    | 'min'
    | 'max'
    | 'minIf'
    | 'maxIf'
    | 'uniqCombined64If'
    | 'stddevSampStable'
    | 'varSampStable'
    | 'argMinIf'
    | 'argMaxIf'
    | 'quantilesTDigest'
    | 'quantilesExact'
  readonly percent?: number
  readonly result: 'count' | 'number' | 'text' | 'quantiles' | 'digits'
}

/** Computed with every percentile, in front of the requested one. */
const QUANTILES: readonly number[] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]
/** The precision of the store's quantiles, in digits. */
const QUANTILE_DIGITS = 7

/** Returns the aggregates for a call. The number of events is always counted in addition. */
export function measuresOf(call: AggregateCall): readonly Measure[] {
  switch (call.name) {
    case 'rate':
      return []
    case 'count':
      return call.key === undefined
        ? []
        : [{ aggregate: { name: 'countIf', result: 'count' }, of: (context) => keyIsThere(call.key, context) }]
    case 'unique':
      return [
        {
          aggregate: { name: 'uniqCombined64If', result: 'count' },
          of: (context) => sql`${textOf(call.key, context)}, ${isThere(call.key, context)}`,
        },
      ]
    case 'first':
    case 'last':
      return [
        {
          aggregate: { name: call.name === 'first' ? 'argMinIf' : 'argMaxIf', result: 'text' },
          of: (context) => sql`${textOf(call.key, context)}, (ts, seq), ${isThere(call.key, context)}`,
        },
      ]
    case 'bytes':
      return [
        {
          aggregate: { name: 'sum', result: 'number' },
          of: (context) => sql`toNullable(toFloat64(length(${textOf(call.key, context)})))`,
        },
      ]
    case 'percentile': {
      const number = (context: TableContext) => numberOf(call.key, context)
      return [
        {
          aggregate: { name: call.isExact ? 'quantilesExact' : 'quantilesTDigest', percent: call.percent, result: 'quantiles' },
          of: number,
        },
        { aggregate: { name: 'min', result: 'number' }, of: number },
        { aggregate: { name: 'max', result: 'number' }, of: number },
      ]
    }
    case 'min':
    case 'max':
      return [
        { aggregate: { name: call.name, result: 'number' }, of: (context) => numberOf(call.key, context) },
        { aggregate: { name: `${call.name}If`, result: 'digits' }, of: (context) => exactOf(call.key, context) },
      ]
    default:
      return [{ aggregate: { name: aggregates[call.name], result: 'number' }, of: (context) => numberOf(call.key, context) }]
  }
}

/** The stable functions also measure large numbers that lie close together, such as times; the others lose all digits there. */
const aggregates = { sum: 'sum', avg: 'avg', stddev: 'stddevSampStable', variance: 'varSampStable' } as const

/** The time of arrival in milliseconds, as the sequence number contains it. */
const ARRIVAL_MS = sql`(intDiv(${column('seq')}, 1000000) + ${param.int64(BigInt(SEQ_EPOCH_MS))})`

/** The stored text of any key, including built-ins. '' where it is absent. */
export function textOf(key: string, context: TableContext): SqlFragment {
  if (key === '@time' || key === '@timestamp') return sql`toString(toUnixTimestamp64Milli(${column('ts')}))`
  if (key === '@sequence') return sql`toString(${column('seq')})`
  if (key === ARRIVAL_KEY) return sql`toString(${ARRIVAL_MS})`
  return sql`toString(${builtIn(key, context)?.text ?? keyText(keyLocations(key, context.slots))})`
}

/** The same without the text, which need not be read where the name of an overflow entry is enough. */
function keyIsThere(key: string, context: TableContext): SqlFragment {
  const isComputed = isInstantKey(key) || key === '@sequence' || builtIn(key, context) !== undefined
  return isComputed ? isThere(key, context) : keyExists(keyLocations(key, context.slots))
}

const isThere = (key: string, context: TableContext): SqlFragment => sql`${textOf(key, context)} != ''`

function numberOf(key: string, context: TableContext): SqlFragment {
  if (key === '@time' || key === '@timestamp') return sql`toNullable(toFloat64(toUnixTimestamp64Milli(ts)))`
  if (key === '@sequence') return sql`toNullable(toFloat64(seq))`
  if (key === ARRIVAL_KEY) return sql`toNullable(toFloat64(${ARRIVAL_MS}))`
  return fromText(key, context, textAsNumber)
}

/** Computes something from the text of a key, including built-ins. */
function fromText(key: string, context: TableContext, of: (text: SqlFragment) => SqlFragment): SqlFragment {
  const own = builtIn(key, context)
  if (!own) return fromKeyText(keyLocations(key, context.slots), of)
  return key === '@raw' ? fromCostlyText(own.text, of) : of(own.text)
}

/** The integers of a key that a float cannot represent exactly, and the condition that selects them. */
function exactOf(key: string, context: TableContext): SqlFragment {
  if (isInstantKey(key)) return sql`cast(null, 'Nullable(Int256)'), 0`
  if (key === '@sequence') return sql`toNullable(toInt256(seq)), 1`
  const beyond = (text: SqlFragment) => isBeyond(textAsNumber(text))
  const exact = fromText(key, context, (text) => sql`if(${beyond(text)}, ${wholeNumber(text)}, null)`)
  return sql`${exact}, ${fromText(key, context, beyond)}`
}

/** The integer of a text beyond 2^53, and 0 for all other texts. Beyond 76 digits floats are used. */
export const exactNumber = (text: SqlFragment, size: SqlFragment): SqlFragment =>
  sql`if(${isBeyond(size)}, ifNull(${wholeNumber(text)}, toInt256(0)), toInt256(0))`

const isBeyond = (size: SqlFragment): SqlFragment => sql`abs(${size}) >= 9007199254740992`
const wholeNumber = (text: SqlFragment): SqlFragment =>
  sql`if(length(${text}) <= 76 and match(${text}, '^[+-]?[0-9]+$'), toInt256OrNull(replaceRegexpOne(toString(${text}), '^[+]', '')), null)`

/** The finite number that a text represents, NULL for all other texts. */
export const textAsNumber = (text: SqlFragment): SqlFragment =>
  sql`if(isFinite(toFloat64OrNull(${text})) and match(${text}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$'), toFloat64OrNull(${text}), null)`

const levelsOf = ({ percent = 50 }: Aggregate): SqlFragment => {
  const level = percent / 100
  if (!(level > 0 && level < 1)) throw new Error('a percentile lies between 0 and 100')
  // The store does not accept parameters here. toFixed writes digits and a point only.
  return constant([...QUANTILES, level].map((one) => one.toFixed(9)).join(', '))
}

const parametersOf = (aggregate: Aggregate): SqlFragment => (aggregate.result === 'quantiles' ? sql`(${levelsOf(aggregate)})` : sql``)

/** Computes an aggregate in one step. */
export const finalAggregate = ({ aggregate, of }: Measure, context: TableContext): SqlFragment =>
  resultOf(aggregate, sql`${constant(aggregate.name)}${parametersOf(aggregate)}(${of(context)})`)

/** The aggregates that the store computes for every slice at once. The states of the others take much memory in slices without events. */
const slicedAggregates: ReadonlySet<Aggregate['name']> = new Set(['countIf', 'sum', 'avg', 'stddevSampStable', 'varSampStable'])
export const isSliced = ({ aggregate }: Measure): boolean => slicedAggregates.has(aggregate.name)

/**
 * Computes an aggregate for each slice, as an array. The slice of an event is counted from 1. The store returns 0 as the sum of a slice without numbers,
 * where a sum without slices is null.
 */
export const slicedAggregate = ({ aggregate, of }: Measure, context: TableContext, { slice, slices }: SliceOfEvent): SqlFragment => {
  const bySlice = (call: SqlFragment) => sql`${call}Resample(1, ${digits(slices + 1)}, 1)(${of(context)}, ${slice})`
  const values = bySlice(constant(aggregate.name))
  if (aggregate.name !== 'sum') return sql`arrayMap(one -> ${resultOf(aggregate, sql`one`)}, ${values})`
  const sum = resultOf(aggregate, sql`if(numbers = 0, null, one)`)
  return sql`arrayMap((one, numbers) -> ${sum}, ${values}, ${bySlice(sql`count`)})`
}

/** The expression for the slice of an event, and how many there are. */
type SliceOfEvent = { readonly slice: SqlFragment; readonly slices: number }

/** Computes the mergeable state of an aggregate. */
export const stateAggregate = ({ aggregate, of }: Measure, context: TableContext): SqlFragment => {
  const [plain, condition] = aggregate.name.endsWith('If') ? [aggregate.name.slice(0, -2), 'If'] : [aggregate.name, '']
  return sql`${constant(`${plain}State${condition}`)}${parametersOf(aggregate)}(${of(context)})`
}

/** Merges states. `over` is a window frame, for states that are not merged per group. */
export const mergedState = ({ aggregate }: Measure, state: SqlFragment, over: SqlFragment = sql``): SqlFragment => {
  const plain = aggregate.name.replace(/If$/, '')
  return resultOf(aggregate, sql`${constant(`${plain}Merge`)}${parametersOf(aggregate)}(${state})${over}`)
}

/** Merges the states of the rows that meet a condition into a new state. */
export const mergedStateIf = ({ aggregate }: Measure, state: SqlFragment, condition: SqlFragment): SqlFragment =>
  sql`${constant(`${aggregate.name.replace(/If$/, '')}MergeStateIf`)}${parametersOf(aggregate)}(${state}, ${condition})`

/** Whether merging states is much more expensive than merging numbers. */
export const hasLargeState = ({ aggregate }: Measure): boolean => aggregate.result === 'quantiles' || aggregate.name === 'uniqCombined64If'

function resultOf({ result }: Aggregate, value: SqlFragment): SqlFragment {
  switch (result) {
    case 'count':
      return sql`toUInt64(${value})`
    case 'number':
      return sql`toFloat64(ifNull(${value}, nan))`
    case 'text':
      return value
    case 'digits':
      return sql`ifNull(toString(${value}), '')`
    case 'quantiles':
      return sql`arrayMap(one -> toFloat64(one), ${value})`
  }
}

/** Reads the results for the calls, after the number of events. */
export function readStatsRow(rows: BinaryRows, calls: readonly AggregateCall[], widthMs: number): StatsRow {
  const count = Number(rows.uint64())
  return { count, stats: calls.map((call) => readStat(rows, call, count, widthMs)) }
}

/** The results of calls that the number of events determines. */
export const statsRowOf = (calls: readonly AggregateCall[], count: number, widthMs: number): StatsRow =>
  count === 0 ? emptyStats(calls) : { count, stats: calls.map(({ name }) => ({ value: name === 'rate' ? rateOf(count, widthMs) : count })) }

const rateOf = (count: number, widthMs: number): number | null => (widthMs > 0 ? count / (widthMs / 1_000) : null)

function readStat(rows: BinaryRows, call: AggregateCall, count: number, widthMs: number): StatValue {
  switch (call.name) {
    case 'rate':
      return { value: rateOf(count, widthMs) }
    case 'count':
      return { value: call.key === undefined ? count : Number(rows.uint64()) }
    case 'unique':
      return { value: Number(rows.uint64()) }
    case 'first':
    case 'last': {
      return { value: storedValue(rows.text()) }
    }
    case 'percentile':
      return readQuantiles(rows, call.isExact ? identity : rounded)
    case 'min':
    case 'max':
      return readExtreme(rows)
    default:
      return { value: finite(rows.float64()) }
  }
}

/** Reads a float, and the digits of the integer that it may represent. */
function readExtreme(rows: BinaryRows): StatValue {
  const value = finite(rows.float64())
  const digits = rows.text()
  return digits !== '' && Number(digits) === value ? { value, exact: BigInt(digits) } : { value }
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
const identity = (value: number): number => value
const rounded = (value: number): number => Number(value.toPrecision(QUANTILE_DIGITS))

function readQuantiles(rows: BinaryRows, shown: (value: number) => number): StatValue {
  const levels = Array.from({ length: rows.length() }, () => rows.float64())
  const [min, max] = [rows.float64(), rows.float64()]
  if (!Number.isFinite(min)) return { value: null }
  const within = (value = Number.NaN) => Math.min(max, Math.max(min, shown(value)))
  const [p25, p50, p75, p90, p95, p99, p999, own] = levels.map(within)
  const quantiles = {
    min,
    p25: within(p25),
    p50: within(p50),
    p75: within(p75),
    p90: within(p90),
    p95: within(p95),
    p99: within(p99),
    p999: within(p999),
    max,
  }
  return { value: within(own), quantiles }
}

/** The result where there are no events. */
export const emptyStats = (calls: readonly AggregateCall[]): StatsRow => ({
  count: 0,
  stats: calls.map((call) => ({ value: call.name === 'count' || call.name === 'unique' || call.name === 'rate' ? 0 : null })),
})

/** Whether the result of a call is exact, not an estimate. */
export const isExactCall = (call: AggregateCall): boolean => (call.name === 'percentile' ? call.isExact === true : call.name !== 'unique')
