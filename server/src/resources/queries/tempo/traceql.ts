import type { Filter } from '@dendro/language/tree'
import { ALL_EVENTS } from '../../data/event-queries/event-queries.ts'
import type { SpanPair, SpanRelation, WholeTrace } from '../traces/traces.ts'
import { attributeIn, ConditionParser } from './traceql-conditions.ts'
import { TraceqlTokens } from './traceql-tokens.ts'

/** The conditions of a query on the spans that are shown and on their traces, and the attributes that it names, without scope. */
export type SpanQuery = {
  readonly filter: Filter
  readonly attributes: readonly string[]
  readonly whole?: WholeTrace
  /** The filter is that of the second spans then, or of both. */
  readonly pair?: SpanPair
}

const comparisons = ['=', '!=', '>', '>=', '<', '<='] as const
const RELATIONS = 'is not supported here: relations are of two pairs of braces, and pipelines select(…) and count()'
const relations: ReadonlyMap<string, SpanRelation> = new Map([
  ['>>', 'descendant'],
  ['>', 'child'],
  ['<<', 'ancestor'],
  ['<', 'parent'],
  ['~', 'sibling'],
])

/**
 * Parses pairs of braces, such as `{ resource.service.name = "pay" && duration > 1s } && { status = error } | select(span.http.url)`, of which a trace has a
 * span for each or, with `||`, for one.
 */
export function parseTraceql(query: string): SpanQuery {
  if (query.trim() === '') return { filter: ALL_EVENTS, attributes: [] }
  const tokens = new TraceqlTokens(query)
  const conditions = new ConditionParser(tokens)
  const sets = [conditions.parse()]
  const pair = parsePair(tokens, conditions, sets[0] ?? ALL_EVENTS)
  const joint = tokens.is('&&') ? '&&' : '||'
  while (!pair && tokens.skip(joint)) sets.push(conditions.parse())
  const filter: Filter = pair ? foundOf(pair) : sets.length === 1 && sets[0] ? sets[0] : { kind: 'or', of: sets }
  const counts: WholeTrace['spans'][number][] =
    joint === '&&' && sets.length > 1 ? sets.map((of) => ({ filter: of, operator: '>', number: 0 })) : []
  while (tokens.is('|') && /^(?:select|count)\b/.test(tokens.rest)) {
    tokens.take()
    if (tokens.isWord('count') && pair) throw tokens.error('count() is not supported after a relation of spans')
    if (tokens.skipWord('count')) counts.push({ filter, ...numberOfSpans(tokens) })
    else select(tokens, conditions.attributes)
  }
  if (tokens.skipWord('with')) skipHints(tokens)
  if (tokens.next.kind !== 'end') throw tokens.error(RELATIONS)
  const { spans, durations } = conditions.whole
  if (joint === '||' && sets.length > 1 && spans.length + durations.length > 0) {
    throw tokens.error('conditions on the root or the duration of a trace are not joined to others by ||')
  }
  const whole = { spans: [...spans, ...counts], durations }
  return {
    filter,
    attributes: [...conditions.attributes],
    ...(whole.spans.length + durations.length > 0 ? { whole } : {}),
    ...(pair ? { pair } : {}),
  }
}

/** Parses a relation, such as `>>`, and what the spans there have to meet. With `&` in front those of both sides are found. */
function parsePair(tokens: TraceqlTokens, conditions: ConditionParser, first: Filter): SpanPair | undefined {
  const { kind, text } = tokens.next
  const areBoth = text.startsWith('&')
  const relation = kind === 'sign' ? relations.get(areBoth ? text.slice(1) : text) : undefined
  if (relation === undefined) return undefined
  tokens.take()
  return { relation, first, second: conditions.parse(), areBoth }
}

const foundOf = ({ first, second, areBoth }: SpanPair): Filter => (areBoth ? { kind: 'or', of: [first, second] } : second)

/** How many spans of a trace match. */
function numberOfSpans(tokens: TraceqlTokens): Pick<WholeTrace['spans'][number], 'operator' | 'number'> {
  tokens.expect('(')
  tokens.expect(')')
  const operator = comparisons.find((one) => tokens.skip(one))
  if (!operator) throw tokens.error(`expected one of ${comparisons.join(' ')}`)
  const { kind, text } = tokens.next
  if (kind !== 'number' || !/^\d{1,9}$/.test(text)) throw tokens.error('expected a whole number')
  tokens.take()
  return { operator, number: Number(text) }
}

/** Adds attributes to the spans that are shown. Fields of every span are there anyway. */
function select(tokens: TraceqlTokens, attributes: Set<string>): void {
  tokens.take()
  tokens.expect('(')
  do {
    const field = tokens.next
    if (field.kind !== 'word') throw tokens.error('expected a field, such as name or span.http.method')
    tokens.take()
    const name = attributeIn(field.text)
    if (name !== undefined) attributes.add(name)
  } while (tokens.skip(','))
  tokens.expect(')')
}

/** The newest traces are found first in any case. */
function skipHints(tokens: TraceqlTokens): void {
  tokens.expect('(')
  if (!tokens.skipWord('most_recent')) throw tokens.error('the only hint is most_recent=true')
  tokens.expect('=')
  if (!tokens.skipWord('true')) throw tokens.error('the only hint is most_recent=true')
  tokens.expect(')')
}
