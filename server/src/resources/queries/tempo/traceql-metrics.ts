import type { Filter } from '@dendro/language/tree'
import type { TimeBounds } from '../../../query/bounds.ts'
import { DURATION_KEY } from '../traces/traces.ts'
import { attributeIn, ConditionParser, fieldKeys, fieldName } from './traceql-conditions.ts'
import { type TraceqlToken, TraceqlTokens } from './traceql-tokens.ts'

/** A field by which spans are grouped: its name as the query has it, and its key. */
export type GroupField = { readonly label: string; readonly key: string }

/** What is measured in the spans of each group and step. */
export type SpanFunction =
  | { readonly kind: 'rate' | 'count' | 'histogram' }
  /** `unit` is what one of the answer is in the values of the key: a second in nanoseconds. */
  | { readonly kind: 'sum' | 'avg' | 'min' | 'max'; readonly key: string; readonly unit: number }
  | { readonly kind: 'quantiles'; readonly key: string; readonly unit: number; readonly of: readonly number[] }
  /** The values of all attributes in the spans of a selection, and in the others. */
  | SpanComparison

/** `top` is how many values of each attribute are counted on either side. Only spans of the window are selected, if there is one. */
export type SpanComparison = { readonly kind: 'compare'; readonly selection: Filter; readonly top: number; readonly window?: TimeBounds }

/** A metric of the spans that meet conditions, such as `{ status = error } | rate() by (resource.service.name)`. */
export type SpanMetric = {
  readonly filter: Filter
  readonly name: string
  readonly measured: SpanFunction
  readonly by: readonly GroupField[]
  /** Only the highest or lowest series of each step. */
  readonly rank?: { readonly order: 'highest' | 'lowest'; readonly count: number }
}

const GROUPS_MAX = 5
const QUANTILES_MAX = 10
const RANK_MAX = 1_000
const NS_PER_S = 1e9
const simple: ReadonlyMap<string, 'rate' | 'count'> = new Map([
  ['rate', 'rate'],
  ['count_over_time', 'count'],
])
const ofValues: ReadonlyMap<string, 'sum' | 'avg' | 'min' | 'max'> = new Map([
  ['sum_over_time', 'sum'],
  ['avg_over_time', 'avg'],
  ['min_over_time', 'min'],
  ['max_over_time', 'max'],
])
const QUANTILES = 'quantile_over_time'
const HISTOGRAM = 'histogram_over_time'
const COMPARE = 'compare' as const
const names = [...simple.keys(), ...ofValues.keys(), QUANTILES, HISTOGRAM, COMPARE]
const TOP = 10
const TOP_MAX = 100
const NS_PER_MS = 1_000_000

/** Parses conditions in one pair of braces, a function, and perhaps `by (…)`, `topk(…)` or `bottomk(…)`, and hints. */
export function parseMetric(query: string): SpanMetric {
  const tokens = new TraceqlTokens(query)
  const filter = conditionsOnSpans(tokens)
  tokens.expect('|')
  const name = tokens.take()
  const measured = measuredBy(tokens, name)
  const isGrouped = measured.kind !== COMPARE
  const by = isGrouped && tokens.skipWord('by') ? groupFields(tokens) : []
  const rank = isGrouped && tokens.skip('|') ? rankOf(tokens) : undefined
  if (tokens.skipWord('with')) skipHints(tokens)
  if (tokens.next.kind !== 'end') throw tokens.error('expected by (…), topk(…), bottomk(…) or the end of the query')
  return { filter, name: name.text, measured, by, ...(rank ? { rank } : {}) }
}

function conditionsOnSpans(tokens: TraceqlTokens): Filter {
  const conditions = new ConditionParser(tokens)
  const filter = conditions.parse()
  const { spans, durations } = conditions.whole
  if (spans.length + durations.length > 0) throw tokens.error('metrics are of spans, without conditions on their whole trace')
  return filter
}

