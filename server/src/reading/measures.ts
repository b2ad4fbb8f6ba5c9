import type { Call } from '@dendro/language/tree'
import type { BinaryRows } from './binary-rows.ts'
import { builtIn, type Scene } from './condition.ts'
import { keyText } from './key-text.ts'
import { placesOf } from './places.ts'
import type { Measured, Stat } from './question.ts'
import { constant, type Sql, sql } from './statement.ts'

/**
 * A Measure is one aggregate of the store. `of` gives its arguments in one branch; the same aggregate is worked out at once, or as a state in each
 * branch and then merged over them.
 */
type Measure = { readonly aggregate: Aggregate; readonly of: (scene: Scene) => Sql }
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
    | 'stddevSamp'
    | 'varSamp'
    | 'argMinIf'
    | 'argMaxIf'
    | 'quantilesTDigest'
  readonly percent?: number
  readonly result: 'count' | 'number' | 'text' | 'quantiles' | 'digits'
}

/** QUANTILES are computed with every percentile, the percentile itself after them. */
const QUANTILES: readonly number[] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]
/** QUANTILE_DIGITS is how exact the store is about them. */
const QUANTILE_DIGITS = 7

/** measuresOf are the aggregates that answer a call; the number of all events is always counted besides. */
export function measuresOf(call: Call): readonly Measure[] {
  switch (call.name) {
    case 'rate':
      return []
    case 'count':
      return call.key === undefined ? [] : [{ aggregate: { name: 'countIf', result: 'count' }, of: (scene) => isThere(call.key, scene) }]
    case 'unique':
      return [
        {
          aggregate: { name: 'uniqCombined64If', result: 'count' },
          of: (scene) => sql`${textOf(call.key, scene)}, ${isThere(call.key, scene)}`,
        },
      ]
    case 'first':
    case 'last':
      return [
        {
          aggregate: { name: call.name === 'first' ? 'argMinIf' : 'argMaxIf', result: 'text' },
          of: (scene) => sql`${textOf(call.key, scene)}, (ts, seq), ${isThere(call.key, scene)}`,
        },
      ]
    case 'percentile': {
      const number = (scene: Scene) => numberOf(call.key, scene)
      return [
        { aggregate: { name: 'quantilesTDigest', percent: call.percent, result: 'quantiles' }, of: number },
        { aggregate: { name: 'min', result: 'number' }, of: number },
        { aggregate: { name: 'max', result: 'number' }, of: number },
      ]
    }
    case 'min':
    case 'max':
      return [
        { aggregate: { name: call.name, result: 'number' }, of: (scene) => numberOf(call.key, scene) },
        { aggregate: { name: `${call.name}If`, result: 'digits' }, of: (scene) => exactOf(call.key, scene) },
      ]
    default:
      return [{ aggregate: { name: aggregates[call.name], result: 'number' }, of: (scene) => numberOf(call.key, scene) }]
  }
}

const aggregates = { sum: 'sum', avg: 'avg', stddev: 'stddevSamp', variance: 'varSamp' } as const

/** textOf is the stored text of any key, built-ins among them: '' where it is absent. */
export function textOf(key: string, scene: Scene): Sql {
  if (key === '@time' || key === '@timestamp') return sql`toString(toUnixTimestamp64Milli(ts))`
  if (key === '@sequence') return sql`toString(seq)`
  return sql`toString(${builtIn(key, scene)?.text ?? keyText(placesOf(key, scene.slots))})`
}

const isThere = (key: string, scene: Scene): Sql => sql`${textOf(key, scene)} != ''`

function numberOf(key: string, scene: Scene): Sql {
  if (key === '@time' || key === '@timestamp') return sql`toNullable(toFloat64(toUnixTimestamp64Milli(ts)))`
  if (key === '@sequence') return sql`toNullable(toFloat64(seq))`
  return textAsNumber(builtIn(key, scene)?.text ?? keyText(placesOf(key, scene.slots)))
}

/** exactOf are the whole numbers of a key that share their float with others, and the condition that they do. */
function exactOf(key: string, scene: Scene): Sql {
  if (key === '@time' || key === '@timestamp') return sql`cast(null, 'Nullable(Int256)'), 0`
  if (key === '@sequence') return sql`toNullable(toInt256(seq)), 1`
  const text = builtIn(key, scene)?.text ?? keyText(placesOf(key, scene.slots))
  const beyond = isBeyond(textAsNumber(text))
  return sql`if(${beyond}, ${wholeNumber(text)}, null), ${beyond}`
}

/** exactNumber is the whole number of a text whose size is beyond 2^53, and 0 for all other texts; beyond 76 characters floats must do. */
export const exactNumber = (text: Sql, size: Sql): Sql => sql`if(${isBeyond(size)}, ifNull(${wholeNumber(text)}, toInt256(0)), toInt256(0))`