function measuredBy(tokens: TraceqlTokens, name: TraceqlToken): SpanFunction {
  const [plain, ofValue] = [simple.get(name.text), ofValues.get(name.text)]
  if (name.kind !== 'word' || !names.includes(name.text)) throw tokens.error(`is not supported; functions are ${names.join(', ')}`, name)
  tokens.expect('(')
  if (plain) {
    tokens.expect(')')
    return { kind: plain }
  }
  if (name.text === COMPARE) return comparison(tokens)
  const field = tokens.take()
  const key = field.kind !== 'word' ? undefined : fieldName(field.text) === 'duration' ? DURATION_KEY : attributeKey(field)
  if (key === undefined) throw tokens.error('expected duration or an attribute, such as span.http.response.size', field)
  if (name.text === HISTOGRAM) {
    if (key !== DURATION_KEY) throw tokens.error('counts by duration only', name)
    tokens.expect(')')
    return { kind: 'histogram' }
  }
  const value = { key, unit: key === DURATION_KEY ? NS_PER_S : 1 }
  const of: number[] = []
  while (ofValue === undefined && tokens.skip(',')) of.push(quantile(tokens))
  tokens.expect(')')
  if (ofValue) return { kind: ofValue, ...value }
  if (of.length === 0 || of.length > QUANTILES_MAX) throw tokens.error(`takes 1 to ${QUANTILES_MAX} quantiles, such as .99`, name)
  return { kind: 'quantiles', ...value, of }
}

/** The selection, then perhaps how many values of each attribute, then perhaps the first and the last time in nanoseconds. */
function comparison(tokens: TraceqlTokens): SpanComparison {
  const selection = conditionsOnSpans(tokens)
  const top = tokens.skip(',') ? wholeNumber(tokens, TOP_MAX) : TOP
  const window = tokens.skip(',') ? windowOf(tokens) : undefined
  tokens.expect(')')
  return { kind: COMPARE, selection, top, ...(window ? { window } : {}) }
}

function windowOf(tokens: TraceqlTokens): TimeBounds {
  const fromMs = Math.floor(wholeNumber(tokens) / NS_PER_MS)
  tokens.expect(',')
  const toMs = Math.ceil(wholeNumber(tokens) / NS_PER_MS)
  if (toMs <= fromMs) throw tokens.error('the end must be after the start')
  return { fromMs, toMs }
}

function wholeNumber(tokens: TraceqlTokens, most = Number.POSITIVE_INFINITY): number {
  const token = tokens.take()
  const number = /^\d{1,19}$/.test(token.text) ? Number(token.text) : 0
  if (number < 1 || number > most) throw tokens.error(`expected a whole number from 1${Number.isFinite(most) ? ` to ${most}` : ''}`, token)
  return number
}

function quantile(tokens: TraceqlTokens): number {
  const token = tokens.take()
  const share = /^\d*\.?\d+$/.test(token.text) ? Number(token.text) : Number.NaN
  if (!(share >= 0 && share <= 1)) throw tokens.error('expected a quantile from 0 to 1', token)
  return share
}

function groupFields(tokens: TraceqlTokens): readonly GroupField[] {
  tokens.expect('(')
  const fields: GroupField[] = []
  do {
    const field = tokens.take()
    const key = field.kind === 'word' ? (fieldKeys.get(fieldName(field.text)) ?? attributeKey(field)) : undefined
    if (key === undefined) {
      throw tokens.error('spans are grouped by name, status, statusMessage, kind and attributes such as span.x, resource.x or .x', field)
    }
    if (fields.every((one) => one.key !== key)) fields.push({ label: field.text, key })
  } while (tokens.skip(','))
  if (fields.length > GROUPS_MAX) throw tokens.error(`spans are grouped by at most ${GROUPS_MAX} fields`)
  tokens.expect(')')
  return fields
}

function rankOf(tokens: TraceqlTokens): SpanMetric['rank'] {
  const isHighest = tokens.isWord('topk')
  if (!isHighest && !tokens.isWord('bottomk')) throw tokens.error('expected topk(…) or bottomk(…)')
  tokens.take()
  tokens.expect('(')
  const count = wholeNumber(tokens, RANK_MAX)
  tokens.expect(')')
  return { order: isHighest ? 'highest' : 'lowest', count }
}

/** Hints choose samples and examples, or the order of reading. Every span is counted here, and none is given as an example. */
function skipHints(tokens: TraceqlTokens): void {
  tokens.expect('(')
  do {
    const hint = tokens.take()
    if (hint.kind !== 'word') throw tokens.error('expected a hint, such as exemplars=true', hint)
    tokens.expect('=')
    const value = tokens.take()
    if (value.kind === 'sign' || value.kind === 'end') throw tokens.error('expected a value', value)
  } while (tokens.skip(','))
  tokens.expect(')')
}

function attributeKey({ text }: TraceqlToken): string | undefined {
  const name = attributeIn(text)
  return name === undefined ? undefined : `$${name}`
}