const isBeyond = (size: Sql): Sql => sql`abs(${size}) >= 9007199254740992`
const wholeNumber = (text: Sql): Sql =>
  sql`if(length(${text}) <= 76 and match(${text}, '^[+-]?[0-9]+$'), toInt256OrNull(replaceRegexpOne(toString(${text}), '^[+]', '')), null)`

/** textAsNumber is the finite number that a text reads as, NULL for all other texts. */
export const textAsNumber = (text: Sql): Sql =>
  sql`if(isFinite(toFloat64OrNull(${text})) and match(${text}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$'), toFloat64OrNull(${text}), null)`

const levelsOf = ({ percent = 50 }: Aggregate): Sql => {
  const level = percent / 100
  if (!(level > 0 && level < 1)) throw new Error('a percentile lies between 0 and 100')
  // The store takes no params here; a number of JavaScript is written in digits and a point only.
  return constant([...QUANTILES, level].map((one) => one.toFixed(9)).join(', '))
}

const parametersOf = (aggregate: Aggregate): Sql => (aggregate.name === 'quantilesTDigest' ? sql`(${levelsOf(aggregate)})` : sql``)

/** directly works an aggregate out in one step. */
export const directly = ({ aggregate, of }: Measure, scene: Scene): Sql =>
  resultOf(aggregate, sql`${constant(aggregate.name)}${parametersOf(aggregate)}(${of(scene)})`)

/** asState works it out so far that it can be merged with others. */
export const asState = ({ aggregate, of }: Measure, scene: Scene): Sql => {
  const [plain, condition] = aggregate.name.endsWith('If') ? [aggregate.name.slice(0, -2), 'If'] : [aggregate.name, '']
  return sql`${constant(`${plain}State${condition}`)}${parametersOf(aggregate)}(${of(scene)})`
}

/** merged puts states together; `over` is the frame of rows whose states they are, where they are not those of a group. */
export const merged = ({ aggregate }: Measure, state: Sql, over: Sql = sql``): Sql => {
  const plain = aggregate.name.replace(/If$/, '')
  return resultOf(aggregate, sql`${constant(`${plain}Merge`)}${parametersOf(aggregate)}(${state})${over}`)
}

/** remade puts the states of those rows together that meet a condition, into a state again. */
export const remade = ({ aggregate }: Measure, state: Sql, condition: Sql): Sql =>
  sql`${constant(`${aggregate.name.replace(/If$/, '')}MergeStateIf`)}${parametersOf(aggregate)}(${state}, ${condition})`

/** isHeavy tells measures whose states cost much more to put together than a number. */
export const isHeavy = ({ aggregate }: Measure): boolean => aggregate.name === 'quantilesTDigest' || aggregate.name === 'uniqCombined64If'

function resultOf({ result }: Aggregate, value: Sql): Sql {
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

/** readMeasured reads what `directly` or `merged` gave for the calls, after the number of all events. */
export function readMeasured(rows: BinaryRows, calls: readonly Call[], widthMs: number): Measured {
  const count = Number(rows.uint64())
  return { count, stats: calls.map((call) => readStat(rows, call, count, widthMs)) }
}

function readStat(rows: BinaryRows, call: Call, count: number, widthMs: number): Stat {
  switch (call.name) {
    case 'rate':
      return { value: widthMs > 0 ? count / (widthMs / 1_000) : null }
    case 'count':
      return { value: call.key === undefined ? count : Number(rows.uint64()) }
    case 'unique':
      return { value: Number(rows.uint64()) }
    case 'first':
    case 'last': {
      const text = rows.text()
      return { value: text === '' ? null : text === '\0' ? '' : text }
    }
    case 'percentile':
      return readQuantiles(rows)
    case 'min':
    case 'max':
      return readExtreme(rows)
    default:
      return { value: finite(rows.float64()) }
  }
}

/** readExtreme reads a float, and the digits of the whole number that it may stand for. */
function readExtreme(rows: BinaryRows): Stat {
  const value = finite(rows.float64())
  const digits = rows.text()
  return digits !== '' && Number(digits) === value ? { value, exact: BigInt(digits) } : { value }
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
const rounded = (value: number): number => Number(value.toPrecision(QUANTILE_DIGITS))

function readQuantiles(rows: BinaryRows): Stat {
  const levels = Array.from({ length: rows.length() }, () => rows.float64())
  const [min, max] = [rows.float64(), rows.float64()]
  if (!Number.isFinite(min)) return { value: null }
  const within = (value = Number.NaN) => Math.min(max, Math.max(min, rounded(value)))
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

/** nobody is what is measured where there are no events. */
export const nobody = (calls: readonly Call[]): Measured => ({
  count: 0,
  stats: calls.map((call) => ({ value: call.name === 'count' || call.name === 'unique' || call.name === 'rate' ? 0 : null })),
})

/** isExactly says that a call gives the same whatever way it is worked out. */
export const isExactly = (call: Call): boolean => call.name !== 'percentile' && call.name !== 'unique'
